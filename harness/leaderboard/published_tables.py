"""Published numbers as tables of their own, below the measured ones of their task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from harness.leaderboard.published_numbers import (
    NO_INTERVALS_NOTE,
    WILSON_NOTE,
    contradiction_notes,
    from_where,
    printed_column,
    row_notes,
    rows_of,
)
from harness.leaderboard.rows import Row
from harness.tables.numbers import interval_text
from harness.tables.table import Cell, Column, Line, Table
from harness.tasks.benchmark import Benchmark
from harness.tasks.find import benchmark_of
from harness.tasks.published import Row as Published


def published_tables(task: str, measured: Sequence[Row], by: Sequence[str] = ()) -> Iterator[Table]:
    """Yield a table for each of the papers' that was measured on the task, with settings that some of the runs have."""
    benchmark = benchmark_of(task)
    runs = [{**benchmark.defaults, **row.settings} for row in measured if row.task == task]
    by_table: dict[str, list[Published]] = defaultdict(list)
    for row in rows_of(benchmark):
        if (row.task or row.benchmark) != task:
            continue
        if any(all(str(run.get(name)) != value for run in runs) for name, value in row.asked.items()):
            continue
        if row.setting.get("relation", "all") == "all" or "relation" in by:
            by_table[row.table].append(row)
    for name, rows in by_table.items():
        yield _table(benchmark, task, name, rows)


def _table(benchmark: Benchmark, task: str, name: str, rows: Sequence[Published]) -> Table:
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


def _cell(row: Published, metric: str) -> Cell:
    digits = row.printed.get(metric)
    if digits is None:
        return Cell("–")
    try:
        value = float(digits)
    except ValueError:
        return Cell(digits)
    mark, interval = ("*", None) if metric in row.contradicted else ("", row.intervals.get(metric))
    number = round(value / 100, 8) if row.percent(metric) else value
    return Cell(f"{digits}{mark}", number, interval, interval_text(interval, "brackets"))
