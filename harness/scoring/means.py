"""Scores that are means over items of numbers that each item has, with intervals over clusters; means over seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, sqrt
from statistics import fmean, stdev
from typing import Literal

from harness.scoring import bootstrap
from harness.scoring.bootstrap import CONSTANT, FEW_CLUSTERS, FEWEST, ONE_CLUSTER, RESTS_ON_FEW
from harness.scoring.definitions import definition
from harness.types import Metric, Record, Scores

OVERALL = ("overall", "all")
Numbers = Mapping[str, Sequence[float]]
"""The values of a measure by cluster."""


@dataclass(frozen=True, slots=True)
class MeanRow:
    """An item with the values of its answer."""

    cluster: str
    unit: str
    """What is drawn in a row of one cluster."""
    groups: tuple[tuple[str, str], ...]
    positive: bool
    state: Literal["read", "unreadable", "failed"]
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


def mean_rows(
    rows: Iterable[MeanRow],
    measures: Sequence[str],
    *,
    orders: Mapping[str, Sequence[str]],
    mean_of: tuple[str, str] | None,
    unit: str,
) -> dict[str, dict[str, Scores]]:
    """Return breakdown → group → scores; `orders` gives the breakdowns and the order of their groups.

    `mean_of`, if any, names a breakdown that is the clusters, and the row beside `all` in which each weighs alike.
    Intervals draw clusters, in a row of one cluster its units, which are called `unit`.
    """
    members: dict[tuple[str, str], list[MeanRow]] = {OVERALL: []}
    for row in sorted(rows, key=lambda row: (row.cluster, row.unit, row.groups)):  # floats add up in one order
        for key in (OVERALL, *row.groups):
            members.setdefault(key, []).append(row)
    scores = {"overall": {"all": _scores(members[OVERALL], measures, unit)}}
    if mean_of is not None:
        breakdown, title = mean_of
        by_cluster = {group: of_group for (name, group), of_group in members.items() if name == breakdown}
        scores["overall"][title] = _scores(members[OVERALL], measures, "", by_cluster)
    for name, order in orders.items():
        groups = [group for group in order if (name, group) in members]
        if groups:
            scores[name] = {group: _scores(members[name, group], measures, unit) for group in groups}
    return scores


def _scores(
    rows: Sequence[MeanRow],
    measures: Sequence[str],
    unit: str,
    by_cluster: Mapping[str, Sequence[MeanRow]] | None = None,
) -> Scores:
    """Return a row of scores; with `by_cluster` the mean over the clusters of each one's mean."""
    one = by_cluster is None and len({row.cluster for row in rows}) == 1
    parts = len({row.unit if one else row.cluster for row in rows})

    def values_of(measure: str, lost: float | None = None) -> Numbers:
        values: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            value = row.values.get(measure) if lost is None or row.state == "read" else lost
            if value is not None:
                values[row.unit if one else row.cluster].append(value)
        return values if by_cluster is None else {name: [fsum(of) / len(of)] for name, of in values.items()}

    metrics = []
    for measure in measures:
        metric = _metric(measure, values_of(measure), parts, one=one)
        if any(row.state != "read" for row in rows) and (ends := _ends(measure)) is not None:
            metric = replace(metric, bounds=(_mean(values_of(measure, ends[0])), _mean(values_of(measure, ends[1]))))
        metrics.append(metric)
    return Scores(
        items=len(rows),
        positives=sum(row.positive for row in rows),
        unreadable=sum(row.state == "unreadable" for row in rows),
        failed=sum(row.state == "failed" for row in rows),
        metrics=tuple(metrics),
        clusters=parts,
        unit=unit if one else "",
        resamples=bootstrap.resamples(parts) if parts >= FEWEST else 0,
    )


def _ends(measure: str) -> tuple[float, float] | None:
    """Return what the worst and the best answer of an item are worth; None where there is no worst, or no better."""
    metric = definition(measure)
    low, high = metric.limits
    if high is None or metric.best is None:
        return None
    return (low, high) if metric.best == "high" else (high, low)


def _mean(values: Numbers) -> float:
    return fsum(value for of_cluster in values.values() for value in of_cluster) / sum(map(len, values.values()))


def _metric(name: str, values: Numbers, parts: int, *, one: bool) -> Metric:
    """Return the mean of all values with its interval; `parts` is how many clusters the row has."""
    import numpy as np

    if not any(values.values()):
        return Metric(name, None)
    mean = _mean(values)
    if parts < FEWEST:
        reason = ONE_CLUSTER if parts == 1 and not one else FEW_CLUSTERS
        return Metric(name, mean, no_interval=reason)
    if len(values) < FEWEST:
        return Metric(name, mean, no_interval=RESTS_ON_FEW)
    # Clusters without a value of this measure are drawn too: the row's clusters are the same for all measures.
    columns = np.zeros((parts, 2))
    columns[: len(values)] = [(fsum(of_cluster), len(of_cluster)) for _, of_cluster in sorted(values.items())]
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
