"""Intervals of proportions and of F1 from counts, against statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from harness_papers.published import wilson_intervals
from statsmodels.stats.proportion import proportion_confint

from harness.scoring.classification import AnswerCounts


@pytest.mark.parametrize(("hits", "total"), [(0, 342), (342, 342), (1, 3), (163, 342), (1943, 2246)])
def test_wilson_is_statsmodels(hits, total):
    ours = wilson_intervals(AnswerCounts(tp=hits, fp=total - hits))["precision"]
    assert ours == pytest.approx(proportion_confint(hits, total, method="wilson"), abs=1e-12)


def test_of_nothing_there_is_no_interval():
    assert wilson_intervals(AnswerCounts(tn=5)) == {"accuracy": pytest.approx((0.565518, 1), abs=1e-6)}


@pytest.mark.parametrize("counts", [(163, 616, 179), (6, 77, 336), (333, 28, 9)])
def test_the_interval_of_f1_covers_it(counts):
    # Items drawn anew, independent, from a model as good as the counts say: 95% of intervals hold its F1.
    def interval(tp, fp, fn):
        return wilson_intervals(AnswerCounts(tp=tp, fp=fp, fn=fn))["f1"]

    tp, fp, fn = counts
    truth = 2 * tp / (2 * tp + fp + fn)
    low, high = interval(*counts)
    assert low < truth < high
    shares = np.array([tp, fp, fn, 2246 - sum(counts)]) / 2246
    draws = np.random.default_rng(0).multinomial(2246, shares, size=2000)
    coverage = np.mean([low <= truth <= high for low, high in (interval(*row[:3].tolist()) for row in draws)])
    assert coverage == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / 2000))
