"""Tables as Markdown, CSV, JSON and LaTeX, as text and as a file whose ending says which."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

from harness.errors import ConfigError
from harness.runtime.console import clean
from harness.storage.atomic_write import atomic_file, check
from harness.tables.latex import latex
from harness.tables.table import Part, Table


class Tables(tuple[Part, ...]):
    """Paragraphs and tables in the order in which a command prints them; a notebook shows them as Markdown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return markdown(self)

    def _repr_markdown_(self) -> str:
        return markdown(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of all tables, shares as fractions; of an interval the ends, as NAME_low and NAME_high."""
        return [row for part in self if isinstance(part, Table) for row in rows(part)]


def markdown(parts: Sequence[Part]) -> str:
    """Return paragraphs and tables as they follow each other; a heading above the leaderboards of each task."""
    texts: list[str] = []
    task = ""
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            task = ""
            continue
        words = [
            f"## {part.task}" if part.task != task else "",
            f"### {part.heading}" if part.heading else "",
            part.above,
            f"<sub>{escape(part.settings)}</sub>" if part.settings else "",
            markdown_table(part.for_readers()) if part.columns else "",
        ]
        texts += map(clean, [*filter(None, words), *part.notes, *part.others])
        task = part.task
    return clean("\n\n".join(texts))  # it may be piped to a terminal, and others chose the names


def markdown_table(table: Table) -> str:
    """Return the rows alone, in aligned columns; text to the left, numbers to the right."""
    body = [[column.full_text for column in table.columns], *table.texts()]
    columns = []
    for column, texts in zip(table.columns, zip(*body, strict=True), strict=True):
        cells = [" ".join(text.splitlines()).replace("|", "\\|") for text in texts]
        is_text = column.kind == "text"
        width = max(1 if is_text else 2, *map(len, cells))  # a rule needs a hyphen beside its colon
        head, *rest = [cell.ljust(width) if is_text else cell.rjust(width) for cell in cells]
        columns.append([head, "-" * width if is_text else "-" * (width - 1) + ":", *rest])
    return "\n".join(f"| {' | '.join(row)} |" for row in zip(*columns, strict=True))


def as_csv(tables: Sequence[Table]) -> str:
    """Return the rows of all tables as one CSV, shares as fractions; where a table lacks a column it is empty."""
    all_rows = [row for table in tables for row in rows(table)]
    return csv_text(list(dict.fromkeys(name for row in all_rows for name in row)), all_rows).rstrip("\n")


def csv_text(header: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV, for spreadsheets too: a name that begins like a formula gets a ' before it."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_inert, header))
    writer.writerows([_inert(row.get(name, "")) for name in header] for row in rows)
    return file.getvalue()


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so may be run by a spreadsheet."""


def inert(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs and every csv reader reads."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")  # which csv readers refuse
    return f"'{text}" if text.startswith(FORMULA) else text


def _inert(value: Any) -> Any:
    """Return a cell that no spreadsheet runs, on one line: a carriage return is not quoted, and ends it in some."""
    return inert(value).replace("\r", " ") if isinstance(value, str) else value


def rows(table: Table) -> Iterator[dict[str, Any]]:
    beside = {"task": table.task, "label_set": table.label_set, "item_set": table.items, "published": table.published}
    for line in table.lines:
        row: dict[str, Any] = {**beside, "complete": True, **line.run}
        for column, cell in zip(table.columns, line.cells, strict=True):
            row[column.name] = cell.value
            if column.kind == "metric":
                row[f"{column.name}_low"], row[f"{column.name}_high"] = cell.interval or (None, None)
        yield row
    for name in _unfinished(table):
        yield {"task": table.task, "complete": False, **name}


def _unfinished(table: Table) -> list[dict[str, str]]:
    return [dict(zip(("variant", "prompt", "model"), name, strict=True)) for name in table.unfinished]


def as_json(tables: Sequence[Table]) -> str:
    """Return the tables with all that is said around them as JSON, shares as fractions."""
    return json.dumps({"tables": [table_json(table) for table in tables]}, indent=2, ensure_ascii=False)


def table_json(table: Table) -> dict[str, Any]:
    """Return a table as a JSON value."""
    columns, lines = [], []
    for column in table.columns:
        known = {"name": column.name, "title": column.full_text, "kind": column.kind, "best": column.best}
        columns.append(known | {"in_caption": column.name in table.in_caption})
    for line in table.lines:
        row: dict[str, Any] = {**line.run}
        for column, cell in zip(table.columns, line.cells, strict=True):
            number = {"value": cell.value, "interval": cell.interval, "text": cell.full_text}
            row[column.name] = number if column.kind == "metric" else cell.value
        lines.append(row)
    return {
        "task": table.task,
        "heading": table.heading,
        "settings": table.settings,
        "label_set": table.label_set,
        "item_set": table.items,
        "published": table.published or None,
        "columns": columns,
        "rows": lines,
        "above": table.above,
        "notes": [*table.notes, *table.others],
        "not_complete": _unfinished(table),
    }


Format = Literal["markdown", "csv", "json", "latex"]
ENDINGS: Mapping[str, Format] = {".md": "markdown", ".csv": "csv", ".json": "json", ".tex": "latex"}


def text_of(parts: Sequence[Part], form: Format) -> str:
    """Return paragraphs and tables as text; CSV, JSON and LaTeX have the tables alone."""
    if form == "markdown":
        return markdown(parts)
    return {"csv": as_csv, "json": as_json, "latex": latex}[form]([part for part in parts if isinstance(part, Table)])


def form_of(out: str) -> Format:
    """Return the form that a file is written in. Raises ConfigError where its ending says none."""
    if (ending := Path(out).suffix) not in ENDINGS:
        raise ConfigError(f"out={out}: the name has to end in {', '.join(ENDINGS)}.")
    check(out)
    return ENDINGS[ending]


def write(parts: Sequence[Part], out: str, title: str, *, named: bool = True) -> None:
    """Write a file in the form of its ending, Markdown below a title; `named` says that the user has named the file."""
    form = ENDINGS[Path(out).suffix]
    text = (f"# {title}\n\n" if form == "markdown" else "") + text_of(parts, form)
    with atomic_file(out, user_path=named) as file:
        file.write(f"{text.rstrip()}\n".encode(errors="replace").decode())  # half characters as question marks
