"""From runs to tables: what stands in one, in which order and in which columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import ConfigError, unknown
from harness.leaderboard import by_setting, by_task
from harness.leaderboard.columns import (
    OF_RUNS,
    NumberColumn,
    about_runs,
    constants,
    interval_note,
    not_ranked,
    number_notes,
)
from harness.leaderboard.comparable import (
    NAMES,
    ComparableRuns,
    capitalized,
    comparable_sets,
    name_cells,
    name_of,
    telling_names,
)
from harness.leaderboard.series import find_setting, setting_names
from harness.scoring.definitions import definition, main_metrics
from harness.scoring.grades import FIRM
from harness.storage.runs import Run
from harness.tables.numbers import COUNTS, YES, counts_of, even_decimals, metrics_of, yes_share
from harness.tables.results import spare
from harness.tables.table import Column, Line, Table


@dataclass(frozen=True)
class BoardOptions:
    """The columns and the order of tables; by default those of the leaderboard that a run writes."""

    metrics: Sequence[str] = ()
    by: Sequence[str] = ()
    over: str = ""
    """A setting whose values are one row together."""


def build(runs: Sequence[Run], choice: BoardOptions | None = None) -> list[Table]:
    """Return the tables of each task: one for every label set and set of items, as these are never mixed.

    Where `by` or `over` name a setting, runs that differ in it alone stand in one row.
    """
    choice = choice or BoardOptions()
    setting = _checked(choice, [run for run in runs if run.sound])
    if setting == "task":
        return [by_task.table(runs, choice.metrics, not_ranked(runs))]
    of_tasks = {task: [run for run in runs if run.task == task] for task in sorted({run.task for run in runs})}
    if setting:
        return _of_setting(of_tasks, setting, choice)
    return [table for task, of_task in of_tasks.items() for table in _tables(task, of_task, choice)]


def _checked(choice: BoardOptions, runs: Sequence[Run]) -> str:
    """Return the setting that tables are by or over, if any.

    Raise ConfigError where no run has what the user chose, and for choices that exclude each other.
    """
    if not runs and "task" not in choice.by:
        return ""
    breakdowns = {name for run in runs for name in run.result.scores[run.result.headline]} - {"overall"}
    settings = [choice.over] if choice.over else [name for name in choice.by if name not in breakdowns]
    if "task" in choice.by:
        settings = ["task"]
        if len(choice.by) > 1 or choice.over:
            raise ConfigError("by=task goes with metrics= alone: one row for each model.")
    for name in settings:
        if name != "task" and find_setting(name, runs) is None:
            known = [*setting_names(runs), *(() if choice.over else breakdowns)]
            raise ConfigError(unknown("setting" if choice.over else "breakdown or setting", name, known))
    if settings and len(choice.by) + bool(choice.over) > 1:
        view = "over" if choice.over else "by"
        raise ConfigError(f"{view}={settings[0]} is by a setting of runs: it goes with no other by= or over=.")
    metrics = {metric.name for run in runs for metric in run.result.overall.metrics}
    known = [*metrics, *(() if settings else (*COUNTS, YES, *OF_RUNS))]
    if wrong := [name for name in choice.metrics if name not in known]:
        raise ConfigError(unknown("metric", wrong[0], known))
    return next(iter(settings), "")


def _of_setting(of_tasks: Mapping[str, list[Run]], name: str, choice: BoardOptions) -> list[Table]:
    """Return the tables by or over a setting; of a task whose runs do not differ in it, a note."""
    tables: list[Table] = []
    missing: list[tuple[str, ConfigError]] = []
    for task, runs in of_tasks.items():
        try:
            setting = find_setting(name, [run for run in runs if run.sound])
            if setting is None:
                raise ConfigError(f"no run of {task} has the setting {name}.")
            others = not_ranked(runs)
            tables += by_setting.tables(task, runs, setting, choice.metrics, others, over=bool(choice.over))
        except ConfigError as error:
            missing.append((task, error))
    if not tables:
        raise ConfigError("; ".join(str(error).rstrip(".") for _, error in missing) + ".")
    return [*tables, *(Table(task, others=[capitalized(str(error))]) for task, error in missing)]


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
    ranked = comparable.runs
    names = telling_names(ranked)
    constant = ("prompt",) if comparable.heading else ("prompt", "variant")
    shared = [f"{name} {name_of(ranked[0], name)}" for name in constant if name not in names]
    overall = [run.result.overall for run in ranked]
    main = {name for scores in overall for name in main_metrics(scores)}
    numbers = _number_columns(ranked, choice)
    with_interval = set(choice.metrics) or main
    columns = [*(Column(name, name) for name in names), *(column.header for column in numbers)]
    lines = []
    for run in ranked:
        cells = [column.cell(run, interval=column.number in with_interval) for column in numbers]
        place = {name: text for name in NAMES if (text := name_of(run, name))}
        lines.append(Line([*name_cells(run, names), *cells], "", place, run.ranked))
    first = main_metrics(overall[0])[0]
    best = "F1" if first.endswith("f1") else definition(first).title
    in_caption, caption = constants(overall, wanted=choice.metrics)
    drawn = any(cell.range for line in lines for cell in line.cells)
    rows = [scores for run in ranked for column in numbers if drawn and (scores := column.scores(run))]
    return Table(
        task,
        columns,
        even_decimals(columns, lines),
        above="; ".join([f"Best {best} first, metrics in percent", *shared, *caption]) + ".",
        notes=[*interval_note(rows), *number_notes(ranked, numbers), *about_runs(ranked)],
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
    names = list(choice.metrics)
    if not names and choice.by:
        names = list(dict.fromkeys(name for scores in overall for name in main_metrics(scores)))
    elif not names:
        answers = [YES] if any(yes_share(scores) is not None for scores in overall) else []
        firm = ["firm"] if any(run.result.grades.keys() - FIRM for run in runs) else []
        names = [*metrics_of(overall), *answers, *firm, *counts_of(overall)]
    groups: dict[str, dict[str, None]] = defaultdict(dict)
    for breakdown in choice.by:
        for run in runs:
            groups[breakdown] |= dict.fromkeys(run.result.scores[run.result.headline].get(breakdown, {}))
    parts = [("overall", "all"), *((breakdown, group) for breakdown, of in groups.items() for group in of)]
    return [NumberColumn(name, *part) for name in names for part in (parts[:1] if name in OF_RUNS else parts)]
