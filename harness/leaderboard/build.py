"""From runs to tables: what stands in one, in which order and in which columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import ConfigError, unknown
from harness.leaderboard import by_setting, by_task, over_setting
from harness.leaderboard.columns import (
    OF_RUNS,
    NumberColumn,
    about_runs,
    constants,
    not_ranked,
    number_notes,
)
from harness.leaderboard.comparable import (
    NAMES,
    ComparableRuns,
    capitalized,
    comparable_sets,
    name_of,
    telling_names,
)
from harness.leaderboard.series import find_setting, setting_names
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
    intervals: Intervals = "brackets"
    over: str | None = None
    """A setting whose values are one row together."""


def build(runs: Sequence[Run], choice: BoardOptions | None = None) -> list[Table]:
    """Return the tables of each task: one for every label set and set of items, as these are never mixed.

    Where `by` or `over` name a setting, runs that differ in it alone stand in one row.
    """
    choice = choice or BoardOptions()
    of_tasks: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        of_tasks[run.task].append(run)
    complete = [run for run in runs if run.sound]
    if "task" in choice.by:
        return [_by_task(runs, choice)]
    _check(choice, complete)
    by = next((name for name in choice.by if name not in breakdowns_of(complete)), None)
    if (name := choice.over or by) and complete:
        return _of_setting(of_tasks, name, choice)
    return [table for task, of_task in sorted(of_tasks.items()) for table in _tables(task, of_task, choice)]


def _by_task(runs: Sequence[Run], choice: BoardOptions) -> Table:
    """Return the table of models by benchmarks."""
    known = {metric.name for run in runs if run.sound for metric in run.result.overall.metrics}
    if len(choice.by) > 1 or choice.over:
        raise ConfigError("by=task goes with metrics= and intervals= alone: one row for each model.")
    if wrong := [name for name in choice.metrics if name not in known]:
        raise ConfigError(unknown("metric", wrong[0], known))
    return by_task.table(runs, choice.metrics, choice.intervals, not_ranked(runs))


def _of_setting(of_tasks: Mapping[str, list[Run]], name: str, choice: BoardOptions) -> list[Table]:
    """Return the tables by or over a setting; of a task whose runs do not differ in it, a note."""
    tables: list[Table] = []
    missing: list[tuple[str, ConfigError]] = []
    tables_of = over_setting.tables if choice.over else by_setting.tables
    for task, runs in sorted(of_tasks.items()):
        try:
            setting = find_setting(name, [run for run in runs if run.sound])
            if setting is None:
                raise ConfigError(f"no run of {task} has the setting {name}.")
            tables += tables_of(
                task, runs, setting, metrics=choice.metrics, intervals=choice.intervals, others=not_ranked(runs)
            )
        except ConfigError as error:
            missing.append((task, error))
    if not tables:
        raise ConfigError("; ".join(str(error).rstrip(".") for _, error in missing) + ".")
    return [*tables, *(Table(task, others=[capitalized(str(error))]) for task, error in missing)]


def breakdowns_of(runs: Sequence[Run]) -> set[str]:
    """Return the names of what the scores of any of the runs are broken down by."""
    return {name for run in runs for name in run.result.scores[run.result.headline]} - {"overall"}


def _check(choice: BoardOptions, runs: Sequence[Run]) -> None:
    """Raise ConfigError where no run has what the user chose, and for choices that exclude each other."""
    if not runs:
        return
    breakdowns = breakdowns_of(runs)
    metrics = {metric.name for run in runs for metric in run.result.overall.metrics}
    settings = [choice.over] if choice.over else [name for name in choice.by if name not in breakdowns]
    for name in settings:
        if find_setting(name, runs) is None:
            known = [*setting_names(runs), *(() if choice.over else breakdowns)]
            raise ConfigError(unknown("setting" if choice.over else "breakdown or setting", name, known))
    if settings and len(choice.by) + bool(choice.over) > 1:
        view = "over" if choice.over else "by"
        raise ConfigError(f"{view}={settings[0]} is by a setting of runs: it goes with no other by= or over=.")
    columns = [] if settings else [*COUNTS, *DERIVED, *OF_RUNS]
    for name in choice.metrics:
        if name not in metrics and name not in columns:
            raise ConfigError(unknown("metric", name, [*metrics, *columns]))


def _tables(task: str, runs: list[Run], choice: BoardOptions) -> Iterator[Table]:
    """Yield the tables of a task."""
    others = not_ranked(runs)
    unfinished = [(run.variant, run.prompt, run.model) for run in runs if not run.sound]
    sets = comparable_sets(runs)
    if not sets:
        yield Table(task, others=others, unfinished=unfinished)
    for number, comparable in enumerate(sets, 1):
        last = number == len(sets)
        yield _table(task, comparable, choice, others if last else [], unfinished if last else [])


def _table(
    task: str,
    comparable: ComparableRuns,
    choice: BoardOptions,
    others: Sequence[str],
    unfinished: Sequence[tuple[str, str, str]],
) -> Table:
    ranked = list(comparable.runs)
    names = telling_names(ranked)
    constant = ("prompt",) if comparable.heading else ("prompt", "variant")
    shared = [f"{name} {name_of(ranked[0], name)}" for name in constant if name not in names]
    overall = [run.result.overall for run in ranked]
    main = {name for scores in overall for name in main_metrics(scores)}
    number_columns = _number_columns(ranked, choice)
    metrics_with_interval = set(choice.metrics) or main
    columns = [*(Column(name, name) for name in names), *(column.header for column in number_columns)]
    lines = [
        Line(
            [
                *(Cell(name_of(run, name), name_of(run, name)) for name in names),
                *(
                    column.cell(run, choice.intervals if column.number in metrics_with_interval else "none")
                    for column in number_columns
                ),
            ],
            run={name: text for name in NAMES if (text := name_of(run, name))},
            ranked=run.ranked,
        )
        for run in ranked
    ]
    first = main_metrics(overall[0])[0]
    best = "F1" if first.endswith("f1") else definition(first).title
    in_caption, caption = constants(overall, wanted=choice.metrics)
    with_intervals = any(cell.range for line in lines for cell in line.cells)
    return Table(
        task,
        columns,
        even_decimals(columns, lines),
        above="; ".join([f"Best {best} first, metrics in percent", *shared, *caption]) + ".",
        notes=[
            *number_notes(ranked, number_columns, choice.intervals if with_intervals else "none"),
            *about_runs(ranked),
        ],
        others=others,
        heading=comparable.heading,
        settings=comparable.settings,
        label_set=ranked[0].result.headline,
        items=ranked[0].items,
        unfinished=unfinished,
        spare=spare([column.name for column in columns if column.kind == "metric"], main),
        in_caption=in_caption,
    )


def _number_columns(runs: Sequence[Run], choice: BoardOptions) -> list[NumberColumn]:
    overall = [run.result.overall for run in runs]
    metrics = list(choice.metrics)
    if not metrics and choice.by:
        metrics = list(dict.fromkeys(name for scores in overall for name in main_metrics(scores)))
    elif not metrics:
        answers = ["yes"] if any(derived(scores, "yes") is not None for scores in overall) else []
        firm = ["firm"] if any(run.result.grades.keys() - FIRM for run in runs) else []
        metrics = [*metrics_of(overall), *answers, *firm, *counts_of(overall)]
    groups = {("overall", "all"): None}
    for breakdown in choice.by:
        for run in runs:
            parts: Mapping[str, object] = run.result.scores[run.result.headline].get(breakdown, {})
            groups.update(dict.fromkeys((breakdown, group) for group in parts))
    return [
        NumberColumn(name, *key)
        for name in metrics
        for key in (groups if name not in OF_RUNS else [("overall", "all")])
    ]
