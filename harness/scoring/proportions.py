"""Intervals from counts alone, as if items were independent: for numbers of which no more than the counts is known."""

from __future__ import annotations

import math
from statistics import NormalDist

from harness.scoring.classification import Counts

Interval = tuple[float, float]


def wilson(hits: int, total: int, *, level: float = 0.95) -> Interval | None:
    """Return Wilson's score interval of a proportion, None of nothing.

    Wilson (1927); equal to statsmodels' and scipy's.
    """
    if not total:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, spread = hits / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return (0.0 if not hits else middle - half), (1.0 if hits == total else middle + half)


def wilson_f1(tp: int, fp: int, fn: int, *, level: float = 0.95) -> Interval | None:
    """Return an interval of F1, which is no proportion, by way of F* = TP / (TP + FP + FN), which is one.

    F1 = 2F* / (1 + F*) grows with F* (Hand, Christen and Kirielle, F*: an interpretable transformation of the
    F-measure, Machine Learning 2021), so Wilson's limits of the one are limits of the other. Lam, Gopal and Qian,
    Confidence Intervals for the F1 Score (arXiv:2309.14621), compare intervals of this kind.
    """
    limits = wilson(tp, tp + fp + fn, level=level)
    return None if limits is None else (2 * limits[0] / (1 + limits[0]), 2 * limits[1] / (1 + limits[1]))


def intervals(counts: Counts) -> dict[str, Interval | None]:
    """Return 95% intervals by metric; None where the metric has no denominator.

    Every item has to be answered readably.
    """
    tp, fp, fn, tn = counts.tp, counts.fp, counts.fn, counts.tn
    return {
        "f1": wilson_f1(tp, fp, fn),
        "precision": wilson(tp, tp + fp),
        "recall": wilson(tp, tp + fn),
        "accuracy": wilson(tp + tn, tp + fp + fn + tn),
    }
