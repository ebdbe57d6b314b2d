"""What a command says: drawn where there is a terminal, as wide as it is, and Markdown elsewhere.

Numbers are never cut or broken. Where a table is too wide, counts that say least go first; then intervals move below
their values; then more columns go, those that the table can spare before others; in the end long names are cut.
Breakdowns with a few items in each row are named only. What is not shown is told.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TextIO

from harness.runtime.console import capable, clean, rich_console
from harness.tables.table import Cell, Line, Part, Table

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table as Grid
    from rich.text import Text


_PLACES = ("bold", "underline")


def show(parts: Sequence[Part], *, title: str = "", stream: TextIO | None = None) -> None:
    """Print paragraphs and tables, on standard output if no other stream is given; on a terminal below a title."""
    stream = sys.stdout if stream is None else stream
    if capable(stream):
        draw(parts, rich_console(stream), title=title)
    else:
        from harness.tables.markdown_csv_json import markdown

        print(markdown(parts), file=stream, flush=True)


def draw(parts: Sequence[Part], console: Console, *, title: str = "") -> None:
    """Print paragraphs and tables, an empty line between two."""
    for number, block in enumerate(_blocks(parts, title, console.width)):
        if number:
            console.print()
        console.print(block)


def _blocks(parts: Sequence[Part], title: str, width: int) -> Iterator[Text | Group]:
    from rich.console import Group
    from rich.text import Text

    if title:
        yield Text(clean(title), "bold")
    for part in parts:
        if isinstance(part, str):
            yield Text(clean(part))
            continue
        head = Text(clean(": ".join(filter(None, (part.task, part.heading)))), "bold")
        if above := Text("\n" if head else "").join(filter(None, (head, Text(clean(part.above))))):
            yield above
        if part.settings:
            yield Text(clean(part.settings), "dim")
        if part.columns:
            table, folded = _without_small(part.for_readers())
            layout = fit(table, width)
            yield Group(*_rows(table, layout))
            yield from (Text(clean(left_out), "dim") for left_out in (layout.hidden, folded) if left_out)
        yield from (Text(clean(note)) for note in part.notes)


def _without_small(table: Table) -> tuple[Table, str]:
    """Return the table without breakdowns whose rows have few items each, and what is left out in words."""
    rows = Counter(line.small for line in table.lines if line.small)
    if not rows:
        return table, ""
    listing = ", ".join(f"{name} ({count:,} row{'s' * (count > 1)})" for name, count in rows.items())
    lines = [line for line in table.lines if not line.small]
    words = f"Few items in each row: {listing}. result.json or a pipe (| less -S) shows them."
    return replace(table, lines=lines), words


def _rows(table: Table, layout: Fit) -> Iterator[Text | Grid]:
    """Yield the titles, then each group of rows below its name, which may be longer than the first column is wide."""
    from rich.text import Text

    columns = [_column(table, place, width, layout.stacked) for place, width in _sizes(layout)]
    of_line = {id(line): cells for line, cells in zip(table.lines, zip(*columns, strict=True), strict=True)}
    yield _grid(table, layout, titles=True)
    for number, (name, lines) in enumerate(table.groups()):
        if number:
            yield Text()
        if name:
            yield Text(_line(name), "italic")
        grid = _grid(table, layout)
        for line in lines:
            grid.add_row(*of_line[id(line)])
        yield grid


def _grid(table: Table, layout: Fit, *, titles: bool = False) -> Grid:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=SIMPLE_HEAD, show_header=titles, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, width in _sizes(layout):
        column = table.columns[place]
        side: Literal["left", "right"] = "left" if column.kind == "text" else "right"
        head = f"{_line(column.over)}\n{_line(column.title)}" if table.headings() else _line(column.title)
        grid.add_column(Text(head), justify=side, width=width, no_wrap=True, overflow="ellipsis")
    return grid


def _sizes(layout: Fit) -> Iterator[tuple[int, int]]:
    return zip(layout.columns, layout.widths, strict=True)


def _column(table: Table, place: int, width: int, stacked: bool) -> list[Text]:
    """Return the cells of a column: values below values, their intervals beside or below them."""
    cells = [line.cells[place] for line in table.lines]
    across = max((len(cell.range) for cell in cells), default=0)
    places = table.places(place)
    labels = _shortened([_line(cell.text) for cell in cells], width)

    def cell_text(cell: Cell, line: Line, label: str) -> Text:
        from rich.text import Text

        rank = line.place(cell, places)
        text = Text()
        text.append(label, None if rank is None else _PLACES[rank])
        if not across:
            return text
        if stacked:
            return text.append(f"\n{cell.range}", "dim") if cell.range else text
        left = " " * (width - across - 1 - len(cell.text))
        return Text.assemble(left, text, (f" {cell.range:<{across}}", "dim"), justify="left")

    triples = zip(cells, table.lines, labels, strict=True)
    return [cell_text(cell, line, words) for cell, line, words in triples]


def _line(text: str) -> str:
    return clean(text.replace("\n", " ").replace("\t", " "))


def _shortened(names: Sequence[str], width: int) -> list[str]:
    """Return long names without their middle, or without the part that leaves most of them different."""
    from rich.cells import cell_len, set_cell_size

    def short(name: str, head: int) -> str:
        if cell_len(name) <= width:
            return name
        tail = set_cell_size(name[::-1], width - head - 1)[::-1]
        return f"{set_cell_size(name, head)}…{tail}"

    cuts = [width // 2, 0, width // 4, width - width // 4, width - 1]
    return max(([short(name, head) for name in names] for head in cuts), key=lambda short_names: len(set(short_names)))


GAP = 2
"""Spaces between columns."""
NAME = (10, 20)
"""Cells that a name keeps as long as there are numbers to leave out: the second, or a quarter of a wide terminal; the
first, where several names would take more than half of it."""
OVER = 12
"""Cells that a heading shared by columns keeps above each of them."""
_FAULTS = ("unreadable", "cut_off", "failed")
"""Counts that stand beside every score where they are not 0."""


@dataclass(frozen=True)
class Fit:
    """The columns of a table that fit, their widths, and what is left out."""

    columns: Sequence[int]
    """Places of the columns that are shown."""
    widths: Sequence[int]
    """Of these columns, in cells of the terminal."""
    stacked: bool
    """Whether intervals stand below their values."""
    hidden: str
    """What is left out, in words; nothing where all is shown."""


def fit(table: Table, width: int) -> Fit:
    """Return how to draw the most of a table that fits into `width` cells of a terminal."""
    every = range(len(table.columns))
    empty = [place for place in every if table.columns[place].kind == "count" and _zero(table, place)]
    order = list(_order(table, empty))
    faults = [place for place in every if table.columns[place].name in _FAULTS and place not in empty]
    light = [place for place in order if table.columns[place].kind == "count" and place not in faults]
    has_intervals = any(cell.range for line in table.lines for cell in line.cells)
    columns: list[int] = []
    stacked = False
    for stacked, sparing in ((False, light), (True, order)) if has_intervals else ((False, order),):
        columns = list(every)
        for place in [None, *sparing]:
            if place is not None:
                columns.remove(place)
            least = _least(table, columns, stacked, width)
            if _across(least) <= width:
                widths = _widen_names(table, columns, least, width)
                return Fit(columns, widths, stacked, _hidden_text(table, columns, empty))
    return Fit(columns, _cut_names(table, columns, stacked, width), stacked, _hidden_text(table, columns, empty))


def _order(table: Table, empty: Sequence[int]) -> Iterator[int]:
    """Yield columns in the order in which they are left out; one of text and one number stay."""
    by_name = {column.name: place for place, column in enumerate(table.columns)}
    numbers = [place for place, column in enumerate(table.columns) if column.kind != "text"]
    last = [place for place in numbers if table.columns[place].name not in table.spare][:1] or numbers[:1]
    faults = [by_name[name] for name in _FAULTS if name in by_name]
    spare = [by_name[name] for name in table.spare if name in by_name]
    counts = [place for place in reversed(numbers) if table.columns[place].kind == "count" and place not in faults]
    order = [*empty, *spare, *counts, *(place for place in reversed(numbers) if place not in faults), *faults]
    return (place for place in dict.fromkeys(order) if place not in last)


def _zero(table: Table, place: int) -> bool:
    return all(line.cells[place].value == 0 for line in table.lines)


def _least(table: Table, columns: Sequence[int], stacked: bool, width: int) -> list[int]:
    """Return the width of each column with its names cut."""
    names = sum(table.columns[place].kind == "text" for place in columns)
    shortest, long = NAME
    name = max(shortest, min(max(long, width // 4), width // 2 // max(names, 1)))
    return [
        min(_width(table, place, stacked), name if table.columns[place].kind == "text" else width) for place in columns
    ]


def _width(table: Table, place: int, stacked: bool) -> int:
    """Return the width of a column in cells."""
    from rich.cells import cell_len

    column, cells = table.columns[place], [line.cells[place] for line in table.lines]
    values = max((cell_len(cell.text) for cell in cells), default=0)
    ranges = max((cell_len(cell.range) for cell in cells), default=0)
    inside = max(values, ranges) if stacked else values + ranges + (ranges > 0)
    title = max(cell_len(column.title), min(cell_len(column.over), OVER))
    return max(inside, title)


def _across(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _widen_names(table: Table, columns: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Return the widths with names as long as there is room, the shortest first."""
    widths = list(least)
    full = [_width(table, place, stacked=True) for place in columns]
    for _ in range(width - _across(widths)):
        short_names = [
            n for n, place in enumerate(columns) if table.columns[place].kind == "text" and widths[n] < full[n]
        ]
        if short_names:
            widths[min(short_names, key=widths.__getitem__)] += 1
    return widths


def _cut_names(table: Table, columns: Sequence[int], stacked: bool, width: int) -> list[int]:
    """Return the widths with names cut to what the numbers leave, the longest first."""
    widths = _least(table, columns, stacked, width)
    text = [number for number, place in enumerate(columns) if table.columns[place].kind == "text"]
    while _across(widths) > width and text and max(widths[number] for number in text) > 1:
        widths[max(text, key=widths.__getitem__)] -= 1
    return widths


def _hidden_text(table: Table, columns: Sequence[int], empty: Sequence[int]) -> str:
    missing = [place for place in range(len(table.columns)) if place not in columns]
    if not missing:
        return ""
    titles = [column.full_text for column in table.columns]
    names = []
    for place in missing:
        name = titles[place] if titles.count(titles[place]) == 1 else table.columns[place].name
        names.append(f"{name} (all 0)" if place in empty else name)
    listing = ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
    return f"Hidden at this width: {listing}. A wider terminal or a pipe (| less -S) shows all."
