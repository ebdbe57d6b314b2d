from __future__ import annotations

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.brute_force import dags, every_dag, graph_of, separations, subsets

from harness.causal.dag import from_integer, mask_of
from harness.causal.separation import conditioning_sets, d_connected, independences


def d_separated(dag, a: int, b: int, given: int = 0) -> bool:
    """Whether `given`, a set of nodes, d-separates a from b, two different nodes outside it."""
    return not d_connected(dag, a, [given])[b]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_small_graph_separates_as_in_networkx(n):
    for dag in every_dag(n):
        assert set(independences(dag)) == separations(dag)


@settings(max_examples=150, deadline=None)
@given(dags(low=2), st.data())
def test_random_graphs_separate_as_in_networkx(dag, data):
    graph, nodes = graph_of(dag), range(len(dag))
    for _ in range(10):
        a, b, *others = data.draw(st.permutations(nodes))
        conditions = set(others[: data.draw(st.integers(0, len(others)))])
        assert d_separated(dag, a, b, mask_of(conditions)) == nx.is_d_separator(graph, a, b, conditions)


@settings(max_examples=60, deadline=None)
@given(dags(low=2, high=7))
def test_many_sets_at_once_answer_as_one_at_a_time(dag):
    n = len(dag)
    given_sets = range(2**n)
    for a in range(n):
        together = d_connected(dag, a, given_sets)
        for s in given_sets:
            assert [row >> s & 1 for row in together] == [row & 1 for row in d_connected(dag, a, [s])]


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_conditioning_sets_are_all_and_in_lexicographic_order(n):
    for i, j in combinations(range(n), 2):
        sets = list(conditioning_sets(n, i, j))
        assert sets == sorted(sets)
        assert sorted(sets) == sorted(subsets([k for k in range(n) if k not in (i, j)]))


def test_independences_come_in_lexicographic_order():
    assert independences(from_integer(4, 0)) == [
        (i, j, given)
        for i, j in combinations(range(4), 2)
        for a, b in [[k for k in range(4) if k not in (i, j)]]
        for given in [(), (a,), (a, b), (b,)]  # not by size
    ]
    for dag in every_dag(4):
        assert independences(dag) == sorted(independences(dag))
