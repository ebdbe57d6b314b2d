"""The intervals of a row's metrics, from counts by cluster: their cost does not depend on how many items there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Protocol, TypeVar

from harness.scoring import bootstrap
from harness.scoring.bootstrap import CONSTANT, FEW_CLUSTERS, FEWEST, ONE_CLUSTER, RESAMPLES, RESTS_ON_FEW
from harness.scoring.classification import settle
from harness.scoring.definitions import of_counts
from harness.types import Metric, Unreadable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)
Interval = tuple[float, float] | str
"""An interval, or the reason why it is missing."""


@dataclass(frozen=True)
class RowData:
    """A row's records by cluster, clusters in alphabetical order."""

    counts: NDArray[np.float64]
    """(clusters, 8): the fields of AnswerCounts in their order."""
    gold: NDArray[np.int64] | None = None
    """Of the items that have a probability, like the next two; None where none has."""
    p_yes: NDArray[np.float64] | None = None
    cluster: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def resamples(self) -> int:
        """How many the row gets; 0 where there are too few clusters."""
        if len(self) < FEWEST:
            return 0
        return bootstrap.resamples(len(self), 0 if self.p_yes is None else len(self.p_yes))


def intervals(row_data_by_key: Mapping[Key, RowData], *, unreadable: Unreadable) -> dict[Key, dict[str, Interval]]:
    return resampled({key: _AnswersRow(row_data, unreadable) for key, row_data in row_data_by_key.items()})


class ResampledRow(Protocol):
    """A row's metrics as functions of its clusters' weights."""

    columns: NDArray[np.float64]
    """(clusters, columns): what is summed over clusters."""
    resamples: int
    """0 where there are too few clusters."""
    width: int
    """How many numbers a weighting takes (`bootstrap.draws`)."""
    rests_on: dict[str, int]
    """Metric → in how many clusters there is what it is made of."""

    def metrics_under(self, weights: NDArray[np.float64], summed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each metric under each weighting: (metrics as in `rests_on`, weightings); NaN where undefined.

        `summed` is weights @ columns.
        """


def resampled(rows_by_key: Mapping[Key, ResampledRow]) -> dict[Key, dict[str, Interval]]:
    """Return the interval of each metric of each row. Rows of as many clusters share their resamples."""
    import numpy as np

    alike: dict[tuple[int, int], list[tuple[Key, ResampledRow]]] = defaultdict(list)
    by_row: dict[Key, dict[str, Interval]] = {}
    for key, row in rows_by_key.items():
        if row.resamples:
            alike[len(row.columns), row.resamples].append((key, row))
        else:
            by_row[key] = dict.fromkeys(row.rests_on, _too_few(len(row.columns)))
    for (clusters, resamples), rows in alike.items():
        values: list[list[NDArray[np.float64]]] = [[] for _ in rows]
        columns = np.hstack([row.columns for _, row in rows])  # one product: many narrow ones take far longer
        ends = np.cumsum([row.columns.shape[1] for _, row in rows])[:-1]
        for weights in bootstrap.draws(clusters, resamples, width=max(row.width for _, row in rows)):
            sums = np.split(weights @ columns, ends, axis=1)
            for (_, row), parts, summed in zip(rows, values, sums, strict=True):
                parts.append(row.metrics_under(weights, summed))
        for (key, row), parts in zip(rows, values, strict=True):
            by_row[key] = {
                name: (bootstrap.interval(column, clusters) or CONSTANT) if number >= FEWEST else RESTS_ON_FEW
                for (name, number), column in zip(row.rests_on.items(), np.concatenate(parts, axis=1), strict=True)
            }
    return by_row


class _AnswersRow:
    """A row of Yes and No, and of their probabilities where there are any."""

    def __init__(self, row_data: RowData, unreadable: Unreadable) -> None:
        import numpy as np

        self.columns, self.resamples = row_data.counts, row_data.resamples
        self._unreadable = unreadable
        self._ranking: Ranking | None = None
        self.width = 1
        if row_data.p_yes is not None and row_data.gold is not None and row_data.cluster is not None:
            # The same sums whatever the order of the records: floats do not add up alike in every order.
            order = np.lexsort((row_data.gold, row_data.p_yes, row_data.cluster))
            gold, p_yes, cluster = row_data.gold[order], row_data.p_yes[order], row_data.cluster[order]
            errors = np.bincount(cluster, weights=(p_yes - gold) ** 2, minlength=len(row_data))
            number = np.bincount(cluster, minlength=len(row_data))
            self.columns = np.column_stack([row_data.counts, errors, number])
            self._ranking = Ranking(gold, p_yes, cluster)
            self.width = len(gold)
        counts = self._counts(self.columns)
        self.rests_on = {
            metric.name: min(int((sums > 0).sum()) for sums in metric.sums(*counts)) for metric in of_counts()
        }
        if self._ranking:
            both = min(len(np.unique(cluster[gold == label])) for label in (0, 1))
            self.rests_on |= {"brier": int((number > 0).sum()), "auroc": both, "average_precision": both}

    def _counts(self, columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return true and false positives, false and true negatives, of columns as __init__ makes them, or sums."""
        tp, fp, fn, tn, lost_positive, lost_negative = columns.T[:6]
        return settle(tp, fp, fn, tn, lost_positive, lost_negative, self._unreadable)

    def metrics_under(self, weights: NDArray[np.float64], summed: NDArray[np.float64]) -> NDArray[np.float64]:
        import numpy as np

        counts = self._counts(summed)
        ratios = [metric.of_counts(*counts) for metric in of_counts() if metric.of_counts]
        if self._ranking:
            ratios.append((summed[:, 8], summed[:, 9]))  # Brier's
        with np.errstate(invalid="ignore", divide="ignore"):
            values = [above / below for above, below in ratios]
        if self._ranking:
            values += self._ranking.metrics_under(weights)
        return np.array(values)


class Ranking:
    """Items in the order of their probabilities of Yes; a weighting gives each cluster's items one weight.

    Both metrics change only where a positive stands: all that is weighed are the sums of positives and of negatives
    down to each distinct probability that a positive has. Ties count as one step, as scikit-learn has it.
    """

    def __init__(self, gold: NDArray[np.int64], p_yes: NDArray[np.float64], cluster: NDArray[np.int64]) -> None:
        """Sort the items: parallel arrays, one entry an item, clusters by number."""
        import numpy as np

        highest_first = np.argsort(-p_yes, kind="stable")
        positive = gold[highest_first] == 1
        p, of = p_yes[highest_first], cluster[highest_first]
        self._positives, self._negatives = of[positive], of[~positive]
        steps, p_negative = p[positive], -p[~positive]
        self._ends = np.flatnonzero(np.append(np.diff(steps) != 0, True)) if len(steps) else np.zeros(0, np.int64)
        self._above = np.searchsorted(p_negative, -steps[self._ends], side="left")
        self._at_or_above = np.searchsorted(p_negative, -steps[self._ends], side="right")

    def metrics_under(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (AUROC, average precision), each with an entry for each weighting; NaN where a class has no weight.

        `weights` is (weightings, clusters), whole numbers.
        """
        import numpy as np

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
    import numpy as np

    sums = np.zeros((len(weights) + 1, weights.shape[1]), np.int32)
    np.cumsum(weights, axis=0, out=sums[1:])
    return sums


def means(values: Mapping[str, Mapping[str, Metric]], *, resamples: int = RESAMPLES) -> tuple[Metric, ...]:
    """Return the means over clusters, which weigh alike, of metrics by cluster and name; None where one of them is.

    The interval draws the clusters, as that of any other metric of the row does. The bounds are means of bounds.
    """
    import numpy as np

    columns: dict[str, list[Metric]] = defaultdict(list)
    for cluster in sorted(values):
        for name, metric in values[cluster].items():
            columns[name].append(metric)
    metrics = []
    numbers_by_name: dict[str, list[float]] = {}
    for name, column in columns.items():
        numbers = [metric.value for metric in column if metric.value is not None]
        complete = len(numbers) == len(column)
        bounds = None
        if complete and any(metric.bounds for metric in column):
            ends = [metric.bounds or (number, number) for metric, number in zip(column, numbers, strict=True)]
            bounds = fmean(low for low, _ in ends), fmean(high for _, high in ends)
        metrics.append(Metric(name, fmean(numbers) if complete else None, bounds=bounds))
        if complete:
            numbers_by_name[name] = numbers
    if len(values) < FEWEST:
        return with_intervals(tuple(metrics), dict.fromkeys(numbers_by_name, _too_few(len(values))))
    intervals: dict[str, Interval] = {}
    for clusters in sorted({len(numbers) for numbers in numbers_by_name.values()}):
        names = [name for name, numbers in numbers_by_name.items() if len(numbers) == clusters]
        if clusters < FEWEST:
            intervals |= dict.fromkeys(names, RESTS_ON_FEW)
            continue
        table = np.array([numbers_by_name[name] for name in names]).T
        means = np.concatenate([weights @ table for weights in bootstrap.draws(clusters, resamples)]) / clusters
        for name, resampled in zip(names, means.T, strict=True):
            intervals[name] = bootstrap.interval(resampled, clusters) or CONSTANT
    return with_intervals(tuple(metrics), intervals)


def _too_few(clusters: int) -> str:
    return ONE_CLUSTER if clusters == 1 else FEW_CLUSTERS


def with_intervals(metrics: tuple[Metric, ...], ranges: Mapping[str, Interval]) -> tuple[Metric, ...]:
    return tuple(_with(metric, ranges[metric.name]) if metric.name in ranges else metric for metric in metrics)


def _with(metric: Metric, interval: Interval) -> Metric:
    if metric.value is None:
        return metric
    return replace(metric, no_interval=interval) if isinstance(interval, str) else replace(metric, interval=interval)
