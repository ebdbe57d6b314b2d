"""McNemar's test, Holm's correction, and the smallest difference that a comparison could have been expected to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

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
