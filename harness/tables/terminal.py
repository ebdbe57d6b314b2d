"""What a command says: drawn by Rich where there is a terminal, as wide as it is, and Markdown elsewhere.

No number is cut. Where a table is too wide, intervals stand below their values and Rich folds names; then whole columns
go, those that the table can spare before others, and a line names them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from harness.runtime.console import capable, clean, rich_console
from harness.tables.table import Part, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

GAP = 2
"""Spaces between columns."""
FAULTS = ("unreadable", "cut_off", "failed")
"""Counts that stand beside scores at any width."""
NAMES = 20
"""Cells that a column of names keeps while there are numbers to leave out."""


def show(parts: Sequence[Part], *, title: str = "", stream: TextIO | None = None) -> None:
    """Print paragraphs and tables, on standard output if no other stream is given; on a terminal below a title."""
    stream = sys.stdout if stream is None else stream
    if not capable(stream):
        from harness.tables.write import markdown

        print(markdown(parts), file=stream, flush=True)
        return
    console = rich_console(stream)
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
    from rich.text import Text

    numbers = [column.name for column in reversed(table.columns) if column.kind != "text"]
    main = [name for name in numbers if name not in table.spare][-1:]  # it stays
    others = sorted(set(numbers).difference(table.spare, main), key=lambda name: (name in FAULTS, numbers.index(name)))
    spare = [*(name for name in table.spare if name in numbers), *others]
    shown, hidden, folded = table, 0, False
    while sum(widths := _widths(shown, folded)) + GAP * (len(widths) - 1) > width and (
        not folded or hidden < len(spare)
    ):
        hidden += folded
        folded = True
        shown = table.without(spare[:hidden])
    yield _grid(shown, widths, folded)
    if hidden:
        names = ", ".join(column.full_text for column in table.columns if column.name in spare[:hidden])
        yield Text(clean(f"Hidden at this width: {names}. A wider terminal or a pipe (| less -S) shows all."), "dim")


def _widths(table: Table, folded: bool) -> list[int]:
    """Return the least width of each column, of names some cells; a title may stand in several lines."""
    from rich.cells import cell_len

    widths = []
    for place, column in enumerate(table.columns):
        cells = [line.cells[place] for line in table.lines]
        value, interval = (max((cell_len(getattr(c, part)) for c in cells), default=0) for part in ("text", "range"))
        body = max(value, interval) if folded else value + interval + (interval > 0)
        width = max(body, *(cell_len(word) for word in column.full_text.split() or [""]))
        widths.append(min(width, NAMES) if column.kind == "text" else width)
    return widths


def _grid(table: Table, widths: Sequence[int], folded: bool) -> RenderableType:
    """Return the table as Rich's; numbers are padded here, as Rich would underline what it pads."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column, width in zip(table.columns, widths, strict=True):
        head = f"{_line(column.over)}\n{_line(column.title)}" if table.headings() else _line(column.title)
        if column.kind == "text":
            grid.add_column(Text(head), overflow="fold")
        else:
            grid.add_column(Text(head, justify="right"), width=width)
    places = table.places()
    for line, texts in zip(table.lines, table.texts(), strict=True):
        row = []
        for at, (cell, text) in enumerate(zip(line.cells, texts, strict=True)):
            if table.columns[at].kind == "text":
                row.append(Text(_line(cell.text)))
                continue
            below = f"\n{cell.range:>{widths[at]}}" if cell.range else ""
            number = Text(clean(f"{cell.text:>{widths[at]}}{below}" if folded else f"{text:>{widths[at]}}"))
            start = len(number.plain) - len(number.plain.lstrip())
            place = places[at].get(cell.text) if line.ranked else None
            number.stylize("" if place is None else ("bold", "underline")[place], start, start + len(cell.text))
            number.stylize("dim", start + len(cell.text))
            row.append(number)
        grid.add_row(*row)
    return grid


def _line(text: str) -> str:
    return clean(text.replace("\n", " ").replace("\t", " "))
