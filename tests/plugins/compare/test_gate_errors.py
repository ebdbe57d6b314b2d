"""How often harness gate is wrong, and how often McNemar's test, where the truth is known: simulated."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.corr2cause_help import SIZES
from support.late import Late
from support.thinned import few

from harness.plugins.compare.paired import _columns, _first, _second, one_sided
from harness.plugins.compare.pairs import mcnemar

stats = Late("scipy.stats")

WORSE = ((0.85, 0.82), (0.75, 0.70))
"""Shares of right answers of baseline and candidate, where gold is No and where it is Yes."""
NEARLY_PERFECT = ((0.98, 0.96), (0.95, 0.93))
SAME = ((0.85, 0.85), (0.75, 0.75))


@cache
def quantiles(mean, correlation):
    scale, grid = (1 - correlation) / correlation, np.linspace(-6, 6, 1001)
    return grid, stats.beta.ppf(stats.norm.cdf(grid), mean * scale, (1 - mean) * scale)


def shares(mean, correlation, effect):
    """Return shares of clusters: beta with this mean and intraclass correlation, from standard normal effects."""
    return np.interp(effect, *quantiles(mean, correlation)) if correlation else np.full(effect.shape, mean)


def population(shape, right, correlation, alike, random):
    """Return cells (*shape, 2, 2, 2) of clusters of the test split's sizes; one in six items is a Yes.

    `alike` is the correlation of both runs' cluster effects, and the share of items whose luck both have in common.
    """
    sizes = random.choice(SIZES, shape)
    positives = random.binomial(sizes, random.beta(1.2, 6, shape))
    cells = np.zeros((*shape, 2, 2, 2), np.int64)
    for gold, number in enumerate((sizes - positives, positives)):
        effect = random.normal(size=shape)
        other = alike * effect + np.sqrt(1 - alike**2) * random.normal(size=shape)
        first, second = shares(right[gold][0], correlation, effect), shares(right[gold][1], correlation, other)
        both = alike * np.minimum(first, second) + (1 - alike) * first * second
        p = np.stack([1 - first - second + both, second - both, first - both, both], axis=-1)
        table = random.multinomial(number, np.clip(p, 0, 1)).reshape(*shape, 2, 2)  # by who is right
        cells[..., gold, :, :] = table if gold else table[..., ::-1, ::-1]
    return cells


def truth(right, correlation, alike, metric):
    total = _columns(population((50_000,), right, correlation, alike, np.random.default_rng(1))).sum(axis=0)
    return float(_second(metric, total) - _first(metric, total))


def errors(clusters, right, correlation, alike, metric, times):
    """Return how often the lower bound is above the truth, and the upper one below it."""
    cells = population((times, clusters), right, correlation, alike, np.random.default_rng(clusters))
    apart = truth(right, correlation, alike, metric)
    spreads = [spread for each in cells if (spread := one_sided(each, (), metric))]
    assert len(spreads) > 0.99 * times
    wrong_go = np.mean([spread.low(0.05) > apart for spread in spreads])
    wrong_no_go = np.mean([spread.high(0.05) < apart for spread in spreads])
    return float(wrong_go), float(wrong_no_go)


CASES = [
    (clusters, correlation, alike, metric)
    for clusters in (21, 60, 300)
    for correlation in (0, 0.1, 0.3)
    for alike in (0, 0.8)
    for metric in ("accuracy", "f1")
]


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "correlation", "alike", "metric"), CASES)
def test_a_candidate_that_is_worse_by_the_margin_gets_go_in_five_percent_at_most(clusters, correlation, alike, metric):
    wrong = errors(clusters, WORSE, correlation, alike, metric, 3000 if clusters < 300 else 1000)
    print(clusters, correlation, alike, metric, wrong)
    assert max(wrong) < 0.055 and max(wrong) > 0.005


def test_a_few_of_them_in_little_time():
    assert max(errors(21, WORSE, 0.3, 0.8, "f1", 250)) < 0.07


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "correlation", "most"), [(21, 0, 0.05), (21, 0.3, 0.115), (60, 0.3, 0.06)])
def test_nearly_perfect_runs_are_the_hard_case(clusters, correlation, most):
    wrong = errors(clusters, NEARLY_PERFECT, correlation, 0.8, "accuracy", 4000)
    print(clusters, correlation, wrong)
    assert max(wrong) < most


def rare_losses(clusters, share, part, times, random):
    """Return cells of a candidate that loses a `part` of the items in a `share` of clusters, and is right elsewhere."""
    sizes = random.choice(SIZES, (times, clusters))
    lost = random.binomial(sizes, part * (random.random(sizes.shape) < share))
    cells = np.zeros((times, clusters, 2, 2, 2), np.int64)
    cells[..., 1, 1, 1], cells[..., 1, 1, 0] = sizes - lost, lost
    return cells


RARE = [(21, 0.1, 0.2), (21, 0.2, 0.1), (21, 0.3, 0.1), (60, 0.05, 1), (60, 0.1, 0.2), (60, 0.2, 0.5)]


@pytest.mark.parametrize(("clusters", "share", "part"), few(RARE, 1))
def test_a_loss_in_few_clusters_is_not_taken_for_none(clusters, share, part):
    """Student's t alone errs twice as often as it says. Where no cluster with a loss was seen, nobody knows of it."""
    times = 1500
    cells = rare_losses(clusters, share, part, times, np.random.default_rng(0))
    seen = [spread for each in cells if (spread := one_sided(each, (), "accuracy")).deviation]
    quantile = stats.t.ppf(0.95, clusters - 1)
    plain = [spread.value - quantile * spread.deviation / np.sqrt(clusters) for spread in seen]
    ours = sum(spread.low(0.05) > -share * part for spread in seen) / times
    alone = sum(low > -share * part for low in plain) / times
    print(clusters, share, part, ours, alone)
    assert ours < 0.075 and alone > max(0.07, 1.4 * ours)


@pytest.mark.slow
@pytest.mark.parametrize(("correlation", "least", "most"), [(0, 0.02, 0.06), (0.1, 0.3, 0.5), (0.3, 0.55, 0.7)])
def test_mcnemar_calls_equal_models_different_in_up_to_63_percent(correlation, least, most):
    """Two models that are equally good, each with clusters that it is good at: 5% is what is promised."""
    cells = population((1000, 21), SAME, correlation, 0, np.random.default_rng(0))
    wrong = np.mean([mcnemar(each).p <= 0.05 for each in cells])
    ours = errors(21, SAME, correlation, 0, "accuracy", 1000)
    print(correlation, wrong, ours)
    assert least < wrong < most and max(ours) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("alike", [0, 0.8])
def test_as_many_clusters_as_are_asked_for_settle_it_in_80_percent(alike):
    random = np.random.default_rng(5)
    pilot = one_sided(population((400,), SAME, 0.1, alike, random), (), "accuracy")
    clusters = pilot.clusters_for(0.05, 0.05, pilot.worst)
    cells = population((600, clusters), SAME, 0.1, alike, random)
    share = np.mean([one_sided(each, (), "accuracy").low(0.05) > -0.05 for each in cells])
    print(alike, clusters, share)
    assert 0.75 < share < 0.97
