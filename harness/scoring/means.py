"""Scores that are means over items of numbers that each item has, with intervals over clusters; means over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from math import fsum, nan, sqrt
from statistics import fmean, stdev
from typing import Literal

from harness.scoring import bootstrap
from harness.scoring.bootstrap import CONSTANT, FEW_CLUSTERS, FEWEST, ONE_CLUSTER, RESTS_ON_FEW
from harness.scoring.definitions import definition
from harness.scoring.one_pass import counted
from harness.scoring.summary import OutcomeCounts
from harness.scoring.tally import Tally
from harness.types import Metric, Record, Result, Scores

OVERALL = ("overall", "all")
State = Literal["read", "unreadable", "failed"]
Kind = tuple[tuple[tuple[str, str], ...], bool, State]
"""(groups, positive, state)"""
Numbers = Sequence[Sequence[float]]
"""The values of a measure by cluster."""


@dataclass(frozen=True, slots=True)
class MeanRow:
    """An item with the values of its answer."""

    cluster: str
    unit: str
    """What is drawn in a row of one cluster."""
    groups: tuple[tuple[str, str], ...]
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
        super().__init__()
        self.measures = tuple(measures)
        self.add_rows(rows)

    def add_rows(self, rows: Iterable[MeanRow]) -> None:
        """Add rows; a value that is undefined is NaN."""
        for row in rows:
            values = [nan if (value := row.values.get(measure)) is None else value for measure in self.measures]
            self.add((row.groups, row.positive, row.state), row.cluster, row.unit, values)

    def scores(
        self, orders: Mapping[str, Sequence[str]], *, mean: str = "", unit: str = ""
    ) -> dict[str, dict[str, Scores]]:
        """Return breakdown → group → scores; `orders` gives the breakdowns and the order of their groups.

        `mean`, if any, is the name of a row beside `all` in which each cluster weighs alike. Intervals draw clusters,
        in a row of one cluster its units, which are called `unit`.
        """
        members: dict[tuple[str, str], list[Kind]] = {OVERALL: []}
        for kind in self.kinds:
            for key in (OVERALL, *kind[0]):
                members.setdefault(key, []).append(kind)
        scores = {"overall": {"all": self._row(members[OVERALL], unit)}}
        if mean:
            scores["overall"][mean] = self._row(members[OVERALL], "", alike=True)
        for name, order in orders.items():
            groups = [group for group in order if (name, group) in members]
            if groups:
                scores[name] = {group: self._row(members[name, group], unit) for group in groups}
        return scores

    def _row(self, kinds: Sequence[Kind], unit: str, *, alike: bool = False) -> Scores:
        """Return a row of scores; with `alike` the mean over the clusters of each one's mean."""
        import numpy as np

        place, drawn, one = self.records(kinds, parts=not alike)
        order = np.argsort(drawn, kind="stable")
        place, drawn = place[order], drawn[order]
        parts = len(np.unique(drawn))
        values = np.concatenate([np.zeros(0), *map(self.numbers, kinds)]).reshape(-1, len(self.measures))[order]
        read = np.array([state == "read" for _, _, state in kinds], dtype=bool)[place]

        def numbers(column: int, lost: float | None = None) -> Numbers:
            of_all = values[:, column] if lost is None else np.where(read, values[:, column], lost)
            defined = ~np.isnan(of_all)
            edges = np.flatnonzero(np.diff(drawn[defined], prepend=-1, append=-1)).tolist()
            listed = of_all[defined].tolist()
            by_part = [listed[start:end] for start, end in pairwise(edges)]
            return [[fsum(of_part) / len(of_part)] for of_part in by_part] if alike else by_part

        metrics = []
        for column, measure in enumerate(self.measures):
            metric = mean_metric(measure, numbers(column), parts, one=one)
            if not read.all() and (ends := _ends(measure)) is not None:
                metric = replace(metric, bounds=(_mean(numbers(column, ends[0])), _mean(numbers(column, ends[1]))))
            metrics.append(metric)
        sizes = [*zip(np.bincount(place, minlength=len(kinds)).tolist(), kinds, strict=True)]
        return Scores(
            items=len(place),
            positives=sum(size for size, (_, positive, _) in sizes if positive),
            unreadable=sum(size for size, (_, _, state) in sizes if state == "unreadable"),
            failed=sum(size for size, (_, _, state) in sizes if state == "failed"),
            metrics=tuple(metrics),
            clusters=parts,
            unit=unit if one else "",
            resamples=bootstrap.resamples(parts) if parts >= FEWEST else 0,
        )


def _each_alone(records: Iterable[Record]) -> Iterable[Sequence[Record]]:
    return ((record,) for record in records)


def summarize(
    records: Iterable[Record],
    rows: Callable[[Sequence[Record]], Iterable[MeanRow]],
    measures: Sequence[str],
    *,
    headline: str,
    orders: Mapping[str, Sequence[str]],
    groups: Callable[[Iterable[Record]], Iterable[Sequence[Record]]] = _each_alone,
    mean: str = "",
    unit: str = "",
    notes: tuple[str, ...] = (),
) -> Result:
    """Return the means of what `rows` makes of each record, or of each of the `groups`; see `MeanTally.scores`.

    Memory grows with the clusters, and by a number for each measure of a row.
    """
    tally, totals = MeanTally(measures), OutcomeCounts()
    for group in groups(counted(records, totals.add)):
        tally.add_rows(rows(group))
    scores = tally.scores(orders, mean=mean, unit=unit)
    return Result(headline, {headline: scores}, tally.clusters, **totals.parts(), notes=notes)


def _ends(measure: str) -> tuple[float, float] | None:
    """Return what the worst and the best answer of an item are worth; None where there is no worst, or no better."""
    metric = definition(measure)
    low, high = metric.limits
    if high is None or metric.best is None:
        return None
    return (low, high) if metric.best == "high" else (high, low)


def _mean(values: Numbers) -> float:
    return fsum(chain.from_iterable(values)) / sum(map(len, values))


def mean_metric(name: str, values: Numbers, parts: int, *, one: bool) -> Metric:
    """Return the mean of all values with its interval; `parts` is how many clusters the row has."""
    import numpy as np

    if not values:
        return Metric(name, None)
    mean = _mean(values)
    if parts < FEWEST:
        reason = ONE_CLUSTER if parts == 1 and not one else FEW_CLUSTERS
        return Metric(name, mean, no_interval=reason)
    if len(values) < FEWEST:
        return Metric(name, mean, no_interval=RESTS_ON_FEW)
    # Clusters without a value of this measure are drawn too: the row's clusters are the same for all measures.
    columns = np.zeros((parts, 2))
    columns[: len(values)] = [(fsum(of_cluster), len(of_cluster)) for of_cluster in values]
    sums = np.concatenate([weights @ columns for weights in bootstrap.draws(parts, bootstrap.resamples(parts))])
    with np.errstate(invalid="ignore"):
        interval = bootstrap.interval(sums[:, 0] / sums[:, 1], parts)
    return Metric(name, mean, interval, no_interval="" if interval else CONSTANT)


def mean_and_half_width(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and half of its 95% interval (Student's t); no interval of a single value."""
    if len(values) == 1:
        return values[0], None
    from scipy.stats import t

    return fmean(values), float(t.ppf(0.975, len(values) - 1)) * stdev(values) / sqrt(len(values))
