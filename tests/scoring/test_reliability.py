"""Reliability of probabilities: bins, bands and errors by their definitions, and intervals that hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.probabilities import BINS
from harness.scoring.probabilities import reliability as reliability_of

SIZES = (6, 12, 18, 18, 34, 36, 36, 60, 60, 60, 60, 60, 60, 60, 60, 72, 90, 90, 90, 90, 90)


def reliability(gold, p_yes, cluster):
    return reliability_of([*zip(gold, p_yes, cluster, strict=True)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0])), min_size=1))
def test_bins_and_errors_are_what_counting_gives(answers):
    gold, p_yes = map(list, zip(*answers, strict=True))
    found = reliability(gold, p_yes, ["c"] * len(gold))
    ranked = sorted(answers, key=lambda answer: answer[1])
    ece, predicted = 0.0, [one["predicted"] for one in found["bins"]]
    for one in found["bins"]:
        inside, ranked = ranked[: one["items"]], ranked[one["items"] :]
        assert not ranked or inside[-1][1] < ranked[0][1]  # equal probabilities share a bin
        assert one["observed"] == pytest.approx(np.mean([y for y, _ in inside]))
        assert one["predicted"] == pytest.approx(np.mean([p for _, p in inside]))
        ece += abs(sum(y - p for y, p in inside)) / len(gold)
    assert not ranked and predicted == sorted(predicted) and len(predicted) <= BINS
    assert found["ece"] == pytest.approx(ece)
    assert found["brier"] == pytest.approx(np.mean([(p - y) ** 2 for y, p in answers]))
    assert found["error"] is None and found["brier_interval"] is None  # one cluster


def test_without_ties_each_bin_has_a_tenth():
    found = reliability([0, 1] * 100, [k / 200 for k in range(200)], [str(k % 7) for k in range(200)])
    assert [one["items"] for one in found["bins"]] == [20] * BINS
    assert all(one["clusters"] == 7 and one["interval"] for one in found["bins"])


def test_a_bin_of_few_clusters_has_no_band_and_the_order_of_answers_makes_no_difference():
    gold, p_yes = [k % 3 % 2 for k in range(400)], [k / 400 for k in range(400)]
    cluster = [f"c{k % 8 if k < 360 else 0}" for k in range(400)]
    found = reliability(gold, p_yes, cluster)
    assert [one["interval"] is None for one in found["bins"]] == [False] * 9 + [True]
    assert reliability(gold[::-1], p_yes[::-1], cluster[::-1]) == found


def drawn(seed, shift):
    """Answers whose probabilities are off by a known amount, with clusters that differ."""
    random = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(21), SIZES)
    p = random.beta(1, 3, len(cluster))
    true = p * (1 - 2 * shift) + shift
    right = np.clip(true + random.uniform(-0.5, 0.5, 21)[cluster] * np.minimum(true, 1 - true), 0, 1)
    return p, true, (random.random(len(p)) < right).astype(int), cluster


def measured(seed, shift):
    """The true error in the bins, and what is found of it."""
    p, true, gold, cluster = drawn(seed, shift)
    found = reliability(gold.tolist(), p.tolist(), cluster.astype(str).tolist())
    apart = np.split((true - p)[np.argsort(p)], np.cumsum([one["items"] for one in found["bins"]])[:-1])
    return (sum(len(gaps) * gaps.mean() ** 2 for gaps in apart) / len(p)) ** 0.5, found


def test_the_error_is_without_noise_and_the_plain_one_is_not():
    calibrated = [measured(seed, 0)[1] for seed in range(8)]
    assert np.mean([found["error"] for found in calibrated]) < 0.6 * np.mean([found["ece"] for found in calibrated])
    assert all(found["error_interval"][0] == 0 for found in calibrated)
    off = [measured(seed, 0.2) for seed in range(8)]
    assert np.mean([found["error"] for _, found in off]) == pytest.approx(np.mean([t for t, _ in off]), rel=0.1)
    assert np.mean([found["error_interval"][0] for _, found in off]) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0, 0.05, 0.1, 0.2])
def test_the_interval_of_the_error_holds_the_truth(shift):
    pairs = [measured(seed, shift) for seed in range(150)]
    held = [found["error_interval"][0] <= true + 1e-9 <= found["error_interval"][1] + 2e-9 for true, found in pairs]
    assert np.mean(held) >= 0.92
