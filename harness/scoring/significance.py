"""McNemar's test, Holm's correction, the smallest difference that could be seen, intervals of counts and of a mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from harness.scoring.classification import AnswerCounts

POWER, LEVEL = 0.80, 0.05


@dataclass(frozen=True, slots=True)
class McNemar:
    """Counts of items that both runs had right, one of them only, neither.

    Items count as independent: clusters do not.
    """

    both: int
    first_only: int
    second_only: int
    neither: int

    @property
    def p(self) -> float:
        """Two-sided, exact: among items that one run only had right, each is as likely the one as the other.

        Equal to statsmodels' mcnemar(exact=True). McNemar (1947).
        """
        from scipy.stats import binomtest

        apart = self.first_only + self.second_only
        return float(binomtest(self.first_only, apart).pvalue) if apart else 1.0


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for being so many: any of them falls below 5% by chance in 5% of all such families.

    None stays None and does not count. Equal to statsmodels' multipletests(method="holm"). Holm (1979).
    """
    ranked = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (p, place) in enumerate(ranked):
        highest = max(highest, min(1.0, p * (len(ranked) - rank)))
        corrected[place] = highest
    return corrected


def detectable(error: float | None) -> float | None:
    """Return the true difference that is significant (5%, two-sided) with 80% power, from its standard error.

    (z of 0.975 + z of 0.80) · error = 2.80 · error. Miller, Adding Error Bars to Evals (arXiv:2411.00640, 2024), the
    section on power; Card et al., With Little Power Comes Great Responsibility (EMNLP 2020). None of None.
    """
    z = NormalDist().inv_cdf
    return None if error is None else (z(1 - LEVEL / 2) + z(POWER)) * error


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


def intervals(counts: AnswerCounts) -> dict[str, Interval | None]:
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


def mean_and_half_width(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and half of its 95% interval (Student's t); no interval of a single value."""
    if len(values) == 1:
        return values[0], None
    from scipy.stats import t

    return fmean(values), float(t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
