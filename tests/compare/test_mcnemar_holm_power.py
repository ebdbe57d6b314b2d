"""McNemar, Holm and power, against statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from support.late import Late

from harness.compare.difference import Difference
from harness.compare.measure import holm
from harness.compare.pairing import McNemar

stats = Late("scipy.stats")
tables = Late("statsmodels.stats.contingency_tables")
multitest = Late("statsmodels.stats.multitest")


@pytest.mark.parametrize("table", [(10, 2, 8, 5), (0, 0, 6, 0), (3, 30, 30, 3), (522, 51, 327, 262), (1, 1, 0, 1)])
def test_mcnemar_is_statsmodels_exact_one(table):
    both, first, second, neither = table
    theirs = tables.mcnemar([[both, first], [second, neither]], exact=True)
    assert McNemar(*table).p == pytest.approx(theirs.pvalue, rel=1e-9)


def test_mcnemar_without_a_difference():
    assert McNemar(5, 0, 0, 5).p == 1


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
