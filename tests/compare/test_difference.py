"""Differences of two runs over clusters, against scipy and formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.late import Late

from harness.compare.difference import Difference, differences, holm, of_counts, of_runs, swap_test
from harness.scoring.bootstrap import CONSTANT, RESTS_ON_FEW

stats = Late("scipy.stats")
sklearn_metrics = Late("sklearn.metrics")
METRICS = ("f1", "accuracy", "precision", "recall")


def observations(clusters, seed=0, size=30, better=0.15, positive=0.4):
    """Cells of two runs that agree within clusters more than across them; and the items themselves."""
    random = np.random.default_rng(seed)
    cells = np.zeros((clusters, 2, 2, 2), dtype=np.int64)
    items = []
    for c in range(clusters):
        skill = random.uniform(0.3, 0.7)
        for _ in range(random.integers(size // 2, size + 1)):
            gold = int(random.random() < positive)
            a = gold if random.random() < skill else 1 - gold
            b = gold if random.random() < skill + better else 1 - gold
            cells[c, gold, a, b] += 1
            items.append((c, gold, a, b))
    return cells, np.array(items)


def statistic(cells, metric):
    """The difference for chosen rows of both runs: the first C rows are the first run's clusters, then the second's."""
    columns = of_counts(cells)
    rows = np.concatenate([columns[:, [0, 1, 4, 5]], columns[:, [2, 3, 4, 5]]])

    def value(indices):
        tp, fp, positives, items = rows[indices].sum(axis=0)
        if metric == "f1":
            return 2 * tp / (tp + fp + positives)
        return {"precision": tp / (tp + fp), "recall": tp / positives}.get(
            metric, (items - positives - fp + tp) / items
        )

    return lambda x, y: value(y.astype(int)) - value(x.astype(int))


def test_values_are_scikit_learns():
    cells, items = observations(8)
    rows, _ = differences(of_counts(cells), METRICS, resamples=100)
    theirs = {name: getattr(sklearn_metrics, f"{name}_score") for name in METRICS}
    for row in rows:
        score = theirs[row.metric]
        assert row.first == pytest.approx(score(items[:, 1], items[:, 2]))
        assert row.second == pytest.approx(score(items[:, 1], items[:, 3]))
        assert row.value == pytest.approx(row.second - row.first)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_every_swap_is_scipys_exact_permutation_test(metric, seed):
    cells, _ = observations(8, seed)
    first = np.arange(8)
    theirs = stats.permutation_test(
        (first, first + 8), statistic(cells, metric), permutation_type="samples", n_resamples=np.inf
    )
    (difference,), swaps = differences(of_counts(cells), [metric], resamples=100)
    assert swaps.exact and swaps.number == 256
    assert difference.value == pytest.approx(theirs.statistic)
    assert difference.p == pytest.approx(theirs.pvalue)


def test_random_swaps_agree_with_all_of_them(monkeypatch):
    cells, _ = observations(12, 1, better=0.1)
    columns, apart = of_counts(cells), {"f1": of_runs("f1")[2]}
    every, _ = swap_test(columns, apart, draws=1, seed=0)
    monkeypatch.setattr("harness.compare.difference.ALL_SWAPS", 5)
    some, swaps = swap_test(columns, apart, draws=100_000, seed=0)
    assert not swaps.exact and swaps.number == 100_000
    assert some["f1"] == pytest.approx(every["f1"], abs=4 * math.sqrt(every["f1"] / 100_000) + 1e-5)


def test_random_swaps_never_give_zero():
    cells, _ = observations(60, better=0.3)
    p, swaps = swap_test(of_counts(cells), {"accuracy": of_runs("accuracy")[2]}, draws=199, seed=0)
    assert p["accuracy"] == 1 / 200 == swaps.least


def test_clusters_that_make_no_difference_do_not_count_as_swaps():
    cells, _ = observations(30)
    cells[5:] = 0
    cells[5:, 1, 1, 1] = 7  # both right
    (difference,), swaps = differences(of_counts(cells), ["f1"], resamples=100)
    assert swaps.clusters == 5 and swaps.exact and swaps.least == 2 / 2**5 <= difference.p


@pytest.mark.parametrize("metric", METRICS)
def test_the_interval_is_scipys_bootstrap(metric):
    cells, _ = observations(40, 2)
    first = np.arange(40)
    of = statistic(cells, metric)
    # random_state, as rng= is of scipy 1.15.
    how = {"n_resamples": 4000, "method": "percentile", "vectorized": False, "random_state": np.random.default_rng(0)}
    theirs = stats.bootstrap((first,), lambda x: of(x, x + 40), **how)
    (difference,), _ = differences(of_counts(cells), [metric])
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert difference.interval == pytest.approx(tuple(theirs.confidence_interval), abs=0.08 * width)
    assert difference.error == pytest.approx(theirs.standard_error, rel=0.05)


def test_the_standard_error_of_accuracy_is_millers_clustered_one():
    # arXiv:2411.00640: the root of the sum over clusters of squared sums of deviations, over n.
    cells, items = observations(50, 3)
    apart = (items[:, 3] == items[:, 1]).astype(float) - (items[:, 2] == items[:, 1])
    sums = [(apart[items[:, 0] == c] - apart.mean()).sum() for c in range(50)]
    miller = math.sqrt(sum(s * s for s in sums)) / len(items)
    (difference,), _ = differences(of_counts(cells), ["accuracy"])
    assert difference.error == pytest.approx(miller * math.sqrt(50 / 49), rel=0.04)


def test_one_cluster_has_values_only():
    cells, _ = observations(1)
    (difference,), swaps = differences(of_counts(cells), ["f1"])
    assert difference.value is not None and swaps is None
    assert (difference.interval, difference.error, difference.p) == (None, None, None)


def test_five_clusters_have_a_p_and_no_interval():
    (difference,), swaps = differences(of_counts(observations(5)[0]), ["f1"])
    assert difference.interval is None and difference.error is None
    assert difference.p >= swaps.least == 1 / 16


def test_a_metric_that_rests_on_five_clusters_has_no_interval():
    cells, _ = observations(20)
    cells[5:, 1] = 0  # positives stand in five clusters only
    by_name = {row.metric: row for row in differences(of_counts(cells), METRICS, resamples=500)[0]}
    assert by_name["recall"].value is not None and by_name["recall"].reason == RESTS_ON_FEW
    assert by_name["accuracy"].interval is not None


def test_equal_runs():
    cells, _ = observations(20)
    cells[:, :, 0, 1] = cells[:, :, 1, 0] = 0
    (difference,), swaps = differences(of_counts(cells), ["f1"], resamples=100)
    assert (difference.value, difference.p, difference.reason) == (0, 1, CONSTANT)
    assert difference.interval is None and difference.error is None
    assert (swaps.clusters, swaps.number, swaps.least) == (0, 1, 1)


def test_an_undefined_metric_has_no_difference():
    cells, _ = observations(20)
    cells[:, :, 1] = 0  # the first run never says Yes
    rows, _ = differences(of_counts(cells), METRICS, resamples=100)
    by_name = {row.metric: row for row in rows}
    assert by_name["precision"].first is None
    assert (by_name["precision"].value, by_name["precision"].p, by_name["precision"].interval) == (None, None, None)
    assert by_name["f1"].first == 0 and by_name["f1"].p is not None


def test_swapping_whole_clusters_keeps_its_level():
    # No difference in truth, strong clusters: 5% of the tests reject.
    random = np.random.default_rng(0)
    rejected = 0
    for _ in range(300):
        cells = np.zeros((10, 2, 2, 2), dtype=np.int64)
        for c in range(10):
            leaning = random.random()  # in this cluster, which of the two is right
            firsts = random.binomial(20, leaning)
            cells[c, 1, 1, 0], cells[c, 1, 0, 1] = firsts, 20 - firsts
        (difference,), _ = differences(of_counts(cells), ["accuracy"], resamples=1)
        rejected += difference.p <= 0.05
    assert rejected / 300 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)


multitest = Late("statsmodels.stats.multitest")


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_statsmodels(seed):
    p = np.random.default_rng(seed).uniform(0, 0.2, size=12).tolist()
    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])


def test_holm_with_ties_and_with_what_was_not_tested():
    assert holm([0.01, None, 0.04, 0.01, None]) == pytest.approx([0.03, None, 0.04, 0.03, None])
    assert holm([None]) == [None]
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1, 1]


def detectable(error):
    return Difference(0.0, None, error, metric="f1", first=0.5, second=0.5, p=None).detectable


def test_the_detectable_difference_has_80_percent_power():
    error = 0.03
    apart = detectable(error)
    assert apart == pytest.approx(2.8016 * error, rel=1e-4)
    norm = stats.norm
    reject = norm.sf(norm.ppf(0.975) - apart / error) + norm.cdf(-norm.ppf(0.975) - apart / error)
    assert reject == pytest.approx(0.80, abs=1e-4)
    assert detectable(None) is None
