"""A value at each of several steps or networks: a line for each run, in one frame or, where they are many, in many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.charts.values import Chart, CostChart, Interval, RobustnessChart, ScaleChart
from harness.plot.paper import (
    COLOURS,
    DASHES,
    EDGE,
    LINE,
    MARKERS,
    PALE,
    Sheet,
    in_lines,
    legend_height,
    lines_height,
    look,
    roles_said,
    text_width,
)
from harness.storage.runs import Kind
from harness.tables.metrics import TITLES

_MOST = len(COLOURS)
"""Lines in one frame: more have frames of their own, as nobody tells them apart."""
_DENSE = 18
"""Points in one frame to an inch of width."""
_LEFT = 0.42
"""Inches for numbers and name of the upright axis."""
_SLOT = 0.13
"""Inches that an upright name needs."""


@dataclass(frozen=True)
class _Line:
    name: str
    role: Kind
    values: Sequence[float | None]
    intervals: Sequence[Interval]


def robustness(chart: RobustnessChart, width: float) -> Sheet:
    """Steps from left to right."""
    rows = [
        _Line(
            row.label,
            row.role,
            [p.value if p else None for p in row.points],
            [p.interval if p else None for p in row.points],
        )
        for row in chart.rows
    ]
    return _lines(chart, width, chart.steps, rows, chart.metric)


def scale(chart: ScaleChart, width: float) -> Sheet:
    """Networks from the smallest to the largest, each with its number of variables."""
    names = [f"{one.name} ({one.nodes})" for one in chart.networks]
    rows = [_Line(row.label, row.role, row.values, row.intervals) for row in chart.rows]
    return _lines(chart, width, names, rows, chart.metric)


def cost(chart: CostChart, width: float) -> Sheet:
    """Points with intervals; a logarithmic axis where costs differ much."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    names = [row.label for row in chart.rows]
    frame, bottom = 2.0, 0.38
    sheet = Sheet(chart, width, frame + bottom + legend_height(names, width))
    axes = sheet.axes(_LEFT, 0.04, width - _LEFT - 0.15, frame - 0.04)
    handles = []
    for number, row in enumerate(chart.rows):
        own: dict[str, Any] = {"color": COLOURS[number % _MOST], "marker": MARKERS[(number // _MOST + number) % _MOST]}
        if row.interval:
            low, high = row.interval
            axes.plot([row.x, row.x], [100 * low, 100 * high], color=own["color"], linewidth=0.7)
        axes.plot(row.x, 100 * row.value, **own, linestyle="", clip_on=False, zorder=3)
        handles.append(Line2D([], [], **own, linestyle=""))
    costs = [row.x for row in chart.rows]
    if min(costs) > 0 and max(costs) > 10 * min(costs):
        axes.set_xscale("log")
        decades = math.log10(max(costs) / min(costs))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,)))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(0, 1.1 * max(costs) or 1)
        axes.locator_params(axis="x", nbins=5)
    sign = "$" if chart.unit == "USD" else ""
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{sign}{x:,.10g}"))
    axes.set_xlabel(f"{chart.unit} per 1,000 items", labelpad=1.5)
    _percent(axes, chart.metric)
    sheet.legend(handles, names, frame + bottom)
    return sheet


def _lines(chart: Chart, width: float, steps: Sequence[str], rows: Sequence[_Line], metric: str) -> Sheet:
    """The title says what the steps are."""
    crowded = len(rows) > _MOST or len(rows) * len(steps) > _DENSE * width
    return (_frames if crowded else _one_frame)(chart, width, steps, rows, metric)


def _one_frame(chart: Chart, width: float, steps: Sequence[str], rows: Sequence[_Line], metric: str) -> Sheet:
    from matplotlib.lines import Line2D

    names = [row.name for row in rows]
    across = width - _LEFT - EDGE
    turn, bottom = _turned(steps, across / len(steps), _LEFT)
    frame = 1.8
    sheet = Sheet(chart, width, frame + bottom + legend_height(names, width))
    axes = sheet.axes(_LEFT, 0.04, across, frame - 0.04)
    looks = _looks(rows)
    for number, (row, own) in enumerate(zip(rows, looks, strict=True)):
        _draw(axes, row, own, (number - (len(rows) - 1) / 2) * 0.07)
    _steps(axes, steps, turn)
    _percent(axes, metric)
    sheet.legend([Line2D([], [], **own) for own in looks], names, frame + bottom)
    return sheet


def _looks(rows: Sequence[_Line]) -> list[dict[str, Any]]:
    """Markers tell what answered; lines have a colour and dashes each, the first of a role that of the role."""
    roles = [row.role for row in rows]
    colours = [look(role)["color"] if roles.index(role) == n else "" for n, role in enumerate(roles)]
    free = [colour for colour in COLOURS if colour not in colours]
    colours = [colour if colour in COLOURS else free.pop(0) for colour in colours]
    return [
        look(role, colour) | {"linestyle": dashes}
        for role, colour, dashes in zip(roles, colours, DASHES[: len(rows)], strict=True)
    ]


def _frames(chart: Chart, width: float, steps: Sequence[str], rows: Sequence[_Line], metric: str) -> Sheet:
    """A frame for each run, which has the mark of what answered; the others pale behind it."""
    from matplotlib.collections import LineCollection

    gap = 0.12
    need = max(len(steps) * _SLOT, 1.0)
    columns = max(1, int((width - _LEFT - EDGE + gap) / (need + gap)))
    down = math.ceil(len(rows) / columns)
    across = (width - _LEFT - EDGE + gap) / columns - gap
    turn, bottom = _turned(steps, across / len(steps), 0.0)
    names = in_lines([row.name for row in rows], across)
    head, frame = lines_height(names, LINE + 0.02), 0.62
    each = head + frame + 0.07
    handles, said = roles_said([row.role for row in rows])
    sheet = Sheet(chart, width, down * each + bottom + legend_height(said, width))
    others = [_points(row) for row in rows]
    for number, row in enumerate(rows):
        x, y = number % columns, number // columns
        axes = sheet.axes(_LEFT + x * (across + gap), y * each + head, across, frame)
        axes.add_collection(LineCollection(others, colors=PALE, linewidths=0.4, zorder=0))
        _draw(axes, row, look(row.role) | {"markersize": 2.5}, 0.0)
        axes.set_title(names[number], loc="left", pad=3)
        _steps(axes, steps, turn)
        _percent(axes, metric if not x else None)
        if number + columns < len(rows):
            axes.tick_params("x", labelbottom=False)
    sheet.legend(handles, said, down * each + bottom)
    return sheet


def _points(row: _Line) -> list[tuple[float, float]]:
    return [(x, math.nan if value is None else 100 * value) for x, value in enumerate(row.values)]


def _draw(axes: Any, row: _Line, how: dict[str, Any], aside: float) -> None:
    """The line, and the intervals a little aside from those of other lines."""
    points = [(x + aside, y) for x, y in _points(row)]
    for (x, _), interval in zip(points, row.intervals, strict=True):
        if interval:
            axes.plot([x, x], [100 * end for end in interval], color=how["color"], linewidth=0.6, zorder=1)
    axes.plot(*zip(*points, strict=True), **how, clip_on=False, zorder=3)


def _turned(steps: Sequence[str], slot: float, left: float) -> tuple[int, float]:
    """How far names below an axis are turned so that none meets another or leaves the sheet; inches that they take."""
    longest = max(map(text_width, steps))
    if longest < slot - 0.04:
        return 0, LINE + 0.1
    if slot > 0.3 and 0.87 * longest < left + slot / 2 - 0.02:
        return 30, longest / 2 + LINE + 0.08
    return 90, longest + 0.14


def _steps(axes: Any, steps: Sequence[str], turn: int) -> None:
    axes.set_xlim(-0.5, len(steps) - 0.5)
    axes.set_xticks(range(len(steps)), steps, rotation=turn, ha="right" if turn == 30 else "center")
    axes.tick_params("x", length=2, pad=1.5)
    if turn == 30:
        axes.tick_params("x", pad=0)


def _percent(axes: Any, metric: str | None) -> None:
    """An upright axis of percent; without a metric it has no numbers."""
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 50, 100] if axes.get_position().height * axes.figure.get_figheight() < 1 else range(0, 101, 20))
    axes.tick_params("y", length=2, pad=1.5, labelleft=metric is not None)
    axes.grid(axis="y", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    if metric is not None:
        axes.set_ylabel(f"{TITLES[metric]} (%)", labelpad=1.5)
