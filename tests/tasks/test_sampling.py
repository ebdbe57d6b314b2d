from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codec import permuted, shuffled, uniform
from harness.tasks.base import subset, subset_by_place

VALUES = [f"{kind}{number}" for number in range(40) for kind in "aabc"[: 1 + number % 4]]


def sample(values, limit, seed=0):
    return subset(values, limit, stratum=lambda value: value[0], name=lambda value: value, seed=seed)


def numbered(sizes):
    return [f"{chr(97 + kind)}{number}" for kind, size in enumerate(sizes) for number in range(size)]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.data())
def test_every_stratum_gets_its_share(sizes, data):
    values = data.draw(st.permutations(numbered(sizes)))
    limit = data.draw(st.integers(1, len(values)))
    subset = sample(values, limit)
    assert len(subset) == limit
    count = Counter(value[0] for value in subset)
    for kind, size in zip("abcdefgh", sizes, strict=False):
        assert abs(count[kind] - limit * size / len(values)) < 1


def test_the_largest_remainders_get_what_is_left():
    # 10 of 100: shares of 5.4, 3.5 and 1.1.
    assert Counter(value[0] for value in sample(numbered([54, 35, 11]), 10)) == {"a": 5, "b": 4, "c": 1}


@given(st.permutations(numbered([9, 5, 3])), st.integers(1, 17))
def test_the_order_of_the_values_decides_nothing_but_the_order_of_the_sample(values, limit):
    subset = sample(values, limit)
    assert sorted(subset) == sorted(sample(numbered([9, 5, 3]), limit))
    assert subset == [value for value in values if value in subset]


@given(st.integers(1, 80), st.integers(1, 80))
def test_a_smaller_sample_of_a_stratum_is_part_of_a_larger_one(first, other):
    for kind in "abc":
        smaller, larger = sorted(
            ([v for v in sample(VALUES, limit) if v[0] == kind] for limit in (first, other)), key=len
        )
        assert set(smaller) <= set(larger)


@pytest.mark.parametrize("limit", [len(VALUES), len(VALUES) + 1])
def test_a_limit_that_is_not_reached_takes_all(limit):
    assert sample(VALUES, limit) == VALUES


def test_draws_never_change():
    # Samples, splits and permutations of earlier versions hang on these numbers.
    assert uniform(0, "limit", "n2-g1-parent-A-B") == 0.79246207972177
    assert shuffled("ABCDEF", 0, "permutation", "n6-g27516") == list("BCDFEA")


@given(st.integers(0, 60), st.integers(0, 5))
def test_a_permutation_drawn_one_by_one_has_every_place_once(size, seed):
    assert sorted(permuted(size, seed)) == list(range(size))


def test_a_permutation_never_changes():
    assert list(permuted(6, 0)) == [3, 1, 0, 5, 2, 4]


def sample_by_place(size, quota, seed=0):
    return subset_by_place(size, lambda place: place, quota, stratum=lambda value: value % 3, seed=seed)


@given(st.integers(0, 50), st.integers(0, 60), st.integers(0, 60))
def test_by_place_every_stratum_gets_its_quota_in_order(size, first, second):
    places = sample_by_place(size, {0: first, 1: second})
    assert places == sorted(set(places))
    assert Counter(value % 3 for value in places) == +Counter(
        {0: min(first, -(-size // 3)), 1: min(second, (size + 1) // 3)}
    )


def test_by_place_makes_no_more_values_than_it_needs():
    values = []
    subset_by_place(10**9, lambda place: values.append(place) or place, {0: 20, 1: 20}, stratum=lambda v: v % 3, seed=0)
    assert len(values) < 200
