"""McNemar, Holm, power and proportions, against statsmodels and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from harness.scoring.classification import AnswerCounts
from harness.scoring.significance import McNemar, detectable, holm, intervals, wilson, wilson_f1


@pytest.mark.parametrize("table", [(10, 2, 8, 5), (0, 0, 6, 0), (3, 30, 30, 3), (522, 51, 327, 262), (1, 1, 0, 1)])
def test_mcnemar_is_statsmodels_exact_one(table):
    both, first, second, neither = table
    theirs = mcnemar([[both, first], [second, neither]], exact=True)
    assert McNemar(*table).p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_mcnemar_without_a_difference():
    assert McNemar(5, 0, 0, 5).p == 1


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_statsmodels(seed):
    p = np.random.default_rng(seed).uniform(0, 0.2, size=12).tolist()
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_holm_with_ties_and_with_what_was_not_tested():
    assert holm([0.01, None, 0.04, 0.01, None]) == pytest.approx([0.03, None, 0.04, 0.03, None])
    assert holm([None]) == [None]
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1, 1]


def test_the_detectable_difference_has_80_percent_power():
    error = 0.03
    apart = detectable(error)
    assert apart == pytest.approx(2.8016 * error, rel=1e-4)
    reject = norm.sf(norm.ppf(0.975) - apart / error) + norm.cdf(-norm.ppf(0.975) - apart / error)
    assert reject == pytest.approx(0.80, abs=1e-4)
    assert detectable(None) is None


@pytest.mark.parametrize(("hits", "total"), [(0, 342), (342, 342), (1, 3), (163, 342), (1943, 2246)])
def test_wilson_is_statsmodels_and_scipys(hits, total):
    assert wilson(hits, total) == pytest.approx(proportion_confint(hits, total, method="wilson"), abs=1e-12)
    assert wilson(hits, total) == pytest.approx(tuple(binomtest(hits, total).proportion_ci(method="wilson")), abs=1e-12)


def test_of_nothing_there_is_no_interval():
    assert wilson(0, 0) is None
    assert intervals(AnswerCounts(tn=5)) == {"f1": None, "precision": None, "recall": None, "accuracy": wilson(5, 5)}


@pytest.mark.parametrize("counts", [(163, 616, 179), (6, 77, 336), (333, 28, 9)])
def test_the_interval_of_f1_covers_it(counts):
    # Items drawn anew, independent, from a model as good as the counts say: 95% of intervals hold its F1.
    tp, fp, fn = counts
    truth = 2 * tp / (2 * tp + fp + fn)
    low, high = wilson_f1(*counts)
    assert low < truth < high
    shares = np.array([tp, fp, fn, 2246 - sum(counts)]) / 2246
    draws = np.random.default_rng(0).multinomial(2246, shares, size=2000)
    coverage = np.mean([low <= truth <= high for low, high in (wilson_f1(*row[:3].tolist()) for row in draws)])
    assert coverage == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / 2000))
