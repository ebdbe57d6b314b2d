"""A value at each of several steps or networks: a line for each run, in one frame or, where they are many, in many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.charts.values import (
    Chart,
    CostChart,
    Interval,
    ReliabilityChart,
    ReliabilityRow,
    RobustnessChart,
    ScaleChart,
)
from harness.plugins.figures.plot_paper import (
    COLOURS,
    DASHES,
    EDGE,
    GREY,
    LINE,
    MARKERS,
    PALE,
    TEXT,
    FigureSheet,
    in_lines,
    legend_height,
    legend_of_roles,
    lines_height,
    look,
    shorten,
    text_width,
)
from harness.scoring.definitions import definition
from harness.types import Role

_MOST = len(COLOURS)
"""Lines in one frame: more cannot be told apart, and have frames of their own."""
_DENSE = 18
"""Points in one frame to an inch of width."""
_LEFT = 0.42
"""Inches for numbers and name of the upright axis."""
_SPREAD = 0.05
"""Inches over all marks of nearly one cost: the axis is a measure, and more would be read as other costs."""
_SLOT = 0.13
"""Inches that an upright name needs."""


@dataclass(frozen=True)
class _Curve:
    name: str
    role: Role
    values: Sequence[float | None]
    intervals: Sequence[Interval]


def robustness(chart: RobustnessChart, width: float) -> FigureSheet:
    """Draw a line for each run over the chart's steps, from left to right."""
    rows = [
        _Curve(
            row.label,
            row.role,
            [p.value if p else None for p in row.points],
            [p.interval if p else None for p in row.points],
        )
        for row in chart.rows
    ]
    return _lines(chart, width, chart.steps, rows, chart.metric)


def scale(chart: ScaleChart, width: float) -> FigureSheet:
    """Draw a line for each run over the networks, small to large, each with its number of variables."""
    names = [f"{network.name} ({network.nodes})" for network in chart.networks]
    rows = [_Curve(row.label, row.role, row.values, row.intervals) for row in chart.rows]
    return _lines(chart, width, names, rows, chart.metric)


def cost(chart: CostChart, width: float) -> FigureSheet:
    """Draw points with intervals, those of nearly one cost side by side; a logarithmic axis where costs differ much."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
    from matplotlib.transforms import ScaledTranslation

    names = [row.label for row in chart.rows]
    frame, bottom = 2.0, 0.38
    sheet = FigureSheet(chart, width, frame + bottom + legend_height(names, width))
    axes = sheet.axes(_LEFT, 0.04, width - _LEFT - 0.28, frame - 0.04)
    costs = [row.x for row in chart.rows]
    if min(costs) > 0 and max(costs) > 10 * min(costs):
        axes.set_xscale("log")
        decades = math.log10(max(costs) / min(costs))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,)))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(0, 1.1 * max(costs) or 1)
        axes.locator_params(axis="x", nbins=5)
    places = [float(axes.transData.transform((x, 0))[0]) / axes.figure.dpi for x in costs]
    inches = _aside(places, [row.value for row in chart.rows])
    if any(inches):
        sheet.notes.append("Marks of nearly one cost stand side by side, each a little off its own.")
    handles = []
    for number, (row, aside) in enumerate(zip(chart.rows, inches, strict=True)):
        own: dict[str, Any] = {"color": COLOURS[number % _MOST], "marker": MARKERS[(number // _MOST + number) % _MOST]}
        at = axes.transData + ScaledTranslation(aside, 0, axes.figure.dpi_scale_trans)
        if row.interval:
            ends = [100 * end for end in row.interval]
            axes.plot([row.x, row.x], ends, color=own["color"], linewidth=0.7, alpha=0.5, zorder=1, transform=at)
        axes.plot(row.x, 100 * row.value, **own, linestyle="", clip_on=False, zorder=3, transform=at)
        handles.append(Line2D([], [], **own, linestyle=""))
    sign = "$" if chart.unit == "USD" else ""
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{sign}{x:,.10g}"))
    axes.set_xlabel(f"{chart.unit} per 1,000 items", labelpad=1.5)
    _percent(axes, chart.metric)
    sheet.legend(handles, names, frame + bottom)
    return sheet


def reliability(chart: ReliabilityChart, width: float) -> FigureSheet:
    """Draw a frame for each run: what was predicted of its bins across, what is so up, with intervals."""
    names = [row.label for row in chart.rows]
    across = min(len(names), max(1, int((width - EDGE) / 1.5)))
    step = min((width - EDGE) / across, 2.4)
    side, head, foot = step - _LEFT - 0.12, 0.2, 0.42
    down = math.ceil(len(names) / across)
    sheet = FigureSheet(chart, width, down * (head + side + foot))
    for number, (row, name) in enumerate(zip(chart.rows, shorten(names, step - 0.1), strict=True)):
        top = (number // across) * (head + side + foot) + head
        axes = sheet.axes(_LEFT + (number % across) * step, top, side, side)
        own = look(row.role)
        axes.plot([0, 100], [0, 100], color=GREY, linewidth=0.6, linestyle=(0, (4, 3)), zorder=1)
        for one in row.bins:
            if one.interval:
                ends = [100 * end for end in one.interval]
                axes.plot([100 * one.predicted] * 2, ends, color=own["color"], linewidth=0.7, alpha=0.5, zorder=2)
        shares = [[100 * one.predicted for one in row.bins], [100 * one.observed for one in row.bins]]
        axes.plot(*shares, **own, linestyle="", clip_on=False, zorder=3)
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 100)
        axes.set_title(name, fontsize=TEXT, loc="left", pad=3)
        axes.set_xlabel(_reliability_numbers(row), labelpad=1.5)
    return sheet


def _reliability_numbers(row: ReliabilityRow) -> str:
    error = "" if row.error is None else f"error {100 * row.error:.1f}, "
    return f"{error}ECE {100 * row.ece:.1f}"


def _aside(places: Sequence[float], scores: Sequence[float]) -> list[float]:
    """Return by how many inches each mark moves sideways, so that those of nearly one cost can be told apart.

    Those of neighbouring scores by half of the room, so that one does not hide the other.
    """
    order = sorted(range(len(places)), key=lambda number: places[number])
    groups: list[list[int]] = []
    for number in order:
        if groups and places[number] - places[groups[-1][0]] < _SPREAD / 2:
            groups[-1].append(number)
        else:
            groups.append([number])
    aside = [0.0] * len(places)
    for group in (group for group in groups if len(group) > 1):
        middle = sum(places[number] for number in group) / len(group)
        half = math.ceil(len(group) / 2)
        for rank, number in enumerate(sorted(group, key=lambda number: (-scores[number], number))):
            slot = rank % 2 * half + rank // 2
            aside[number] = middle + (slot / (len(group) - 1) - 0.5) * _SPREAD - places[number]
    return aside


def _lines(chart: Chart, width: float, steps: Sequence[str], rows: Sequence[_Curve], metric: str) -> FigureSheet:
    """Draw all lines in one frame, or each in its own where they are many."""
    crowded = len(rows) > _MOST or len(rows) * len(steps) > _DENSE * width
    return (_frames if crowded else _one_frame)(chart, width, steps, rows, metric)


def _one_frame(chart: Chart, width: float, steps: Sequence[str], rows: Sequence[_Curve], metric: str) -> FigureSheet:
    from matplotlib.lines import Line2D

    names = [row.name for row in rows]
    across = width - _LEFT - EDGE
    turn, bottom = _name_turn(steps, across / len(steps), _LEFT)
    frame = 1.8
    sheet = FigureSheet(chart, width, frame + bottom + legend_height(names, width))
    axes = sheet.axes(_LEFT, 0.04, across, frame - 0.04)
    looks = _looks(rows)
    for number, (row, own) in enumerate(zip(rows, looks, strict=True)):
        _draw(axes, row, own, (number - (len(rows) - 1) / 2) * 0.07)
    _steps(axes, steps, turn)
    _percent(axes, metric)
    sheet.legend([Line2D([], [], **own) for own in looks], names, frame + bottom)
    return sheet


def _looks(rows: Sequence[_Curve]) -> list[dict[str, Any]]:
    """Return colour, marker and dashes of each line.

    Markers stand for roles; colours and dashes tell lines apart, and the first of a role has its role's colour.
    """
    roles = [row.role for row in rows]
    colours = [look(role)["color"] if roles.index(role) == n else "" for n, role in enumerate(roles)]
    free = [colour for colour in COLOURS if colour not in colours]
    colours = [colour if colour in COLOURS else free.pop(0) for colour in colours]
    return [
        look(role, colour) | {"linestyle": dashes}
        for role, colour, dashes in zip(roles, colours, DASHES[: len(rows)], strict=True)
    ]


def _frames(chart: Chart, width: float, steps: Sequence[str], rows: Sequence[_Curve], metric: str) -> FigureSheet:
    """Draw a frame for each run, with the mark of its role; the others stay pale behind it."""
    from matplotlib.collections import LineCollection

    gap = 0.12
    need = max(len(steps) * _SLOT, 1.0)
    columns = max(1, int((width - _LEFT - EDGE + gap) / (need + gap)))
    down = math.ceil(len(rows) / columns)
    across = (width - _LEFT - EDGE + gap) / columns - gap
    turn, bottom = _name_turn(steps, across / len(steps), 0.0)
    names = in_lines([row.name for row in rows], across)
    head, frame = lines_height(names, LINE + 0.02), 0.62
    each = head + frame + 0.07
    handles, labels = legend_of_roles([row.role for row in rows])
    sheet = FigureSheet(chart, width, down * each + bottom + legend_height(labels, width))
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
    sheet.legend(handles, labels, down * each + bottom)
    return sheet


def _points(row: _Curve) -> list[tuple[float, float]]:
    return [(x, math.nan if value is None else 100 * value) for x, value in enumerate(row.values)]


def _draw(axes: Any, row: _Curve, how: dict[str, Any], aside: float) -> None:
    """Draw a line, and its intervals a little aside from those of other lines."""
    points = [(x + aside, y) for x, y in _points(row)]
    for (x, _), interval in zip(points, row.intervals, strict=True):
        if interval:
            axes.plot([x, x], [100 * end for end in interval], color=how["color"], linewidth=0.6, zorder=1)
    axes.plot(*zip(*points, strict=True), **how, clip_on=False, zorder=3)


def _name_turn(steps: Sequence[str], slot: float, left: float) -> tuple[int, float]:
    """Return the degrees to turn the names below an axis by, so that none meets another, and the inches they take."""
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
    """Set up an upright axis of percent; without a metric it has no numbers."""
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 50, 100] if axes.get_position().height * axes.figure.get_figheight() < 1 else range(0, 101, 20))
    axes.tick_params("y", length=2, pad=1.5, labelleft=metric is not None)
    axes.grid(axis="y", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    if metric is not None:
        axes.set_ylabel(f"{definition(metric).title} (%)", labelpad=1.5)
