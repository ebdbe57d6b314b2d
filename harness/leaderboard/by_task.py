"""Models by benchmarks (by=task): one table with the main metric of each task and its interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from harness.leaderboard.columns import lost_notes
from harness.leaderboard.comparable import ComparableRuns, best_first, comparable_sets, items_text, task_title
from harness.leaderboard.series import RunSetting
from harness.scoring.definitions import definition, main_metrics
from harness.storage.runs import Run
from harness.tables.numbers import Intervals, metric_cell
from harness.tables.results import interval_notes
from harness.tables.table import Cell, Column, Line, Table
from harness.types import Metric

TITLE = "All benchmarks"
"""Stands in the place of a task."""
_CHOICE = (
    "Of each task the runs of one set of items, those with its default settings where there are such (folders choose "
    "others); of several runs of a model the one with the task's first prompt."
)


def table(runs: Sequence[Run], metrics: Sequence[str], intervals: Intervals, notes: Sequence[str]) -> Table:
    """Return the table of all complete runs: a row for each model, columns for each task."""
    tasks = sorted({run.task for run in runs if run.sound})
    sets = {task: comparable_sets([run for run in runs if run.task == task])[0] for task in tasks}
    by_model = {task: _by_model(comparable.runs) for task, comparable in sets.items()}
    columns = [
        (task, metric) for task in tasks for metric in metrics or main_metrics(sets[task].runs[0].result.overall)[:1]
    ]
    models: dict[str, list[Run]] = defaultdict(list)
    for of_task in by_model.values():
        for model, run in of_task.items():
            models[model].append(run)

    def metric_of(model: str, task: str, name: str) -> Metric:
        run = by_model[task].get(model)
        return (run and run.result.overall.metric(name)) or Metric(name, None)

    def order(model: str) -> tuple[list[float], str]:
        return [best_first(metric, metric_of(model, task, metric).value) for task, metric in columns], model

    lines = [
        Line(
            [
                Cell(model, model),
                *(metric_cell(metric_of(model, task, metric), intervals) for task, metric in columns),
            ],
            run={"model": model},
            ranked=models[model][0].ranked,
        )
        for model in sorted(models, key=order)
    ]
    shown = [run.result.overall for of_model in models.values() for run in of_model]
    return Table(
        TITLE,
        [
            Column("model", "model"),
            *(
                Column(
                    f"{metric}/{task}", definition(metric).title, "metric", definition(metric).best, task_title(task)
                )
                for task, metric in columns
            ),
        ],
        lines,
        above="; ".join(["Best first in the first column, metrics in percent", *map(_words, sets.values())]) + ".",
        notes=[
            *([" ".join(interval_notes(shown))] if intervals != "none" else []),
            _CHOICE,
            *lost_notes([(f"{run.model}, {task_title(run.task)}", run) for runs in models.values() for run in runs]),
            *notes,
        ],
        settings="; ".join(f"{task}: {items_text(comparable.runs[0])}" for task, comparable in sets.items()),
    )


def _by_model(runs: Sequence[Run]) -> dict[str, Run]:
    """Return the run of each model that stands in the table, best first as in the task's own table."""
    prompt = RunSetting("prompt")
    first = {
        run.model: run for run in sorted(runs, key=lambda run: (not prompt.is_default(run), run.prompt), reverse=True)
    }
    return {run.model: first[run.model] for run in runs}


def _words(comparable: ComparableRuns) -> str:
    """Return what the runs of a task are: Corr2Cause, a sample of 100: 100 items in 21 clusters."""
    run = comparable.runs[0]
    heading = f", {comparable.heading[0].lower()}{comparable.heading[1:]}" if comparable.heading else ""
    overall = run.result.overall
    return (
        f"{task_title(run.task)}{heading}: {overall.items:,} items in {overall.clusters:,} {overall.unit or 'cluster'}s"
    )
