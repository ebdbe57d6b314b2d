"""Two figures: scores with their intervals, and lines over the settings or networks that runs differ in."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.plot.charts import Chart, points_of
from harness.plot.names import MARKS
from harness.tables.table import task_title
from harness.types import Role

WIDTHS = {"column": 3.25, "text": 6.75}
"""Inches: a column, and the text of a page, of two-column papers (ACL, NeurIPS, ICLR and others are near it)."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours (Color Universal Design, 2008) without yellow, which is hard to see on white."""
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (7, 2)), (0, (2, 1)))
_SHADES = {"blue": COLOURS[0], "orange": COLOURS[1], "green": COLOURS[2], "grey": "#6E6E6E"}
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
_DATES: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""What is left out of a file, so that the same chart gives the same bytes."""


def figure_files(chart: Chart, width: str, formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each format with the file of a chart in it, drawn in our style whatever the user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = figure_of(chart, WIDTHS[width])
        for format in formats:
            file = io.BytesIO()
            figure.savefig(file, format=format, metadata={"Title": chart["title"], **_DATES[format]})
            yield format, file.getvalue()


def figure_of(chart: Chart, width: float) -> Any:
    """Return matplotlib's figure of a chart, `width` inches wide."""
    is_scores, number = chart["kind"] == "scores", len(chart["rows"])
    height = 0.7 + 0.17 * number if is_scores else 2.1 + 0.13 * number
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    title = f"{task_title(chart['task'])}: {chart['title']}"
    axes.set_title("\n".join(filter(None, (title, chart["heading"]))), loc="left", wrap=True)
    handles, names = _scores(chart, axes) if is_scores else _lines(chart, axes, width)
    if names:
        columns = 1 + (max(map(len, names)) <= 20)
        figure.legend(handles, names, loc="outside lower left", ncols=columns, frameon=False)
    return figure


def _scores(chart: Chart, axes: Any) -> tuple[list[Any], list[str]]:
    """Draw a line for each run, best first as in the table: its mark, its interval and its number."""
    rows = chart["rows"]
    for place, row in enumerate(rows):
        value, look = row["value"], _look(row["role"])
        if value is not None:
            if row["interval"]:
                axes.plot([100 * end for end in row["interval"]], [place, place], **_interval(look))
            axes.plot(100 * value, place, linestyle="none", **look)
        number = "–" if value is None else f"{100 * value:.2f}"
        axes.annotate(number, (1, place), va="center", xytext=(4, 0), textcoords="offset points",
                      xycoords=("axes fraction", "data"), annotation_clip=False)  # fmt: skip
    axes.set_yticks(range(len(rows)), [row["label"] for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", linewidth=0.3)
    axes.set_xlabel("%")
    roles = [role for role in MARKS if role in {row["role"] for row in rows}]
    shown = roles if len(roles) > 1 else []
    return [Line2D([], [], linestyle="none", **_look(role)) for role in shown], [MARKS[role].title for role in shown]


def _lines(chart: Chart, axes: Any, width: float) -> tuple[list[Any], list[str]]:
    """Draw a line for each row over the steps, told apart by colour and dash, its mark that of its role."""
    networks = [f"{network['name']} ({network['nodes']})" for network in chart.get("networks", ())]
    steps, handles = networks or chart["steps"], []
    shift = 0.3 / max(len(chart["rows"]), 1)
    for number, row in enumerate(chart["rows"]):
        look = _look(row["role"], COLOURS[number % len(COLOURS)])
        at = [place + shift * (number - (len(chart["rows"]) - 1) / 2) for place in range(len(steps))]
        heights = [float("nan") if value is None else 100 * value for value, _ in points_of(row)]
        handles += axes.plot(at, heights, linestyle=DASHES[number // len(COLOURS) % len(DASHES)], **look)
        for place, (_, interval) in zip(at, points_of(row), strict=True):
            if interval:
                axes.plot([place, place], [100 * end for end in interval], **_interval(look))
    turned = sum(map(len, steps)) * 0.058 > width - 0.6
    axes.set_xticks(range(len(steps)), steps, rotation=90 if turned else 0)
    axes.set_xlim(-0.5, len(steps) - 0.5)
    axes.grid(axis="y", linewidth=0.3)
    axes.set_ylabel("%")
    return handles, [row["label"] for row in chart["rows"]]


def _look(role: Role, colour: str = "") -> dict[str, Any]:
    """Return colour and marker of a role; `colour` replaces the role's own."""
    mark = MARKS[role]
    colour = colour or _SHADES[mark.colour]
    return {"color": colour, "marker": _SHAPES[mark.shape], "markerfacecolor": "white" if mark.open else colour}


def _interval(look: dict[str, Any]) -> dict[str, Any]:
    return {"color": look["color"], "linewidth": 0.8, "zorder": 1}
