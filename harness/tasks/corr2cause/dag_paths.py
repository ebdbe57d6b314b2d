"""Ways through one graph: the edges that show how two variables stand to each other, and the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.causal.dag import DAG, children

Edge = tuple[int, int]


@dataclass(frozen=True)
class Way:
    """Nodes in a row, with the direction of each step between neighbours."""

    nodes: tuple[int, ...]
    forward: tuple[bool, ...]

    @property
    def edges(self) -> list[Edge]:
        """(cause, effect) of every step."""
        steps = zip(self.nodes, self.nodes[1:], self.forward, strict=False)
        return [(a, b) if ahead else (b, a) for a, b, ahead in steps]

    def text(self, names: Sequence[str]) -> str:
        """Write the path as in A → C ← B."""
        steps = zip(self.forward, self.nodes[1:], strict=True)
        return names[self.nodes[0]] + "".join(f" {'→' if ahead else '←'} {names[node]}" for ahead, node in steps)


def directed(dag: DAG, start: int, end: int, *, least: int = 1) -> Way | None:
    """Return the shortest directed path of at least so many edges, the first in the nodes' order; None without one."""
    nodes = _path(children(dag), start, end, without=-1, least=least)
    return Way(nodes, (True,) * (len(nodes) - 1)) if nodes else None


def common_effect(dag: DAG, i: int, j: int) -> Way | None:
    """Return the shortest two directed paths from i and j that meet in a third node, and only there."""
    return _meeting(children(dag), i, j, towards=True)


def common_cause(dag: DAG, i: int, j: int) -> Way | None:
    """Return the shortest two directed paths to i and j that start in a third node, and share only that."""
    return _meeting(dag, i, j, towards=False)


def _meeting(after: Sequence[int], i: int, j: int, *, towards: bool) -> Way | None:
    """Return the shortest two paths along `after` that end in one node.

    They share nothing else, or they would end there.
    """
    pairs: list[tuple[int, Way]] = []
    for end in range(len(after)):
        if end in (i, j):
            continue
        first, second = _path(after, i, end, without=j), _path(after, j, end, without=i)
        if first and second:
            forward = (towards,) * (len(first) - 1) + (not towards,) * (len(second) - 1)
            pairs.append((len(first) + len(second), Way((*first, *second[-2::-1]), forward)))
    return min(pairs, key=lambda pair: pair[0])[1] if pairs else None


def _path(after: Sequence[int], start: int, end: int, *, without: int, least: int = 1) -> tuple[int, ...] | None:
    """Return a shortest path along `after` (sets of nodes) that does not touch `without`."""
    paths: list[tuple[int, ...]] = [(start,)]
    while paths:
        longer = [
            (*path, node)
            for path in paths
            for node in range(len(after))
            if after[path[-1]] >> node & 1 and node not in path and node != without
        ]
        for path in longer:
            if path[-1] == end and len(path) > least:
                return path
        paths = [path for path in longer if path[-1] != end]
    return None
