"""Tables as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from harness.runtime.console import clean
from harness.tables.table import Cell, Part, Table


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
        words = [f"## {part.task}"] if part.task != task else []
        words += [f"### {part.heading}"] if part.heading else []
        words += [part.above] if part.above else []
        words += [f"<sub>{escape(part.settings)}</sub>"] if part.settings else []
        words += [markdown_table(part.for_readers())] if part.columns else []
        texts += map(clean, [*words, *part.notes, *part.others])
        task = part.task
    return clean("\n\n".join(texts))  # it may be piped to a terminal, and others chose the names


def markdown_table(table: Table) -> str:
    """Return the rows alone, in aligned columns; text to the left, numbers to the right."""
    columns = zip(*(line.cells for line in table.lines), strict=True)
    padded = zip(*map(_pad, columns), strict=True)
    of_line = {id(line): list(texts) for line, texts in zip(table.lines, padded, strict=True)}
    body = []
    for name, lines in table.groups():
        body += [[f"**{name}**", *[""] * (len(table.columns) - 1)]] if name else []
        body += [of_line[id(line)] for line in lines]
    text = [column.kind == "text" for column in table.columns]
    rows = [
        [" ".join(cell.splitlines()).replace("|", "\\|") for cell in row]
        for row in ([column.full_text for column in table.columns], *body)
    ]
    least = [1 if is_text else 2 for is_text in text]  # a rule needs a hyphen beside its colon
    widths = [max(low, *map(len, column)) for low, column in zip(least, zip(*rows, strict=True), strict=True)]
    rule = ["-" * width if is_text else "-" * (width - 1) + ":" for is_text, width in zip(text, widths, strict=True)]
    return "\n".join(
        f"| {' | '.join(row)} |"
        for row in [_set(rows[0], widths, text), rule, *(_set(row, widths, text) for row in rows[1:])]
    )


def _set(row: Sequence[str], widths: Sequence[int], is_text: Sequence[bool]) -> list[str]:
    return [
        cell.ljust(width) if left else cell.rjust(width) for cell, width, left in zip(row, widths, is_text, strict=True)
    ]


def _pad(cells: Sequence[Cell]) -> list[str]:
    """Return the cells padded so that values stand below values, intervals below intervals."""
    if not any(cell.range for cell in cells):
        return [cell.text for cell in cells]
    width, across = (max(len(getattr(cell, part)) for cell in cells) for part in ("text", "range"))
    return [f"{cell.text:>{width}} {cell.range:<{across}}" for cell in cells]


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
    for _, lines in table.groups():
        for line in lines:
            row: dict[str, Any] = {**beside, "complete": True, "group": line.group, **line.run}
            for column, cell in zip(table.columns, line.cells, strict=True):
                row[column.name] = cell.value
                if column.kind == "metric":
                    row[f"{column.name}_low"], row[f"{column.name}_high"] = cell.interval or (None, None)
            yield row
    for name in table.unfinished:
        yield {"task": table.task, "complete": False, **dict(zip(("variant", "prompt", "model"), name, strict=True))}


def as_json(tables: Sequence[Table]) -> str:
    """Return the tables with all that is said around them as JSON, shares as fractions."""
    return json.dumps({"tables": [table_json(table) for table in tables]}, indent=2, ensure_ascii=False)


def table_json(table: Table) -> dict[str, Any]:
    """Return a table as a JSON value."""
    return {
        "task": table.task,
        "heading": table.heading,
        "settings": table.settings,
        "label_set": table.label_set,
        "item_set": table.items,
        "published": table.published or None,
        "columns": [
            {
                "name": column.name,
                "title": column.full_text,
                "kind": column.kind,
                "best": column.best,
                "in_caption": column.name in table.in_caption,
            }
            for column in table.columns
        ],
        "rows": [
            {
                "group": line.group,
                **line.run,
                **{
                    column.name: {"value": cell.value, "interval": cell.interval, "text": cell.full_text}
                    if column.kind == "metric"
                    else cell.value
                    for column, cell in zip(table.columns, line.cells, strict=True)
                },
            }
            for _, lines in table.groups()
            for line in lines
        ],
        "above": table.above,
        "notes": [*table.notes, *table.others],
        "not_complete": [dict(zip(("variant", "prompt", "model"), name, strict=True)) for name in table.unfinished],
    }
