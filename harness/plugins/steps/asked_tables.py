"""Tables of runs that were asked for the steps: how well each is answered, and where chains break first."""

from __future__ import annotations

from collections.abc import Sequence

from harness.plugins.steps.asked import BREAKS
from harness.plugins.steps.questions import QUESTIONS
from harness.storage.runs import Run
from harness.tables.numbers import metric_cell
from harness.tables.table import Cell, Column, Line, Table
from harness.types import Scores

_MEASURES = {"step_exact": "all right", "step_f1": "F1"}


def asked_tables(runs: Sequence[Run], by: Sequence[str]) -> list[Table]:
    """Return the two tables of runs of corr2cause/steps, with a row for each run, and for each group of `by`."""
    return [_steps(runs), _breaks(runs, by)]


def _steps(runs: Sequence[Run]) -> Table:
    columns = [Column("run", "run"), Column("given", "each step goes on from")]
    columns += [
        Column(f"{question}/{name}", title, "metric", over=question)
        for question in QUESTIONS
        for name, title in _shown(question).items()
    ]
    columns.append(Column("step_own", "follows from its own steps", "metric"))
    lines = []
    for run in runs:
        by_step = run.result.scores[run.result.headline]["step"]
        cells = [_cell(by_step.get(question), name) for question in QUESTIONS for name in _shown(question)]
        cells.append(_cell(by_step.get("answer"), "step_own"))
        lines.append(Line([Cell(run.model), Cell(_given(run)), *cells], run=run.place, ranked=False))
    return Table(columns=columns, lines=lines, heading="Steps asked", notes=_notes(runs))


def _breaks(runs: Sequence[Run], by: Sequence[str]) -> Table:
    columns = [Column("run", "run"), Column("given", "each step goes on from"), Column("group", "group")]
    columns += [Column(name, name.removeprefix("first_"), "metric", over="breaks first at") for name in BREAKS]
    lines = []
    for run in runs:
        scores = run.result.scores[run.result.headline]
        groups = {"all": scores["overall"]["all"]}
        groups |= {
            f"{name.replace('_', ' ')} {group}": row for name in by for group, row in scores.get(name, {}).items()
        }
        for title, row in groups.items():
            cells = [_cell(row, name) for name in BREAKS]
            lines.append(Line([Cell(run.model), Cell(_given(run)), Cell(title), *cells], run=run.place, ranked=False))
    return Table(columns=columns, lines=lines, heading="Where it breaks first, steps asked")


def _shown(question: str) -> dict[str, str]:
    """Return the measures of a step by their titles: the last one is no list."""
    return _MEASURES if question != "answer" else {"step_exact": "right"}


def _given(run: Run) -> str:
    return "the right answers" if run.settings.get("given") == "truth" else "its own replies"


def _cell(row: Scores | None, name: str) -> Cell:
    metric = row.metric(name) if row else None
    return metric_cell(metric) if metric else Cell("–")


def _notes(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(note for run in runs for note in run.result.notes))
