"""Confidence sequences beside another's program, and as their grid has them; simulate_until.py tries what they hold."""

from __future__ import annotations

import numpy as np
import pytest
from harness_lab.sequences import PAIRED, RatioSequence, components
from hypothesis import given
from hypothesis import strategies as st

ACCURACY, F1 = components("accuracy")[0], components("f1")[0]


def stream(share, number, seed=7):
    """Return zeros and ones of a generator that any language has."""
    values = []
    for _ in range(number):
        seed = (1103515245 * seed + 12345) % 2**31
        values.append(float(seed / 2**31 < share))
    return values


@pytest.mark.parametrize(
    ("share", "null", "population", "aim", "draws"),
    [
        (0.70, 0.5, None, 0.10, 61),
        (0.70, 0.5, 400, 0.10, 59),
        (0.30, 0.5, None, 0.05, 88),
        (0.30, 0.5, 300, 0.05, 76),
        (0.62, 0.5, None, None, 146),
        (0.62, 0.5, 500, None, 105),
        (0.20, 0.3, None, None, 163),
        (0.90, 0.8, 250, None, 134),
    ],
)
def test_the_draws_after_which_a_null_is_left_out_as_confseq_has_them(share, null, population, aim, draws):
    """confseq 0.0.11, betting_mart: the draw after which one half's capital is 40, with the bets that are made here."""
    sequence = RatioSequence(ACCURACY, 1, aim=aim, draws=population, at=null)
    for value in stream(share, population or 3000):
        sequence.add(value, 1)
        if (sequence.raised and sequence.low >= null) or (sequence.lowered and sequence.high <= null):
            break
    assert sequence.number == draws and (share > null) == (sequence.low >= null)


def test_of_two_that_are_as_good_none_is_called_better_however_often_one_looks():
    """Clusters of 1 to 9 items of which all are another's, or none: the most alike that there can be."""
    random, decided = np.random.default_rng(0), 0
    for _ in range(40):
        sequence = RatioSequence(PAIRED, 9, grid=1)
        for items in random.integers(1, 10, 60).tolist():
            sequence.add(float(random.integers(0, 2) * items), items)
        decided += (sequence.raised and sequence.low >= 0.5) or (sequence.lowered and sequence.high <= 0.5)
    assert decided <= 4


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25))
def test_all_draws_of_a_finite_set_make_the_interval_a_point_which_no_look_before_had_left_out_for_certain(counts):
    """What is left out early by a bet may be an accident; what is left out as impossible never is."""
    draws = [(float(2 * tp), float(2 * tp + fp + fn)) for tp, fp, fn in counts]
    total = sum(b for _, b in draws)
    sequence = RatioSequence(F1, 9, aim=0.001, draws=len(draws), alpha=1e-9)
    for a, b in draws:
        sequence.add(a, b)
        assert 0 <= sequence.low <= sequence.high <= 1
        if total and not sequence.exhausted:
            assert sequence.low <= sum(a for a, _ in draws) / total <= sequence.high
    if total:
        assert sequence.low == sequence.high == pytest.approx(sum(a for a, _ in draws) / total)


@given(
    st.sampled_from([ACCURACY, F1, components("precision")[0], components("recall")[0], PAIRED]),
    st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=60),
    st.sampled_from([None, 0.02]),
    st.booleans(),
)
def test_what_a_grid_leaves_out_a_finer_one_leaves_out_too(ratio, places, aim, finite):
    """The capital falls or rises with m, so a point between two others is left out where the outer one is."""
    draws = [places[k : k + 3] for k in range(0, len(places), 3)]
    coarse, fine = (
        RatioSequence(ratio, 3, aim=aim, draws=len(draws) + 5 if finite else None, alpha=0.6, grid=grid)
        for grid in (20, 200)
    )
    for draw in draws:
        a, b = np.array([ratio[place] for place in draw]).sum(axis=0)
        coarse.add(a, b)
        fine.add(a, b)
        assert coarse.low <= fine.low + 1e-9 and fine.high <= coarse.high + 1e-9


def test_what_is_no_mean_of_ratios_has_no_components():
    assert components("brier") == () and len(components("balanced_accuracy")) == 2
