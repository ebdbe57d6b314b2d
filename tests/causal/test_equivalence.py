from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.brute_force import classes, dags, every_dag, graph_of, numbered, same_up_to_renaming, separations
from support.thinned import few

from harness.causal.dag import from_edges, from_integer, relabel
from harness.causal.equivalence import (
    from_independences,
    members,
    pattern_of,
    representatives,
    smallest,
)
from harness.causal.separation import independences


@pytest.mark.parametrize(("n", "count"), [(2, 2), (3, 5), (4, 20), (5, 142), (6, 2201)])
def test_classes_up_to_renaming(n, count):
    assert len(representatives(n)) == count


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_representative_is_the_smallest_number_of_its_class(n):
    visited, smallest = set(), []
    for number in range(2 ** (n * (n - 1) // 2)):
        independent = separations(numbered(n, number))
        if independent not in visited:
            smallest.append(number)
            visited |= same_up_to_renaming(n, independent)
    assert representatives(n) == smallest


@pytest.mark.parametrize("n", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_members_are_all_dags_with_equal_separations(n):
    for dag in every_dag(n):
        class_members = list(members(dag))
        assert class_members[0] == dag
        assert len(class_members) == len(set(class_members))
        assert set(class_members) == classes(n)[separations(dag)]


@settings(max_examples=40, deadline=None)
@given(dags(low=5, high=6))
def test_members_of_larger_graphs_separate_alike(dag):
    independent = separations(dag)
    for _, member in zip(range(10), members(dag), strict=False):
        assert separations(member) == independent


@pytest.mark.parametrize("n", [2, 3, 4])
def test_equal_patterns_are_equal_separations(n):
    patterns = {pattern_of(dag) for dag in every_dag(n)}
    assert len(patterns) == len(classes(n))
    for dags_of_class in classes(n).values():
        assert len({pattern_of(dag) for dag in dags_of_class}) == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_small_class_is_rebuilt_from_its_independences(n):
    for independent, dags_of_class in classes(n).items():
        assert from_independences(n, sorted(independent)) in dags_of_class


@settings(max_examples=60, deadline=None)
@given(dags(low=5, high=7), st.randoms(use_true_random=False))
def test_the_order_of_the_statements_does_not_matter(dag, draw):
    statements = independences(dag)
    draw.shuffle(statements)
    rebuilt = from_independences(len(dag), statements)
    assert rebuilt is not None
    assert set(independences(rebuilt)) == set(statements)
    assert graph_of(rebuilt).to_undirected().edges == graph_of(dag).to_undirected().edges


@pytest.mark.parametrize(
    "statements",
    [
        [(0, 2, ()), (1, 3, ())],  # v-structures that want one edge in both directions
        [(0, 2, (1, 3)), (1, 3, (0, 2))],  # a cycle of four without a chord and without a v-structure
    ],
)
def test_a_pattern_that_no_dag_has_is_refused(statements):
    assert from_independences(4, statements) is None


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_smallest_number_of_every_dag_is_its_representative(n):
    smallest_numbers = set(representatives(n))
    names = [smallest(from_integer(n, number)) for number in range(2 ** (n * (n - 1) // 2))]
    assert set(names) == smallest_numbers
    assert all(name <= number for number, name in enumerate(names))


@pytest.mark.parametrize(("n", "step"), few([(6, 4), (6, 1), (7, 60)], 1))
def test_a_representative_is_its_own_smallest_number(n, step):
    for number in representatives(n)[::step]:
        assert smallest(from_integer(n, number)) == number


@settings(max_examples=100, deadline=None)
@given(dags(low=2, high=10), st.randoms(use_true_random=False))
def test_renaming_and_another_member_change_nothing(dag, draw):
    place = list(range(len(dag)))
    draw.shuffle(place)
    other = relabel(draw.choice([member for member, _ in zip(members(dag), range(50), strict=False)]), tuple(place))
    name = smallest(dag)
    assert smallest(other) == name
    assert smallest(from_integer(len(dag), name)) == name


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [(i, j) for j in range(10) for i in range(j)],
        [(2 * i, 2 * i + 1) for i in range(5)],
        [(i, 5 + j) for i in range(5) for j in range(5) if i != j],
    ],
)
def test_ties_do_not_explode(edges):
    dag = from_edges(10, edges)
    place = list(range(10))
    random.Random(0).shuffle(place)
    assert smallest(relabel(dag, tuple(place))) == smallest(dag)
