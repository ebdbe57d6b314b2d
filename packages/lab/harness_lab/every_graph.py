"""All DAGs over a few nodes as arrays, and in which of them a statement is true.

29,281 for n = 5, 3,781,503 for n = 6 (Robinson 1973). Entry v of a row is the set of parents of node v.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import mask_of
from harness.causal.separation import conditioning_sets
from harness_lab.statements import Kind, PairSentences, Statement

Graphs = NDArray[np.unsignedinteger[Any]]
"""(graphs, n): the parents of each node, as bits."""
Where = NDArray[np.bool_]
"""(graphs,): in which of them something is true."""
LARGEST = 6
"""The most nodes: over seven there are 1,138,779,265 DAGs."""
_BITS = 64


@dataclass(frozen=True, slots=True)
class Triples:
    """What a pair's independences say of edges: none joins i and j, and which common neighbours are colliders."""

    i: int
    j: int
    inside: frozenset[int]
    """No collider between them: in a set that separates them."""
    outside: frozenset[int]
    """A collider if adjacent to both: not in a set that separates them."""


Constraint = Statement | PairSentences | Triples


@cache
def every_graph(n: int) -> Graphs:
    """Return all labelled DAGs over n nodes by their skeletons, those of one (`_skeleton`) next to each other.

    They are those over n - 1, with each choice of parents and children of the last node.
    """
    if n > LARGEST:
        raise ValueError(f"all DAGs are looked at up to {LARGEST} nodes, not {n}")
    if n == 0:
        return np.zeros((1, 0), np.uint8)
    smaller, last = every_graph(n - 1), 1 << n - 1
    reach = _descendants(smaller)
    parts = []
    for below in range(last):
        from_below = np.zeros(len(smaller), np.uint8)
        for child in range(n - 1):
            if below >> child & 1:
                from_below |= reach[:, child] | np.uint8(1 << child)
        for above in range(last):
            if above & below:
                continue
            rows = smaller[from_below & above == 0]  # no path leads from a child back to a parent
            into_children = np.array([last * (below >> v & 1) for v in range(n - 1)], np.uint8)
            parts.append(np.column_stack([rows | into_children, np.full(len(rows), above, np.uint8)]))
    graphs = np.concatenate(parts)
    return graphs[np.argsort(_skeleton(graphs), kind="stable")]


def _skeleton(graphs: Graphs) -> NDArray[np.int64]:
    """Return the skeleton of each graph as a number: the pairs in lexicographic order, a bit for each edge."""
    numbers = np.zeros(len(graphs), np.int64)
    for k, (i, j) in enumerate(combinations(range(graphs.shape[1]), 2)):
        numbers |= _adjacent(graphs, i, j).astype(np.int64) << k
    return numbers


@cache
def _graphs_by_skeleton(n: int) -> NDArray[np.int64]:
    """Return how many graphs over n nodes have each skeleton."""
    return np.bincount(_skeleton(every_graph(n)), minlength=1 << n * (n - 1) // 2)


def with_edges(n: int, basis: Collection[Constraint]) -> Graphs:
    """Return the graphs over n nodes whose pairs are adjacent, and not, as a basis says of them."""
    numbers = np.arange(1 << n * (n - 1) // 2)
    fitting = np.ones(len(numbers), bool)
    place = {pair: k for k, pair in enumerate(combinations(range(n), 2))}
    for one in basis:
        if isinstance(one, Triples | PairSentences):
            joined = isinstance(one, PairSentences) and not one.separating
            fitting &= _has(numbers, place[min(one.i, one.j), max(one.i, one.j)]) == joined
        elif one.kind is Kind.ADJACENT:
            fitting &= _has(numbers, place[one.nodes[0], one.nodes[1]]) != one.denied
    graphs: Graphs = every_graph(n)[np.repeat(fitting, _graphs_by_skeleton(n))]
    return graphs


def satisfied(graphs: Graphs, constraint: Constraint) -> Where:
    """Return in which of the graphs a statement, or all that is said of a pair, is true."""
    if isinstance(constraint, Statement):
        holds = _holds(graphs, constraint)
        return ~holds if constraint.denied else holds
    i, j = constraint.i, constraint.j
    if isinstance(constraint, Triples):
        return _separable(graphs, constraint)
    if not constraint.separating:  # nothing separates them iff an edge joins them
        return _adjacent(graphs, i, j)
    fitting = _separable(graphs, Triples(i, j, *constraint.sides))
    for sets in _slices(conditioning_sets(graphs.shape[1], i, j)):
        stated = mask_of(s for s, condition in enumerate(sets) if condition not in constraint.separating)
        fitting[fitting] = _connected(graphs[fitting], i, j, sets) == stated
    return fitting


def _slices(sets: Sequence[tuple[int, ...]]) -> Iterator[Sequence[tuple[int, ...]]]:
    for start in range(0, len(sets), _BITS):
        yield sets[start : start + _BITS]


def _separable(graphs: Graphs, triples: Triples) -> Where:
    i, j = triples.i, triples.j
    fitting = ~_adjacent(graphs, i, j)
    for m in triples.inside | triples.outside:
        collider = _has(graphs[:, m], i) & _has(graphs[:, m], j)
        if m in triples.inside:
            fitting &= ~collider
        if m in triples.outside:
            fitting &= collider | ~(_adjacent(graphs, i, m) & _adjacent(graphs, m, j))
    return fitting


def _holds(graphs: Graphs, statement: Statement) -> Where:
    kind, i, j = statement.kind, statement.nodes[0], statement.nodes[-1]
    if kind is Kind.ADJACENT:
        return _adjacent(graphs, i, j)
    if kind is Kind.PARENT:
        return _has(graphs[:, j], i)
    if kind is Kind.COLLIDER:
        into = graphs[:, statement.nodes[1]]
        return _has(into, i) & _has(into, j)
    if kind is Kind.CAUSE:
        return _has(_descendants(graphs)[:, i], j)
    return ~_has(_connected(graphs, i, j, (statement.condition,)), 0)


def _adjacent(graphs: Graphs, i: int, j: int) -> Where:
    return _has(graphs[:, j], i) | _has(graphs[:, i], j)


def _has(sets: NDArray[np.integer[Any]], member: int) -> Where:
    """Return which of the sets, as bits, have a member."""
    there: Where = (sets >> member & 1).astype(bool)
    return there


def _descendants(graphs: Graphs) -> Graphs:
    """Return (graphs, n): the nodes that directed paths from each node reach. Transitive closure (Warshall 1962)."""
    n = graphs.shape[1]
    reach = np.zeros_like(graphs)
    for u in range(n):
        for v in range(n):
            reach[:, u] |= (graphs[:, v] >> u & 1) << np.uint8(v)
    for k in range(n):
        for u in range(n):
            reach[:, u] |= reach[:, k] * (reach[:, u] >> k & 1)
    return reach


def _connected(graphs: Graphs, i: int, j: int, sets: Sequence[tuple[int, ...]]) -> NDArray[np.unsignedinteger[Any]]:
    """Return, as bits for each graph, which of at most 64 sets leave i and j d-connected.

    The Bayes ball of `separation._balls`, in all graphs at once: bit s of a node is whether the ball with set s gets
    there.
    """
    n, kind = graphs.shape[1], np.uint16 if len(sets) <= 16 else np.uint64
    has = [kind(mask_of(s for s, condition in enumerate(sets) if v in condition)) for v in range(n)]
    up = np.zeros((n, len(graphs)), kind)  # the ball came from a child; from a parent
    down = np.zeros_like(up)
    up[i] = kind((1 << len(sets)) - 1)
    edges = [[(graphs[:, v] >> u & 1).astype(kind) for u in range(n)] for v in range(n)]
    changed = True
    while changed:
        changed = False
        for v in range(n):
            to_parents = up[v] & ~has[v] | down[v] & has[v]
            to_children = (up[v] | down[v]) & ~has[v]
            for u in range(n):
                if u != v:
                    for ball, moved in ((up[u], to_parents * edges[v][u]), (down[u], to_children * edges[u][v])):
                        if not changed:
                            changed = bool((moved & ~ball).any())
                        ball |= moved
    connected: NDArray[np.unsignedinteger[Any]] = (up[j] | down[j]) & ~has[j]
    return connected
