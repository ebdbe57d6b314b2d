"""One description of a table, whatever it is drawn as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

LOW_IS_GOOD = frozenset({"brier", "shd", "sid", "cell_shd", "parent_set_errors"})
NEITHER = frozenset({"longest_chain", "density", "acyclic", "cell_density", "degree"})
"""Metrics of which neither end is the good one: no best is marked."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column, `name` for programs and `title` for readers."""

    name: str
    title: str
    kind: Literal["text", "metric", "count"] = "text"
    best: Literal["high", "low"] | None = None
    """Which end of a metric is the good one."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as it is and as it is shown; an interval likewise."""

    text: str
    value: float | int | str | None = None
    interval: tuple[float, float] | None = None
    range: str = ""
    """The interval as shown: [1.0, 2.0] or ± 0.5."""

    @property
    def whole(self) -> str:
        """Value and interval in one."""
        return f"{self.text} {self.range}".rstrip()


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table."""

    cells: Sequence[Cell]
    group: str = ""
    """The rows of a group stand together below its name."""
    run: Mapping[str, str] = field(default_factory=dict)
    """What tells it from all other rows, even where readers are told only once."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with all that is said around it."""

    task: str
    columns: Sequence[Column] = ()
    lines: Sequence[Line] = ()
    above: str = ""
    notes: Sequence[str] = ()
    """Paragraphs below it."""
    heading: str = ""
    """How it differs from the task's other tables."""
    published: str = ""
    """The data version of numbers that are printed in a paper; nothing where they were measured here."""
    label_set: str = ""
    items: str | None = None
    """SHA-256 of the items that all rows were asked."""
    unfinished: Sequence[tuple[str, str, str]] = ()
    """Variant, prompt and model of the task's runs that are not complete."""

    def grouped(self) -> Iterator[tuple[str, Sequence[Line]]]:
        """The groups in their order, with their lines."""
        names = dict.fromkeys(line.group for line in self.lines)
        return ((name, [line for line in self.lines if line.group == name]) for name in names)

    def places(self, column: int) -> dict[str, int]:
        """Which shown numbers of a column are the best (0) and the second (1); ties share a place."""
        best = self.columns[column].best
        if best is None:
            return {}
        cells = [line.cells[column] for line in self.lines]
        values = {cell.text: float(cell.value) for cell in cells if isinstance(cell.value, int | float)}
        ranked = sorted(values, key=values.__getitem__, reverse=best == "high")
        return {text: place for place, text in enumerate(ranked[:2])} if len(ranked) > 1 else {}
