"""How often compare margin= is wrong where the truth is known: simulated."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.corr2cause_help import SIZES
from support.late import Late

from harness.compare.difference import differences, of_counts, of_runs

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
    cells = population((50_000,), right, correlation, alike, np.random.default_rng(1))
    return float(of_runs(metric)[2].of(of_counts(cells).sum(axis=0)))


def wrong(tables, apart, metric):
    """Return how often a candidate that is worse by just the margin is called no worse, and how often worse."""
    found = [differences(of_counts(cells), [metric], resamples=2_000)[0][0].interval for cells in tables]
    ends = [interval for interval in found if interval]
    return sum(low > apart for low, _ in ends) / len(found), sum(high < apart for _, high in ends) / len(found)


def errors(clusters, right, correlation, alike, metric, times):
    tables = population((times, clusters), right, correlation, alike, np.random.default_rng(clusters))
    return wrong(tables, truth(right, correlation, alike, metric), metric)


CASES = [
    (clusters, correlation, metric)
    for clusters in (21, 60)
    for correlation in (0, 0.3)
    for metric in ("accuracy", "f1")
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "correlation", "metric"), CASES)
def test_a_candidate_that_is_worse_by_the_margin_is_no_worse_in_five_percent_at_most(clusters, correlation, metric):
    found = errors(clusters, WORSE, correlation, 0.8, metric, 1000)
    print(clusters, correlation, metric, found)
    assert 0.005 < max(found) < 0.06


def test_a_few_of_them_in_little_time():
    assert max(errors(21, WORSE, 0.3, 0.8, "f1", 150)) < 0.09


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "correlation", "most"), [(21, 0, 0.05), (21, 0.3, 0.17), (60, 0.3, 0.1)])
def test_nearly_perfect_runs_are_the_hard_case(clusters, correlation, most):
    found = errors(clusters, NEARLY_PERFECT, correlation, 0.8, "accuracy", 1000)
    print(clusters, correlation, found)
    assert max(found) < most


def rare_losses(clusters, share, part, times, random):
    """Return cells of a candidate that loses a `part` of the items in a `share` of clusters, and is right elsewhere."""
    sizes = random.choice(SIZES, (times, clusters))
    lost = random.binomial(sizes, part * (random.random(sizes.shape) < share))
    cells = np.zeros((times, clusters, 2, 2, 2), np.int64)
    cells[..., 1, 1, 1], cells[..., 1, 1, 0] = sizes - lost, lost
    return cells


@pytest.mark.slow
@pytest.mark.parametrize(("clusters", "share", "part"), [(21, 0.2, 0.1), (60, 0.05, 1), (60, 0.2, 0.5)])
def test_a_loss_in_few_clusters_is_called_none_in_less_than_ten_percent(clusters, share, part):
    """Where no cluster with a loss was seen, nobody knows of it: then there is no interval."""
    found = wrong(rare_losses(clusters, share, part, 1000, np.random.default_rng(0)), -share * part, "accuracy")
    print(clusters, share, part, found)
    assert max(found) < 0.1
