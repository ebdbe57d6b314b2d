"""The rows of a paper's table, put together from the published file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.leaderboard import published_numbers
from harness.tasks.find import benchmark_of
from harness.tasks.presets import Number, Preset
from harness.tasks.published import Row


@dataclass
class Printed:
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
        """What stands in a column, and a star where the row's other digits contradict it; nothing for a dash."""
        for part in self.parts:
            told = {**part.setting, "table": part.table, "model": part.model}
            fits = all(told.get(name) == value for name, value in number.where.items())
            if fits and (not number.key or told.get(self.axis) == number.key) and number.printed in part.printed:
                return part.printed[number.printed], "*" if number.printed in part.contradicted else ""
        return "", ""


def printed(preset: Preset) -> list[Printed]:
    """The rows in the paper's order."""
    axis = preset.axis.setting if preset.axis else ""
    found = {name: Printed("", name, "", axis=axis) for name in preset.first}
    made: dict[tuple[str, str, str], Printed] = {(row.group, row.model, row.key): row for row in found.values()}
    for row in rows(preset):
        key = row.setting.get(axis, "") if "axis" in preset.rows else ""
        model = row.model if "model" in preset.rows or preset.groups == "model" else ""
        group = row.setting.get("group", "") if preset.groups == "family" else ""
        made.setdefault((group, model, key), Printed(group, model, key, axis=axis)).parts.append(row)
    return list(made.values())


def rows(preset: Preset) -> Iterator[Row]:
    """The published rows of the preset's tables."""
    return (row for row in published_numbers.rows_of(benchmark_of(preset.benchmark)) if row.table in preset.published)
