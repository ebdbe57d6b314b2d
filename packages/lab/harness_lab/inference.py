"""Which statements follow from others: those true in every DAG over n nodes in which the others are.

Decided by looking at all DAGs: there is no rule in it that could be missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np

from harness.causal.dag import DAG
from harness_lab.every_graph import LARGEST, Constraint, Triples, satisfied, with_edges
from harness_lab.statements import Kind, PairSentences, Statement

Support = Literal["follows", "leap", "contradiction", "too large"]
_AT_ONCE = 1 << 17


def support(n: int, basis: Collection[Constraint], statement: Statement, known: Sequence[DAG] = ()) -> Support:
    """Return whether a statement is true in every DAG over n nodes in which all of the basis is.

    `contradiction` where there is no such DAG, `too large` where DAGs over more than six nodes would have to be looked
    at. `known` are some DAGs to look at first, such as a class: they settle most cases. Statements that something is
    open are about classes, and refused.
    """
    everything = (*basis, statement)
    if any(isinstance(one, Statement) and one.open for one in everything):
        raise ValueError("that something is open is said of a class, not of a DAG")
    witnesses = np.array(known, np.uint16).reshape(-1, n)
    for constraint in basis:
        witnesses = witnesses[satisfied(witnesses, constraint)]
    if not satisfied(witnesses, statement).all():
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
    graphs, possible = with_edges(n, basis), False
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
