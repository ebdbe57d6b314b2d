"""Which statements follow from others: those true in every DAG over n nodes in which the others are.

Decided by looking at all DAGs (29,281 for n = 5, 3,781,503 for n = 6; Robinson 1973), as arrays: entry v of a row is
the set of parents of node v. There is no rule in it that could be missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from harness.causal.dag import DAG, mask_of
from harness.causal.separation import conditioning_sets
from harness.causal.statements import Kind, PairSentences, Statement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Graphs = NDArray[np.unsignedinteger[Any]]
    """(graphs, n): the parents of each node, as bits."""
    Where = NDArray[np.bool_]
    """(graphs,): in which of them something is true."""


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
Support = Literal["follows", "leap", "contradiction", "too large"]
LARGEST = 6
"""The most nodes: over seven there are 1,138,779,265 DAGs."""
_AT_ONCE = 1 << 17
_BITS = 64


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


def support(n: int, basis: Collection[Constraint], statement: Statement, known: Sequence[DAG] = ()) -> Support:
    """Return whether a statement is true in every DAG over n nodes in which all of the basis is.

    `contradiction` where there is no such DAG, `too large` where DAGs over more than six nodes would have to be looked
    at. `known` are some DAGs to look at first, such as a class: they settle most cases. Statements that something is
    open are about classes, and refused.
    """
    import numpy as np

    everything = (*basis, statement)
    if any(isinstance(one, Statement) and one.open for one in everything):
        raise ValueError("that something is open is said of a class, not of a DAG")
    witnesses = np.array(known, np.uint16).reshape(-1, n)
    for constraint in basis:
        witnesses = witnesses[satisfied(witnesses, constraint)]
    if len(witnesses) and not satisfied(witnesses, statement).all():
        return "leap"
    nodes = sorted({node for one in everything for node in _nodes(one)})
    if _is_local(statement) and len(nodes) <= LARGEST:
        # A DAG without some nodes is a DAG, and nodes without edges can be added: of edges among these the others
        # tell nothing.
        place = {node: k for k, node in enumerate(nodes)}
        among = _support(len(nodes), _among(basis, place), _renamed(statement, place))
        if among == "contradiction" or all(map(_is_local, basis)) or (among == "follows" and len(witnesses)):
            return among
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


def _among(basis: Collection[Constraint], place: Mapping[int, int]) -> frozenset[Constraint]:
    """Return what a basis says of edges among its own nodes, which have these places in a graph of their own."""
    constraints: set[Constraint] = set()
    for one in basis:
        if isinstance(one, PairSentences):
            i, j = place[one.i], place[one.j]
            sides = [frozenset(place[m] for m in side if m in place) for side in one.sides]
            constraints.add(Triples(i, j, *sides) if one.separating else Statement.of(Kind.ADJACENT, (i, j)))
        elif isinstance(one, Statement) and _is_local(one):
            constraints.add(_renamed(one, place))
    return frozenset(constraints)


def graphs_with(n: int, basis: Collection[Constraint]) -> Graphs:
    """Return all DAGs over n nodes in which all of the basis is true."""
    graphs = every_graph(n)
    for constraint in sorted(basis, key=_cost):
        graphs = graphs[satisfied(graphs, constraint)]
    return graphs


def _is_local(constraint: Constraint) -> bool:
    """Test whether it speaks of edges among its own nodes alone."""
    if not isinstance(constraint, Statement):
        return isinstance(constraint, Triples) or not constraint.separating
    return constraint.kind not in (Kind.CAUSE, Kind.INDEPENDENT)


def _nodes(constraint: Constraint) -> tuple[int, ...]:
    return constraint.nodes if isinstance(constraint, Statement) else (constraint.i, constraint.j)


def _renamed(statement: Statement, place: Mapping[int, int]) -> Statement:
    return replace(statement, nodes=tuple(place[node] for node in statement.nodes))


def _cost(constraint: Constraint) -> int:
    """Return the place of a constraint: cheap ones leave few graphs to those that take long."""
    if not isinstance(constraint, Statement):
        return 3 if isinstance(constraint, PairSentences) and constraint.separating else 0
    return {Kind.CAUSE: 1, Kind.INDEPENDENT: 2}.get(constraint.kind, 0)


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


def _connected(graphs: Graphs, i: int, j: int, sets: Sequence[tuple[int, ...]]) -> NDArray[np.unsignedinteger[Any]]:
    """Return, as bits for each graph, which of at most 64 sets leave i and j d-connected.

    The Bayes ball of `separation._balls`, in all graphs at once: bit s of a node is whether the ball with set s gets
    there.
    """
    import numpy as np

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
