"""The differences that the page shows: by each setting in which runs differ, and of models on the same items.

The first are the tables that a sweep over one setting ends with; the others set each run beside the best of its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.compare.difference import Difference
from harness.compare.measure import holm
from harness.compare.runs import Loader
from harness.errors import ConfigError
from harness.leaderboard.columns import constants
from harness.leaderboard.comparable import NAMES, comparable_sets, name_of
from harness.leaderboard.settings import by_setting
from harness.leaderboard.settings.chains import RunSetting, Series
from harness.scoring.definitions import definition, main_metrics
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.numbers import metric_cell
from harness.tables.results import interval_notes
from harness.tables.table import Cell, Column, Line, Table
from harness.types import Metric

DIFFERENCE = "/difference"
"""How the names of columns end that hold differences."""


def tables(task: str, rows: Sequence[Run], replies: ReplyReader) -> Iterator[Table]:
    """Yield the tables of a task; those without a single difference are left out."""
    complete, load = [row for row in rows if row.sound], Loader(replies)
    names = {name for row in complete for name in row.settings}
    settings = [RunSetting("prompt"), *(RunSetting("task", name) for name in sorted(names))]
    for setting in settings:
        if len({setting.step(row) for row in complete}) < 2:
            continue
        try:
            yield from filter(_has_differences, _of_setting(task, complete, setting, load))
        except ConfigError:  # no two runs differ in it alone
            continue
    yield from filter(_has_differences, of_models(task, complete, load))


def _of_setting(task: str, rows: Sequence[Run], setting: RunSetting, load: Loader) -> Iterator[Table]:
    """Return the tables of a setting. The page has those of all settings, and each would name nearly all other runs."""
    return by_setting.tables(
        task, rows, setting, metrics=(), intervals="brackets", notes=(), load=load, name_others=False
    )


def _has_differences(table: Table) -> bool:
    places = [place for place, column in enumerate(table.columns) if column.name.endswith(DIFFERENCE)]
    return any(line.cells[place].value is not None for line in table.lines for place in places)


def of_models(task: str, rows: Sequence[Run], load: Loader) -> Iterator[Table]:
    """Yield for each set of comparable runs the ranked ones, with their differences to the best of them."""
    for comparable in comparable_sets(rows):
        ranked = [row for row in comparable.rows if row.ranked]
        if len(ranked) > 1:
            yield _of_set(task, ranked, comparable.heading, load)


def _of_set(task: str, rows: Sequence[Run], heading: str, load: Loader) -> Table:
    overall = [row.result.overall for row in rows]
    metric = main_metrics(overall[0])[0]
    steps = [str(place) for place in range(len(rows))]  # no chain of a setting, but compared as one is
    series = Series((), dict(zip(steps, rows, strict=True)))
    to_best = by_setting.differences_to_first(series, steps, [metric], load)
    known = {step: d for (step, _), d in to_best.items() if isinstance(d, Difference)}
    corrected = dict(zip(known, holm([d.p for d in known.values()]), strict=True))
    names = _names(rows)
    columns = [
        *(Column(name, name) for name in names),
        Column(metric, definition(metric).title, "metric", definition(metric).best),
        *by_setting.difference_columns(metric, "best"),
    ]
    lines = [
        Line(
            [
                *(Cell(name_of(row, name), name_of(row, name)) for name in names),
                metric_cell(row.result.overall.metric(metric) or Metric(metric, None), "brackets"),
                *by_setting.difference_cells(to_best.get((step, metric)), corrected.get(step), "brackets"),
            ],
            "",
            {name: name_of(row, name) for name in NAMES},
        )
        for step, row in zip(steps, rows, strict=True)
    ]
    return Table(
        task,
        columns,
        lines,
        above="; ".join(["Best first, metrics in percent", *constants(overall)[1]]) + ".",
        notes=[" ".join(interval_notes(overall)), *by_setting.difference_notes("best", list(to_best.values()))],
        heading=f"Models, {heading[0].lower()}{heading[1:]}" if heading else "Models",
        label_set=rows[0].result.headline,
        items=rows[0].items,
        in_caption=[column.name for column in columns if column.name.endswith("/p_holm")],
    )


def _names(rows: Sequence[Run]) -> list[str]:
    """Return the names that tell the runs apart, the model first."""
    names = ["model", *(name for name in ("prompt", "variant") if len({name_of(row, name) for row in rows}) > 1)]
    return (
        names if len({tuple(name_of(row, name) for name in names) for row in rows}) == len(rows) else [*names, "folder"]
    )
