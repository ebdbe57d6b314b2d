"""Two figures: scores with their intervals, and lines over the settings or networks that runs differ in."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.charts.values import MARKS, Chart, points_of
from harness.tables.table import task_title
from harness.types import Role

WIDTHS = {"column": 3.25, "text": 6.75}
"""Inches: a column, and the text of a page, of two-column papers (ACL, NeurIPS, ICLR and others are near it)."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours (Color Universal Design, 2008) without yellow, which is hard to see on white."""
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (7, 2)), (0, (2, 1)))
GREY = "#6E6E6E"
_SHADES = {"blue": COLOURS[0], "orange": COLOURS[1], "green": COLOURS[2], "grey": GREY}
_SHAPES = {"disc": "o", "square": "s", "diamond": "D", "triangle": "^"}
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",  # so that an SVG names this, too, where its reader has no DejaVu Sans
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same everywhere
    "font.size": 7.0,
    "axes.titlesize": 8.0,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # names may have $ in them
    "pdf.fonttype": 42,  # TrueType, embedded: publishers refuse Type 3
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "svg.hashsalt": "harness",
    "savefig.dpi": 300,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in our style within this context, whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def draw(chart: Chart, width: float) -> Any:
    """Return matplotlib's figure of a chart, `width` inches wide."""
    if chart.kind == "scores":
        return _scores(chart, width)
    networks = [f"{network['name']} ({network['nodes']})" for network in chart.body.get("networks", ())]
    return _lines(chart, width, networks or chart.body["steps"])


def file_bytes(figure: Any, format: str, title: str) -> bytes:
    """Return a figure as a file without dates, so that the same chart gives the same bytes."""
    dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[format]
    file = io.BytesIO()
    figure.savefig(file, format=format, metadata={"Title": title, **dates})
    return file.getvalue()


def _scores(chart: Chart, width: float) -> Any:
    """Return a line for each run, best first as in the table: its mark, its interval and its number."""
    rows = chart.rows
    figure, axes = _frame(chart, width, 0.7 + 0.17 * len(rows))
    for place, row in enumerate(rows):
        value, look = row["value"], _look(row["role"])
        if value is not None:
            _interval(axes, row["interval"], place, look["color"], along="x")
            axes.plot(100 * value, place, linestyle="none", **look)
        number = "–" if value is None else f"{100 * value:.2f}"
        axes.annotate(number, (1, place), va="center", xytext=(4, 0), textcoords="offset points",
                      xycoords=("axes fraction", "data"), annotation_clip=False)  # fmt: skip
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", linewidth=0.3)
    axes.set_xlabel("%")
    if len(roles := [role for role in MARKS if role in {row["role"] for row in rows}]) > 1:
        handles = [Line2D([], [], linestyle="none", **_look(role)) for role in roles]
        _legend(figure, handles, [MARKS[role].title for role in roles])
    return figure


def _lines(chart: Chart, width: float, steps: Sequence[str]) -> Any:
    """Return a line for each row over the steps, told apart by colour and dash, its mark that of its role."""
    names = [row["label"] for row in chart.rows]
    figure, axes = _frame(chart, width, 2.1 + 0.13 * len(names))
    handles = []
    shift = 0.3 / max(len(names), 1)
    for number, row in enumerate(chart.rows):
        look = _look(row["role"], COLOURS[number % len(COLOURS)])
        at = [place + shift * (number - (len(names) - 1) / 2) for place in range(len(steps))]
        heights = [float("nan") if value is None else 100 * value for value, _ in points_of(row)]
        dash = DASHES[number // len(COLOURS) % len(DASHES)]
        handles += axes.plot(at, heights, linestyle=dash, **look)
        for place, (_, interval) in zip(at, points_of(row), strict=True):
            _interval(axes, interval, place, look["color"], along="y")
    turned = sum(map(len, steps)) * 0.058 > width - 0.6
    axes.set_xticks(range(len(steps)), steps, rotation=90 if turned else 0)
    axes.set_xlim(-0.5, len(steps) - 0.5)
    axes.grid(axis="y", linewidth=0.3)
    axes.set_ylabel("%")
    _legend(figure, handles, names)
    return figure


def _frame(chart: Chart, width: float, height: float) -> tuple[Any, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    lines = f"{task_title(chart.task)}: {chart.title}", chart.heading
    axes.set_title("\n".join(filter(None, lines)), loc="left", wrap=True)
    return figure, axes


def _interval(axes: Any, interval: Sequence[float] | None, place: float, colour: str, *, along: str) -> None:
    if interval is not None:
        ends, same = [100 * end for end in interval], [place, place]
        axes.plot(*((ends, same) if along == "x" else (same, ends)), color=colour, linewidth=0.8, zorder=1)


def _look(role: Role, colour: str = "") -> dict[str, Any]:
    """Return colour and marker of a role; `colour` replaces the role's own."""
    mark = MARKS[role]
    colour = colour or _SHADES[mark.colour]
    return {"color": colour, "marker": _SHAPES[mark.shape], "markerfacecolor": "white" if mark.open else colour}


def _legend(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    columns = 1 + (max(map(len, labels)) <= 20)
    figure.legend(handles, labels, loc="outside lower left", ncols=columns, frameon=False)
