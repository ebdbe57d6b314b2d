"""Binary classification with Yes as the positive class, from counts; intervals of counts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeVar

from harness.scoring import bootstrap
from harness.scoring.definitions import MetricDefinition, of_counts
from harness.types import Metric, Unreadable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Number = TypeVar("Number", int, "NDArray[np.float64]")
"""One count, or an array of them."""


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How many items were answered right or wrong (tp, fp, fn, tn), unreadably, or not at all.

    Failed calls are in no metric. They are shown beside it.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    unreadable_positive: int = 0
    unreadable_negative: int = 0
    failed_positive: int = 0
    failed_negative: int = 0

    @property
    def confusion(self) -> dict[str, int]:
        """The counts by name: the four of the table always, the others where there are any."""
        counts = asdict(self)
        return {name: count for name, count in counts.items() if count or name in ("tp", "fp", "fn", "tn")}

    def with_unreadable(self, unreadable: Unreadable) -> tuple[int, int, int, int]:
        """Return (tp, fp, fn, tn) with the unreadable replies scored."""
        lost = self.unreadable_positive, self.unreadable_negative
        return settle(self.tp, self.fp, self.fn, self.tn, *lost, unreadable)

    def all_wrong(self) -> tuple[int, int, int, int]:
        """Return (tp, fp, fn, tn) if every unreadable reply and every failed call had been wrong."""
        positive, negative = self.lost
        return self.tp, self.fp + negative, self.fn + positive, self.tn

    def all_right(self) -> tuple[int, int, int, int]:
        """Return (tp, fp, fn, tn) if every unreadable reply and every failed call had been right."""
        positive, negative = self.lost
        return self.tp + positive, self.fp, self.fn, self.tn + negative

    @property
    def lost(self) -> tuple[int, int]:
        """Unreadable and failed items, gold label 1 and 0."""
        return (
            self.unreadable_positive + self.failed_positive,
            self.unreadable_negative + self.failed_negative,
        )

    @property
    def items(self) -> int:
        return self.tp + self.fp + self.fn + self.tn + self.unreadable + self.failed

    @property
    def positives(self) -> int:
        return self.tp + self.fn + self.unreadable_positive + self.failed_positive

    @property
    def unreadable(self) -> int:
        return self.unreadable_positive + self.unreadable_negative

    @property
    def failed(self) -> int:
        return self.failed_positive + self.failed_negative


def settle(
    tp: Number,
    fp: Number,
    fn: Number,
    tn: Number,
    unreadable_positive: Number,
    unreadable_negative: Number,
    unreadable: Unreadable,
) -> tuple[Number, Number, Number, Number]:
    """Return (tp, fp, fn, tn) with the unreadable replies scored."""
    if unreadable == "no":
        return tp, fp, fn + unreadable_positive, tn + unreadable_negative
    return tp, fp + unreadable_negative, fn + unreadable_positive, tn


def decisions(counts: AnswerCounts, *, unreadable: Unreadable) -> tuple[Metric, ...]:
    """Return the metrics that are made of counts as fractions; None where one is undefined.

    F1, precision, recall and accuracy equal scikit-learn's with Yes as the positive label wherever they are defined.
    With bounds where there are unreadable replies or failed calls.
    """
    metrics = []
    for metric in of_counts():
        lowest, highest = None, None
        if any(counts.lost):
            lowest, highest = _value(metric, counts.all_wrong()), _value(metric, counts.all_right())
        bounds = None if lowest is None or highest is None else (lowest, highest)
        metrics.append(Metric(metric.name, _value(metric, counts.with_unreadable(unreadable)), bounds=bounds))
    return tuple(metrics)


def _value(metric: MetricDefinition, counts: tuple[int, int, int, int]) -> float | None:
    assert metric.of_counts is not None
    return _ratio(*metric.of_counts(*counts))


def multiclass(outcomes: Mapping[tuple[int, int], int]) -> tuple[float | None, float | None]:
    """Return (macro F1, accuracy) from how often each (gold class, answered class) occurs; None where nothing does.

    The classes are those that occur as either; scikit-learn's f1_score(average="macro") and accuracy_score.
    """
    total = sum(outcomes.values())
    classes = {c for pair, number in outcomes.items() if number for c in pair}
    f1 = []
    for c in classes:
        gold = sum(number for (g, _), number in outcomes.items() if g == c)
        answered = sum(number for (_, a), number in outcomes.items() if a == c)
        f1.append(2 * outcomes.get((c, c), 0) / (gold + answered))
    right = sum(number for (g, a), number in outcomes.items() if g == a)
    return (sum(f1) / len(f1) if f1 else None), _ratio(right, total)


def probabilities(
    gold: Sequence[int] | NDArray[np.int64], p_yes: Sequence[float] | NDArray[np.float64]
) -> tuple[Metric, ...]:
    """Return AUROC, average precision and Brier score of the probabilities of Yes, by scikit-learn.

    Parallel sequences over the items that have one. AUROC and average precision are None where only one
    class occurs; the Brier score (mean squared error, lower is better) where nothing does.
    """
    import numpy as np
    from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

    if not len(gold):
        return Metric("auroc", None), Metric("average_precision", None), Metric("brier", None)
    both = 0 < np.sum(gold) < len(gold)
    return (
        Metric("auroc", float(roc_auc_score(gold, p_yes)) if both else None),
        Metric("average_precision", float(average_precision_score(gold, p_yes)) if both else None),
        Metric("brier", float(brier_score_loss(gold, p_yes, labels=[0, 1]))),
    )


@dataclass(frozen=True, slots=True)
class Bin:
    """Items of nearly one probability of Yes: what was predicted of them in the mean, and the share that is Yes."""

    predicted: float
    observed: float
    interval: tuple[float, float] | None
    """Of the observed share; None where fewer than six clusters have an item here, or all resamples are the same."""
    items: int
    clusters: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """How far probabilities of Yes are from the shares that are Yes."""

    bins: tuple[Bin, ...]
    ece: float
    """The expected calibration error: the mean over items of the distance in their bin. Noise makes it larger."""
    error: Metric
    """The root of the mean over items of the squared distance in their bin, without noise."""
    brier: Metric
    items: int


BINS = 10


def reliability(gold: Sequence[int], p_yes: Sequence[float], cluster: Sequence[str]) -> Reliability:
    """Return the reliability of probabilities of Yes, of one item at least.

    Parallel sequences over items. Ten bins of equally many items (Nguyen and O'Connor, EMNLP 2015), fewer where many
    items have one probability, as equal ones share a bin; the same bins in all resamples of whole clusters. The ECE is
    that of Naeini et al. (AAAI 2015) over these bins, biased upward; the error without noise is that of Kumar et al.
    (NeurIPS 2019, the debiased estimator), with the clusters' noise in the place of the binomial one.
    """
    import numpy as np

    sums = _by_cluster_and_bin(gold, p_yes, cluster)
    yes, predicted, items, squares = sums.sum(axis=0).T
    clusters_of_bin = (sums[..., 2] > 0).sum(axis=0)
    clusters, total = len(sums), float(items.sum())
    ends: list[tuple[float, float] | None] = [None] * len(items)
    error, brier = Metric("calibration_error", None), Metric("brier", float(squares.sum()) / total)
    if clusters >= bootstrap.FEWEST:
        draws = bootstrap.draws(clusters, bootstrap.resamples(clusters), width=sums[0].size)
        drawn = [(weights @ sums.reshape(clusters, -1)).reshape(-1, len(items), 4) for weights in draws]
        resampled = np.concatenate(drawn)
        shares = _divided(resampled[..., 0], resampled[..., 2]).T
        enough = [number >= bootstrap.FEWEST for number in clusters_of_bin]
        ends = [
            bootstrap.interval(share, clusters) if is_enough else None
            for share, is_enough in zip(shares, enough, strict=True)
        ]
        observed = float(_mean_square(sums.sum(axis=0)))
        error = Metric(error.name, *bootstrap.without_noise(observed, _mean_square(resampled), clusters))
        mean_errors = resampled[..., 3].sum(axis=-1) / resampled[..., 2].sum(axis=-1)
        brier = Metric(brier.name, brier.value, bootstrap.interval(mean_errors, clusters))
    bins = tuple(
        Bin(float(p / n), float(y / n), interval, int(n), int(number))
        for p, y, n, interval, number in zip(predicted, yes, items, ends, clusters_of_bin, strict=True)
    )
    return Reliability(bins, float(abs(yes - predicted).sum()) / total, error, brier, int(total))


def _by_cluster_and_bin(gold: Sequence[int], p_yes: Sequence[float], cluster: Sequence[str]) -> NDArray[np.float64]:
    """Return (clusters, bins, 4): sums of labels, of probabilities, of items and of squared errors."""
    import numpy as np

    y, p = np.asarray(gold, float), np.asarray(p_yes, float)
    _, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2  # in the order of probabilities: the rank that equal ones share
    _, bin_of_value = np.unique((BINS * middle / len(p)).astype(int), return_inverse=True)
    names, of_cluster = np.unique(np.asarray(cluster), return_inverse=True)
    sums = np.zeros((len(names), bin_of_value.max() + 1, 4))
    order = np.lexsort((y, p, of_cluster))  # floats do not add up alike in every order
    parts = np.column_stack([y, p, np.ones(len(y)), (p - y) ** 2])
    np.add.at(sums, (of_cluster[order], bin_of_value[place][order]), parts[order])
    return sums


def _mean_square(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over items of the squared distance in their bin, of sums (…, bins, 4)."""
    import numpy as np

    distances = _divided((sums[..., 0] - sums[..., 1]) ** 2, sums[..., 2])
    return np.asarray(np.nansum(distances, axis=-1) / sums[..., 2].sum(axis=-1))


def _divided(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a ratio; NaN where there is nothing."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        return np.asarray(above / below)


def _ratio(numerator: float, denominator: float) -> float | None:
    return numerator / denominator if denominator else None


def wilson(hits: int, total: int) -> tuple[float, float] | None:
    """Return Wilson's score interval of a proportion (1927), equal to scipy's; None where total is 0."""
    if not total:
        return None
    z = NormalDist().inv_cdf(0.975)
    share, spread = hits / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return (0.0 if not hits else middle - half), (1.0 if hits == total else middle + half)


def wilson_f1(tp: int, fp: int, fn: int) -> tuple[float, float] | None:
    """Return an interval of F1, which is no proportion, by way of F* = TP / (TP + FP + FN), which is one.

    F1 = 2F* / (1 + F*) grows with F* (Hand, Christen and Kirielle, F*: an interpretable transformation of the
    F-measure, Machine Learning 2021), so Wilson's limits of the one are limits of the other. Lam, Gopal and Qian,
    Confidence Intervals for the F1 Score (arXiv:2309.14621), compare intervals of this kind.
    """
    limits = wilson(tp, tp + fp + fn)
    return None if limits is None else (2 * limits[0] / (1 + limits[0]), 2 * limits[1] / (1 + limits[1]))


def wilson_intervals(counts: AnswerCounts) -> dict[str, tuple[float, float] | None]:
    """Return 95% intervals by metric, None where it is undefined. Every item has to be answered readably."""
    tp, fp, fn, tn = counts.tp, counts.fp, counts.fn, counts.tn
    return {
        "f1": wilson_f1(tp, fp, fn),
        "precision": wilson(tp, tp + fp),
        "recall": wilson(tp, tp + fn),
        "accuracy": wilson(tp + tn, tp + fp + fn + tn),
    }
