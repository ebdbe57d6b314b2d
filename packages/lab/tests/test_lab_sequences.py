"""Confidence sequences beside another's program, and simulated: they hold the truth however often one looks."""

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


def clusters(share, alike, number, random):
    """(number, 4) true and false positives, false and true negatives of clusters of 1 to 9 items, half of them Yes."""
    sizes = random.integers(1, 10, number)
    if alike == 0:
        rates = np.full(number, share)
    else:
        rates = random.beta(share * (1 / alike - 1), (1 - share) * (1 / alike - 1), number)
    yes = random.binomial(sizes, 0.5)
    tp, tn = random.binomial(yes, rates), random.binomial(sizes - yes, rates)
    return np.column_stack([tp, sizes - yes - tn, yes - tp, tn]).astype(float)


def sums(ratio, counts):
    a, b = np.array(ratio).T
    return np.column_stack([counts @ a, counts @ b])


def loses_the_truth(ratio, rows, truth, **settings):
    """Return whether a look after any of the draws leaves the truth out."""
    sequence = RatioSequence(ratio, 9, at=truth, grid=1, **settings)
    for a, b in rows:
        sequence.add(a, b)
        if (sequence.raised and sequence.low >= truth) or (sequence.lowered and sequence.high <= truth):
            return not sequence.exhausted
    return False


def naive_loses_the_truth(draws, truth):
    """The same of the usual interval of a share, after each draw from the twentieth on."""
    right, items = draws.cumsum(axis=0)[19:].T
    share = right / items
    return bool((abs(share - truth) > 1.96 * np.sqrt(np.maximum(share * (1 - share), 1e-9) / items)).any())


def errors(alike, times, number=120):
    """Return how often the truth is lost: of an accuracy, an F1 of a finite set, a difference of 0, a naive share."""
    random, lost = np.random.default_rng(int(100 * alike)), np.zeros(4)
    for _ in range(times):
        draws = sums(ACCURACY, clusters(0.6, alike, number, random))
        lost[0] += loses_the_truth(ACCURACY, draws, 0.6, aim=0.05)
        lost[3] += naive_loses_the_truth(draws, 0.6)
        finite = sums(F1, clusters(0.6, alike, number, random))
        truth = finite[:, 0].sum() / finite[:, 1].sum()
        lost[1] += loses_the_truth(F1, random.permutation(finite), truth, aim=0.05, draws=number)
        one, other = (clusters(0.6, alike, number, random) for _ in range(2))
        flips = random.integers(0, 2, number) * 2 - 1  # the sign of a cluster's difference is a coin: none is better
        items = one.sum(axis=1)
        gap = flips * np.clip((one[:, [0, 3]].sum(axis=1) - other[:, [0, 3]].sum(axis=1)), -items, items)
        lost[2] += loses_the_truth(PAIRED, np.column_stack([(items + gap) / 2, items]), 0.5)
    return lost / times


def test_looking_after_every_draw_loses_the_truth_too_often_with_the_usual_interval_alone():
    lost = errors(0.1, 24, number=50)
    assert (lost[:3] <= 0.10).all() and lost[3] > 0.2, lost


@pytest.mark.slow
@pytest.mark.parametrize("alike", [0.0, 0.1, 0.3])
def test_two_thousand_runs_that_look_after_every_draw(alike):
    lost = errors(alike, 2000)
    print(alike, lost)
    assert (lost[:3] <= 0.05).all() and lost[3] > 0.2, lost


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


def test_a_width_of_twenty_points_takes_about_half_as_much_again_as_a_sample_that_was_planned():
    random, taken = np.random.default_rng(3), []
    for _ in range(3):
        sequence = RatioSequence(ACCURACY, 1, aim=0.1)
        while sequence.high - sequence.low > 0.2:
            sequence.add(float(random.random() < 0.6), 1)
        taken.append(sequence.number)
    planned = 1.96**2 * 0.24 / 0.1**2
    assert planned < np.median(taken) < 2 * planned
    assert components("brier") == () and len(components("balanced_accuracy")) == 2
