"""A row of a paper's table, and how the usual file of such rows is read."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import DataError
from harness.scoring.classification import AnswerCounts
from harness.scoring.significance import Interval, intervals


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row of a paper's table."""

    benchmark: str
    table: str
    """As in Table 4, Table XI."""
    setting: Mapping[str, str]
    """What else tells it from other rows: group, perturbation, relation; task, prompt format, network."""
    model: str
    printed: Mapping[str, str]
    """The digits as they stand in the paper, by metric: in percent or as fractions (`percent` tells which)."""
    counts: AnswerCounts | None = None
    """What the digits were computed from; None where that cannot be told."""
    contradicted: tuple[str, ...] = ()
    """Metrics that do not fit the row's other digits."""
    task: str = ""
    """The task whose runs it may stand beside; the benchmark where none is named."""
    asked: Mapping[str, str] = field(default_factory=dict)
    """Settings of the task that the runs which it stands beside have."""
    in_percent: tuple[str, ...] = ()
    """The metrics that the paper prints in percent."""
    source: str = ""
    """Where it stands, if that is not the benchmark's own paper."""
    note: str = ""
    """What has to be known beside the digits."""

    @property
    def intervals(self) -> Mapping[str, Interval | None]:
        """95%, by metric, as fractions, from the counts alone; empty where the counts are not known."""
        return intervals(self.counts) if self.counts else {}

    def percent(self, metric: str) -> bool:
        """Test whether the paper prints the metric in percent."""
        return metric in self.in_percent


def read_rows(
    text: str, benchmark: str, metrics: Sequence[str], *, task: str = "", percent: bool = True
) -> Iterator[PublishedRow]:
    """Yield the rows of a CSV file with the columns table, model and one for each metric; all others are settings.

    A metric's cell that is empty is a dash in the paper. Raises DataError where a column is missing.
    """
    columns = ("table", "model", *metrics)
    for line in csv.DictReader(text.splitlines()):
        if missing := [name for name in columns if line.get(name) is None]:
            raise DataError(f"the published numbers of {benchmark} have no column {', '.join(missing)}: {line}.")
        yield PublishedRow(
            benchmark,
            line["table"],
            {name: value for name, value in line.items() if name not in (*columns, "benchmark")},
            line["model"],
            {name: line[name] for name in metrics if line[name]},
            task=task,
            in_percent=tuple(metrics) if percent else (),
        )
