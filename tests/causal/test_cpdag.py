"""Completed patterns against their definition: an edge is directed iff all members of the class direct it alike."""

from __future__ import annotations

import random

import pytest
from support.brute_force import every_dag

from harness.causal.cpdag import cpdag, dag_in, nearest_dag
from harness.causal.dag import bits, from_integer, relabel, topological_order
from harness.causal.equivalence import members
from harness.causal.learned_graph import Pattern


def by_definition(dag):
    """Return the directed edges that all members share; all others have no direction."""
    every = [{(u, v) for v, above in enumerate(member) for u in bits(above)} for member in members(dag)]
    shared = set.intersection(*every)
    return shared, {frozenset(edge) for edge in every[0] - shared}


def edges(pattern):
    return (
        {(u, v) for v, above in enumerate(pattern.directed) for u in bits(above)},
        {frozenset((u, v)) for v, beside in enumerate(pattern.undirected) for u in bits(beside)},
    )


def drawn(count, n):
    draw = random.Random(n)
    for _ in range(count):
        order = draw.sample(range(n), n)
        yield relabel(from_integer(n, draw.getrandbits(n * (n - 1) // 2) & draw.getrandbits(63)), tuple(order))


def test_of_every_graph_over_four_nodes_and_five_hundred_over_seven():
    for dag in [*every_dag(4), *drawn(500, 7)]:
        assert edges(cpdag(dag)) == by_definition(dag)


def test_a_dag_in_a_completed_pattern_is_a_member_and_nearest():
    for dag in drawn(200, 7):
        whole = cpdag(dag)
        assert dag_in(whole) in set(members(dag))
        assert nearest_dag(whole) == dag_in(whole)
        assert dag_in(Pattern.of(dag)) == dag


@pytest.mark.parametrize(
    ("directed", "undirected"),
    [
        ((0b100, 0b001, 0b010), (0, 0, 0)),  # a cycle
        ((0, 0, 0, 0), (0b1010, 0b0101, 0b1010, 0b0101)),  # a square: any direction makes a v-structure
    ],
)
def test_where_a_pattern_has_no_dag_the_nearest_keeps_its_edges(directed, undirected):
    pattern = Pattern(directed, undirected)
    assert dag_in(pattern) is None
    dag = nearest_dag(pattern)
    topological_order(dag)
    assert {frozenset((u, v)) for v, above in enumerate(dag) for u in bits(above)} == {
        frozenset((u, v)) for v, above in enumerate(pattern.adjacency()) for u in bits(above)
    }
