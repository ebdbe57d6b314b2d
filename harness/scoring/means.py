"""Scores that are means over items of numbers that each item has, or over clusters of numbers that each cluster has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, nan
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.scoring.definitions import definition
from harness.scoring.intervals import ClusterSums, Estimate, estimated, fraction, ratio_intervals, with_intervals
from harness.scoring.summary import OutcomeCounts, rows_of
from harness.scoring.tally import Group, Tally
from harness.types import Metric, Record, Result, Scores, replace

State = Literal["read", "unreadable", "failed"]
Kind = tuple[tuple[Group, ...], bool, State]
"""(groups, positive, state)"""
_POSITIVE, _COLUMNS = 1, {"read": (0,), "unreadable": (0, 2), "failed": (0, 3)}
"""The columns that an item adds one to: items, positives, unreadable and failed ones."""
Breakdowns = Mapping[str, Mapping[str, Scores]]
"""Breakdown → group → scores."""


@dataclass(frozen=True, slots=True)
class MeanRow:
    """An item with the values of its answer."""

    cluster: str
    unit: str
    """What is drawn in a row of one cluster."""
    groups: tuple[Group, ...]
    positive: bool
    state: State
    values: Mapping[str, float | None]
    """By measure; None where it is undefined. Empty for a failed call."""


def summarize(
    records: Iterable[Record],
    values: Callable[[Record], Mapping[str, float | None]],
    measures: Sequence[str],
    *,
    headline: str,
    orders: Mapping[str, Sequence[str]],
    unit: str = "",
    notes: tuple[str, ...] = (),
) -> Result:
    """Return the means of the `values` of each record's answer, readable or not; see `scores_of_means`."""
    totals, clusters = OutcomeCounts(), set[str]()

    def row(record: Record) -> MeanRow:
        clusters.add(record.cluster)
        totals.add(record)
        answer, groups, positive = record.answer, tuple(record.groups.items()), bool(record.labels[headline])
        state: State = "failed" if answer is None else "unreadable" if answer.label is None else "read"
        of_answer = {} if answer is None else values(record)
        return MeanRow(record.cluster, record.unit, groups, positive, state, of_answer)

    scores = scores_of_means(map(row, records), measures, orders, unit=unit)
    return Result(headline, {headline: scores}, len(clusters), **totals.parts(), notes=notes)


def scores_of_means(
    items: Iterable[MeanRow], measures: Sequence[str], orders: Mapping[str, Sequence[str]], *, unit: str = ""
) -> dict[str, dict[str, Scores]]:
    """Return breakdown → group → scores; `orders` gives the breakdowns and the order of their groups.

    Intervals draw clusters, in a row of one cluster its units, which are called `unit`. Memory grows with the clusters,
    and by a number for each measure of an item.
    """
    tally = Tally[Kind](len(measures))
    for item in items:
        values = [nan if (value := item.values.get(measure)) is None else value for measure in measures]
        tally.add((item.groups, item.positive, item.state), item.cluster, item.unit, values)
    members = rows_of(tally.kinds, lambda kind: [key for key in kind[0] if key[1] in orders.get(key[0], ())], orders)
    return with_intervals({key: _row(tally, kinds, measures, unit) for key, kinds in members.items()})


def _row(tally: Tally[Kind], kinds: Sequence[Kind], measures: Sequence[str], unit: str) -> tuple[Scores, ClusterSums]:
    """Return the means over some kinds of items, and what they are made of."""
    columns = {kind: [*_COLUMNS[kind[2]], *([_POSITIVE] if kind[1] else [])] for kind in kinds}
    row = tally.row(columns, 4, parts=True)
    items, positives, unreadable, failed = map(int, row.columns.sum(axis=0))
    read = np.array([state == "read" for *_, state in kinds], dtype=bool)[row.kind]
    values = dict(zip(measures, row.numbers.T, strict=True))
    metrics = tuple(Metric(name, _mean(of), bounds=_bounds(name, of, read)) for name, of in values.items())
    scores = Scores(items, positives, unreadable, failed, metrics, unit=unit if row.by_part else "")
    return scores, sums_of_means({name: row.sums(of) for name, of in values.items()})


def _mean(values: NDArray[np.float64]) -> float | None:
    """Return the mean of what is defined; None where nothing is."""
    defined = values[~np.isnan(values)].tolist()
    return fsum(defined) / len(defined) if defined else None


def _bounds(measure: str, values: NDArray[np.float64], read: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Return the mean if all that could not be read were worst, and if it were best; None where there are no such."""
    metric = definition(measure)
    low, high = metric.limits
    if read.all() or high is None or metric.best is None:
        return None
    ends = (low, high) if metric.best == "high" else (high, low)
    worst, best = (_mean(np.where(read, values, end)) for end in ends)
    return None if worst is None or best is None else (worst, best)


def sums_of_means(sums: Mapping[str, NDArray[np.float64]], most: int | None = None) -> ClusterSums:
    """Return what means are made of; `sums` has the sum and the number of each one's values: (clusters, 2)."""
    ratios = {name: fraction(2 * place, 2 * place + 1) for place, name in enumerate(sums)}
    # Clusters without a value last, as they stood when the results that ship were drawn.
    columns = [of[np.argsort(of[:, 1] == 0, kind="stable")] for of in sums.values()]
    return ClusterSums(np.hstack(columns), ratios, most=most)


def mean_of(values: Mapping[str, Sequence[float]]) -> Estimate:
    """Return the mean of the values that clusters have."""
    sums = np.array([(fsum(values[cluster]), len(values[cluster])) for cluster in sorted(values)])
    [estimates] = ratio_intervals([sums_of_means({"mean": sums})])
    return estimates["mean"]


def means(values: Mapping[str, Mapping[str, Metric]], *, resamples: int | None = None) -> tuple[Metric, ...]:
    """Return the means over clusters, which weigh alike, of metrics by cluster and name; None where one of them is.

    The interval draws the clusters, as that of any other metric of the row does. The bounds are means of bounds.
    """
    of_clusters = [values[cluster] for cluster in sorted(values)]
    metrics: list[Metric] = []
    sums: dict[str, NDArray[np.float64]] = {}
    for name in dict.fromkeys(name for of_one in of_clusters for name in of_one):
        column = [of_one.get(name) for of_one in of_clusters]
        there = [metric for metric in column if metric is not None]
        numbers = [metric.value for metric in there if metric.value is not None]
        if len(numbers) < len(there):
            metrics.append(Metric(name, None))
            continue
        bounds = None
        if any(metric.bounds for metric in there):
            ends = [metric.bounds or (number, number) for metric, number in zip(there, numbers, strict=True)]
            bounds = fmean(low for low, _ in ends), fmean(high for _, high in ends)
        metrics.append(Metric(name, fmean(numbers), bounds=bounds))
        sums[name] = np.array([(0, 0) if metric is None else (metric.value, 1) for metric in column], dtype=float)
    [estimates] = ratio_intervals([sums_of_means(sums, resamples)]) if sums else [{}]
    return estimated(metrics, estimates)


def with_mean(rows: Breakdowns, breakdown: str, name: str) -> Breakdowns:
    """Return the rows with one more overall, in which each group of a breakdown weighs alike, such as each network."""
    groups = {group: {metric.name: metric for metric in row.metrics} for group, row in rows[breakdown].items()}
    overall = rows["overall"]["all"]
    resamples = overall.resamples if len(groups) > 1 else 0
    metrics = means(groups, resamples=resamples or None)
    row = replace(overall, metrics=metrics, clusters=len(groups), unit="", resamples=resamples, confusion={})
    return {**rows, "overall": {**rows["overall"], name: row}}
