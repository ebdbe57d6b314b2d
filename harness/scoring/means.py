"""Scores that are means over items of numbers that each item has, or over clusters of numbers that each cluster has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, nan
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from harness.scoring.definitions import definition
from harness.scoring.intervals import ClusterSums, Estimate, fraction, ratio_intervals, with_intervals
from harness.scoring.summary import OVERALL, Group, OutcomeCounts, rows_of
from harness.scoring.tally import Tally, counted
from harness.types import Metric, Record, Result, Scores, replace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

State = Literal["read", "unreadable", "failed"]
Kind = tuple[tuple[Group, ...], bool, State]
"""(groups, positive, state)"""
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

    @classmethod
    def of(cls, record: Record, label_set: str, measures: Callable[[Record], Mapping[str, float | None]]) -> MeanRow:
        """Return the row of a record; `measures` gives the values of its answer, readable or not."""
        return cls(
            cluster=record.cluster,
            unit=record.unit,
            groups=tuple(record.groups.items()),
            positive=bool(record.labels[label_set]),
            state="failed" if record.answer is None else "unreadable" if record.answer.label is None else "read",
            values={} if record.answer is None else measures(record),
        )


class MeanTally(Tally[Kind]):
    """Rows by cluster and unit, with a number for each measure."""

    def __init__(self, measures: Sequence[str], rows: Iterable[MeanRow] = ()) -> None:
        super().__init__(len(measures))
        self.measures = tuple(measures)
        self.add_rows(rows)

    def add_rows(self, rows: Iterable[MeanRow]) -> None:
        """Add rows; a value that is undefined is NaN."""
        for row in rows:
            values = [nan if (value := row.values.get(measure)) is None else value for measure in self.measures]
            self.add((row.groups, row.positive, row.state), row.cluster, row.unit, values)

    def scores(self, orders: Mapping[str, Sequence[str]], *, unit: str = "") -> dict[str, dict[str, Scores]]:
        """Return breakdown → group → scores; `orders` gives the breakdowns and the order of their groups.

        Intervals draw clusters, in a row of one cluster its units, which are called `unit`.
        """
        rows = rows_of(self.kinds, lambda kind: [key for key in kind[0] if key[1] in orders.get(key[0], ())], orders)
        scores: dict[str, dict[str, Scores]] = {}
        for breakdown, group in rows or [OVERALL]:
            scores.setdefault(breakdown, {})[group] = self._row(rows.get((breakdown, group), []), unit)
        return scores

    def _row(self, kinds: Sequence[Kind], unit: str) -> Scores:
        import numpy as np

        row = self.row(dict.fromkeys(kinds, ()), parts=True)
        read = np.array([state == "read" for _, _, state in kinds], dtype=bool)[row.kind]
        values = dict(zip(self.measures, row.numbers.T, strict=True))
        metrics = [Metric(name, _mean(of), bounds=_bounds(name, of, read)) for name, of in values.items()]
        table = sums_of_means({name: row.sums(of) for name, of in values.items()})
        [estimates] = ratio_intervals([table])
        sizes = [*zip(np.bincount(row.kind, minlength=len(kinds)).tolist(), kinds, strict=True)]
        return Scores(
            items=len(row.kind),
            positives=sum(size for size, (_, positive, _) in sizes if positive),
            unreadable=sum(size for size, (_, _, state) in sizes if state == "unreadable"),
            failed=sum(size for size, (_, _, state) in sizes if state == "failed"),
            metrics=with_intervals(metrics, estimates),
            clusters=table.clusters,
            unit=unit if row.by_part else "",
            resamples=table.resamples,
        )


def _mean(values: NDArray[np.float64]) -> float | None:
    """Return the mean of what is defined; None where nothing is."""
    import numpy as np

    defined = values[~np.isnan(values)].tolist()
    return fsum(defined) / len(defined) if defined else None


def _bounds(measure: str, values: NDArray[np.float64], read: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Return the mean if all that could not be read were worst, and if it were best; None where there are no such."""
    import numpy as np

    metric = definition(measure)
    low, high = metric.limits
    if read.all() or high is None or metric.best is None:
        return None
    ends = (low, high) if metric.best == "high" else (high, low)
    worst, best = (_mean(np.where(read, values, end)) for end in ends)
    return None if worst is None or best is None else (worst, best)


def sums_of_means(sums: Mapping[str, NDArray[np.float64]], most: int | None = None) -> ClusterSums:
    """Return what means are made of; `sums` has the sum and the number of each one's values: (clusters, 2)."""
    import numpy as np

    ratios = {name: fraction(2 * place, 2 * place + 1) for place, name in enumerate(sums)}
    # Clusters without a value last, as they stood when the results that ship were drawn.
    columns = [of[np.argsort(of[:, 1] == 0, kind="stable")] for of in sums.values()]
    return ClusterSums(np.hstack(columns), ratios, most=most)


def mean_of(values: Mapping[str, Sequence[float]]) -> Estimate:
    """Return the mean of the values that clusters have."""
    import numpy as np

    sums = np.array([(fsum(values[cluster]), len(values[cluster])) for cluster in sorted(values)])
    [estimates] = ratio_intervals([sums_of_means({"mean": sums})])
    return estimates["mean"]


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
    """Return the means of the `values` of each record's answer, readable or not; see `MeanTally.scores`.

    Memory grows with the clusters, and by a number for each measure of a record.
    """
    tally, totals = MeanTally(measures), OutcomeCounts()
    tally.add_rows(MeanRow.of(record, headline, values) for record in counted(records, totals.add))
    return Result(headline, {headline: tally.scores(orders, unit=unit)}, tally.clusters, **totals.parts(), notes=notes)


def means(values: Mapping[str, Mapping[str, Metric]], *, resamples: int | None = None) -> tuple[Metric, ...]:
    """Return the means over clusters, which weigh alike, of metrics by cluster and name; None where one of them is.

    The interval draws the clusters, as that of any other metric of the row does. The bounds are means of bounds.
    """
    import numpy as np

    of_clusters = [values[cluster] for cluster in sorted(values)]
    metrics: list[Metric] = []
    sums: dict[str, NDArray[np.float64]] = {}
    for name in dict.fromkeys(name for metrics_of_one in of_clusters for name in metrics_of_one):
        column = [metrics_of_one.get(name) for metrics_of_one in of_clusters]
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
    return with_intervals(metrics, estimates)


def with_mean(rows: Breakdowns, breakdown: str, name: str) -> Breakdowns:
    """Return the rows with one more overall, in which each group of a breakdown weighs alike, such as each network."""
    groups = {group: {metric.name: metric for metric in row.metrics} for group, row in rows[breakdown].items()}
    overall = rows["overall"]["all"]
    resamples = overall.resamples if len(groups) > 1 else 0
    metrics = means(groups, resamples=resamples or None)
    row = replace(overall, metrics=metrics, clusters=len(groups), unit="", resamples=resamples, confusion={})
    return {**rows, "overall": {**rows["overall"], name: row}}
