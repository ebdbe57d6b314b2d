"""The differences that the page shows: by each setting in which runs differ, and of models on the same items.

The first are the tables that a sweep over one setting ends with; the others set each run beside the best of its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.compare.pairing import Loader
from harness.compare.tables import difference_cells, difference_columns
from harness.errors import ConfigError
from harness.leaderboard import by_setting
from harness.leaderboard.by_setting import corrected, difference_notes, differences_to_first
from harness.leaderboard.columns import constants, interval_note
from harness.leaderboard.comparable import NAMES, ComparableRuns, comparable_sets, name_cells, name_of, telling_names
from harness.leaderboard.series import RunSetting, Series
from harness.scoring.definitions import main_metrics
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.numbers import number_cell, number_column
from harness.tables.table import Column, Line, Table


def tables(task: str, runs: Sequence[Run], replies: ReplyReader) -> Iterator[Table]:
    """Yield the tables of a task; those without a single difference are left out."""
    complete, load = [run for run in runs if run.sound], Loader(replies)
    names = sorted({name for run in complete for name in run.settings})
    for setting in (RunSetting("prompt"), *(RunSetting("task", name) for name in names)):
        if len({setting.step(run) for run in complete}) > 1:
            try:
                for table in filter(_has_differences, by_setting.tables(task, complete, setting, load=load)):
                    yield replace(table, others=())  # the tables of each setting would name nearly all runs
            except ConfigError:  # no two runs differ in it alone
                continue
    for comparable in comparable_sets(complete):
        ranked = [run for run in comparable.runs if run.ranked]
        if len(ranked) > 1 and _has_differences(table := _of_models(task, ranked, comparable, load)):
            yield table


def _has_differences(table: Table) -> bool:
    places = [place for place, column in enumerate(table.columns) if column.name.endswith("/difference")]
    return any(line.cells[place].value is not None for line in table.lines for place in places)


def _of_models(task: str, runs: Sequence[Run], comparable: ComparableRuns, load: Loader) -> Table:
    """Return the ranked runs of a set, with their differences to the best of them."""
    overall = [run.result.overall for run in runs]
    metric = main_metrics(overall[0])[0]
    steps = [str(place) for place in range(len(runs))]  # no series of a setting, but compared as one is
    series = Series((), dict(zip(steps, runs, strict=True)))
    [found] = corrected([differences_to_first(series, steps, [metric], load)])
    names, lines = telling_names(runs), []
    for step, run in series.by_step.items():
        cells = [number_cell(run.result.overall, metric), *difference_cells(found.get((step, metric)))]
        lines.append(Line([*name_cells(run, names), *cells], "", {name: name_of(run, name) for name in NAMES}))
    heading = comparable.heading
    return Table(
        task,
        [*(Column(name, name) for name in names), number_column(metric), *difference_columns("best", f"{metric}/")],
        lines,
        above="; ".join(["Best first, metrics in percent", *constants(overall)[1]]) + ".",
        notes=[*interval_note(overall), *difference_notes("best", found.values())],
        heading=f"Models, {heading[0].lower()}{heading[1:]}" if heading else "Models",
        label_set=runs[0].result.headline,
        items=runs[0].items,
        in_caption=[f"{metric}/p_holm"],
    )
