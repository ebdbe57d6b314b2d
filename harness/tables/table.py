"""One description of a table, whatever it is drawn as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

from harness.tasks.benchmark import benchmark_of


@dataclass(frozen=True, slots=True)
class Column:
    """A column, with a `name` for programs and a `title` for readers."""

    name: str
    title: str
    kind: Literal["text", "metric", "count"] = "text"
    best: Literal["high", "low"] | None = None
    """Which end of a metric is the good one."""
    over: str = ""
    """A heading that it shares with its neighbours."""

    @property
    def full_text(self) -> str:
        return f"{self.over}: {self.title}" if self.over else self.title


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as it is and as text; an interval likewise."""

    text: str
    value: float | int | str | None = None
    interval: tuple[float, float] | None = None
    range: str = ""
    """The interval as shown: [1.0, 2.0] or ± 0.5."""

    @property
    def full_text(self) -> str:
        return f"{self.text} {self.range}".rstrip()


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table."""

    cells: Sequence[Cell]
    run: Mapping[str, str] = field(default_factory=dict)
    """What tells it from all other rows, even where readers are told only once."""
    ranked: bool = True
    """Whether it may be best or second: no baseline, no reasoner, and nothing that a paper prints."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its heading, the words above it and the notes below it."""

    task: str = ""
    """Whose runs a leaderboard compares; nothing for any other table."""
    columns: Sequence[Column] = ()
    lines: Sequence[Line] = ()
    above: str = ""
    notes: Sequence[str] = ()
    """Paragraphs below it."""
    others: Sequence[str] = ()
    """Paragraphs on runs that stand in no table: no footnotes of this one."""
    heading: str = ""
    """How it differs from the task's other tables, in words."""
    settings: str = ""
    """The same as folders and manifests have it, in small below the heading."""
    published: str = ""
    """The data version of numbers that are printed in a paper; nothing where they were measured here."""
    label_set: str = ""
    items: str | None = None
    """SHA-256 of the items that all rows were asked."""
    unfinished: Sequence[tuple[str, str, str]] = ()
    """Variant, prompt and model of the task's runs that are not complete."""
    spare: Sequence[str] = ()
    """Names of columns that a narrow terminal leaves out first, in this order."""
    in_caption: Sequence[str] = ()
    """Names of columns that only programs get: the same in all rows, which `above` says, or part of another cell."""

    @classmethod
    def of(
        cls,
        header: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        text_columns: int = 1,
        spare: Sequence[str] = (),
        above: str = "",
    ) -> Table:
        """Return a table of words: the first `text_columns` are read as text, the others as numbers."""
        columns = [Column(t, t, "text" if place < text_columns else "metric") for place, t in enumerate(header)]
        lines = [Line([Cell(text, text) for text in row]) for row in rows]
        return cls(columns=columns, lines=lines, spare=spare, above=above)

    def for_readers(self) -> Table:
        """Return the table without the columns that only programs get."""
        return self.without(self.in_caption)

    def without(self, names: Sequence[str]) -> Table:
        """Return the table without some columns."""
        kept = [place for place, column in enumerate(self.columns) if column.name not in names]
        lines = [replace(line, cells=[line.cells[place] for place in kept]) for line in self.lines]
        return replace(self, columns=[self.columns[place] for place in kept], lines=lines)

    def texts(self) -> list[list[str]]:
        """Return the cells of each line; in a column values stand below values, intervals below intervals."""
        columns = []
        for cells in zip(*(line.cells for line in self.lines), strict=True):
            value, interval = (max(len(getattr(cell, part)) for cell in cells) for part in ("text", "range"))
            padded = [f"{cell.text:>{value}} {cell.range:<{interval}}" for cell in cells]
            columns.append(padded if interval else [cell.text for cell in cells])
        return [list(texts) for texts in zip(*columns, strict=True)]

    def places(self) -> list[dict[str, int]]:
        """Return which numbers of each column are best (0) and second (1) of the ranked lines; ties share one."""
        places = []
        for at, column in enumerate(self.columns):
            cells = [line.cells[at] for line in self.lines if line.ranked and column.best]
            values = {cell.text: float(cell.value) for cell in cells if isinstance(cell.value, int | float)}
            ranked = sorted(values, key=values.__getitem__, reverse=column.best == "high")
            places.append({text: place for place, text in enumerate(ranked[:2])} if len(ranked) > 1 else {})
        return places

    def headings(self) -> list[tuple[str, int]]:
        """Return the headings above columns, each with its column span; empty if no column has one."""
        overs = [(over, len(list(columns))) for over, columns in groupby(self.columns, key=lambda c: c.over)]
        return overs if any(over for over, _ in overs) else []


def task_title(task: str) -> str:
    """Return a task's name with its benchmark's title: corr2cause/fresh → Corr2Cause/fresh."""
    benchmark, slash, rest = task.partition("/")
    return f"{benchmark_of(task).title if benchmark else ''}{slash}{rest}"


Part = str | Table
"""What a command says is a sequence of these: paragraphs and tables."""
