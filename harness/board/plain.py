"""Tables as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from harness import tables
from harness.board.table import Cell, Table


def markdown(found: Sequence[Table]) -> str:
    """A heading for each task, one below it where the task has several tables."""
    parts: list[str] = []
    for number, table in enumerate(found):
        if not number or found[number - 1].task != table.task:
            parts.append(f"## {table.task}")
        parts += [f"### {table.heading}"] if table.heading else []
        parts += [table.above] if table.above else []
        parts += [_drawn(table)] if table.lines else []
        parts += table.notes
    return "\n\n".join(parts)


def _drawn(table: Table) -> str:
    columns = zip(*(line.cells for line in table.lines), strict=True)
    padded = zip(*map(_padded, columns), strict=True)
    of_line = {id(line): list(texts) for line, texts in zip(table.lines, padded, strict=True)}
    body = []
    for name, lines in table.grouped():
        body += [[f"**{name}**", *[""] * (len(table.columns) - 1)]] if name else []
        body += [of_line[id(line)] for line in lines]
    text_columns = sum(column.kind == "text" for column in table.columns)
    return tables.markdown([column.title for column in table.columns], body, text_columns=text_columns)


def _padded(cells: Sequence[Cell]) -> list[str]:
    """Values below values, intervals below intervals."""
    if not any(cell.range for cell in cells):
        return [cell.text for cell in cells]
    width, across = (max(len(getattr(cell, part)) for cell in cells) for part in ("text", "range"))
    return [f"{cell.text:>{width}} {cell.range:<{across}}" for cell in cells]


def as_csv(found: Sequence[Table]) -> str:
    """All rows one below the other, shares as fractions; where a table lacks a column it is empty."""
    rows = [row for table in found for row in _rows(table)]
    header = dict.fromkeys(name for row in rows for name in row)
    file = io.StringIO()
    writer = csv.DictWriter(file, list(header), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().rstrip("\n")


def _rows(table: Table) -> Iterator[dict[str, Any]]:
    beside = {"task": table.task, "label_set": table.label_set, "item_set": table.items, "published": table.published}
    for _, lines in table.grouped():
        for line in lines:
            row: dict[str, Any] = {**beside, "complete": True, "group": line.group, **line.run}
            for column, cell in zip(table.columns, line.cells, strict=True):
                row[column.name] = cell.value
                if column.kind == "metric":
                    row[f"{column.name}_low"], row[f"{column.name}_high"] = cell.interval or (None, None)
            yield row
    for name in table.unfinished:
        yield {"task": table.task, "complete": False, **dict(zip(("variant", "prompt", "model"), name, strict=True))}


def as_json(found: Sequence[Table]) -> str:
    """Everything, shares as fractions."""
    said = [
        {
            "task": table.task,
            "heading": table.heading,
            "label_set": table.label_set,
            "item_set": table.items,
            "published": table.published or None,
            "columns": [{"name": c.name, "title": c.title, "kind": c.kind, "best": c.best} for c in table.columns],
            "rows": [
                {
                    "group": line.group,
                    **line.run,
                    **{
                        column.name: {"value": cell.value, "interval": cell.interval, "text": cell.whole}
                        if column.kind == "metric"
                        else cell.value
                        for column, cell in zip(table.columns, line.cells, strict=True)
                    },
                }
                for _, lines in table.grouped()
                for line in lines
            ],
            "above": table.above,
            "notes": list(table.notes),
            "not_complete": [dict(zip(("variant", "prompt", "model"), name, strict=True)) for name in table.unfinished],
        }
        for table in found
    ]
    return json.dumps({"tables": said}, indent=2, ensure_ascii=False)
