"""Probabilities of Yes: how well they rank items, and how far they are from the shares that are Yes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.scoring import bootstrap
from harness.scoring.intervals import ClusterSums, Ratio, divided, fraction, ratio_intervals, resample
from harness.types import Metric


def probabilities(
    gold: Sequence[int] | NDArray[np.int64], p_yes: Sequence[float] | NDArray[np.float64]
) -> tuple[Metric, ...]:
    """Return AUROC, average precision and Brier score of the probabilities of Yes, by scikit-learn.

    Parallel sequences over the items that have one. AUROC and average precision are None where only one
    class occurs; the Brier score (mean squared error, lower is better) where nothing does.
    """
    from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

    if not len(gold):
        return Metric("auroc", None), Metric("average_precision", None), Metric("brier", None)
    both = 0 < np.sum(gold) < len(gold)
    return (
        Metric("auroc", float(roc_auc_score(gold, p_yes)) if both else None),
        Metric("average_precision", float(average_precision_score(gold, p_yes)) if both else None),
        Metric("brier", float(brier_score_loss(gold, p_yes, labels=[0, 1]))),
    )


BINS = 10
_PARTS = 4
"""The columns of a bin: sums of labels, of probabilities, of items and of squared errors."""


def reliability(answers: Sequence[tuple[int, float, str]]) -> dict[str, Any]:
    """Return the reliability of probabilities of Yes, of one item at least, as a chart has it.

    `answers` are the label, the probability and the cluster of each item. `bins` are ten of equally many items (Nguyen
    and O'Connor, EMNLP 2015), fewer where many items have one probability, as equal ones share a bin; the same bins in
    all resamples of whole clusters. Each has the mean probability, the share that is Yes with its interval (None where
    fewer than six clusters have an item, or all resamples are the same), its items and their clusters. `ece` is the
    mean over items of the distance in their bin (Naeini et al., AAAI 2015), which noise makes larger; `error` the root
    of the mean squared distance without the clusters' noise (Kumar et al., NeurIPS 2019, the debiased estimator).
    """
    columns = _by_cluster_and_bin(*zip(*answers, strict=True))
    yes, predicted, items, squares = columns.sum(axis=0).reshape(-1, _PARTS).T
    total = float(items.sum())
    shares = {str(place): fraction(_PARTS * place, _PARTS * place + 2) for place in range(len(items))}
    table = ClusterSums(columns, {**shares, "brier": Ratio(_mean_error, _items)})
    [estimates] = ratio_intervals([table])
    error, error_interval = None, None
    if table.resamples:
        [[squares_of_resamples]] = resample([ClusterSums(columns, {"error": Ratio(_mean_square, _items)})])
        square = float(_mean_square(columns.sum(axis=0)))
        error, error_interval = bootstrap.without_noise(square, squares_of_resamples, table.clusters)
    bins = [
        {
            "predicted": float(p / n),
            "observed": float(y / n),
            "interval": _listed(estimates[name].interval),
            "items": int(n),
            "clusters": table.rests_on[name],
        }
        for name, p, y, n in zip(shares, predicted, yes, items, strict=True)
    ]
    return {
        "bins": bins,
        "ece": float(abs(yes - predicted).sum()) / total,
        "error": error,
        "error_interval": _listed(error_interval),
        "brier": float(squares.sum()) / total,
        "brier_interval": _listed(estimates["brier"].interval),
    }


def _listed(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [*interval]


def _by_cluster_and_bin(gold: Sequence[int], p_yes: Sequence[float], cluster: Sequence[str]) -> NDArray[np.float64]:
    """Return the columns of all bins, a row for each cluster."""
    y, p = np.asarray(gold, float), np.asarray(p_yes, float)
    _, place, counts = np.unique(p, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2  # in the order of probabilities: the rank that equal ones share
    _, bin_of_value = np.unique((BINS * middle / len(p)).astype(int), return_inverse=True)
    names, of_cluster = np.unique(np.asarray(cluster), return_inverse=True)
    sums = np.zeros((len(names), bin_of_value.max() + 1, _PARTS))
    order = np.lexsort((y, p, of_cluster))  # floats do not add up alike in every order
    parts = np.column_stack([y, p, np.ones(len(y)), (p - y) ** 2])
    np.add.at(sums, (of_cluster[order], bin_of_value[place][order]), parts[order])
    return sums.reshape(len(names), -1)


def _items(sums: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return [sums[..., 2::_PARTS].sum(axis=-1)]


def _mean_error(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return divided(sums[..., 3::_PARTS].sum(axis=-1), *_items(sums))


def _mean_square(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over items of the squared distance in their bin."""
    yes, predicted, items = (sums[..., part::_PARTS] for part in range(3))
    return divided(np.nansum(divided((yes - predicted) ** 2, items), axis=-1), *_items(sums))
