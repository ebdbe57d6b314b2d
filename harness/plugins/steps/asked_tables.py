"""Tables of runs that were asked for the steps: how well each is answered, and where chains break first.

Any task of any plug-in, whose scores have the breakdown `step` and the shares `…first_STEP` and `…first_nowhere`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.plugins.steps.runs import called
from harness.scoring.definitions import definition
from harness.storage.runs import Run
from harness.tables.numbers import metric_cell
from harness.tables.table import Cell, Column, Line, Table
from harness.types import Scores

DEFAULT_BY = ("relation", "num_nodes", "rung", "query")
_FIRST, _NOWHERE = "first_", "first_nowhere"


@dataclass(frozen=True)
class Form:
    """What the scores of a task that asks for steps are called."""

    task: str
    first: str
    """What stands before the name of a step in the shares of where chains break first."""
    steps: tuple[str, ...]
    exact: str | None
    f1: str | None
    own: str | None

    @property
    def places(self) -> tuple[str, ...]:
        return (*self.steps, "nowhere")


def form_of(run: Run) -> Form | None:
    """Return how the scores of a run that was asked for steps are called; None for another run."""
    scores = run.result.scores[run.result.headline]
    names = [metric.name for metric in scores["overall"]["all"].metrics]
    last = next((name for name in names if name.endswith(_NOWHERE)), None)
    if last is None or "step" not in scores:
        return None
    first = last.removesuffix("nowhere")
    steps = tuple(name.removeprefix(first) for name in names if name.startswith(first) and name != last)
    exact, f1, own = (
        next((name for name in names if name.endswith(f"_{end}")), None) for end in ("exact", "f1", "own")
    )
    return Form(run.task, first, steps, exact, f1, own)


def asked_tables(runs: Sequence[Run], form: Form, by: Sequence[str] | None) -> list[Table]:
    """Return the two tables of the runs of one task, with a row for each run, and for each group of `by`."""
    return [_steps(runs, form), _breaks(runs, form, DEFAULT_BY if by is None else by)]


def asked_shares(runs: Sequence[Run], form: Form) -> dict[str, list[float]]:
    """Return of each run how many of its chains break first at each of the places, as shares."""
    return {called(run, runs): [_overall(run)[form.first + at] or 0 for at in form.places] for run in runs}


def _steps(runs: Sequence[Run], form: Form) -> Table:
    shown = [(step, name, title) for step in form.steps for name, title in _measures(runs, form, step).items()]
    columns = [Column("run", "run"), Column("given", "each step goes on from")]
    columns += [Column(f"{step}/{name}", title, "metric", over=step) for step, name, title in shown]
    if form.own:
        columns.append(Column(form.own, definition(form.own).title, "metric"))
    lines = []
    for run in runs:
        by_step = _scores(run)["step"]
        cells = [_cell(by_step.get(step), name) for step, name, _ in shown]
        if form.own:
            cells.append(_cell(by_step.get(form.steps[-1]), form.own))
        lines.append(Line([Cell(run.model), Cell(_given(run)), *cells], run=run.place, ranked=False))
    return Table(columns=columns, lines=lines, heading=f"Steps asked, {form.task}", notes=_notes(runs))


def _breaks(runs: Sequence[Run], form: Form, by: Sequence[str]) -> Table:
    columns = [Column("run", "run"), Column("given", "each step goes on from"), Column("group", "group")]
    columns += [Column(form.first + place, place, "metric", over="breaks first at") for place in form.places]
    lines = []
    for run in runs:
        groups = {"all": _overall(run)}
        groups |= {
            f"{name.replace('_', ' ')} {group}": row for name in by for group, row in _scores(run).get(name, {}).items()
        }
        for title, row in groups.items():
            cells = [_cell(row, form.first + place) for place in form.places]
            lines.append(Line([Cell(run.model), Cell(_given(run)), Cell(title), *cells], run=run.place, ranked=False))
    return Table(columns=columns, lines=lines, heading=f"Where it breaks first, {form.task}")


def _measures(runs: Sequence[Run], form: Form, step: str) -> dict[str, str]:
    """Return the measures of a step by their titles; the F1 of one that lists something."""
    rows = [row for run in runs if (row := _scores(run)["step"].get(step))]
    if form.f1 and any(row[form.f1] is not None for row in rows):
        return {str(form.exact): "all right", form.f1: "F1"}
    return {str(form.exact): "right"}


def _scores(run: Run) -> dict[str, dict[str, Scores]]:
    return {name: dict(groups) for name, groups in run.result.scores[run.result.headline].items()}


def _overall(run: Run) -> Scores:
    return _scores(run)["overall"]["all"]


def _given(run: Run) -> str:
    return "the right answers" if run.settings.get("given") == "truth" else "its own replies"


def _cell(row: Scores | None, name: str) -> Cell:
    metric = row.metric(name) if row else None
    return metric_cell(metric) if metric else Cell("–")


def _notes(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(note for run in runs for note in run.result.notes))
