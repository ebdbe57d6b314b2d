"""The acyclic graph nearest to a model's answers: the fewest edges to take away.

A Yes is an edge, and models answer each question for itself, so that cycles come about. The fewest edges whose removal
leaves none are a minimum feedback arc set. It is found by integer programming: the least number of edges that has one
of every cycle, where cycles are added as they are met (Baharev et al. 2021, "An exact method for the minimum feedback
arc set problem", ACM JEA 26).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.scoring.graphs import transitive_closure

Edges = NDArray[np.bool_]
LARGEST = 300
"""Edges of a strongly connected component that is solved; seconds of processor time at most."""
ROUNDS = 40
NODES = 2_000
"""Branches of one integer program. Counts, not seconds: the same answers have the same graph on any machine."""


@dataclass(frozen=True)
class Acyclic:
    """A graph without cycles, and how it came about."""

    edges: Edges
    removed: int
    exact: bool
    """Whether no fewer removals would do."""


def nearest_acyclic(edges: Edges) -> Acyclic:
    """Return the graph without a smallest set of edges that breaks all cycles, two-cycles included."""
    reach = transitive_closure(edges).astype(np.bool_) | np.eye(len(edges), dtype=np.bool_)
    kept, exact = edges.copy(), True
    for members in sorted({tuple(np.flatnonzero(row).tolist()) for row in reach & reach.T}):
        if len(members) > 1:
            place = np.ix_(members, members)
            backward, certain = _feedback(edges[place])
            kept[place] &= ~backward
            exact &= certain
    return Acyclic(kept, int(edges.sum() - kept.sum()), exact)


def _feedback(edges: Edges) -> tuple[Edges, bool]:
    """Return a set of edges of one component without which it has no cycle, and whether none is smaller."""
    backward = _by_order(edges)
    least = int((edges & edges.T).sum()) // 2  # each two-cycle loses an edge
    if backward.sum() == least:
        return backward, True
    if edges.sum() > LARGEST:
        return backward, False
    solved = _by_program(edges)
    return (backward, False) if solved is None else (solved, True)


def _by_order(edges: Edges) -> Edges:
    """Return the edges that run backwards in an order from sources to sinks (Eades, Lin and Smyth 1993), improved.

    Nodes are moved to the place where the fewest edges run backwards until no move helps.
    """
    left = list(range(len(edges)))
    first: list[int] = []
    last: list[int] = []
    while left:
        inside = edges[np.ix_(left, left)]
        out, into = inside.sum(axis=1).astype(int), inside.sum(axis=0).astype(int)
        if (sinks := np.flatnonzero(out == 0)).size:
            last.insert(0, left.pop(int(sinks[0])))
        else:
            first.append(left.pop(int(np.argmax(np.where(into == 0, len(edges), out - into)))))
    order = first + last
    weights = edges.astype(int)
    moved = True
    while moved:
        moved = False
        for v in list(order):
            others = [u for u in order if u != v]
            # At place k the edges into v from k … and those out of v to … k run backwards.
            cost = np.r_[0, np.cumsum(weights[v, others])] + np.r_[np.cumsum(weights[others, v][::-1])[::-1], 0]
            best, now = int(np.argmin(cost)), order.index(v)
            if cost[best] < cost[now]:
                others.insert(best, v)
                order, moved = others, True
    place = np.argsort(order)
    return edges & (place[:, None] > place[None, :])


def _by_program(edges: Edges) -> Edges | None:
    """Return a smallest set of edges that has one of each cycle; None where the bounds on effort are met."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    pairs = np.argwhere(edges)
    number = {(int(u), int(v)): k for k, (u, v) in enumerate(pairs)}
    cycles: dict[tuple[int, ...], None] = dict.fromkeys(_cycles(edges, number))
    for _ in range(ROUNDS):
        columns = [k for cycle in cycles for k in cycle]
        rows = [row for row, cycle in enumerate(cycles) for _ in cycle]
        matrix = csr_array((np.ones(len(columns)), (rows, columns)), shape=(len(cycles), len(pairs)))
        solution = milp(
            np.ones(len(pairs)), integrality=np.ones(len(pairs)), bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, lb=1), options={"node_limit": NODES},
        )  # fmt: skip
        if solution.status != 0:
            return None
        taken = pairs[np.round(solution.x).astype(bool)]
        removed = np.zeros_like(edges)
        removed[taken[:, 0], taken[:, 1]] = True
        before = len(cycles)
        cycles |= dict.fromkeys(_cycles(edges & ~removed, number))
        if len(cycles) == before:
            return removed
    return None


def _cycles(edges: Edges, number: dict[tuple[int, int], int]) -> Iterator[tuple[int, ...]]:
    """Yield a shortest cycle through each edge that lies on one, as the sorted numbers of its edges."""
    below = [np.flatnonzero(row).tolist() for row in edges]
    for u, v in np.argwhere(edges).tolist():
        before, step = {v: v}, [v]
        while step and u not in before:
            following = []
            for x in step:
                for y in below[x]:
                    if y not in before:
                        before[y] = x
                        following.append(y)
            step = following
        if u in before:
            cycle, here = [number[u, v]], u
            while here != v:
                cycle.append(number[before[here], here])
                here = before[here]
            yield tuple(sorted(cycle))
