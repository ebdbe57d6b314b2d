"""Which columns of a table a terminal of some width shows, and how wide: numbers are never cut or broken.

Where a table is too wide, counts that say least go first; then intervals move below their values; then more columns
go, those that the table can spare before others; in the end long names are cut. What is not shown is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.tables.table import Table

GAP = 2
"""Spaces between columns."""
NAME = (10, 20)
"""Cells that a name keeps as long as there are numbers to leave out: the second, or a quarter of a wide terminal; the
first, where several names would take more than half of it."""
OVER = 12
"""Cells that a heading shared by columns keeps above each of them."""
_FAULTS = ("unreadable", "failed")
"""Counts that stand beside every score where they are not 0."""


@dataclass(frozen=True)
class Fit:
    """How a table is drawn."""

    columns: Sequence[int]
    """Places of the columns that are shown."""
    widths: Sequence[int]
    """Of these columns, in cells of the terminal."""
    stacked: bool
    """Whether intervals stand below their values."""
    hidden: str
    """What is left out, in words; nothing where all is shown."""


def fit(table: Table, width: int) -> Fit:
    """The most of a table that fits."""
    every = range(len(table.columns))
    empty = [place for place in every if table.columns[place].kind == "count" and _zero(table, place)]
    order = list(_order(table, empty))
    faults = [place for place in every if table.columns[place].name in _FAULTS and place not in empty]
    light = [place for place in order if table.columns[place].kind == "count" and place not in faults]
    has_intervals = any(cell.range for line in table.lines for cell in line.cells)
    chosen: list[int] = []
    stacked = False
    for stacked, sparing in ((False, light), (True, order)) if has_intervals else ((False, order),):
        chosen = list(every)
        for place in [None, *sparing]:
            if place is not None:
                chosen.remove(place)
            least = _least(table, chosen, stacked, width)
            if _across(least) <= width:
                return Fit(chosen, _widened(table, chosen, least, width), stacked, _told(table, chosen, empty))
    return Fit(chosen, _cut(table, chosen, stacked, width), stacked, _told(table, chosen, empty))


def _order(table: Table, empty: Sequence[int]) -> Iterator[int]:
    """Columns in the order in which they go; one of text and one number stay."""
    named = {column.name: place for place, column in enumerate(table.columns)}
    numbers = [place for place, column in enumerate(table.columns) if column.kind != "text"]
    kept = [place for place in numbers if table.columns[place].name not in table.spare][:1] or numbers[:1]
    faults = [named[name] for name in _FAULTS if name in named]
    spare = [named[name] for name in table.spare if name in named]
    counts = [place for place in reversed(numbers) if table.columns[place].kind == "count" and place not in faults]
    order = [*empty, *spare, *counts, *(place for place in reversed(numbers) if place not in faults), *faults]
    return (place for place in dict.fromkeys(order) if place not in kept)


def _zero(table: Table, place: int) -> bool:
    return all(line.cells[place].value == 0 for line in table.lines)


def _least(table: Table, chosen: Sequence[int], stacked: bool, width: int) -> list[int]:
    """What the columns take with their names cut."""
    names = sum(table.columns[place].kind == "text" for place in chosen)
    shortest, long = NAME
    name = max(shortest, min(max(long, width // 4), width // 2 // max(names, 1)))
    return [
        min(_width(table, place, stacked), name if table.columns[place].kind == "text" else width) for place in chosen
    ]


def _width(table: Table, place: int, stacked: bool) -> int:
    """What a column takes."""
    from rich.cells import cell_len

    column, cells = table.columns[place], [line.cells[place] for line in table.lines]
    values = max((cell_len(cell.text) for cell in cells), default=0)
    ranges = max((cell_len(cell.range) for cell in cells), default=0)
    inside = max(values, ranges) if stacked else values + ranges + (ranges > 0)
    title = max(cell_len(column.title), min(cell_len(column.over), OVER))
    return max(inside, title)


def _across(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _widened(table: Table, chosen: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Names as long as there is room, the shortest first."""
    widths = list(least)
    full = [_width(table, place, stacked=True) for place in chosen]
    for _ in range(width - _across(widths)):
        cut = [n for n, place in enumerate(chosen) if table.columns[place].kind == "text" and widths[n] < full[n]]
        if cut:
            widths[min(cut, key=widths.__getitem__)] += 1
    return widths


def _cut(table: Table, chosen: Sequence[int], stacked: bool, width: int) -> list[int]:
    """Names cut to what the numbers leave, the longest first."""
    widths = _least(table, chosen, stacked, width)
    text = [number for number, place in enumerate(chosen) if table.columns[place].kind == "text"]
    while _across(widths) > width and text and max(widths[number] for number in text) > 1:
        widths[max(text, key=widths.__getitem__)] -= 1
    return widths


def _told(table: Table, chosen: Sequence[int], empty: Sequence[int]) -> str:
    gone = [place for place in range(len(table.columns)) if place not in chosen]
    if not gone:
        return ""
    titles = [column.whole for column in table.columns]
    names = []
    for place in gone:
        name = titles[place] if titles.count(titles[place]) == 1 else table.columns[place].name
        names.append(f"{name} (all 0)" if place in empty else name)
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
    return f"Hidden at this width: {listed}. A wider terminal or a pipe (| less -S) shows all."
