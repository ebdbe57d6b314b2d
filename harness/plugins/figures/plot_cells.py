"""A line for each run: scores with their intervals, what became of positives and negatives, and heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.charts.values import ConfusionChart, HeatChart, ScoresChart
from harness.plugins.figures.plot_paper import (
    COLOURS,
    EDGE,
    GREY,
    LINE,
    PALE,
    TEXT,
    FigureSheet,
    in_lines,
    ink,
    legend_height,
    legend_of_roles,
    lines_height,
    look,
    names_width,
    shorten,
    text_width,
)
from harness.scoring.definitions import definition
from harness.tables.numbers import metric_text

_ROW = 0.15
_PAD = 0.12
"""Inches between a name and the axis: a mark at 0 reaches over it."""
_SMALL = 5.5
"""Points of a count that has little room."""
_ENDS = {
    "right": (COLOURS[0], ""),
    "wrong": (COLOURS[5], ""),
    "unreadable": (PALE, "////"),
    "failed": ("white", "xxxx"),
}
_SIDES = {
    "Yes": {"right": "tp", "wrong": "fn", "unreadable": "unreadable_positive", "failed": "failed_positive"},
    "No": {"right": "tn", "wrong": "fp", "unreadable": "unreadable_negative", "failed": "failed_negative"},
}


def scores(chart: ScoresChart, width: float) -> FigureSheet:
    """Draw points with intervals, the number beside each."""
    names = [row.label for row in chart.rows]
    left = EDGE + names_width(names, width) + _PAD
    right = text_width("100.00") + 0.1 + EDGE
    names_in_lines = in_lines(names, left - EDGE - _PAD)
    rows = max(len(names), 2) * lines_height(names_in_lines, _ROW)
    handles, labels = legend_of_roles([row.role for row in chart.rows])
    bottom = 0.33
    sheet = FigureSheet(chart, width, rows + bottom + legend_height(labels, width))
    axes = sheet.axes(left, 0, width - left - right, rows)
    for place, row in enumerate(chart.rows):
        if row.interval:
            low, high = row.interval
            colour = look(row.role)["color"]
            axes.plot([100 * low, 100 * high], [place, place], color=colour, linewidth=1.1, solid_capstyle="butt")
        if row.value is not None:
            axes.plot(100 * row.value, place, **look(row.role), clip_on=False, zorder=3)
        axes.annotate(
            metric_text(chart.metric, row.value),
            (1, place),
            (right * 72 - EDGE * 72, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="center_baseline",
        )
    _rows(axes, names_in_lines)
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"{definition(chart.metric).title} (%)", labelpad=1.5)
    sheet.legend(handles, labels, rows + bottom)
    return sheet


def confusion(chart: ConfusionChart, width: float) -> FigureSheet:
    """Draw two bars for each run: the items whose answer is Yes, and those whose answer is No."""
    from matplotlib.patches import Patch

    names = [row.label for row in chart.rows]
    left = EDGE + names_width(names, width, 0.37) + _PAD
    head, bottom = LINE + 0.03, 0.33
    ends = [end for end in _ENDS if any(row.counts[side[end]] for row in chart.rows for side in _SIDES.values())]
    bars = [{end: row.counts[side[end]] for end in ends} for row in chart.rows for side in _SIDES.values()]
    # The counts beside the bars take room from these, which may then hold fewer: what is left out of a narrow bar.
    beside = max(text_width(_beside(bar, (width - left) / 2 - 0.35), _SMALL) for bar in bars)
    gap = max(0.2, beside + 0.08)
    each = (width - left - gap - beside - 2 * EDGE - 0.08) / 2
    names_in_lines = in_lines(names, left - EDGE - _PAD)
    rows = max(len(names), 2) * lines_height(names_in_lines, _ROW + 0.02)
    sheet = FigureSheet(chart, width, head + rows + bottom + legend_height(ends, width))
    totals = {
        answer: max(sum(row.counts[n] for n in side.values()) for row in chart.rows) for answer, side in _SIDES.items()
    }
    titles = [f"{answer} is true ({total:,})" for answer, total in totals.items()]
    if max(map(text_width, titles)) > each:
        titles = [f"{answer} ({total:,})" for answer, total in totals.items()]
    for number, side in enumerate(_SIDES.values()):
        axes = sheet.axes(left + number * (each + gap), head, each, rows)
        for place, row in enumerate(chart.rows):
            _bar(axes, place, {end: row.counts[side[end]] for end in ends}, each)
        _rows(axes, names_in_lines if not number else [""] * len(names))
        axes.set_xlim(0, 100)
        axes.set_xticks([0, 50, 100])
        axes.set_title(titles[number], pad=2.5)
        axes.set_xlabel("items (%)", labelpad=1.5)
    if beside:
        sheet.notes.append("Beside a bar: the counts that have no room in it, from left to right.")
    patches = [Patch(facecolor=_ENDS[end][0], hatch=_ENDS[end][1], edgecolor=GREY, linewidth=0.4) for end in ends]
    sheet.legend(patches, ends, head + rows + bottom)
    return sheet


def _bar(axes: Any, place: int, counts: Mapping[str, int], inches: float) -> None:
    """Draw a bar of all items with its counts: smaller or beside it where they do not fit."""
    total, start = sum(counts.values()), 0.0
    for end, count in counts.items():
        if not count:
            continue
        share = 100 * count / total
        colour, hatch = _ENDS[end]
        axes.barh(place, share, 0.8, start, color=colour, hatch=hatch, edgecolor=GREY, linewidth=0.4)
        if size := _size_inside(end, count, share / 100 * inches):
            middle = {"ha": "center", "va": "center_baseline"}
            axes.text(start + share / 2, place, f"{count:,}", color=ink(colour), size=size, **middle)
        start += share
    if beside := _beside(counts, inches):
        axes.annotate(beside, (100, place), (2, 0), textcoords="offset points", size=_SMALL, va="center_baseline")


def _size_inside(end: str, count: int, inches: float) -> float | None:
    """Return the points in which a count fits into its part of a bar; None where it does not, or that is hatched."""
    fitting = (size for size in (TEXT, _SMALL) if text_width(f"{count:,}", size) + 0.03 < inches)
    return None if _ENDS[end][1] else next(fitting, None)


def _beside(counts: Mapping[str, int], inches: float) -> str:
    """Return the counts that stand beside a bar, from left to right."""
    total = sum(counts.values())
    return ", ".join(
        f"{count:,}"
        for end, count in counts.items()
        if count and _size_inside(end, count, count / total * inches) is None
    )


def _rows(axes: Any, names: list[str]) -> None:
    """Set the upright axis: the first row at the top, a name at each."""
    axes.set_ylim(len(names) - 0.5 if len(names) > 1 else 1, -0.5 if len(names) > 1 else -1)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params("y", length=0, pad=72 * _PAD - 3)
    axes.tick_params("x", length=2, pad=1.5)
    axes.grid(axis="x", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)


_HEAT_ROW = 0.165
_NARROW = 0.22
"""Inches that a cell needs for 100."""
_WIDE = 0.6
_GAP = 0.1


def heat(chart: HeatChart, width: float, metric: str) -> FigureSheet:
    """Draw a heat map; columns that the width has no room for stand below, with the rows once more."""
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    names = [row.label for row in chart.rows]
    left = EDGE + names_width(names, width, 0.38) + 0.06
    names = in_lines(names, left - EDGE - 0.06)
    row_height = lines_height(names, _HEAT_ROW)
    space = width - left - EDGE
    most = max(1, int(space / _NARROW))
    number = -(-len(chart.columns) // most)
    across = -(-len(chart.columns) // number)
    cell_width = min(space / across, _WIDE)
    titles = [column.title for column in chart.columns]
    upright = max(map(text_width, titles)) > cell_width - 0.04
    head = min(max(map(text_width, titles)), 1.0) + 0.06 if upright else LINE + 0.02
    band = head + len(names) * row_height + _GAP
    sheet = FigureSheet(chart, width, number * band - _GAP, f": {definition(metric).title} (%)")
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
