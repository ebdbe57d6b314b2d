"""From runs to tables: what stands in one, in which order and in which columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import ConfigError, unknown
from harness.leaderboard import by_setting
from harness.leaderboard.comparable import ComparableRuns, best_first, capitalized, comparable_sets, items_text
from harness.leaderboard.rows import (
    OF_RUNS,
    NumberColumn,
    Row,
    about_runs,
    constants,
    interval_note,
    lost_notes,
    not_ranked,
    number_notes,
    shared_names,
    table,
)
from harness.leaderboard.series import RunSetting, find_setting, setting_names
from harness.scoring.definitions import definition, main_metrics
from harness.scoring.grades import FIRM
from harness.storage.runs import Run
from harness.tables.numbers import COUNTS, YES, counts_of, metrics_of, number_cell, number_column, shown, yes_share
from harness.tables.results import spare
from harness.tables.table import Table, task_title

ALL_TASKS = "All benchmarks"
"""Stands in the place of a task above the table of models by benchmarks."""
_CHOICE = (
    "Of each task the runs of one set of items, those with its default settings where there are such (folders choose "
    "others); of several runs of a model the one with the task's first prompt."
)


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
    of_tasks = {task: [run for run in runs if run.task == task] for task in sorted({run.task for run in runs})}
    if setting == "task":
        return [_by_task(of_tasks, choice.metrics)]
    if setting:
        return _of_setting(of_tasks, setting, choice)
    return [each for task, of_task in of_tasks.items() for each in _of_task(task, of_task, choice)]


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
            raise ConfigError(
                unknown("setting of these runs" if choice.over else "breakdown or setting of these runs", name, known)
            )
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
    missing: dict[str, str] = {}
    for task, runs in of_tasks.items():
        try:
            setting = find_setting(name, [run for run in runs if run.sound])
            if setting is None:
                raise ConfigError(f"no run of {task} has the setting {name}.")
            others = not_ranked(runs)
            tables += by_setting.tables(task, runs, setting, choice.metrics, others, over=bool(choice.over))
        except ConfigError as error:
            missing[task] = str(error)
    if not tables:
        raise ConfigError("; ".join(reason.rstrip(".") for reason in missing.values()) + ".")
    return [*tables, *(Table(task, others=[capitalized(reason)]) for task, reason in missing.items())]


def _of_task(task: str, runs: list[Run], choice: BoardOptions) -> Iterator[Table]:
    """Yield the tables of a task; what is not ranked stands below the last."""
    others = not_ranked(runs)
    unfinished = [(run.variant, run.prompt, run.model) for run in runs if not run.sound]
    sets = comparable_sets(runs)
    for comparable in sets[:-1]:
        yield _of_set(task, comparable, choice)
    if sets:
        yield _of_set(task, sets[-1], choice, others, unfinished)
    else:
        yield Table(task, others=others, unfinished=unfinished)


def _of_set(
    task: str,
    comparable: ComparableRuns,
    choice: BoardOptions,
    others: Sequence[str] = (),
    unfinished: Sequence[tuple[str, str, str]] = (),
) -> Table:
    """Return the table of runs that may stand side by side, a row for each."""
    runs = comparable.runs
    rows, overall, numbers = [Row.of(run) for run in runs], [run.result.overall for run in runs], _numbers(runs, choice)
    main = {name for scores in overall for name in main_metrics(scores)}
    with_interval = set(choice.metrics) or main
    body = [(n.header, [n.cell(run, interval=n.number in with_interval) for run in runs]) for n in numbers]
    first = main_metrics(overall[0])[0]
    best = "F1" if first.endswith("f1") else definition(first).title
    in_caption, caption = constants(overall, wanted=choice.metrics)
    drawn = any(cell.range for _, cells in body for cell in cells)
    scores = [of_group for run in runs for number in numbers if drawn and (of_group := number.scores(run))]
    shared = shared_names(rows, "prompt", *([] if comparable.heading else ["variant"]))
    return table(
        task,
        rows,
        body,
        above="; ".join([f"Best {best} first, metrics in percent", *shared, *caption]) + ".",
        notes=[*interval_note(scores), *number_notes(rows, numbers), *about_runs(rows)],
        others=others,
        heading=comparable.heading,
        settings=comparable.settings,
        label_set=runs[0].result.headline,
        items=runs[0].items,
        unfinished=unfinished,
        spare=spare([column.name for column, _ in body if column.kind == "metric"], main),
        in_caption=in_caption,
    )


def _numbers(runs: Sequence[Run], choice: BoardOptions) -> list[NumberColumn]:
    overall = [run.result.overall for run in runs]
    names = list(choice.metrics)
    if not names and choice.by:
        names = list(dict.fromkeys(name for scores in overall for name in main_metrics(scores)))
    elif not names:
        answers = [YES] if any(yes_share(scores) is not None for scores in overall) else []
        firm = ["firm"] if any(run.result.grades.keys() - FIRM for run in runs) else []
        names = [*metrics_of(overall), *answers, *firm, *counts_of(overall)]
    parts = {("overall", "all"): None}
    for breakdown in choice.by:
        for run in runs:
            parts |= {(breakdown, group): None for group in run.result.scores[run.result.headline].get(breakdown, {})}
    return [NumberColumn(name, *part) for name in names for part in (list(parts)[:1] if name in OF_RUNS else parts)]


def _by_task(of_tasks: Mapping[str, list[Run]], metrics: Sequence[str]) -> Table:
    """Return the table of models by benchmarks: a row for each model, for each task its main metric."""
    models: dict[str, dict[str, Run]] = defaultdict(dict)
    numbers, above, settings = [], ["Best first in the first column, metrics in percent"], []
    for task, runs in of_tasks.items():
        if not (sets := comparable_sets(runs)):
            continue
        comparable, title = sets[0], task_title(task)
        first, heading = comparable.runs[0].result.overall, comparable.heading
        for run in sorted(comparable.runs, key=_first_choice):
            models[run.model].setdefault(title, run)
        numbers += [(title, metric, f"{metric}/{task}") for metric in metrics or main_metrics(first)[:1]]
        about = f", {heading[0].lower()}{heading[1:]}" if heading else ""
        above.append(f"{title}{about}: {first.items:,} items in {first.clusters:,} {first.unit or 'cluster'}s")
        settings.append(f"{task}: {items_text(comparable.runs[0])}")

    def best(row: Row) -> list[float]:
        values = [
            (metric, shown(row.runs[t].result.overall, metric).value if t in row.runs else None)
            for t, metric, _ in numbers
        ]
        return [best_first(metric, value) for metric, value in values]

    rows = [Row({"model": model}, runs) for model, runs in sorted(models.items())]
    rows.sort(key=best)
    body = []
    for title, metric, name in numbers:
        runs_of_column = [row.runs.get(title) for row in rows]
        cells = [number_cell(run.result.overall if run else None, metric) for run in runs_of_column]
        body.append((number_column(metric, name, over=title), cells))
    return table(
        ALL_TASKS,
        rows,
        body,
        above="; ".join(above) + ".",
        notes=[
            *interval_note([run.result.overall for row in rows for run in row.runs.values()]),
            _CHOICE,
            *lost_notes(rows),
            *about_runs(rows),
        ],
        others=not_ranked([run for runs in of_tasks.values() for run in runs]),
        settings="; ".join(settings),
    )


def _first_choice(run: Run) -> tuple[bool, str, bool]:
    """Return what puts the task's first prompt first, and of its variants the default."""
    return not RunSetting("prompt").is_default(run), run.prompt, run.variant != "default"
