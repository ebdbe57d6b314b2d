"""How often the intervals called 95% hold the truth, where it is known: simulated."""

from __future__ import annotations

import numpy as np
import pytest
from support.corr2cause_help import SIZES

from harness.scoring.bootstrap import interval
from harness.scoring.classification import ratios as ratios_of_counts
from harness.scoring.definitions import of_counts
from harness.scoring.intervals import ClusterSums, ratio_intervals

NAMES = ("f1", "precision", "recall", "accuracy")


def population(clusters: int, random: np.random.Generator) -> np.ndarray:
    """(clusters, 8) counts of clusters of the test split's sizes; shares of Yes and of errors vary between them.

    The intraclass correlation of being right is about 0.1.
    """
    sizes = random.choice(SIZES, clusters)
    positives = random.binomial(sizes, random.beta(1.2, 6, clusters))
    tp = random.binomial(positives, random.beta(4, 4, clusters))
    fp = random.binomial(sizes - positives, random.beta(2, 6, clusters))
    return np.column_stack([tp, fp, positives - tp, sizes - positives - fp, *[np.zeros(clusters)] * 4]).astype(float)


def ratios(*counts: object) -> dict[str, tuple]:
    return {metric.name: metric.of_counts(*counts) for metric in of_counts()}


def naive(counts: np.ndarray, random: np.random.Generator) -> dict[str, tuple[float, float] | None]:
    """Return intervals as if items were independent: they are drawn item by item."""
    total = counts[:, :4].sum(axis=0)
    resampled = random.multinomial(int(total.sum()), total / total.sum(), size=2000).astype(float)
    return {name: interval(above / below, 10**6) for name, (above, below) in ratios(*resampled.T).items()}


def coverage(clusters: int, times: int = 1000) -> tuple[dict[str, float], dict[str, float]]:
    """Return (that of the clustered interval, that of the naive one) by metric."""
    random = np.random.default_rng(clusters)
    truth = {n: above / below for n, (above, below) in ratios(*population(10**6, random).sum(axis=0)[:4]).items()}
    hits = {name: [[], []] for name in NAMES}
    for _ in range(times):
        counts = population(clusters, random)
        [of] = ratio_intervals([ClusterSums(counts, ratios_of_counts("wrong"))])
        for way, ranges in enumerate(({name: of[name].interval for name in NAMES}, naive(counts, random))):
            for name in NAMES:
                if ranges[name] is not None:
                    low, high = ranges[name]
                    hits[name][way].append(low <= truth[name] <= high)
    return tuple({name: float(np.mean(hits[name][way])) for name in NAMES} for way in (0, 1))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("clusters", [6, 10, 14, 21, 50])
def test_the_clustered_interval_holds_the_truth_and_the_naive_one_does_not(clusters):
    ours, naive_one = coverage(clusters)
    print(clusters, {name: (round(ours[name], 3), round(naive_one[name], 3)) for name in NAMES})
    for name in NAMES:
        assert 0.89 < ours[name] < 0.97, name
        assert naive_one[name] < 0.8, name
