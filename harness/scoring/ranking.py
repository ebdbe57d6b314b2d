"""Rankings: AUROC and average precision under many weightings, and how well one ranking agrees with another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Ranking:
    """Items in the order of their probabilities of Yes; a weighting gives each cluster's items one weight.

    Both metrics change only where a positive stands: all that is weighed are the sums of positives and of negatives
    down to each distinct probability that a positive has. Ties count as one step, as scikit-learn has it.
    """

    def __init__(self, gold: NDArray[np.int64], p_yes: NDArray[np.float64], cluster: NDArray[np.int64]) -> None:
        """Sort the items.

        Parallel arrays, one entry an item; clusters by number.
        """
        import numpy as np

        highest_first = np.argsort(-p_yes, kind="stable")
        positive = gold[highest_first] == 1
        p, of = p_yes[highest_first], cluster[highest_first]
        self._positives, self._negatives = of[positive], of[~positive]
        steps, p_negative = p[positive], -p[~positive]
        self._ends = np.flatnonzero(np.append(np.diff(steps) != 0, True)) if len(steps) else np.zeros(0, np.int64)
        self._above = np.searchsorted(p_negative, -steps[self._ends], side="left")
        self._at_or_above = np.searchsorted(p_negative, -steps[self._ends], side="right")

    def metrics_under(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (AUROC, average precision), each with an entry for each weighting; NaN where a class has no weight.

        `weights` is (weightings, clusters), whole numbers.

        Weights are whole numbers.
        """
        import numpy as np

        # Whole numbers of half the size, and one row an item: this gathers twice as fast.
        by_cluster = np.ascontiguousarray(weights.T.astype(np.int32))
        right = _sums(by_cluster[self._positives])
        wrong = _sums(by_cluster[self._negatives])
        positives, negatives = right[-1].astype(np.float64), wrong[-1].astype(np.float64)
        right, above, at_or_above = right[1:][self._ends], wrong[self._above], wrong[self._at_or_above]
        here = np.diff(right, axis=0, prepend=wrong[:1])
        with np.errstate(invalid="ignore"):
            auroc = (here * (negatives - (above + at_or_above) / 2)).sum(axis=0) / (positives * negatives)
            precision = right / np.maximum(right + at_or_above, 1)
            average_precision = np.where(negatives > 0, (here * precision).sum(axis=0) / positives, np.nan)
        return auroc, average_precision


def _sums(weights: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the sums of the first 0, 1, 2, … rows."""
    import numpy as np

    sums = np.zeros((len(weights) + 1, weights.shape[1]), np.int32)
    np.cumsum(weights, axis=0, out=sums[1:])
    return sums


MEASURES = (
    *(f"{name}_{which}" for which in ("direct", "all") for name in ("precision", "recall", "recall_at", "ap")),
    *("outside", "in_range", "in_order", "spearman", "kendall", "mae"),
)
"""What rankings with strengths are scored by; of each an item has one number, or none."""


def average_precision(hits: Sequence[bool], relevant: int) -> float | None:
    """Return the mean, over what is relevant, of the precision at its place; what is missing from the ranking has 0.

    `hits` says of each place of the ranking, the first first, whether what stands there is relevant. None where nothing
    is relevant. Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8.4.
    """
    if not relevant:
        return None
    found, total = 0, 0.0
    for place, hit in enumerate(hits, start=1):
        if hit:
            found += 1
            total += found / place
    return total / relevant


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the correlation of the ranks, equal values sharing their mean rank; see `_correlation`."""
    from scipy.stats import spearmanr

    return _correlation(first, second, lambda: spearmanr(first, second).statistic)


def kendall(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Kendall's tau b, which corrects for equal values; see `_correlation`."""
    from scipy.stats import kendalltau

    return _correlation(first, second, lambda: kendalltau(first, second).statistic)


def _correlation(first: Sequence[float], second: Sequence[float], measure: Callable[[], float]) -> float | None:
    """Return a correlation with a truth, `first`: None unless two of its values differ.

    0 where all of `second` are the same: who tells nothing apart must not drop out of a mean.
    """
    if len(set(first)) < 2:
        return None
    return float(measure()) if len(set(second)) > 1 else 0.0
