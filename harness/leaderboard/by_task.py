"""Models by benchmarks (by=task): one table with the main metric of each task and its interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from harness.leaderboard.columns import about_runs, interval_note, lost_notes
from harness.leaderboard.comparable import best_first, comparable_sets, items_text
from harness.leaderboard.series import RunSetting
from harness.scoring.definitions import main_metrics
from harness.storage.runs import Run
from harness.tables.numbers import number_cell, number_column
from harness.tables.table import Cell, Column, Line, Table, task_title

TITLE = "All benchmarks"
"""Stands in the place of a task."""
_CHOICE = (
    "Of each task the runs of one set of items, those with its default settings where there are such (folders choose "
    "others); of several runs of a model the one with the task's first prompt."
)


def table(runs: Sequence[Run], metrics: Sequence[str], others: Sequence[str]) -> Table:
    """Return the table of all complete runs: a row for each model, columns for each task."""
    tasks = sorted({run.task for run in runs if run.sound})
    sets = {task: comparable_sets([run for run in runs if run.task == task])[0] for task in tasks}
    models: dict[str, dict[str, Run]] = defaultdict(dict)
    numbers, words = [], ["Best first in the first column, metrics in percent"]
    for task, comparable in sets.items():
        for run in sorted(comparable.runs, key=_first_prompt_first, reverse=True):
            models[run.model][task] = run
        first, heading = comparable.runs[0].result.overall, comparable.heading
        numbers += [(task, metric) for metric in metrics or main_metrics(first)[:1]]
        about = f"{task_title(task)}{f', {heading[0].lower()}{heading[1:]}' if heading else ''}"
        words.append(f"{about}: {first.items:,} items in {first.clusters:,} {first.unit or 'cluster'}s")
    lines = []
    for model, of_tasks in models.items():
        scores = {task: run.result.overall for task, run in of_tasks.items()}
        cells = [number_cell(scores.get(task), metric) for task, metric in numbers]
        ranked = next(iter(of_tasks.values())).ranked
        lines.append(Line([Cell(model, model), *cells], run={"model": model}, ranked=ranked))

    def best(line: Line) -> tuple[list[float], str]:
        values = [cell.value if isinstance(cell.value, float) else None for cell in line.cells[1:]]
        of_metrics = zip((metric for _, metric in numbers), values, strict=True)
        return [best_first(metric, value) for metric, value in of_metrics], line.cells[0].text

    shown = [run for of_tasks in models.values() for run in of_tasks.values()]
    columns = [number_column(metric, f"{metric}/{task}", over=task_title(task)) for task, metric in numbers]
    return Table(
        TITLE,
        [Column("model", "model"), *columns],
        sorted(lines, key=best),
        above="; ".join(words) + ".",
        notes=[
            *interval_note([run.result.overall for run in shown]),
            _CHOICE,
            *lost_notes([(run.model, task_title(run.task), run) for run in shown]),
            *about_runs(shown),
        ],
        others=others,
        settings="; ".join(f"{task}: {items_text(comparable.runs[0])}" for task, comparable in sets.items()),
    )


def _first_prompt_first(run: Run) -> tuple[bool, str]:
    return not RunSetting("prompt").is_default(run), run.prompt
