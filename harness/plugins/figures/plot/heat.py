"""Heat maps: a cell for each run and group, with its number."""

from __future__ import annotations

from collections.abc import Sequence

from harness.charts.values import HeatChart
from harness.plugins.figures.plot.paper import (
    EDGE,
    LINE,
    PALE,
    Sheet,
    in_lines,
    ink,
    lines_height,
    names_width,
    shorten,
    text_width,
)
from harness.scoring.definitions import definition

_ROW = 0.165
_NARROW = 0.22
"""Inches that a cell needs for 100."""
_WIDE = 0.6
_GAP = 0.1


def heat(chart: HeatChart, width: float, metric: str) -> Sheet:
    """Draw a heat map; columns that the width has no room for stand below, with the rows once more."""
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    names = [row.label for row in chart.rows]
    left = EDGE + names_width(names, width, 0.38) + 0.06
    names = in_lines(names, left - EDGE - 0.06)
    row_height = lines_height(names, _ROW)
    space = width - left - EDGE
    most = max(1, int(space / _NARROW))
    number = -(-len(chart.columns) // most)
    across = -(-len(chart.columns) // number)
    cell_width = min(space / across, _WIDE)
    titles = [column.title for column in chart.columns]
    upright = max(map(text_width, titles)) > cell_width - 0.04
    head = min(max(map(text_width, titles)), 1.0) + 0.06 if upright else LINE + 0.02
    band = head + len(names) * row_height + _GAP
    sheet = Sheet(chart, width, number * band - _GAP, f": {definition(metric).title} (%)")
    labels = shorten(titles, 1.0) if upright else titles
    colours = colormaps["cividis"]
    for part in range(number):
        columns = range(part * across, min((part + 1) * across, len(titles)))
        axes = sheet.axes(left, part * band + head, cell_width * len(columns), len(names) * row_height)
        for place, row in enumerate(chart.rows):
            for x, column in enumerate(columns):
                cell = row.cells[column]
                if cell is None:
                    continue
                value = cell.values.get(metric)
                colour = PALE if value is None else colours(value)
                axes.add_patch(Rectangle((x, place), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.6))
                text = "–" if value is None else f"{100 * value:.0f}"
                axes.text(x + 0.5, place + 0.5, text, color=ink(colour), ha="center", va="center_baseline")
        _frame(axes, names, [labels[column] for column in columns], upright)
    return sheet


def _frame(axes: object, names: Sequence[str], titles: Sequence[str], upright: bool) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    axes.set_xlim(0, len(titles))
    axes.set_ylim(len(names), 0)
    axes.set_yticks([place + 0.5 for place in range(len(names))], names)
    axes.set_xticks([place + 0.5 for place in range(len(titles))], titles, rotation=90 if upright else 0)
    axes.tick_params(length=0, pad=2, bottom=False, labelbottom=False, labeltop=True)
    axes.spines[:].set_visible(False)
