"""Metrics over clusters with their intervals: ratios of sums, made anew in resamples of whole clusters.

Their cost does not depend on how many items there are, but for metrics of probabilities.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.scoring import bootstrap
from harness.scoring.bootstrap import CONSTANT, FEW_CLUSTERS, FEWEST, ONE_CLUSTER, RESTS_ON_FEW, SEED
from harness.scoring.tally import Group
from harness.types import Metric, Scores, replace

Columns = NDArray[np.float64]
"""What clusters add up to, in the last axis."""
Values = NDArray[np.float64]
"""A number for each entry of the other axes; NaN where it is undefined."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A metric as a function of sums over clusters."""

    of: Callable[[Columns], Values]
    needs: Callable[[Columns], Sequence[Values]]
    """The numbers that have to be above 0 for it to be defined: it rests on the clusters in which each of them is."""


def fraction(above: int, below: int) -> Ratio:
    """Return the ratio of two columns."""
    return Ratio(lambda sums: divided(sums[..., above], sums[..., below]), lambda sums: [sums[..., below]])


def difference(first: Ratio, second: Ratio) -> Ratio:
    """Return the second less the first, which rests on the clusters that both rest on."""
    return Ratio(
        lambda sums: second.of(sums) - first.of(sums),
        lambda sums: [np.minimum(a, b) for a, b in zip(first.needs(sums), second.needs(sums), strict=True)],
    )


def number_of(value: Values) -> float | None:
    """Return a single value; None where it is undefined."""
    return None if math.isnan(value) else float(value)


def divided(above: Values, below: Values) -> Values:
    """Return a ratio; NaN where there is nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(above / below)


@dataclass(frozen=True)
class ClusterSums:
    """What the metrics of a row are made of."""

    columns: Columns
    """(clusters, columns), clusters in alphabetical order."""
    ratios: Mapping[str, Ratio]
    ranking: Ranking | None = None
    """Where the row has metrics of probabilities, which are no ratios of sums."""
    most: int | None = None
    """How many resamples to draw, where that is not as many as `bootstrap.resamples` says."""

    @property
    def clusters(self) -> int:
        return len(self.columns)

    @property
    def resamples(self) -> int:
        """How many the row gets; 0 where there are too few clusters."""
        if self.clusters < FEWEST:
            return 0
        return self.most or bootstrap.resamples(self.clusters, len(self.ranking) if self.ranking else 0)

    @property
    def rests_on(self) -> dict[str, int]:
        """Return in how many clusters there is what a metric is made of."""
        needs = {name: ratio.needs(self.columns) for name, ratio in self.ratios.items()}
        numbers = {name: min(int((part > 0).sum()) for part in parts) for name, parts in needs.items()}
        return numbers | (self.ranking.rests_on if self.ranking else {})

    def values(self, weights: Values, sums: Columns) -> Values:
        """Return each metric as in `rests_on` under each weighting of the clusters; `sums` is weights @ columns."""
        values = [ratio.of(sums) for ratio in self.ratios.values()]
        return np.array([*values, *(self.ranking.values(weights) if self.ranking else ())])


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric of a row; None for what is undefined."""

    value: float | None
    interval: tuple[float, float] | None = None
    """95%."""
    error: float | None = None
    """The standard error over clusters."""
    reason: str = ""
    """Why a value has no interval."""


def ratio_intervals(tables: Sequence[ClusterSums], *, seed: int = SEED) -> list[dict[str, Estimate]]:
    """Return the metrics of each row over all its clusters, with their intervals."""
    estimates = []
    for table, resampled in zip(tables, resample(tables, seed=seed), strict=True):
        values = table.values(np.ones((1, table.clusters)), table.columns.sum(axis=0, keepdims=True))[:, 0]
        of_row = zip(table.rests_on.items(), values.tolist(), resampled, strict=True)
        estimates.append({name: _estimate(value, of, table, number) for (name, number), value, of in of_row})
    return estimates


def resample(tables: Sequence[ClusterSums], *, seed: int = SEED) -> list[Values]:
    """Return the metrics of each row in all its resamples. Rows of as many clusters share the draws."""
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, table in enumerate(tables):
        alike[table.clusters, table.resamples].append(place)
    values: list[list[Values]] = [[np.empty((len(table.rests_on), 0))] for table in tables]
    for (clusters, resamples), places in alike.items():
        columns = np.hstack([tables[place].columns for place in places])  # many narrow products take far longer
        ends = np.cumsum([tables[place].columns.shape[1] for place in places])[:-1]
        width = max(len(ranking) if (ranking := tables[place].ranking) else 1 for place in places)
        for weights in bootstrap.draws(clusters, resamples, seed=seed, width=width) if resamples else ():
            for place, sums in zip(places, np.split(weights @ columns, ends, axis=1), strict=True):
                values[place].append(tables[place].values(weights, sums))
    return [np.concatenate(parts, axis=1) for parts in values]


def _estimate(value: float, resampled: Values, table: ClusterSums, rests_on: int) -> Estimate:
    if math.isnan(value):
        return Estimate(None)
    clusters = table.clusters
    if not table.resamples:
        return Estimate(value, reason=ONE_CLUSTER if clusters == 1 else FEW_CLUSTERS)
    if rests_on < FEWEST:
        return Estimate(value, reason=RESTS_ON_FEW)
    if (ends := bootstrap.interval(resampled, clusters)) is None:
        return Estimate(value, reason=CONSTANT)
    # Resamples of C clusters vary as if divided by C, not C - 1.
    return Estimate(value, ends, float(np.nanstd(resampled)) * math.sqrt(clusters / (clusters - 1)))


def with_intervals(rows: Mapping[Group, tuple[Scores, ClusterSums]]) -> dict[str, dict[str, Scores]]:
    """Return rows by breakdown and group, with the intervals of what they are made of."""
    scores: dict[str, dict[str, Scores]] = {}
    estimates = ratio_intervals([sums for _, sums in rows.values()])
    for ((breakdown, group), (row, sums)), of_row in zip(rows.items(), estimates, strict=True):
        metrics = estimated(row.metrics, of_row)
        row = replace(row, metrics=metrics, clusters=sums.clusters, resamples=sums.resamples)
        scores.setdefault(breakdown, {})[group] = row
    return scores


def estimated(metrics: Iterable[Metric], estimates: Mapping[str, Estimate]) -> tuple[Metric, ...]:
    """Return the metrics, those that have a value with the interval of their estimate or the reason for none."""
    return tuple(
        metric
        if metric.value is None or (of := estimates.get(metric.name)) is None
        else replace(metric, interval=of.interval, no_interval=of.reason)
        for metric in metrics
    )


class Ranking:
    """Items in the order of their probabilities of Yes; a weighting gives each cluster's items one weight.

    Both metrics change only where a positive stands: all that is weighed are the sums of positives and of negatives
    down to each distinct probability that a positive has. Ties count as one step, as scikit-learn has it.
    """

    def __init__(self, gold: NDArray[np.int64], p_yes: NDArray[np.float64], cluster: NDArray[np.int64]) -> None:
        """Sort the items: parallel arrays, one entry an item, clusters by number."""
        highest_first = np.argsort(-p_yes, kind="stable")
        positive = gold[highest_first] == 1
        p, of = p_yes[highest_first], cluster[highest_first]
        self._positives, self._negatives = of[positive], of[~positive]
        steps, p_negative = p[positive], -p[~positive]
        self._ends = np.flatnonzero(np.append(np.diff(steps) != 0, True)) if len(steps) else np.zeros(0, np.int64)
        self._above = np.searchsorted(p_negative, -steps[self._ends], side="left")
        self._at_or_above = np.searchsorted(p_negative, -steps[self._ends], side="right")

    def __len__(self) -> int:
        return len(self._positives) + len(self._negatives)

    @property
    def rests_on(self) -> dict[str, int]:
        """By metric, in how many clusters there are items of the class that is in fewer."""
        fewer = min(len(np.unique(self._positives)), len(np.unique(self._negatives)))
        return {"auroc": fewer, "average_precision": fewer}

    def values(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (AUROC, average precision), each with an entry for each weighting; NaN where a class has no weight.

        `weights` is (weightings, clusters), whole numbers.
        """
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
    sums = np.zeros((len(weights) + 1, weights.shape[1]), np.int32)
    np.cumsum(weights, axis=0, out=sums[1:])
    return sums
