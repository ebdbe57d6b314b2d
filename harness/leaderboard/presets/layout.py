"""A preset's table: the published rows as the paper has them, and below them what was measured, set by set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from harness.leaderboard.families import family
from harness.leaderboard.presets.captions import about, said, title
from harness.leaderboard.presets.published_rows import Printed, printed
from harness.leaderboard.presets.select import Data, Entry, entries, metric, scores, source
from harness.leaderboard.rows import Row
from harness.tables.metrics import even_decimals, interval_notes, metric_text
from harness.tables.table import Block, Cell, Column, Line, Table
from harness.tasks.find import benchmark_of
from harness.tasks.presets import Form, Number, Preset
from harness.types import Metric

Intervals = Literal["brackets", "pm", "none"]
INTERVALS = {"brackets": "In brackets:", "pm": "After ±, half the width of", "none": ""}
ACROSS = 4
"""So many runs stand beside each other in a table whose columns are models."""


def lay_out(preset: Preset, rows: Sequence[Row], intervals: Intervals = "brackets") -> list[Table]:
    """The table of a preset from all runs there are; a second one, and so on, where models are columns and many."""
    found = entries(preset, rows)
    numbers = tuple(preset.columns)
    across: list[list[Entry]] = [[]]
    if preset.beside:
        across = [list(found[start : start + ACROSS]) for start in range(0, len(found), ACROSS)] or [[]]
    if preset.learned:
        known = {slot for number in numbers for slot in number.slots}
        names = dict.fromkeys(slot for one in found for slot in one.runs if slot not in known)
        numbers += tuple(replace(preset.learned, title=name, where={"model": name}, slots=(name,)) for name in names)
    unfinished = [(r.variant, r.prompt, r.model) for r in rows if not r.complete and source(preset, r)]
    tables = []
    for number, models in enumerate(across):
        lines = [*_published_lines(preset, () if number else numbers, models, intervals)]
        lines += [] if preset.beside else _measured_lines(preset, numbers, found, intervals)
        tables.append(_table(preset, () if number else numbers, models, lines))
    notes = [*said(preset, found, unfinished)]
    notes += [about(preset, data, [one for one in found if one.data == data]) for data in _sets(found)]
    if any(cell.range for table in tables for line in table.lines for cell in line.cells):
        notes.append(" ".join(_drawn(preset, found)).replace("In brackets:", INTERVALS[intervals]))
    return [*tables[:-1], replace(tables[-1], notes=notes, unfinished=unfinished)]


def _sets(found: Sequence[Entry]) -> list[Data]:
    return list(dict.fromkeys(one.data for one in found))


def _table(preset: Preset, numbers: Sequence[Number], models: Sequence[Entry], lines: Sequence[Line]) -> Table:
    titles = {"model": preset.models, "axis": preset.axis.title if preset.axis else ""}
    columns = [Column(_stub(preset, kind), titles[kind]) for kind in preset.rows]
    columns += [Column(_name(n), n.title, "metric", n.best, n.over) for n in numbers]
    columns += [
        Column(f"{_name(n)}/{one.shown}", n.title, "metric", None, _over(preset, one))
        for one in models
        for n in preset.beside
    ]
    # Columns of models beside printed ones: those keep their digits.
    measured = [
        replace(column, kind="text") if preset.beside and not column.over.startswith("Measured") else column
        for column in columns
    ]
    continued = "" if numbers else " (continued)"
    benchmark = benchmark_of(preset.benchmark)
    version = benchmark.data_version
    return Table(
        preset.task,
        columns,
        even_decimals(measured, lines),
        above=f"{preset.title}."
        + (f" Published: {benchmark.source}; {version}; {benchmark.digits}." if numbers else ""),
        heading=f"Table {preset.name} of the paper, published and measured{continued}",
        published="" if not preset.beside else version,
    )


def _over(preset: Preset, entry: Entry) -> str:
    """A measured model as the heading of its columns, with what tells its set from others."""
    told = title(preset, entry.data).partition(": ")[2]
    return f"Measured: {entry.shown}{f' ({told})' if told else ''}"


def _name(number: Number) -> str:
    """The column for programs: the metric, and what tells it from other columns of the metric."""
    told = [number.key, *(value for name, value in number.where.items() if name != "table")]
    return "/".join([number.printed, *(part for part in told if part not in ("", "original"))])


def _stub(preset: Preset, kind: str) -> str:
    return "model" if kind == "model" or not preset.axis else preset.axis.breakdown


def _published_lines(
    preset: Preset, numbers: Sequence[Number], models: Sequence[Entry], intervals: Intervals
) -> Iterator[Line]:
    """The paper's rows, with the columns of measured models where these stand beside them."""
    version = benchmark_of(preset.benchmark).data_version
    told = re.split("[:,]", version)[0]
    block = None if preset.beside else Block(f"Published, not measured here: {told}", version)
    above: tuple[Cell, ...] = ()
    for row in printed(preset):
        stubs = _stubs(preset, row.key, preset.shown.get(row.model, row.model), row.model)
        cells = [_published_cell(row, n) for n in numbers]
        cells += [_cell(one, n, preset, row.key, intervals) for one in models for n in preset.beside]
        group = {"none": "", "family": row.group, "model": preset.shown.get(row.model, row.model)}[preset.groups]
        yield Line([*_once(stubs, above), *cells], group, block=block)
        above = stubs


def _measured_lines(
    preset: Preset, numbers: Sequence[Number], found: Sequence[Entry], intervals: Intervals
) -> Iterator[Line]:
    for data in _sets(found):
        of_data = [one for one in found if one.data == data]
        block = _block(preset, data, of_data)
        keys = [""] if "axis" not in preset.rows else list(dict.fromkeys(row.key for row in printed(preset)))
        order = [(one, key) for one in of_data for key in keys]
        if preset.rows[0] == "axis" and "model" in preset.rows:
            order = [(one, key) for key in keys for one in of_data]
        above: tuple[Cell, ...] = ()
        for one, key in order:
            stubs = _stubs(preset, key, one.shown, one.model)
            cells = [_cell(one, number, preset, key, intervals) for number in numbers]
            group = {"none": "", "family": family(one.model), "model": one.shown}[preset.groups]
            yield Line([*_once(stubs, above), *cells], group, _run(one), block)
            above = stubs


def _block(preset: Preset, data: Data, found: Sequence[Entry]) -> Block:
    runs = [run for one in found for run in one.runs.values()]
    return Block(
        title(preset, data),
        label_set=data.labels,
        items=" ".join(dict.fromkeys(run.items for run in runs if run.items)) or None,
    )


def _run(entry: Entry) -> dict[str, str]:
    """What tells a row from all others, for programs."""
    several = " + ".join(dict.fromkeys(run.variant for run in entry.runs.values()))
    found = {
        "model": entry.model,
        "prompt": entry.prompt or entry.data.prompt,
        "variant": several,
        "folder": entry.folder,
    }
    return {name: value for name, value in found.items() if value}


def _stubs(preset: Preset, key: str, shown: str, model: str) -> tuple[Cell, ...]:
    axis = preset.axis
    return tuple(
        Cell(shown, model) if kind == "model" else Cell(axis.titles.get(key, key) if axis else "", key)
        for kind in preset.rows
    )


def _once(stubs: tuple[Cell, ...], above: tuple[Cell, ...]) -> list[Cell]:
    """What is the same as in the row above is not said again, but in the last column of text."""
    same = 0
    while same < min(len(stubs), len(above)) - 1 and stubs[same] == above[same]:
        same += 1
    return [*(replace(cell, text="") for cell in stubs[:same]), *stubs[same:]]


def _published_cell(row: Printed, number: Number) -> Cell:
    text, mark = row.digits(number)
    if not text:
        return Cell("–")
    share = number.form == "percent"
    shown = f"{round(100 * float(text))}%" if number.form == "whole percent" else text
    return Cell(f"{shown}{mark}", round(float(text) / 100, 8) if share else float(text))


def _cell(entry: Entry, number: Number, preset: Preset, key: str, intervals: Intervals) -> Cell:
    run = entry.run(number) if number.slots else next(iter(entry.runs.values()))
    if run is None:
        return Cell("–")
    groups: tuple[str, ...]
    breakdown, groups = "overall", ("all",)
    if preset.axis and (key or number.key):
        breakdown, groups = preset.axis.place(key or number.key)
    if number.at:
        breakdown, groups = number.at[0], tuple(number.at[1].format(group) for group in groups)
    found = metric(number, scores(run, entry.data.labels, breakdown, groups))
    if found is None or found.value is None:
        return Cell("–")
    # Across fourteen columns there is no room for intervals; CSV and JSON have them.
    drawn = "" if number.key else _range(found, number.form, intervals)
    return Cell(_shown(found.value, number.form), found.value, found.interval, drawn)


def _shown(value: float, form: Form) -> str:
    if form == "number":
        return metric_text("shd", value)
    if form == "fraction":
        return f"{value:.4f}"
    return f"{100 * value:.2f}" if form == "percent" else f"{100 * value:.0f}%"


def _range(found: Metric, form: Form, intervals: Intervals) -> str:
    if intervals == "none" or found.interval is None:
        return ""
    low, high = found.interval
    scale, decimals = {"fraction": (1, 3), "number": (1, 1)}.get(form, (100, 1))
    if intervals == "pm":
        return f"± {scale * (high - low) / 2:.{decimals}f}"
    return f"[{scale * low:.{decimals}f}, {scale * high:.{decimals}f}]"


def _drawn(preset: Preset, found: Sequence[Entry]) -> Iterator[str]:
    """How the intervals of the breakdowns that the table shows were made."""
    shown = {n.at[0] for n in (*preset.columns, *preset.beside) if n.at}
    shown |= {preset.axis.breakdown} if preset.axis else {"overall"}
    results = [run.result.scores.get(one.data.labels, {}) for one in found for run in one.runs.values()]
    yield from interval_notes([row for parts in results for name in shown for row in parts.get(name, {}).values()])
