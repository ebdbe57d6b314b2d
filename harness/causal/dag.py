"""Directed acyclic graphs as tuples of parent sets, each a bit mask over the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

DAG = tuple[int, ...]
"""Entry v holds the parents of node v: bit u is set iff the edge u → v exists."""


def bits(mask: int) -> Iterator[int]:
    """Yield the members of a set of nodes, in ascending order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(nodes: Iterable[int]) -> int:
    """Return nodes as a set of nodes, a bit mask."""
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


def from_edges(n: int, edges: Iterable[tuple[int, int]]) -> DAG:
    """Return the DAG over nodes 0 … n-1 with these edges (cause, effect). Raises ValueError on a cycle."""
    parents = [0] * n
    for cause, effect in edges:
        parents[effect] |= 1 << cause
    dag = tuple(parents)
    topological_order(dag)
    return dag


def from_integer(n: int, number: int) -> DAG:
    """Return the DAG whose edges i → j, i < j, are the set bits of `number`, pairs in lexicographic order.

    This is the numbering of the Corr2Cause generator: bit 0 is (0, 1), bit 1 is (0, 2), …; every edge runs
    from a lower to a higher node (Jin et al. 2024, §3.3).
    """
    if not 0 <= number < 1 << (n * (n - 1) // 2):
        raise ValueError(f"{number} does not number a DAG over {n} nodes")
    return from_edges(n, (pair for k, pair in enumerate(combinations(range(n), 2)) if number >> k & 1))


def relabel(dag: DAG, new: tuple[int, ...]) -> DAG:
    """Return the graph in which node v is called new[v]."""
    parents = [0] * len(dag)
    for v, above in enumerate(dag):
        parents[new[v]] = mask_of(new[u] for u in bits(above))
    return tuple(parents)


def children(dag: DAG) -> tuple[int, ...]:
    """Return the children of each node: entry v is a set of nodes."""
    below = [0] * len(dag)
    for v, above in enumerate(dag):
        for u in bits(above):
            below[u] |= 1 << v
    return tuple(below)


def topological_order(dag: DAG) -> list[int]:
    """Return the nodes, each after all of its parents. Raises ValueError on a cycle."""
    order: list[int] = []
    earlier, rest = 0, set(range(len(dag)))
    while rest:
        ready = sorted(v for v in rest if not dag[v] & ~earlier)
        if not ready:
            raise ValueError("the graph has a cycle")
        order += ready
        earlier |= mask_of(ready)
        rest -= set(ready)
    return order


def descendants(dag: DAG) -> tuple[int, ...]:
    """Return, for each node, the set of nodes that a directed path of one or more edges reaches."""
    below = children(dag)
    reach = [0] * len(dag)
    for v in reversed(topological_order(dag)):
        for w in bits(below[v]):
            reach[v] |= 1 << w | reach[w]
    return tuple(reach)
