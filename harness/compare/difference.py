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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from harness.scoring import bootstrap
from harness.scoring.definitions import definition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Cells = NDArray[np.int64]
    """How many items by (cluster, gold label, first run's answer, second run's answer): (clusters, 2, 2, 2)."""
    Columns = NDArray[np.float64]
    """What clusters add up to, in the last axis: `own` columns of the first run, as many of the second, the rest."""
    BothScores = tuple[NDArray[np.float64], NDArray[np.float64]]

ALL_SWAPS = 21
"""Clusters up to which every swap is tried: a million, as one and its mirror image make the same difference but for the
sign. The public test split of Corr2Cause has 21."""
_AT_ONCE = 2**22
_EQUAL = 1e-9
_KEPT = 2**20
"""Numbers of draws that are kept for the next pair of runs: 8 MB."""


@dataclass(frozen=True)
class Paired:
    """What two runs have in each cluster."""

    columns: Columns
    """(clusters, columns)."""
    own: int
    """Columns that each run has of its own."""
    scores: Callable[[str, Columns], BothScores]
    """Returns a metric of both runs for sums of clusters; NaN where it is undefined."""
    rests_on: Callable[[str], int]
    """Returns the number of clusters in which there is what a metric is made of, for both runs."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two runs on the same items, as fractions; None where undefined."""

    metric: str
    first: float | None
    second: float | None
    value: float | None
    """The second less the first."""
    interval: tuple[float, float] | None
    """95%."""
    error: float | None
    """The standard error over clusters."""
    same: bool
    """No interval because every resample has the same difference: one of no width would claim certainty."""
    p: float | None
    """Two-sided."""

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


def of_counts(cells: Cells) -> Paired:
    """Return what metrics of counts are made of."""
    import numpy as np

    yes_of_first, yes_of_second = cells[:, :, 1, :].sum(axis=2), cells[:, :, :, 1].sum(axis=2)
    positives, items = cells[:, 1].sum(axis=(1, 2)), cells.sum(axis=(1, 2, 3))
    parts = [yes_of_first[:, 1], yes_of_first[:, 0], yes_of_second[:, 1], yes_of_second[:, 0], positives, items]
    columns = np.stack(parts, axis=1).astype(np.float64)

    def rests_on(name: str) -> int:
        first, second = (definition(name).sums(*counts) for counts in _confusions(columns))
        return min(int(((a > 0) & (b > 0)).sum()) for a, b in zip(first, second, strict=True))

    return Paired(columns, 2, _scores_of_counts, rests_on)


def _confusions(columns: Columns) -> tuple[tuple[NDArray[np.float64], ...], ...]:
    """Return true and false positives, false and true negatives of each run."""
    positives, items = columns[..., 4], columns[..., 5]
    both = ((columns[..., 0], columns[..., 1]), (columns[..., 2], columns[..., 3]))
    return tuple((tp, fp, positives - tp, items - positives - fp) for tp, fp in both)


def _scores_of_counts(name: str, columns: Columns) -> BothScores:
    import numpy as np

    of_counts = definition(name).of_counts
    assert of_counts is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (above / below for above, below in (of_counts(*counts) for counts in _confusions(columns)))
    return np.asarray(first), np.asarray(second)


def differences(
    paired: Paired, metrics: Sequence[str], *, resamples: int = bootstrap.RESAMPLES, seed: int = 0
) -> tuple[list[Difference], Swaps | None]:
    """Return each metric's difference: of one cluster only the values, of fewer than six no interval."""
    clusters, total = len(paired.columns), paired.columns.sum(axis=0)
    resampled = _resampled(paired, metrics, resamples, seed) if clusters >= bootstrap.FEWEST else {}
    p, swaps = swap_test(paired, metrics, draws=resamples, seed=seed) if clusters > 1 else ({}, None)
    results = []
    for name in metrics:
        first, second = paired.scores(name, total)
        a, b, apart = (_number(value) for value in (first, second, second - first))
        has_resamples = name in resampled and apart is not None and paired.rests_on(name) >= bootstrap.FEWEST
        spread = bootstrap.interval(resampled[name], clusters) if has_resamples else None
        error = _error(resampled[name], clusters) if spread else None
        same = has_resamples and spread is None
        results.append(Difference(name, a, b, apart, spread, error, same, p.get(name)))
    return results, swaps


def swap_test(
    paired: Paired, metrics: Sequence[str], *, draws: int, seed: int
) -> tuple[dict[str, float | None], Swaps]:
    """Return the two-sided p of each metric's difference, None where that is undefined, and what it rests on.

    A swap that leaves a metric undefined counts as no less extreme than what was seen.
    """
    import numpy as np

    own, columns, total = paired.own, paired.columns, paired.columns.sum(axis=0)
    changes = columns[:, own : 2 * own] - columns[:, :own]
    changes = changes[(np.abs(changes) > _EQUAL).any(axis=1)]
    exact = len(changes) <= ALL_SWAPS
    observed = {name: float(_apart(paired, name, total)) for name in metrics}
    hits = dict.fromkeys(metrics, 0)
    number = 0
    for shift in _every_swap(changes) if exact else _some_swaps(changes, draws, seed):
        number += len(shift)
        swapped = np.tile(total, (len(shift), 1))
        swapped[:, :own] += shift
        swapped[:, own : 2 * own] -= shift
        for name in metrics:
            hits[name] += int((~(_apart(paired, name, swapped) < observed[name] - _EQUAL)).sum())
    more = 0 if exact else 1
    p = {name: None if math.isnan(observed[name]) else (hits[name] + more) / (number + more) for name in metrics}
    return p, Swaps(len(changes), 2 ** len(changes) if exact else number, exact)


def _apart(paired: Paired, name: str, sums: Columns) -> NDArray[np.float64]:
    first, second = paired.scores(name, sums)
    return abs(second - first)


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


def _resampled(paired: Paired, metrics: Sequence[str], resamples: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return each metric's difference in every resample, NaN where undefined."""
    import numpy as np

    clusters, width = paired.columns.shape
    if clusters * resamples <= _KEPT:
        weightings: Iterable[NDArray[np.float64]] = _weightings(clusters, resamples, seed)
    else:
        weightings = bootstrap.draws(clusters, resamples, seed=seed, width=width)
    sums = np.concatenate([weights @ paired.columns for weights in weightings])
    scores = {name: paired.scores(name, sums) for name in metrics}
    return {name: second - first for name, (first, second) in scores.items()}


@lru_cache(maxsize=2)
def _weightings(clusters: int, resamples: int, seed: int) -> tuple[NDArray[np.float64], ...]:
    """Return all draws at once: a page compares dozens of pairs of runs on the same clusters."""
    return tuple(bootstrap.draws(clusters, resamples, seed=seed, width=6))


def _error(values: NDArray[np.float64], clusters: int) -> float:
    """Return the standard error: resamples of C clusters vary as if divided by C, not C - 1."""
    import numpy as np

    return float(np.nanstd(values)) * math.sqrt(clusters / (clusters - 1))


def _number(value: NDArray[np.float64]) -> float | None:
    return None if math.isnan(value) else float(value)
