"""From runs to tables: what stands in one, in which order and in which columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import ConfigError, unknown
from harness.leaderboard import by_task
from harness.leaderboard.columns import (
    OF_RUNS,
    NumberColumn,
    constants,
    not_ranked,
    number_notes,
    readings_notes,
    recorded_notes,
)
from harness.leaderboard.comparable import (
    NAMES,
    ComparableRuns,
    comparable_sets,
    name_of,
    of_other_rules,
)
from harness.leaderboard.settings import by_setting, over_setting
from harness.leaderboard.settings.series import RunSetting, find_setting, setting_names
from harness.scoring.definitions import definition, main_metrics
from harness.scoring.grades import FIRM
from harness.storage.runs import Run
from harness.tables.numbers import COUNTS, DERIVED, Intervals, counts_of, derived, even_decimals, metrics_of
from harness.tables.results import spare
from harness.tables.table import Cell, Column, Line, Table


@dataclass(frozen=True)
class BoardOptions:
    """The columns and the order of tables; by default those of the leaderboard that a run writes."""

    metrics: Sequence[str] = ()
    by: Sequence[str] = ()
    sort: str | None = None
    intervals: Intervals = "brackets"
    over: str | None = None
    """A setting whose values are one row together."""


def build(rows: Sequence[Run], choice: BoardOptions | None = None) -> list[Table]:
    """Return the tables of each task: one for every label set and set of items, as these are never mixed.

    Where `by` or `over` name a setting, runs that differ in it alone stand in one row.
    """
    choice = choice or BoardOptions()
    by_task: dict[str, list[Run]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    complete = [row for row in rows if row.sound]
    if "task" in choice.by:
        return [_of_tasks(rows, choice)]
    _check(choice, complete)
    by = next((name for name in choice.by if name not in breakdowns_of(complete)), None)
    if (name := choice.over or by) and complete:
        return _of_setting(by_task, name, choice)
    return [table for task, of_task in sorted(by_task.items()) for table in _tables(task, of_task, choice)]


def _of_tasks(rows: Sequence[Run], choice: BoardOptions) -> Table:
    """Return the table of models by benchmarks."""
    known = {metric.name for row in rows if row.sound for metric in row.result.overall.metrics}
    if len(choice.by) > 1 or choice.over or choice.sort:
        raise ConfigError("by=task goes with metrics= and intervals= alone: one row for each model.")
    if wrong := [name for name in choice.metrics if name not in known]:
        raise ConfigError(unknown("metric", wrong[0], known))
    return by_task.table(rows, choice.metrics, choice.intervals, _notes(rows))


def _of_setting(by_task: Mapping[str, list[Run]], name: str, choice: BoardOptions) -> list[Table]:
    """Return the tables by or over a setting; of a task whose runs do not differ in it, a note."""
    tables: list[Table] = []
    missing: list[tuple[str, ConfigError]] = []
    tables_of = over_setting.tables if choice.over else by_setting.tables
    for task, rows in sorted(by_task.items()):
        try:
            setting = find_setting(name, [row for row in rows if row.sound]) or RunSetting("task", name)
            tables += tables_of(
                task, rows, setting, metrics=choice.metrics, intervals=choice.intervals, notes=_notes(rows)
            )
        except ConfigError as error:
            missing.append((task, error))
    if not tables:
        raise missing[0][1]
    return [*tables, *(Table(task, notes=[str(error)]) for task, error in missing)]


def _notes(rows: Sequence[Run]) -> list[str]:
    return [
        *recorded_notes(rows),
        *readings_notes(rows),
        *of_other_rules(rows),
        *not_ranked(rows),
    ]


def breakdowns_of(rows: Sequence[Run]) -> set[str]:
    """Return the names of what the scores of any of the runs are broken down by."""
    return {name for row in rows for name in row.result.scores[row.result.headline]} - {"overall"}


def _check(choice: BoardOptions, rows: Sequence[Run]) -> None:
    """Raise ConfigError where no run has what the user chose, and for choices that exclude each other."""
    if not rows:
        return
    breakdowns = breakdowns_of(rows)
    metrics = {metric.name for row in rows for metric in row.result.overall.metrics}
    settings = [name for name in choice.by if name not in breakdowns]
    for name in (*settings, *([choice.over] if choice.over else [])):
        if find_setting(name, rows) is None:
            known = [*(breakdowns if name != choice.over else ()), *setting_names(rows)]
            raise ConfigError(unknown("breakdown or setting" if name != choice.over else "setting", name, known))
    if settings and (len(choice.by) > 1 or choice.over):
        others = f" and over={choice.over}" if choice.over else ""
        raise ConfigError(f"by={','.join(choice.by)}{others} do not go together: {settings[0]} is a setting of runs.")
    if (settings or choice.over) and choice.sort:
        view = "over" if choice.over else "by"
        raise ConfigError(f"sort= and {view}= a setting do not go together: rows stand by their first number.")
    if choice.over and choice.by:
        raise ConfigError(f"by={','.join(choice.by)} and over={choice.over} do not go together: choose one.")
    columns = [*COUNTS, *DERIVED, *OF_RUNS]
    for name in choice.metrics:
        if name not in metrics and name not in columns:
            raise ConfigError(unknown("metric", name, [*metrics, *columns, "n", "tokens"]))
    if (settings or choice.over) and (wrong := [name for name in choice.metrics if name not in metrics]):
        raise ConfigError(f"metrics={wrong[0]} is no metric: by= or over= a setting compares metrics alone.")
    if choice.sort and choice.sort not in metrics | {*COUNTS, *NAMES}:
        raise ConfigError(unknown("column to sort by", choice.sort, metrics | {*COUNTS, *NAMES, "n"}))


def _tables(task: str, rows: list[Run], choice: BoardOptions) -> Iterator[Table]:
    """Yield the tables of a task."""
    notes = _notes(rows)
    unfinished = [(row.variant, row.prompt, row.model) for row in rows if not row.sound]
    sets = comparable_sets(rows, choice.sort)
    if not sets:
        yield Table(task, notes=notes, unfinished=unfinished)
    for number, comparable in enumerate(sets, 1):
        last = number == len(sets)
        yield _table(task, comparable, choice, notes if last else [], unfinished if last else [])


def _table(
    task: str,
    comparable: ComparableRuns,
    choice: BoardOptions,
    notes: Sequence[str],
    unfinished: Sequence[tuple[str, str, str]],
) -> Table:
    ranked = list(comparable.rows)
    names, shared = _names(ranked, comparable.heading)
    overall = [row.result.overall for row in ranked]
    main = {name for scores in overall for name in main_metrics(scores)}
    number_columns = _number_columns(ranked, choice)
    metrics_with_interval = set(choice.metrics) or main
    columns = [*(Column(name, name) for name in names), *(column.header for column in number_columns)]
    lines = [
        Line(
            [
                *(Cell(name_of(row, name), name_of(row, name)) for name in names),
                *(
                    column.cell(row, choice.intervals if column.number in metrics_with_interval else "none")
                    for column in number_columns
                ),
            ],
            run={name: text for name in NAMES if (text := name_of(row, name))},
            ranked=row.ranked,
        )
        for row in ranked
    ]
    first = main_metrics(overall[0])[0]
    best = "F1" if first.endswith("f1") else definition(first).title
    by = f"Best {best} first" if choice.sort is None else f"Sorted by {definition(choice.sort).title}"
    in_caption, caption = constants(overall, wanted=choice.metrics)
    with_intervals = any(cell.range for line in lines for cell in line.cells)
    return Table(
        task,
        columns,
        even_decimals(columns, lines),
        above="; ".join([f"{by}, metrics in percent", *shared, *caption]) + ".",
        notes=[*number_notes(ranked, number_columns, choice.intervals if with_intervals else "none"), *notes],
        heading=comparable.heading,
        settings=comparable.settings,
        label_set=ranked[0].result.headline,
        items=ranked[0].items,
        unfinished=unfinished,
        spare=spare([column.name for column in columns if column.kind == "metric"], main),
        in_caption=in_caption,
    )


def _names(rows: Sequence[Run], heading: str) -> tuple[list[str], list[str]]:
    """Return the columns of names, and the names that all rows share: these stand once, above the table."""
    names = ["model", *(name for name in ("prompt", "variant") if len({getattr(row, name) for row in rows}) > 1)]
    constant = ("prompt",) if heading else ("prompt", "variant")
    shared = [f"{name} {getattr(rows[0], name)}" for name in constant if name not in names]
    if len({(row.variant, row.prompt, row.model) for row in rows}) < len({id(row) for row in rows}):
        names.append("folder")
    return names, shared


def _number_columns(rows: Sequence[Run], choice: BoardOptions) -> list[NumberColumn]:
    overall = [row.result.overall for row in rows]
    metrics = list(choice.metrics)
    if not metrics and choice.by:
        metrics = list(dict.fromkeys(name for scores in overall for name in main_metrics(scores)))
    elif not metrics:
        answers = ["yes"] if any(derived(scores, "yes") is not None for scores in overall) else []
        firm = ["firm"] if any(row.result.grades.keys() - FIRM for row in rows) else []
        metrics = [*metrics_of(overall), *answers, *firm, *counts_of(overall)]
    groups = {("overall", "all"): None}
    for breakdown in choice.by:
        for row in rows:
            parts: Mapping[str, object] = row.result.scores[row.result.headline].get(breakdown, {})
            groups.update(dict.fromkeys((breakdown, group) for group in parts))
    return [
        NumberColumn(name, *key)
        for name in metrics
        for key in (groups if name not in OF_RUNS else [("overall", "all")])
    ]
