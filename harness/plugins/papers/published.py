"""Rows of the papers' tables: how their usual file is read, and how they stand beside what was measured."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from harness.errors import ConfigError, DataError, unknown
from harness.scoring.classification import AnswerCounts, decisions, wilson_intervals
from harness.scoring.definitions import definition, definitions
from harness.storage.runs import Run
from harness.tables.numbers import interval_text, metric_column
from harness.tables.table import Cell, Column, Line, Part, Table
from harness.tasks.benchmark import Benchmark
from harness.tasks.find import benchmark_of, every

WILSON_NOTE = (
    "Intervals: 95%, Wilson's, from the counts behind the printed digits, as if items were independent; F1's by way of "
    "TP/(TP+FP+FN). Whose answers stood in which cluster is not known, so these are too narrow."
)
NO_INTERVALS_NOTE = "No row has an interval: the counts behind these numbers are not known."


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
    task_settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the task that the runs which it stands beside have."""
    in_percent: tuple[str, ...] = ()
    """The metrics that the paper prints in percent."""
    source: str = ""
    """Where it stands, if that is not the benchmark's own paper."""
    note: str = ""
    """What has to be known beside the digits."""

    @property
    def intervals(self) -> Mapping[str, tuple[float, float] | None]:
        """95%, by metric, as fractions, from the counts alone; empty where the counts are not known."""
        return wilson_intervals(self.counts) if self.counts else {}

    def percent(self, metric: str) -> bool:
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


@cache
def rows_of(benchmark: Benchmark) -> tuple[PublishedRow, ...]:
    return tuple(benchmark.published())


def rows() -> tuple[PublishedRow, ...]:
    return tuple(row for benchmark in every() for row in rows_of(benchmark))


def table(name: str) -> list[PublishedRow]:
    """Return the rows of a table: 4, 5a, XI, … Raises ConfigError for a name that no table has."""
    return tables(name)[0]


def tables(name: str) -> list[list[PublishedRow]]:
    """Return the rows of a table, and of each part of it: 5 is 5a and 5b. Raises ConfigError for an unknown name."""
    fitting = _fitting(name)
    only_one("table", name, papers(name))
    if not fitting:
        message = no_scores("published table", name.strip().lower().removeprefix("table ").rpartition("/")[2])
        raise ConfigError(
            message or unknown("published table", name, dict.fromkeys(map(_table_name, rows())), table_order)
        )
    return list(fitting.values())


def papers(name: str) -> list[str]:
    return list(dict.fromkeys(benchmark for benchmark, _ in _fitting(name)))


def only_one(kind: str, name: str, benchmarks: Sequence[str]) -> None:
    """Raise ConfigError where several benchmarks have a table of that name."""
    if len(several := dict.fromkeys(benchmarks)) > 1:
        either = " or ".join(f"{kind}={benchmark}/{name.rpartition('/')[2]}" for benchmark in several)
        raise ConfigError(f"{kind}={name} is a table of several papers: write {either}.")


def _fitting(name: str) -> dict[tuple[str, str], list[PublishedRow]]:
    """Return the rows of the tables that a name such as 5, 5a or causalbench/XI means, by benchmark and table."""
    benchmark, _, wanted_table = name.strip().lower().removeprefix("table ").rpartition("/")
    fitting: dict[tuple[str, str], list[PublishedRow]] = {}
    for row in rows():
        table = _table_name(row).lower()
        if benchmark in ("", row.benchmark.lower()) and wanted_table in (table, table.rstrip("ab")):
            fitting.setdefault((row.benchmark, _table_name(row)), []).append(row)
    return fitting


def _table_name(row: PublishedRow) -> str:
    return row.table.removeprefix("Table ")


def no_scores(kind: str, name: str) -> str:
    """Return the sentence about a table that holds settings and not results; empty for others."""
    for benchmark in every():
        if name.upper() in (table.upper() for table in benchmark.no_scores):
            *others, last = benchmark.no_scores
            names = f"Tables {', '.join(others)} and {last}" if others else f"Table {last}"
            verb = "are" if others else "is one of"
            sentence = f"{names} of {benchmark.title} {verb} settings and lists, not scores."
            return f"there is no {kind} {name.upper()}: {sentence}"
    return ""


def table_order(name: str) -> tuple[int, int, str]:
    """Return what tables are sorted by: 4, 5a, 12, then II, IX, XI, then names."""
    if number := re.match(r"\d+", name):
        return 0, int(number[0]), name
    if not re.fullmatch("[IVX]+", name):
        return 2, 0, name
    digits = [{"I": 1, "V": 5, "X": 10}.get(letter, 0) for letter in name]
    pairs = zip(digits, [*digits[1:], 0], strict=True)
    return 1, sum(-digit if digit < right else digit for digit, right in pairs), name


def printed_column(metric: str) -> Column:
    """Return the column of a printed metric; where it is not one of ours, it is not known which end is better."""
    if metric in definitions():
        return metric_column(metric, metric)
    return Column(metric, metric.replace("_", " "), "metric")


def table_parts(rows: Sequence[PublishedRow]) -> list[Part]:
    """Return the rows of one table, in words and as a table."""
    first = rows[0]
    metrics = list(dict.fromkeys(name for row in rows for name in row.printed))
    varying = [name for name in first.setting if len({row.setting.get(name) for row in rows}) > 1]
    with_intervals = any(row.counts for row in rows)
    columns = [*(Column(name, name.replace("_", " ")) for name in varying), Column("model", "model")]
    for name in metrics:
        columns.append(printed_column(name))
        columns += [Column(f"{definition(name).title} 95%", "95%", "metric")] if with_intervals else []
    lines = []
    for row in rows:
        cells = [Cell(text) for text in (*(row.setting[name] for name in varying), row.model)]
        for name in metrics:
            cells += [
                replace(_cell(row, name), interval=None, range=""),
                *([Cell(_interval_text(row, name))] if with_intervals else []),
            ]
        lines.append(Line(cells))
    return [
        f"PUBLISHED, not measured here: {first.table} {from_where(rows)}.",
        Table(columns=columns, lines=lines, spare=[f"{name} 95%" for name in ("recall", "precision", "accuracy")]),
        "\n".join([WILSON_NOTE if with_intervals else NO_INTERVALS_NOTE, *contradiction_notes(rows), *row_notes(rows)]),
    ]


def from_where(rows: Sequence[PublishedRow]) -> str:
    """Return where the rows of one table stand, and on what data: the paper, or the works that their rows name."""
    benchmark = benchmark_of(rows[0].benchmark)
    if rows[0].source:
        return f"on {benchmark.title} (each row names its source and its items; the digits are as they stand there)"
    return f"of {benchmark.source} ({benchmark.data_version})"


def row_notes(rows: Sequence[PublishedRow]) -> Iterator[str]:
    """Yield what has to be known of single rows, and the titles of their sources."""
    for source in dict.fromkeys(row.source for row in rows if row.source):
        of_source = [row for row in rows if row.source == source]
        remarks = [f"{row.model} ({next(iter(row.setting.values()))}): {row.note}" for row in of_source if row.note]
        yield f"{source}. {'. '.join(remarks)}{'.' if remarks else ''}".strip()


def contradiction_notes(rows: Sequence[PublishedRow]) -> Iterator[str]:
    """Yield the sentences about digits that contradict each other."""
    for row in rows:
        for name in row.contradicted:
            metrics = decisions(row.counts, unreadable="wrong") if row.counts else ()
            values = [metric.value for metric in metrics if metric.name == name and metric.value is not None]
            digits = ", ".join(f"{100 * value:.2f}" for value in values)
            reason = f"the printed {name} contradicts the row's own precision and recall, which say {digits}"
            yield f"* {row.model}: {reason}; no interval."
    if any(row.counts and not row.counts.tp + row.counts.fp for row in rows):
        yield "Precision printed as 0 without a single Yes is undefined: no interval."


def _interval_text(row: PublishedRow, name: str) -> str:
    interval = row.intervals.get(name)
    return "–" if interval is None or name in row.contradicted else f"{100 * interval[0]:.1f} … {100 * interval[1]:.1f}"


def published_tables(task: str, measured: Sequence[Run], by: Sequence[str] = ()) -> Iterator[Table]:
    """Yield a table for each of the papers' that was measured on the task, with settings that some of the runs have."""
    benchmark = benchmark_of(task)
    runs = [{**benchmark.defaults, **row.settings} for row in measured if row.task == task]
    by_table: dict[str, list[PublishedRow]] = defaultdict(list)
    for row in rows_of(benchmark):
        if (row.task or row.benchmark) != task:
            continue
        if any(all(str(run.get(name)) != value for run in runs) for name, value in row.task_settings.items()):
            continue
        if row.setting.get("relation", "all") == "all" or "relation" in by:
            by_table[row.table].append(row)
    for name, rows in by_table.items():
        yield _table(benchmark, task, name, rows)


def _table(benchmark: Benchmark, task: str, name: str, rows: Sequence[PublishedRow]) -> Table:
    first = rows[0]
    metrics = list(dict.fromkeys(metric for row in rows for metric in row.printed))
    varying = [key for key in first.setting if key != "group" and len({row.setting.get(key) for row in rows}) > 1]
    columns = [Column("model", "model"), *(Column(key, key.replace("_", " ")) for key in varying)]
    for metric in metrics:
        columns.append(printed_column(metric))
    lines = [
        Line(
            [
                Cell(row.model, row.model),
                *(Cell(row.setting[key], row.setting[key]) for key in varying),
                *(_cell(row, metric) for metric in metrics),
            ],
            row.setting.get("group", ""),
            ranked=False,
        )
        for row in rows
    ]
    digits = "percent" if any(first.percent(name) for name in metrics) else "shares as fractions"
    intervals = WILSON_NOTE if any(row.counts for row in rows) else NO_INTERVALS_NOTE
    version = "items as each row says" if first.source else benchmark.data_version
    above = f"{name} {from_where(rows)}" if first.source else f"From {benchmark.source}; {version}"
    return Table(
        task,
        columns,
        lines,
        above=f"{above}. Digits as printed, {digits}.",
        notes=[" ".join([intervals, *contradiction_notes(rows)]), *row_notes(rows)],
        heading=f"PUBLISHED, not measured here: {name} ({version})",
        published=version,
    )


def _cell(row: PublishedRow, metric: str) -> Cell:
    """Return the digits as printed, with the interval of the counts behind them, and a star where they contradict."""
    digits = row.printed.get(metric) or "–"
    try:
        value = float(digits)
    except ValueError:
        return Cell(digits)
    mark, interval = ("*", None) if metric in row.contradicted else ("", row.intervals.get(metric))
    number = round(value / 100, 8) if row.percent(metric) else value
    return Cell(f"{digits}{mark}", number, interval, interval_text(interval, "brackets"))
