"""Models by benchmarks (by=task): one table with the main metric of each task and its interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from harness.leaderboard.columns import about_runs, lost_notes
from harness.leaderboard.comparable import ComparableRuns, best_first, comparable_sets, items_text
from harness.leaderboard.series import RunSetting
from harness.scoring.definitions import definition, main_metrics
from harness.storage.runs import Run
from harness.tables.numbers import Intervals, score_cell
from harness.tables.results import interval_notes
from harness.tables.table import Cell, Column, Line, Table, task_title

TITLE = "All benchmarks"
"""Stands in the place of a task."""
_CHOICE = (
    "Of each task the runs of one set of items, those with its default settings where there are such (folders choose "
    "others); of several runs of a model the one with the task's first prompt."
)


def table(runs: Sequence[Run], metrics: Sequence[str], intervals: Intervals, others: Sequence[str]) -> Table:
    """Return the table of all complete runs: a row for each model, columns for each task."""
    tasks = sorted({run.task for run in runs if run.sound})
    sets = {task: comparable_sets([run for run in runs if run.task == task])[0] for task in tasks}
    models: dict[str, dict[str, Run]] = defaultdict(dict)
    for task, comparable in sets.items():
        for run in sorted(comparable.runs, key=_first_prompt_first, reverse=True):
            models[run.model][task] = run
    columns = [
        (task, metric) for task in tasks for metric in metrics or main_metrics(sets[task].runs[0].result.overall)[:1]
    ]

    def cells(model: str) -> list[Cell]:
        of_tasks = models[model]
        return [
            score_cell(of_tasks[task].result.overall if task in of_tasks else None, metric, intervals)
            for task, metric in columns
        ]

    lines = [
        Line([Cell(model, model), *cells(model)], run={"model": model}, ranked=next(iter(of_tasks.values())).ranked)
        for model, of_tasks in models.items()
    ]
    lines.sort(key=lambda line: _order(line, [metric for _, metric in columns]))
    shown = [run for of_tasks in models.values() for run in of_tasks.values()]
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
            *([" ".join(interval_notes([run.result.overall for run in shown]))] if intervals != "none" else []),
            _CHOICE,
            *lost_notes([(run.model, task_title(run.task), run) for run in shown]),
            *about_runs(shown),
        ],
        others=others,
        settings="; ".join(f"{task}: {items_text(comparable.runs[0])}" for task, comparable in sets.items()),
    )


def _first_prompt_first(run: Run) -> tuple[bool, str]:
    return not RunSetting("prompt").is_default(run), run.prompt


def _order(line: Line, metrics: Sequence[str]) -> tuple[list[float], str]:
    values = [cell.value if isinstance(cell.value, float) else None for cell in line.cells[1:]]
    return [best_first(metric, value) for metric, value in zip(metrics, values, strict=True)], line.cells[0].text


def _words(comparable: ComparableRuns) -> str:
    """Return what the runs of a task are: Corr2Cause, a sample of 100: 100 items in 21 clusters."""
    run = comparable.runs[0]
    heading = f", {comparable.heading[0].lower()}{comparable.heading[1:]}" if comparable.heading else ""
    overall = run.result.overall
    return (
        f"{task_title(run.task)}{heading}: {overall.items:,} items in {overall.clusters:,} {overall.unit or 'cluster'}s"
    )
