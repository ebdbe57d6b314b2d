"""What a command says: drawn where there is a terminal, as wide as it is, and Markdown elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from harness.runtime.console import capable, clean, rich_console
from harness.tables.fit_width import Fit, fit
from harness.tables.table import Block, Cell, Line, Part, Table

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
            table = part.for_readers()
            layout = fit(table, width)
            yield Group(*_rows(table, layout))
            if layout.hidden:
                yield Text(clean(layout.hidden), "dim")
        yield from (Text(clean(note)) for note in part.notes)


def _rows(table: Table, layout: Fit) -> Iterator[Text | Grid]:
    """Yield the titles, then each group of rows below its name, which may be longer than the first column is wide."""
    from rich.text import Text

    columns = [_column(table, place, width, layout.stacked) for place, width in _sizes(layout)]
    of_line = {id(line): cells for line, cells in zip(table.lines, zip(*columns, strict=True), strict=True)}
    yield _grid(table, layout, titles=True)
    last: Block | None = None
    for number, (block, name, lines) in enumerate(table.groups()):
        if number:
            yield Text()
        if block and block != last:
            yield Text(_line(block.title), "bold")
        if name:
            yield Text(_line(name), "italic")
        grid = _grid(table, layout)
        for line in lines:
            grid.add_row(*of_line[id(line)])
        yield grid
        last = block


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
    places = {block: table.places(place, block) for block in dict.fromkeys(line.block for line in table.lines)}
    labels = _shortened([_line(cell.text) for cell in cells], width)

    def cell_text(cell: Cell, line: Line, label: str) -> Text:
        from rich.text import Text

        rank = line.place(cell, places[line.block])
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
