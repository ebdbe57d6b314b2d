"""Which statements follow from others: those true in every DAG over n nodes in which the others are.

Decided by looking at all DAGs (29,281 for n = 5, 3,781,503 for n = 6; Robinson 1973), as arrays: entry v of a row is
the set of parents of node v. There is no rule in it that could be missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from harness.causal.dag import mask_of
from harness.causal.separation import conditioning_sets
from harness.causal.statements import Kind, PairSentences, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Graphs = NDArray[np.uint8]
    """(graphs, n): the parents of each node, as bits."""
    Where = NDArray[np.bool_]
    """(graphs,): in which of them something is true."""

Constraint = Statement | PairSentences
Support = Literal["follows", "leap", "contradiction", "too large"]
LARGEST = 6
"""The most nodes: over seven there are 1,138,779,265 DAGs."""
_AT_ONCE = 1 << 17


@cache
def every_graph(n: int) -> Graphs:
    """Return all labelled DAGs over n nodes: those over n - 1, with each choice of parents and children of the last."""
    import numpy as np

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
    return np.concatenate(parts)


def support(n: int, basis: Collection[Constraint], statement: Statement) -> Support:
    """Return whether a statement is true in every DAG over n nodes in which all of the basis is.

    `contradiction` where there is no such DAG, `too large` where more than six nodes have to be looked at. Statements
    that something is open are about classes, and refused.
    """
    everything = (*basis, statement)
    if any(isinstance(one, Statement) and one.open for one in everything):
        raise ValueError("that something is open is said of a class, not of a DAG")
    if all(map(_is_local, everything)):
        # A DAG without some nodes is a DAG, and nodes without edges can be added to it: only those named matter.
        nodes = sorted({node for one in everything for node in _nodes(one)})
        place = {node: k for k, node in enumerate(nodes)}
        n, basis, statement = len(nodes), [_moved(one, place) for one in basis], _moved(statement, place)
    return "too large" if n > LARGEST else _support(n, frozenset(basis), statement)


@lru_cache(maxsize=1 << 14)
def _support(n: int, basis: frozenset[Constraint], statement: Statement) -> Support:
    graphs, possible = every_graph(n), False
    in_order = sorted(basis, key=_cost)
    for start in range(0, len(graphs), _AT_ONCE):
        block = graphs[start : start + _AT_ONCE]
        for constraint in in_order:
            block = block[satisfied(block, constraint)]
        if len(block):
            possible = True
            if not satisfied(block, statement).all():
                return "leap"
    return "follows" if possible else "contradiction"


def graphs_with(n: int, basis: Collection[Constraint]) -> Graphs:
    """Return all DAGs over n nodes in which all of the basis is true."""
    graphs = every_graph(n)
    for constraint in sorted(basis, key=_cost):
        graphs = graphs[satisfied(graphs, constraint)]
    return graphs


def _is_local(constraint: Constraint) -> bool:
    """Test whether it speaks of edges among its own nodes alone."""
    if isinstance(constraint, PairSentences):
        return not constraint.separating
    return constraint.kind not in (Kind.CAUSE, Kind.INDEPENDENT)


def _nodes(constraint: Constraint) -> tuple[int, ...]:
    return constraint.nodes if isinstance(constraint, Statement) else (constraint.i, constraint.j)


T = TypeVar("T", Statement, PairSentences)


def _moved(constraint: T, place: Mapping[int, int]) -> T:
    """Return a local constraint with its nodes renamed, in the same order."""
    if isinstance(constraint, Statement):
        return replace(constraint, nodes=tuple(place[node] for node in constraint.nodes))
    return replace(constraint, i=place[constraint.i], j=place[constraint.j])


def _cost(constraint: Constraint) -> int:
    """Return the place of a constraint: cheap ones leave few graphs to those that take long."""
    if isinstance(constraint, PairSentences):
        return 3 if constraint.separating else 0
    return {Kind.CAUSE: 1, Kind.INDEPENDENT: 2}.get(constraint.kind, 0)


def satisfied(graphs: Graphs, constraint: Constraint) -> Where:
    """Return in which of the graphs a statement, or all that is said of a pair, is true."""
    if isinstance(constraint, Statement):
        holds = _holds(graphs, constraint)
        return ~holds if constraint.denied else holds
    i, j, n = constraint.i, constraint.j, graphs.shape[1]
    if not constraint.separating:  # nothing separates them iff an edge joins them
        return _adjacent(graphs, i, j)
    sets = conditioning_sets(n, i, j)
    stated = mask_of(s for s, condition in enumerate(sets) if condition not in constraint.separating)
    apart = ~_adjacent(graphs, i, j)
    apart[apart] = _connected(graphs[apart], i, j, sets) == stated
    return apart


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


def _has(sets: NDArray[np.unsignedinteger[Any]], member: int) -> Where:
    """Return which of the sets, as bits, have a member."""
    there: Where = (sets >> member & 1).astype(bool)
    return there


def _descendants(graphs: Graphs) -> Graphs:
    """Return (graphs, n): the nodes that directed paths from each node reach. Transitive closure (Warshall 1962)."""
    import numpy as np

    n = graphs.shape[1]
    reach = np.zeros_like(graphs)
    for u in range(n):
        for v in range(n):
            reach[:, u] |= (graphs[:, v] >> u & 1) << np.uint8(v)
    for k in range(n):
        for u in range(n):
            reach[:, u] |= reach[:, k] * (reach[:, u] >> k & 1)
    return reach


def _connected(graphs: Graphs, i: int, j: int, sets: Collection[tuple[int, ...]]) -> NDArray[np.uint16]:
    """Return, as bits for each graph, which of the sets leave i and j d-connected.

    The Bayes ball of `separation._balls`, in all graphs at once: bit s of a node is whether the ball with set s gets
    there.
    """
    import numpy as np

    n, every = graphs.shape[1], np.uint16((1 << len(sets)) - 1)
    has = [np.uint16(mask_of(s for s, condition in enumerate(sets) if v in condition)) for v in range(n)]
    up = np.zeros((n, len(graphs)), np.uint16)  # the ball came from a child; from a parent
    down = np.zeros_like(up)
    up[i] = every
    edges = [[(graphs[:, v] >> u & 1).astype(np.uint16) for u in range(n)] for v in range(n)]
    before = -1
    while (reached := int(up.sum(dtype=np.int64) + down.sum(dtype=np.int64))) != before:
        before = reached
        for v in range(n):
            to_parents = up[v] & ~has[v] | down[v] & has[v]
            to_children = (up[v] | down[v]) & ~has[v]
            for u in range(n):
                if u != v:
                    up[u] |= to_parents * edges[v][u]
                    down[u] |= to_children * edges[u][v]
    connected: NDArray[np.uint16] = (up[j] | down[j]) & ~has[j]
    return connected
