"""The rows of a paper's table, put together from the published file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.leaderboard import published_numbers
from harness.tasks.find import benchmark_of
from harness.tasks.presets import Number, Preset
from harness.tasks.published import Row


@dataclass
class PrintedRow:
    """One row as the paper has it."""

    group: str
    model: str
    key: str
    """Of the preset's axis; nothing where the rows are models."""
    parts: list[Row] = field(default_factory=list)
    """The rows of the file that make it."""
    axis: str = ""
    """The setting that holds the keys."""

    def digits(self, number: Number) -> tuple[str, str]:
        """Return what the paper prints in a column, and a star where other digits contradict it; nothing for a dash."""
        for part in self.parts:
            fields = {**part.setting, "table": part.table, "model": part.model}
            fits = all(fields.get(name) == value for name, value in number.where.items())
            if fits and (not number.key or fields.get(self.axis) == number.key) and number.printed in part.printed:
                return part.printed[number.printed], "*" if number.printed in part.contradicted else ""
        return "", ""


def printed_rows(preset: Preset) -> list[PrintedRow]:
    """Return the rows of a preset in the paper's order."""
    axis = preset.axis.setting if preset.axis else ""
    first = {name: PrintedRow("", name, "", axis=axis) for name in preset.first}
    by_key: dict[tuple[str, str, str], PrintedRow] = {(row.group, row.model, row.key): row for row in first.values()}
    for row in rows(preset):
        key = row.setting.get(axis, "") if "axis" in preset.rows else ""
        model = row.model if "model" in preset.rows or preset.groups == "model" else ""
        group = row.setting.get("group", "") if preset.groups == "family" else ""
        by_key.setdefault((group, model, key), PrintedRow(group, model, key, axis=axis)).parts.append(row)
    return list(by_key.values())


def rows(preset: Preset) -> Iterator[Row]:
    """Return the published rows of the preset's tables."""
    return (row for row in published_numbers.rows_of(benchmark_of(preset.benchmark)) if row.table in preset.published)
