"""Two runs on the same items: the difference of a metric, with an interval and a test that leave clusters whole.

The interval draws clusters with replacement, the same for both runs (harness/scoring/bootstrap.py). The test swaps the
runs' answers in whole clusters: if it makes no difference whose answers they are, every swap is as likely as what was
seen. Fisher (1935); Noreen, Computer-Intensive Methods for Testing Hypotheses (1989); Yeh, More accurate tests for the
statistical significance of result differences (COLING 2000), for F1 among others; Phipson and Smyth (2010), on p of
swaps that are drawn: (1 + hits) / (1 + draws), never 0. That items of one cluster go together: Miller, Adding Error
Bars to Evals (arXiv:2411.00640, 2024), sections on clustered and on paired differences.

Of metrics that are means over items of a number that each item has, an item counts where both runs have the number.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """(…, 6): true and false positives of the first run, those of the second, positives, items."""


ALL_SWAPS = 21
"""Clusters up to which every swap is tried: a million, as one and its mirror image make the same difference but for the
sign. The public test split of Corr2Cause has 21."""
_AT_ONCE = 2**22
_EQUAL = 1e-9
_KEPT = 2**20
"""Numbers of draws that are kept for the next pair of runs: 8 MB."""


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


def differences(
    cells: Cells, metrics: Sequence[str], *, resamples: int = bootstrap.RESAMPLES, seed: int = 0
) -> tuple[list[Difference], Swaps | None]:
    """Return each metric's difference: of one cluster only the values, of fewer than six no interval."""
    columns = _columns(cells)
    total = columns.sum(axis=0)
    values = {name: (_first(name, total), _second(name, total)) for name in metrics}
    resampled = _resampled(columns, metrics, resamples, seed) if len(cells) >= bootstrap.FEWEST else {}
    p, swaps = swap_test(columns, metrics, draws=resamples, seed=seed) if len(cells) > 1 else ({}, None)
    results = []
    for name, (first, second) in values.items():
        a, b, apart = (_number(value) for value in (first, second, second - first))
        has_resamples = name in resampled and apart is not None and _rests_on(name, columns) >= bootstrap.FEWEST
        spread = bootstrap.interval(resampled[name], len(cells)) if has_resamples else None
        error = _error(resampled[name], len(cells)) if spread else None
        same = has_resamples and spread is None
        results.append(Difference(name, a, b, apart, spread, error, same, p.get(name)))
    return results, swaps


def swap_test(
    columns: Columns, metrics: Sequence[str], *, draws: int, seed: int
) -> tuple[dict[str, float | None], Swaps]:
    """Return the two-sided p of each metric's difference, None where that is undefined, and what it rests on.

    A swap that leaves a metric undefined counts as no less extreme than what was seen.
    """
    import numpy as np

    changes = columns[:, 2:4] - columns[:, :2]
    changes = changes[(changes != 0).any(axis=1)]
    exact = len(changes) <= ALL_SWAPS
    total = columns.sum(axis=0)
    observed = {name: abs(float(_second(name, total) - _first(name, total))) for name in metrics}
    hits = dict.fromkeys(metrics, 0)
    number = 0
    for shift in _every_swap(changes) if exact else _some_swaps(changes, draws, seed):
        number += len(shift)
        swapped = np.empty((len(shift), 6))
        swapped[:, :2], swapped[:, 2:4], swapped[:, 4:] = total[:2] + shift, total[2:4] - shift, total[4:]
        for name in metrics:
            apart = np.abs(_second(name, swapped) - _first(name, swapped))
            hits[name] += int((~(apart < observed[name] - _EQUAL)).sum())
    more = 0 if exact else 1
    p = {name: None if math.isnan(observed[name]) else (hits[name] + more) / (number + more) for name in metrics}
    return p, Swaps(len(changes), 2 ** len(changes) if exact else number, exact)


def _every_swap(changes: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield what each choice of clusters adds to the first run's counts, for one of each two mirror images."""
    import numpy as np

    sums = np.zeros((1, 2))
    for step in changes[1:]:
        sums = np.concatenate([sums, sums + step])
    yield sums


def _some_swaps(changes: NDArray[np.float64], draws: int, seed: int) -> Iterator[NDArray[np.float64]]:
    import numpy as np

    random = np.random.default_rng([seed, 1])  # not the numbers that the interval draws clusters by
    for rows in _pieces(draws, len(changes)):
        yield random.integers(0, 2, size=(rows, len(changes)), dtype=np.int8).astype(np.float64) @ changes


def _resampled(columns: Columns, metrics: Sequence[str], resamples: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return each metric's difference in every resample, NaN where undefined."""
    import numpy as np

    if len(columns) * resamples <= _KEPT:
        weightings: Iterable[NDArray[np.float64]] = _weightings(len(columns), resamples, seed)
    else:
        weightings = bootstrap.draws(len(columns), resamples, seed=seed, width=columns.shape[1])
    sums = np.concatenate([weights @ columns for weights in weightings])
    return {name: _second(name, sums) - _first(name, sums) for name in metrics}


@lru_cache(maxsize=2)
def _weightings(clusters: int, resamples: int, seed: int) -> tuple[NDArray[np.float64], ...]:
    """Return all draws at once: a page compares dozens of pairs of runs on the same clusters."""
    return tuple(bootstrap.draws(clusters, resamples, seed=seed, width=6))


def _pieces(rows: int, width: int) -> Iterator[int]:
    height = max(1, _AT_ONCE // max(width, 1))
    yield from (min(height, rows - start) for start in range(0, rows, height))


def _rests_on(name: str, columns: Columns) -> int:
    """Count the clusters in which there is what the metric is made of, for both runs."""
    metric = definition(name)
    sums = zip(metric.sums(*_first_counts(columns)), metric.sums(*_second_counts(columns)), strict=True)
    return min(int(((first > 0) & (second > 0)).sum()) for first, second in sums)


def _error(values: NDArray[np.float64], clusters: int) -> float:
    """Return the standard error: resamples of C clusters vary as if divided by C, not C - 1."""
    import numpy as np

    return float(np.nanstd(values)) * math.sqrt(clusters / (clusters - 1))


def _columns(cells: Cells) -> Columns:
    import numpy as np

    yes_of_first, yes_of_second = cells[:, :, 1, :].sum(axis=2), cells[:, :, :, 1].sum(axis=2)
    positives, items = cells[:, 1].sum(axis=(1, 2)), cells.sum(axis=(1, 2, 3))
    parts = [yes_of_first[:, 1], yes_of_first[:, 0], yes_of_second[:, 1], yes_of_second[:, 0], positives, items]
    return np.stack(parts, axis=1).astype(np.float64)


def _first_counts(columns: Columns) -> tuple[NDArray[np.float64], ...]:
    tp, fp, positives, items = columns[..., 0], columns[..., 1], columns[..., 4], columns[..., 5]
    return tp, fp, positives - tp, items - positives - fp


def _second_counts(columns: Columns) -> tuple[NDArray[np.float64], ...]:
    tp, fp, positives, items = columns[..., 2], columns[..., 3], columns[..., 4], columns[..., 5]
    return tp, fp, positives - tp, items - positives - fp


def _first(name: str, columns: Columns) -> NDArray[np.float64]:
    return _metric(name, _first_counts(columns))


def _second(name: str, columns: Columns) -> NDArray[np.float64]:
    return _metric(name, _second_counts(columns))


def _metric(name: str, counts: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
    """Return a metric for whole arrays of counts; NaN where it is undefined."""
    import numpy as np

    of_counts = definition(name).of_counts
    assert of_counts is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        above, below = of_counts(*counts)
        return np.asarray(above / below)


def _number(value: NDArray[np.float64]) -> float | None:
    return None if math.isnan(value) else float(value)


Values = Mapping[str, float | None]


def mean_differences(
    clusters: Sequence[Sequence[tuple[Values, Values]]], measures: Sequence[str], *, resamples: int, seed: int
) -> tuple[list[Difference], Swaps | None]:
    """Return each measure's difference: of one cluster only the values, of fewer than six no interval.

    `clusters` holds both runs' values item by item.
    """
    import numpy as np

    results, swaps = [], None
    for measure in measures:
        sums = np.array([_sums(items, measure) for items in clusters])
        difference, swapped = _difference(measure, sums, resamples, seed)
        results.append(difference)
        swaps = swaps or swapped
    return results, swaps


def _sums(items: Sequence[tuple[Values, Values]], measure: str) -> tuple[float, float, int]:
    """Return the sums of both runs over the items that have the number in both, and how many these are."""
    pairs = [(first.get(measure), second.get(measure)) for first, second in items]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    return math.fsum(a for a, _ in both), math.fsum(b for _, b in both), len(both)


def _difference(measure: str, sums: NDArray[np.float64], resamples: int, seed: int) -> tuple[Difference, Swaps | None]:
    import numpy as np

    first, second, items = sums.sum(axis=0)
    if not items:
        return Difference(measure, None, None, None, None, None, False, None), None
    clusters, apart = len(sums), sums[:, 1] - sums[:, 0]
    p, swaps = _swapped(apart, resamples, seed) if clusters > 1 else (None, None)
    interval = error = None
    enough = int((sums[:, 2] > 0).sum()) >= bootstrap.FEWEST
    if enough:
        columns = np.column_stack([apart, sums[:, 2]])
        drawn = np.concatenate([weights @ columns for weights in bootstrap.draws(clusters, resamples, seed=seed)])
        with np.errstate(invalid="ignore"):
            values = drawn[:, 0] / drawn[:, 1]
        interval = bootstrap.interval(values, clusters)
        error = float(np.nanstd(values)) * math.sqrt(clusters / (clusters - 1)) if interval else None
    same = enough and interval is None
    means = float(first / items), float(second / items)
    return Difference(measure, *means, means[1] - means[0], interval, error, same, p), swaps


def _swapped(apart: NDArray[np.float64], draws: int, seed: int) -> tuple[float, Swaps]:
    """Return the two-sided p of a sum of differences by cluster, when whole clusters change their sign."""
    import numpy as np

    apart = apart[np.abs(apart) > _EQUAL]
    observed = abs(apart.sum()) - _EQUAL
    if len(apart) <= ALL_SWAPS:
        sums = np.zeros(1)
        for step in apart[1:]:
            sums = np.concatenate([sums + step, sums - step])
        sums = sums + apart[:1].sum()  # the mirror images differ in nothing but the sign
        return float((np.abs(sums) >= observed).mean()), Swaps(len(apart), 2 ** len(apart), exact=True)
    random = np.random.default_rng([seed, 1])
    hits = 0
    for rows in _pieces(draws, len(apart)):
        signs = random.integers(0, 2, size=(rows, len(apart))) * 2.0 - 1
        hits += int((np.abs(signs @ apart) >= observed).sum())
    return (hits + 1) / (draws + 1), Swaps(len(apart), draws, exact=False)


@dataclass(frozen=True, slots=True)
class OneSided:
    """A metric's difference, and what its one-sided bounds are made of; of a metric of which less is better, negated.

    A bound is that of Student's t over clusters, with the jackknife's standard error, as if one more cluster had been
    seen, as bad as the worst of them (for the upper bound: as good as the best). A loss that sits in few clusters makes
    the mean look better and its error smaller at once: of such a loss t alone says "no worse" in 9 to 13% of cases
    where 5 are meant, and with the one more in 4 to 6%. Elsewhere it is 2 to 5%, for accuracy and F1, with 21, 60 and
    300 clusters, and intraclass correlations of 0, 0.1 and 0.3. The worst that is known is 8 to 10%, with 21 clusters,
    shares of right answers of 0.98 and 0.96, and 0.3; it is 5% with 60. (tests/plugins/compare/test_gate_errors.py)
    What sits in clusters of which none was seen, no bound knows.
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 11 (jackknife); MacKinnon, Nielsen and Webb,
    Cluster-Robust Inference: A Guide to Empirical Practice (Journal of Econometrics 232, 2023), on few clusters.
    """

    first: float
    second: float
    value: float
    """How much better the second is."""
    clusters: int
    deviation: float
    """Between clusters: the standard error is this divided by √clusters."""
    worst: float
    """How far the worst cluster, if there were no other, is below the value."""
    best: float
    observations: float
    """What the metric's denominator counts."""

    def low(self, error: float) -> float:
        """Return the bound that lies above the truth with a probability of at most about `error`."""
        return self.value - self.reach(error, self.worst, self.clusters)

    def high(self, error: float) -> float:
        return self.value + self.reach(error, self.best, self.clusters)

    def reach(self, error: float, extreme: float, clusters: int) -> float:
        """Return how far a bound would be from the difference with so many clusters.

        Where all clusters have the same difference, they tell nothing of how much others vary: the bound is then that
        of independent observations none of which differs, by the rule of three (Hanley and Lippman-Hand 1983).
        """
        from scipy.special import stdtrit  # scipy.stats takes half a second to import

        if not self.deviation:
            return float(1 - error ** (self.clusters / (clusters * self.observations)))
        spread = ((clusters - 1) * self.deviation**2 / clusters + extreme**2 / (clusters + 1)) / (clusters + 1)
        return float(extreme / (clusters + 1) + stdtrit(clusters, 1 - error) * math.sqrt(spread))

    def clusters_for(self, room: float, error: float, extreme: float) -> int | None:
        """Return how many clusters leave a bound within `room` of the truth in 80% of cases; None for over 10 million.

        They are taken to vary as those seen do, and the worst of them to be no worse.
        """
        z = NormalDist().inv_cdf(0.80)

        def enough(clusters: int) -> bool:
            return self.reach(error, extreme, clusters) + z * self.deviation / math.sqrt(clusters) <= room

        most = next((2**power for power in range(3, 24) if enough(2**power)), None)
        return bootstrap.FEWEST + bisect_left(range(bootstrap.FEWEST, most), True, key=enough) if most else None


def one_sided(cells: Cells, worths: Sequence[Sequence[tuple[Values, Values]]], metric: str) -> OneSided | None:
    """Return what the one-sided bounds of a metric's difference are made of.

    `cells` are used for metrics of counts, `worths` (both runs' values item by item, in clusters) for means over items.
    None where the metric is undefined, or rests on fewer than six clusters.
    """
    import numpy as np

    score_of: tuple[Callable[[str, Columns], NDArray[np.float64]], ...]
    if definition(metric).made_of == "counts":
        columns = _columns(cells)
        clusters_used = _rests_on(metric, columns)
        score_of = (_first, _second)
        observations = min(float(sums.sum()) for sums in definition(metric).sums(*_first_counts(columns)))
    else:
        columns = np.array([_sums(items, metric) for items in worths])
        clusters_used = int((columns[:, 2] > 0).sum())
        score_of = (lambda _, sums: sums[..., 0] / sums[..., 2], lambda _, sums: sums[..., 1] / sums[..., 2])
        observations = float(columns[:, 2].sum())
    if clusters_used < bootstrap.FEWEST:
        return None
    clusters, total = len(columns), columns.sum(axis=0)
    sign = -1 if definition(metric).best == "low" else 1
    first, second = (float(score(metric, total)) for score in score_of)
    without_first, without_second = (score(metric, total - columns) for score in score_of)
    value, without = sign * (second - first), sign * (without_second - without_first)
    alone = (clusters - 1) * (value - without)  # the jackknife's pseudo-values, less the value
    ends = float(-alone.min()), float(alone.max())
    deviation = float(alone.std(ddof=1)) if np.ptp(alone) > _EQUAL else 0.0
    return OneSided(first, second, value, clusters, deviation, *ends, observations)
