"""Weighted AUROC and average precision against scikit-learn's sample_weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.late import Late

from harness.scoring.intervals import Ranking

sklearn_metrics = Late("sklearn.metrics")
# Few distinct probabilities: ties of positives, of negatives and of both.
shares = st.sampled_from([0.0, 0.125, 0.3, 0.3000001, 0.5, 0.9, 1.0]) | st.floats(0, 1)
items = st.lists(st.tuples(st.integers(0, 1), shares, st.integers(0, 4)), min_size=1, max_size=40)


def check(gold, p_yes, cluster, weights):
    gold, p_yes, cluster = np.array(gold), np.array(p_yes), np.array(cluster)
    auroc, average_precision = Ranking(gold, p_yes, cluster).values(weights)
    assert len(auroc) == len(average_precision) == len(weights)
    for row, of in enumerate(weights):
        weight = of[cluster]
        if not (weight[gold == 1].sum() and weight[gold == 0].sum()):
            assert np.isnan(auroc[row]) and np.isnan(average_precision[row])
            continue
        assert auroc[row] == pytest.approx(sklearn_metrics.roc_auc_score(gold, p_yes, sample_weight=weight), abs=1e-12)
        theirs = sklearn_metrics.average_precision_score(gold, p_yes, sample_weight=weight)
        assert average_precision[row] == pytest.approx(theirs, abs=1e-12)


@given(items, st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=4))
def test_they_are_scikit_learns(found, weights):
    check(*zip(*found, strict=True), np.array(weights, dtype=float))


@pytest.mark.parametrize("digits", [1, 2, 12])
def test_they_are_scikit_learns_for_many_items(digits):
    draw = np.random.default_rng(digits)
    p_yes = draw.beta(2, 5, 3000).round(digits)
    check(draw.binomial(1, p_yes), p_yes, draw.integers(0, 5, 3000), draw.integers(0, 4, (5, 5)).astype(float))
