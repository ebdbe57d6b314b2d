"""A preset's table: the published rows as the paper has them, below them what was measured, and the words around it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from harness.leaderboard.comparable import family
from harness.plugins.papers.preset_rows import (
    SEEDS_NOTE,
    Data,
    Entry,
    PrintedRow,
    comparable,
    differences,
    entries,
    printed_rows,
    published_rows,
    source,
)
from harness.plugins.papers.presets import Form, Number, PaperTable, Preset, preset, preset_list
from harness.plugins.papers.published import contradiction_notes
from harness.storage.runs import Run
from harness.tables.numbers import Intervals, even_decimals, interval_text, metric_text, percent_text
from harness.tables.results import interval_notes
from harness.tables.table import Block, Cell, Column, Line, Table
from harness.tasks.find import benchmark_of
from harness.types import Metric

INTERVAL_WORDS = {"brackets": "In brackets:", "pm": "After ±, half the width of", "none": ""}
RUNS_ACROSS = 4
"""Runs that stand beside each other in a table whose columns are models."""


def tables(name: str, runs: Callable[[], Sequence[Run]], intervals: Intervals) -> str | list[Table]:
    """Return the tables of `harness leaderboard preset=NAME`; without a name what presets there are.

    Runs are looked for once the name is known to be one; with none of them there are published rows alone.
    """
    if not name:
        return f"The papers' tables:\n\n{preset_list()}"
    table = preset(name)
    return table.lay_out(runs()) if isinstance(table, PaperTable) else lay_out(table, runs(), intervals)


def lay_out(preset: Preset, rows: Sequence[Run], intervals: Intervals = "brackets") -> list[Table]:
    """Return the table of a preset from all runs there are; several tables where models are columns and many."""
    measured = entries(preset, rows)
    numbers = tuple(preset.columns)
    across: list[list[Entry]] = [[]]
    if preset.beside:
        across = [list(measured[start : start + RUNS_ACROSS]) for start in range(0, len(measured), RUNS_ACROSS)] or [[]]
    if preset.learned:
        slots = {slot for number in numbers for slot in number.slots}
        names = dict.fromkeys(slot for entry in measured for slot in entry.runs if slot not in slots)
        numbers += tuple(replace(preset.learned, title=name, where={"model": name}, slots=(name,)) for name in names)
    unfinished = [(r.variant, r.prompt, r.model) for r in rows if not r.sound and source(preset, r)]
    tables = []
    for number, models in enumerate(across):
        lines = [*_published_lines(preset, () if number else numbers, models, intervals)]
        lines += [] if preset.beside else _measured_lines(preset, numbers, measured, intervals)
        tables.append(_table(preset, () if number else numbers, models, lines))
    notes = [*table_notes(preset, measured, unfinished)]
    notes += [set_note(preset, data, [entry for entry in measured if entry.data == data]) for data in _sets(measured)]
    if any(cell.range for table in tables for line in table.lines for cell in line.cells):
        notes.append(" ".join(_interval_notes(preset, measured)).replace("In brackets:", INTERVAL_WORDS[intervals]))
    return [*tables[:-1], replace(tables[-1], notes=notes, unfinished=unfinished)]


def _sets(measured: Sequence[Entry]) -> list[Data]:
    return list(dict.fromkeys(entry.data for entry in measured))


def _table(preset: Preset, numbers: Sequence[Number], models: Sequence[Entry], lines: Sequence[Line]) -> Table:
    titles = {"model": preset.models, "axis": preset.axis.title if preset.axis else ""}
    columns = [Column(_stub(preset, kind), titles[kind]) for kind in preset.rows]
    columns += [Column(_name(n), n.title, "metric", n.best, n.over) for n in numbers]
    columns += [
        Column(f"{_name(n)}/{entry.title}", n.title, "metric", None, _heading_of(preset, entry))
        for entry in models
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


def _heading_of(preset: Preset, entry: Entry) -> str:
    """Return a measured model as the heading of its columns, with what tells its set from others."""
    parts = ", ".join(differences(preset, entry.data))
    return f"Measured: {entry.title}{f' ({parts})' if parts else ''}"


def _name(number: Number) -> str:
    """Return the column for programs: the metric, and what tells it from other columns of the metric."""
    parts = [number.key, *(value for name, value in number.where.items() if name != "table")]
    return "/".join([number.printed, *(part for part in parts if part not in ("", "original"))])


def _stub(preset: Preset, kind: str) -> str:
    return "model" if kind == "model" or not preset.axis else preset.axis.breakdown


def _published_lines(
    preset: Preset, numbers: Sequence[Number], models: Sequence[Entry], intervals: Intervals
) -> Iterator[Line]:
    """Yield the paper's rows, with the columns of measured models where these stand beside them."""
    version = benchmark_of(preset.benchmark).data_version
    version_name = re.split("[:,]", version)[0]
    block = None if preset.beside else Block(f"Published, not measured here: {version_name}", version)
    above: tuple[Cell, ...] = ()
    for row in printed_rows(preset):
        stubs = _stubs(preset, row.key, preset.shown.get(row.model, row.model), row.model)
        cells = [_published_cell(row, n) for n in numbers]
        cells += [_cell(entry, n, preset, row.key, intervals) for entry in models for n in preset.beside]
        group = {"none": "", "family": row.group, "model": preset.shown.get(row.model, row.model)}[preset.groups]
        yield Line([*_omit_repeated(stubs, above), *cells], group, block=block, ranked=False)
        above = stubs


def _measured_lines(
    preset: Preset, numbers: Sequence[Number], measured: Sequence[Entry], intervals: Intervals
) -> Iterator[Line]:
    for data in _sets(measured):
        of_data = [entry for entry in measured if entry.data == data]
        block = _block(preset, data, of_data)
        keys = [""] if "axis" not in preset.rows else list(dict.fromkeys(row.key for row in printed_rows(preset)))
        order = [(entry, key) for entry in of_data for key in keys]
        if preset.rows[0] == "axis" and "model" in preset.rows:
            order = [(entry, key) for key in keys for entry in of_data]
        above: tuple[Cell, ...] = ()
        for entry, key in order:
            stubs = _stubs(preset, key, entry.title, entry.model)
            cells = [_cell(entry, number, preset, key, intervals) for number in numbers]
            group = {"none": "", "family": family(entry.model, entry.role), "model": entry.title}[preset.groups]
            yield Line(
                [*_omit_repeated(stubs, above), *cells],
                group,
                _identity(entry),
                block,
                all(run.ranked for run in entry.runs.values()),
            )
            above = stubs


def _block(preset: Preset, data: Data, entries: Sequence[Entry]) -> Block:
    runs = [run for entry in entries for run in entry.runs.values()]
    return Block(
        set_title(preset, data),
        label_set=data.labels,
        items=" ".join(dict.fromkeys(run.items for run in runs if run.items)) or None,
    )


def _identity(entry: Entry) -> dict[str, str]:
    """Return what tells a row from all others, for programs."""
    variants = " + ".join(dict.fromkeys(run.variant for run in entry.runs.values()))
    names = {
        "model": entry.model,
        "prompt": entry.prompt or entry.data.prompt,
        "variant": variants,
        "folder": entry.folder,
    }
    return {name: value for name, value in names.items() if value}


def _stubs(preset: Preset, key: str, title: str, model: str) -> tuple[Cell, ...]:
    axis = preset.axis
    return tuple(
        Cell(title, model) if kind == "model" else Cell(axis.titles.get(key, key) if axis else "", key)
        for kind in preset.rows
    )


def _omit_repeated(stubs: tuple[Cell, ...], above: tuple[Cell, ...]) -> list[Cell]:
    """Return the row's text columns without what the row above says already, but for the last column."""
    same = 0
    while same < min(len(stubs), len(above)) - 1 and stubs[same] == above[same]:
        same += 1
    return [*(replace(cell, text="") for cell in stubs[:same]), *stubs[same:]]


def _published_cell(row: PrintedRow, number: Number) -> Cell:
    text, mark = row.digits(number)
    if not text:
        return Cell("–")
    share = number.form == "percent"
    digits = f"{round(100 * float(text))}%" if number.form == "whole percent" else text
    return Cell(f"{digits}{mark}", round(float(text) / 100, 8) if share else float(text))


def _cell(entry: Entry, number: Number, preset: Preset, key: str, intervals: Intervals) -> Cell:
    groups: tuple[str, ...]
    breakdown, groups = "overall", ("all",)
    if preset.axis and (key or number.key):
        breakdown, groups = preset.axis.place(key or number.key)
    if number.at:
        breakdown, groups = number.at[0], tuple(number.at[1].format(group) for group in groups)
    measurement = entry.measured(number, breakdown, groups)
    if measurement is None or measurement.value is None:
        return Cell("–")
    # Across fourteen columns there is no room for intervals; CSV and JSON have them.
    interval = "" if number.key else _interval_text(measurement, number.form, intervals)
    return Cell(_number_text(measurement.value, number.form), measurement.value, measurement.interval, interval)


def _number_text(value: float, form: Form) -> str:
    if form == "number":
        return metric_text("shd", value)
    if form == "fraction":
        return f"{value:.4f}"
    return percent_text(value) if form == "percent" else f"{100 * value:.0f}%"


def _interval_text(metric: Metric, form: Form, intervals: Intervals) -> str:
    scale, decimals = {"fraction": (1, 3), "number": (1, 1)}.get(form, (100, 1))
    return interval_text(metric.interval, intervals, scale=scale, decimals=decimals, thousands="")


def _interval_notes(preset: Preset, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield how the intervals of the breakdowns that the table shows were made."""
    breakdowns = {n.at[0] for n in (*preset.columns, *preset.beside) if n.at}
    breakdowns |= {preset.axis.breakdown} if preset.axis else {"overall"}
    results = [run.result.scores.get(entry.data.labels, {}) for entry in entries for run in entry.runs.values()]
    if any(len(runs) > 1 for entry in entries for runs in entry.repeats.values()):
        yield SEEDS_NOTE
    yield from interval_notes([row for parts in results for name in breakdowns for row in parts.get(name, {}).values()])


NOT_RANKED_TOGETHER = (
    "Published and measured rows are not ranked together: where text can be bold (terminal, LaTeX, HTML), the best of "
    "each set of rows is, and the second is underlined."
)


def set_title(preset: Preset, data: Data) -> str:
    parts = differences(preset, data)
    return f"Measured here: {', '.join(parts)}" if parts else "Measured here"


def set_note(preset: Preset, data: Data, entries: Sequence[Entry]) -> str:
    """Return in full what a set was measured on."""
    repeats = [run for entry in entries for slot in entry.repeats.values() for run in slot]
    runs = repeats or [run for entry in entries for run in entry.runs.values()]
    items = sorted({run.result.overall.items for run in runs})
    number_of_items = f"{items[0]:,}" if len(items) == 1 else f"{items[0]:,} to {items[-1]:,}"
    item_sets = list(dict.fromkeys(run.items[:8] for run in runs if run.items))
    parts = [f"{number_of_items} items a run", benchmark_of(preset.benchmark).labels_title(data.labels)]
    parts += [f"item set{'s' if len(item_sets) > 1 else ''} {', '.join(item_sets)}"] if item_sets else []
    seeds = ", ".join(map(str, sorted({run.data["seed"] for run in repeats})))
    parts += [f"means over the seeds {seeds}" if "," in seeds else f"seed {seeds}"] if repeats else []
    variants = ", ".join(dict.fromkeys(run.variant for run in runs))
    comparison = (
        " The paper's data: these rows are the ones to compare with the published." if comparable(preset, data) else ""
    )
    return f"{set_title(preset, data)} ({'; '.join(parts)}; variants: {variants}).{comparison}"


def table_notes(preset: Preset, entries: Sequence[Entry], unfinished: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the notes that hold for the whole table."""
    published = list(published_rows(preset))
    ranking = [NOT_RANKED_TOGETHER] if entries and any(number.best for number in preset.columns) else []
    if ranking or preset.note:
        yield " ".join([*ranking, *([preset.note] if preset.note else [])])
    counted_tables = {row.table for row in published if row.counts}
    if with_counts := [table for table in preset.published if table in counted_tables]:
        name = with_counts[0].removeprefix("Table ")
        yield f"What intervals the published rows have: harness published table={name}"
    yield from contradiction_notes([row for row in published if row.contradicted])
    if any(not entry.usual for entry in entries):
        yield "In parentheses: the prompt, where it is not the table's usual one."
    if unfinished:
        yield f"Not complete, so not shown: {', '.join('/'.join(names) for names in unfinished)}."
    if not entries:
        yield f"Nothing is measured yet: no complete run was found that belongs here. One that does: {preset.command}"
