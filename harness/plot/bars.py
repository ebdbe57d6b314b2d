"""A line for each run: scores with their intervals, and what became of positives and negatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.charts.values import ConfusionChart, ScoresChart
from harness.plot.paper import (
    COLOURS,
    EDGE,
    GREY,
    LINE,
    PALE,
    Sheet,
    in_lines,
    ink,
    legend_height,
    legend_of_roles,
    lines_height,
    look,
    names_width,
    text_width,
)
from harness.tables.metrics import TITLES, metric_text

_ROW = 0.15
_PAD = 0.12
"""Inches between a name and the axis: a mark at 0 reaches over it."""
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


def scores(chart: ScoresChart, width: float) -> Sheet:
    """Draw points with intervals, the number beside each."""
    names = [row.label for row in chart.rows]
    left = EDGE + names_width(names, width) + _PAD
    right = text_width("100.00") + 0.1 + EDGE
    names_in_lines = in_lines(names, left - EDGE - _PAD)
    rows = max(len(names), 2) * lines_height(names_in_lines, _ROW)
    handles, labels = legend_of_roles([row.role for row in chart.rows])
    bottom = 0.33
    sheet = Sheet(chart, width, rows + bottom + legend_height(labels, width))
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
    axes.set_xlabel(f"{TITLES[chart.metric]} (%)", labelpad=1.5)
    sheet.legend(handles, labels, rows + bottom)
    return sheet


def confusion(chart: ConfusionChart, width: float) -> Sheet:
    """Draw two bars for each run: the items whose answer is Yes, and those whose answer is No."""
    from matplotlib.patches import Patch

    names = [row.label for row in chart.rows]
    left = EDGE + names_width(names, width, 0.37) + _PAD
    gap, head, bottom = 0.2, LINE + 0.03, 0.33
    each = (width - left - gap - 2 * EDGE - 0.05) / 2
    names_in_lines = in_lines(names, left - EDGE - _PAD)
    rows = max(len(names), 2) * lines_height(names_in_lines, _ROW + 0.02)
    ends = [end for end in _ENDS if any(row.counts[side[end]] for row in chart.rows for side in _SIDES.values())]
    sheet = Sheet(chart, width, head + rows + bottom + legend_height(ends, width))
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
    patches = [Patch(facecolor=_ENDS[end][0], hatch=_ENDS[end][1], edgecolor=GREY, linewidth=0.4) for end in ends]
    sheet.legend(patches, ends, head + rows + bottom)
    return sheet


def _bar(axes: Any, place: int, counts: Mapping[str, int], inches: float) -> None:
    total, start = sum(counts.values()), 0.0
    for end, count in counts.items():
        if not count:
            continue
        share = 100 * count / total
        colour, hatch = _ENDS[end]
        axes.barh(place, share, 0.8, start, color=colour, hatch=hatch, edgecolor=GREY, linewidth=0.4)
        if not hatch and text_width(f"{count:,}") + 0.06 < share / 100 * inches:
            axes.text(start + share / 2, place, f"{count:,}", color=ink(colour), ha="center", va="center_baseline")
        start += share


def _rows(axes: Any, names: list[str]) -> None:
    """Set the upright axis: the first row at the top, a name at each."""
    axes.set_ylim(len(names) - 0.5 if len(names) > 1 else 1, -0.5 if len(names) > 1 else -1)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params("y", length=0, pad=72 * _PAD - 3)
    axes.tick_params("x", length=2, pad=1.5)
    axes.grid(axis="x", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
