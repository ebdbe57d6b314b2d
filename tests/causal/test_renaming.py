from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.brute_force import dags
from support.thinned import few

from harness.causal.dag import from_edges, from_integer, relabel
from harness.causal.equivalence import members, representatives, smallest


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
