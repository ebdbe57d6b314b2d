"""Which statements follow from others: those true in every DAG over n nodes in which the others are.

Decided by looking at all DAGs: there is no rule in it that could be missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from harness.causal.dag import DAG, bits
from harness.causal.every_graph import LARGEST, Constraint, Triples, satisfied, with_edges
from harness.causal.statements import Kind, PairSentences, Statement

if TYPE_CHECKING:
    from harness.causal.every_graph import Graphs

Support = Literal["follows", "leap", "contradiction", "too large"]
_AT_ONCE = 1 << 17


def support(n: int, basis: Collection[Constraint], statement: Statement, known: Sequence[DAG] = ()) -> Support:
    """Return whether a statement is true in every DAG over n nodes in which all of the basis is.

    `contradiction` where there is no such DAG, `too large` where DAGs over more than six nodes would have to be looked
    at. `known` are some DAGs to look at first, such as a class: they settle most cases. Statements that something is
    open are about classes, and refused.
    """
    return supported(n, basis, statement, known)[0]


def supported(
    n: int, basis: Collection[Constraint], statement: Statement, known: Sequence[DAG] = ()
) -> tuple[Support, DAG | None]:
    """Return the same, and of a leap a DAG in which all of the basis is true and the statement is not."""
    import numpy as np

    everything = (*basis, statement)
    if any(isinstance(one, Statement) and one.open for one in everything):
        raise ValueError("that something is open is said of a class, not of a DAG")
    witnesses = np.array(known, np.uint16).reshape(-1, n)
    for constraint in basis:
        witnesses = witnesses[satisfied(witnesses, constraint)]
    if len(witnesses) and not (holds := satisfied(witnesses, statement)).all():
        return "leap", _dag(witnesses[~holds][0])
    nodes = sorted({node for one in everything for node in _nodes(one)})
    if _is_local(statement) and len(nodes) <= LARGEST:
        # A DAG without some nodes is a DAG, and nodes without edges can be added: of edges among these the others
        # tell nothing.
        place = {node: k for k, node in enumerate(nodes)}
        among, dag = _support(len(nodes), _among(basis, place), _renamed(statement, place))
        if among == "contradiction" or all(map(_is_local, basis)) or (among == "follows" and len(witnesses)):
            return among, dag and _spread(n, dag, nodes)
    return ("too large", None) if n > LARGEST else _support(n, frozenset(basis), statement)


def _dag(row: Graphs) -> DAG:
    return tuple(int(parents) for parents in row)


def _spread(n: int, dag: DAG, nodes: Sequence[int]) -> DAG:
    """Return a DAG over some nodes as one over n, in which the others have no edges."""
    parents = dict(zip(nodes, dag, strict=True))
    return tuple(sum(1 << nodes[u] for u in bits(parents.get(v, 0))) for v in range(n))


@lru_cache(maxsize=1 << 14)
def _support(n: int, basis: frozenset[Constraint], statement: Statement) -> tuple[Support, DAG | None]:
    graphs, possible = with_edges(n, basis), False
    in_order = sorted(basis, key=_cost)
    for start in range(0, len(graphs), _AT_ONCE):
        block = graphs[start : start + _AT_ONCE]
        for constraint in in_order:
            block = block[satisfied(block, constraint)]
        if len(block):
            possible = True
            if not (holds := satisfied(block, statement)).all():
                return "leap", _dag(block[~holds][0])
    return "follows" if possible else "contradiction", None


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


def _is_local(constraint: Constraint) -> bool:
    """Test whether it speaks of edges among its own nodes alone."""
    if not isinstance(constraint, Statement):
        return isinstance(constraint, Triples) or not constraint.separating
    return constraint.kind not in (Kind.CAUSE, Kind.INDEPENDENT)


def _nodes(constraint: Constraint) -> tuple[int, ...]:
    return constraint.nodes if isinstance(constraint, Statement) else (constraint.i, constraint.j)


def _renamed(statement: Statement, place: Mapping[int, int]) -> Statement:
    return replace(statement, nodes=tuple(place[node] for node in statement.nodes))


def graphs_with(n: int, basis: Collection[Constraint]) -> Graphs:
    """Return all DAGs over n nodes in which all of the basis is true."""
    graphs = with_edges(n, basis)
    for constraint in sorted(basis, key=_cost):
        graphs = graphs[satisfied(graphs, constraint)]
    return graphs


def _cost(constraint: Constraint) -> int:
    """Return the place of a constraint: cheap ones leave few graphs to those that take long."""
    if not isinstance(constraint, Statement):
        return 3 if isinstance(constraint, PairSentences) and constraint.separating else 0
    return {Kind.CAUSE: 1, Kind.INDEPENDENT: 2}.get(constraint.kind, 0)
