"""What a command says: drawn by Rich where there is a terminal, as wide as it is, and Markdown elsewhere.

No number is cut. Where a table is too wide, intervals stand below their values and names are folded; then whole columns
go, those that the table can spare before others, and a line names them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from harness.runtime.console import capable, clean, rich_console
from harness.tables.table import Cell, Part, Table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

GAP = 2
"""Spaces between columns."""
FAULTS = ("unreadable", "cut_off", "failed")
"""Counts that stand beside scores at any width."""
NAMES = 20
"""Cells that a column of names keeps while there are numbers to leave out."""


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


def _blocks(parts: Sequence[Part], title: str, width: int) -> Iterator[RenderableType]:
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
            yield from _fitted(part.for_readers(), width)
        yield from (Text(clean(note)) for note in (*part.notes, *part.others))


def _fitted(table: Table, width: int) -> Iterator[RenderableType]:
    """Yield the table with the columns that fit, and a line that names the others."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    columns, folded = _fitting(table, width)
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place in columns:
        column = table.columns[place]
        head = f"{_line(column.over)}\n{_line(column.title)}" if table.headings() else _line(column.title)
        if column.kind == "text":
            grid.add_column(Text(head), overflow="fold")
        else:
            grid.add_column(Text(head, justify="right"), width=_width(table, place, folded))
    places = {place: table.places(place) for place in columns}
    for name, lines in table.groups():
        if name:
            grid.add_section()
            grid.add_row(Text(_line(name), "italic"))
        for line in lines:
            cells = [(line.cells[place], place) for place in columns]
            grid.add_row(*(_cell(table, at, cell, line.place(cell, places[at]), folded) for cell, at in cells))
    yield grid
    if hidden := [column.full_text for place, column in enumerate(table.columns) if place not in columns]:
        words = f"Hidden at this width: {', '.join(hidden)}. A wider terminal or a pipe (| less -S) shows all."
        yield Text(clean(words), "dim")


def _cell(table: Table, column: int, cell: Cell, place: int | None, folded: bool) -> Text:
    """Return a value with its interval beside it, so that values stand below values, or below it."""
    from rich.text import Text

    value = Text().append(_line(cell.text), "" if place is None else ("bold", "underline")[place])
    if table.columns[column].kind == "text":
        return value
    # Padded here: Rich would pad to the right of values as well, and underline what it pads.
    width = _width(table, column, folded)
    beside = 0 if folded else max(len(f" {line.cells[column].range}".rstrip()) for line in table.lines)
    value = Text(" " * (width - beside - value.cell_len)).append(value)
    return value.append(f"\n{cell.range:>{width}}" if folded else f" {cell.range}", "dim") if cell.range else value


def _line(text: str) -> str:
    return clean(text.replace("\n", " ").replace("\t", " "))


def _fitting(table: Table, width: int) -> tuple[list[int], bool]:
    """Return the places of the columns that fit into `width` cells, and whether intervals stand below their values."""
    columns = list(range(len(table.columns)))
    if _across(table, columns, folded=False) <= width:
        return columns, False
    numbers = [place for place in columns if table.columns[place].kind != "text"]
    first = [place for place in numbers if table.columns[place].name not in table.spare][:1]  # it stays
    spare = sorted(set(numbers).difference(first), key=lambda place: _need(table, place))
    while spare and _across(table, columns, folded=True) > width:
        columns.remove(spare.pop(0))
    return columns, True


def _need(table: Table, place: int) -> tuple[int, int]:
    """Return what sorts the numbers that a table can spare first, then others from the right; what went wrong stays."""
    name = table.columns[place].name
    return (0, table.spare.index(name)) if name in table.spare else (1 + (name in FAULTS), -place)


def _across(table: Table, columns: Sequence[int], *, folded: bool) -> int:
    """Return the cells that columns need at least."""
    return sum(_width(table, place, folded) for place in columns) + GAP * (len(columns) - 1)


def _width(table: Table, place: int, folded: bool) -> int:
    """Return the width of a column, of names the least; its title may stand in several lines."""
    from rich.cells import cell_len

    cells = [line.cells[place] for line in table.lines]
    values = max((cell_len(cell.text) for cell in cells), default=0)
    ranges = max((cell_len(cell.range) for cell in cells), default=0)
    title = max((cell_len(word) for word in table.columns[place].full_text.split()), default=0)
    width = max(title, values, ranges) if folded else max(title, values + ranges + (ranges > 0))
    return min(width, NAMES) if table.columns[place].kind == "text" else width
