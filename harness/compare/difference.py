"""Two runs on the same items: the difference of a metric, with an interval and a test that leave clusters whole.

The interval draws clusters with replacement, the same for both runs (harness/scoring/bootstrap.py). The test swaps the
runs' answers in whole clusters: if it makes no difference whose answers they are, every swap is as likely as what was
seen. Fisher (1935); Noreen, Computer-Intensive Methods for Testing Hypotheses (1989); Yeh, More accurate tests for the
statistical significance of result differences (COLING 2000), for F1 among others; Phipson and Smyth (2010), on p of
swaps that are drawn: (1 + hits) / (1 + draws), never 0. That items of one cluster go together: Miller, Adding Error
Bars to Evals (arXiv:2411.00640, 2024), sections on clustered and on paired differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING

from harness.scoring.bootstrap import RESAMPLES
from harness.scoring.classification import ratio_of
from harness.scoring.definitions import definition
from harness.scoring.intervals import ClusterSums, Estimate, Ratio, difference, number_of, ratio_intervals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.scoring.intervals import Columns, Values

    Cells = NDArray[np.int64]
    """How many items by (cluster, gold label, first run's answer, second run's answer): (clusters, 2, 2, 2)."""

ALL_SWAPS = 21
"""Clusters up to which every swap is tried: a million, as one and its mirror image make the same difference but for the
sign. The public test split of Corr2Cause has 21."""
_AT_ONCE = 2**22
_EQUAL = 1e-9
_OWN = 2
"""Columns that each run has of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Estimate):
    """The second run's metric less the first's, on the same items, as fractions; None where undefined."""

    metric: str
    first: float | None
    second: float | None
    p: float | None
    """Two-sided."""
    p_holm: float | None = None
    """Corrected for all others of the same call."""

    @property
    def detectable(self) -> float | None:
        """The true difference that is significant (5%, two-sided) with 80% power: 2.80 standard errors.

        (z of 0.975 + z of 0.80) · error. Miller (2024), the section on power; Card et al., With Little Power Comes
        Great Responsibility (EMNLP 2020).
        """
        z = NormalDist().inv_cdf
        return None if self.error is None else (z(0.975) + z(0.80)) * self.error


@dataclass(frozen=True, slots=True)
class Swaps:
    """The swaps that a test's p rests on."""

    clusters: int
    """Those in which the two runs differ: a swap of another one changes nothing."""
    number: int
    exact: bool
    """Whether these are all swaps, or `number` of them drawn at random."""

    @property
    def least(self) -> float:
        """The smallest p that is possible."""
        return 2.0 ** min(0, 1 - self.clusters) if self.exact else 1 / (1 + self.number)


def of_counts(cells: Cells) -> Columns:
    """Return what each cluster adds: true and false positives of the first run and of the second, positives, items."""
    import numpy as np

    first, second = cells[:, ::-1, 1, :].sum(axis=2), cells[:, ::-1, :, 1].sum(axis=2)
    positives, items = cells[:, 1].sum(axis=(1, 2)), cells.sum(axis=(1, 2, 3))
    return np.column_stack([first, second, positives, items]).astype(np.float64)


def of_runs(name: str) -> tuple[Ratio, Ratio, Ratio]:
    """Return a metric of the first run, of the second, and the second's less the first's."""

    def counts(columns: Columns, run: int) -> Sequence[Values]:
        tp, fp, positives, items = (columns[..., place] for place in (_OWN * run, _OWN * run + 1, -2, -1))
        return tp, fp, positives - tp, items - positives - fp

    first, second = (ratio_of(definition(name), partial(counts, run=run)) for run in (0, 1))
    return first, second, difference(first, second)


def differences(
    columns: Columns, metrics: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[list[Difference], Swaps | None]:
    """Return each metric's difference: of one cluster only the values, of fewer than six no interval."""
    ratios, total = {name: of_runs(name) for name in metrics}, columns.sum(axis=0)
    apart = {name: less for name, (_, _, less) in ratios.items()}
    [estimates] = ratio_intervals([ClusterSums(columns, apart, most=resamples)], seed=seed)
    p, swaps = swap_test(columns, apart, draws=resamples, seed=seed) if len(columns) > 1 else ({}, None)
    rows = []
    for name, of in estimates.items():
        first, second = (number_of(ratio.of(total)) for ratio in ratios[name][:2])
        row = Difference(
            of.value, of.interval, of.error, of.reason, metric=name, first=first, second=second, p=p.get(name)
        )
        without_positives = name == "f1" and not total[-2]  # of which it says nothing
        rows.append(Difference(None, metric=name, first=None, second=None, p=None) if without_positives else row)
    return rows, swaps


def swap_test(
    columns: Columns, apart: Mapping[str, Ratio], *, draws: int, seed: int
) -> tuple[dict[str, float | None], Swaps]:
    """Return the two-sided p of each difference, None where that is undefined, and what it rests on.

    A swap that leaves a metric undefined counts as no less extreme than what was seen.
    """
    import numpy as np

    total = columns.sum(axis=0)
    changes = columns[:, _OWN : 2 * _OWN] - columns[:, :_OWN]
    changes = changes[(np.abs(changes) > _EQUAL).any(axis=1)]
    exact = len(changes) <= ALL_SWAPS
    observed = {name: abs(float(ratio.of(total))) for name, ratio in apart.items()}
    hits = dict.fromkeys(apart, 0)
    number = 0
    for shift in _every_swap(changes) if exact else _some_swaps(changes, draws, seed):
        number += len(shift)
        swapped = np.tile(total, (len(shift), 1))
        swapped[:, :_OWN] += shift
        swapped[:, _OWN : 2 * _OWN] -= shift
        for name, ratio in apart.items():
            hits[name] += int((~(abs(ratio.of(swapped)) < observed[name] - _EQUAL)).sum())
    more = 0 if exact else 1
    p = {name: None if math.isnan(observed[name]) else (hits[name] + more) / (number + more) for name in apart}
    return p, Swaps(len(changes), 2 ** len(changes) if exact else number, exact)


def _every_swap(changes: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield what each choice of clusters adds to the first run's columns, for one of each two mirror images."""
    import numpy as np

    sums = np.zeros((1, changes.shape[1]))
    for step in changes[1:]:
        sums = np.concatenate([sums, sums + step])
    yield sums


def _some_swaps(changes: NDArray[np.float64], draws: int, seed: int) -> Iterator[NDArray[np.float64]]:
    import numpy as np

    random = np.random.default_rng([seed, 1])  # not the numbers that the interval draws clusters by
    height = max(1, _AT_ONCE // max(len(changes), 1))
    for start in range(0, draws, height):
        rows = min(height, draws - start)
        yield random.integers(0, 2, size=(rows, len(changes)), dtype=np.int8).astype(np.float64) @ changes


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values of one family together: by chance any of them falls below 5% in 5% of such families.

    None stays None and does not count. Equal to statsmodels' multipletests(method="holm"). Holm (1979).
    """
    ranked = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    highest = 0.0
    for rank, (p, place) in enumerate(ranked):
        corrected[place] = highest = max(highest, min(1.0, p * (len(ranked) - rank)))
    return corrected
