"""The sheet that a figure is drawn on: sizes in inches, fonts, colours, and names that fit."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.charts.values import MARKS, Chart
from harness.types import Role

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTHS = {"column": 3.25, "text": 6.75}
"""Inches: a column, and the text of a page, of two-column papers (ACL, NeurIPS, ICLR and others are near it)."""
PAGE = 9.0
"""Inches that a page of such papers is high."""
TEXT, TITLE = 7.0, 8.0
"""Points."""
LINE = 0.14
"""Inches from one line of TEXT to the next."""
BETWEEN = 0.12
"""Inches from one line of a name to the next."""
EDGE = 0.06
"""Inches of white around all."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours (Color Universal Design, 2008) without yellow, which is hard to see on white."""
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (7, 2)), (0, (2, 1)))
GREY, PALE = "#6E6E6E", "#D9D9D9"
_SHADES = {"blue": COLOURS[0], "orange": COLOURS[1], "green": COLOURS[2], "grey": GREY}
_SHAPES = {"disc": "o", "square": "s", "diamond": "D", "triangle": "^"}

_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",  # so that an SVG names this, too, where its reader has no DejaVu Sans
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same everywhere
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "legend.fontsize": TEXT,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # names may have $ in them
    "pdf.fonttype": 42,  # TrueType, embedded: publishers refuse Type 3
    # Text stays text: it can be searched, copied, edited and read aloud. Other sans-serif fonts are narrower than
    # DejaVu Sans, so that nothing overlaps where a viewer has to take one.
    "svg.fonttype": "none",
    "svg.hashsalt": "harness",
    "savefig.dpi": 300,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in our style within this context, whatever the user's matplotlibrc says."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


class FigureSheet:
    """A figure of a given width whose height comes from what stands on it. Places in inches from the upper left."""

    def __init__(self, chart: Chart, width: float, height: float, suffix: str = "") -> None:
        """Make an empty sheet.

        `height` is that of what stands below title and heading; `suffix` stands beside the title, such as a unit.
        """
        from matplotlib.figure import Figure

        lines = [(line, TITLE, "black") for line in wrap(f"{chart.title}{suffix}", width - 2 * EDGE, TITLE)]
        lines += [(line, TEXT, GREY) for line in wrap(chart.heading, width - 2 * EDGE, TEXT)]
        self.title = chart.title
        self.notes: list[str] = []
        """Sentences for the caption about how it is drawn."""
        self.width = width
        self.top = EDGE + LINE * len(lines) + 0.04
        self.height = self.top + height + EDGE
        self.figure: Figure = Figure(figsize=(width, self.height))
        for number, (line, size, colour) in enumerate(lines):
            self.text(EDGE, EDGE + LINE * number, line, size=size, color=colour, va="top")

    def axes(self, left: float, top: float, width: float, height: float, **more: Any) -> Axes:
        """Add axes whose frame begins `top` below the heading."""
        low = self.height - self.top - top - height
        place = (left / self.width, low / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(place, **more)

    def text(self, x: float, y: float, text: str, **more: Any) -> None:
        """Add a text; y counts from the upper edge of the sheet."""
        self.figure.text(x / self.width, 1 - y / self.height, text, **more)

    def legend(self, handles: Sequence[Any], labels: Sequence[str], top: float) -> None:
        """Add the names of what is drawn, in as many columns as fit; `legend_height` returns its height."""
        if not handles:
            return
        self.figure.legend(
            handles,
            shorten(labels, self.width - 2 * EDGE - _HANDLE),
            loc="upper left",
            bbox_to_anchor=(EDGE / self.width, 1 - (self.top + top) / self.height, 1 - 2 * EDGE / self.width, 0),
            ncols=_columns(labels, self.width),
            frameon=False,
            borderaxespad=0,
            borderpad=0.2,
            handlelength=2.6,
            handletextpad=0.5,
            labelspacing=0.45,
            columnspacing=1.2,
        )

    def file_bytes(self, format: str) -> bytes:
        """Return the sheet as a file without dates, so that the same chart gives the same bytes."""
        dates = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[format]
        file = io.BytesIO()
        self.figure.savefig(file, format=format, metadata={"Title": self.title, **dates})
        return file.getvalue()


_HANDLE = 0.48
"""Inches of a sample in the legend, with the space around it."""


def look(role: Role, colour: str = "") -> dict[str, Any]:
    """Return colour and marker of a role; `colour` replaces the role's own."""
    mark = MARKS[role]
    colour = colour or _SHADES[mark.colour]
    return {"color": colour, "marker": _SHAPES[mark.shape], "markerfacecolor": "white" if mark.open else colour}


def legend_of_roles(roles: Collection[Role]) -> tuple[list[Any], list[str]]:
    """Return samples and names for a legend of roles; [] where all have the same."""
    from matplotlib.lines import Line2D

    roles_in_legend = [role for role in MARKS if role in roles] if len(set(roles)) > 1 else []
    return [Line2D([], [], **look(role)) for role in roles_in_legend], [MARKS[role].title for role in roles_in_legend]


def legend_height(labels: Sequence[str], width: float) -> float:
    return math.ceil(len(labels) / _columns(labels, width)) * LINE + 0.06 if labels else 0.0


def _columns(labels: Sequence[str], width: float) -> int:
    """Return how many columns a legend has: all names in one line, or as many as the longest name leaves room for."""
    widths = [text_width(label) + _HANDLE for label in labels]
    space = width - 2 * EDGE
    return len(labels) if sum(widths) <= space else max(1, int(space / max(widths)))


def text_width(text: str, size: float = TEXT) -> float:
    return sum(map(_advance, text)) * size / 72


@cache
def _advance(sign: str) -> float:
    """Return the width of a character at a size of 1."""
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.ft2font import LoadFlags

    font = get_font(findfont("DejaVu Sans"))
    font.set_size(100, 72)
    glyph = font.get_char_index(ord(sign))  # 0, a box, where the font has none: load_char fails there
    return font.load_glyph(glyph, flags=LoadFlags.NO_HINTING).linearHoriAdvance / 65536 / 100


def shorten(names: Sequence[str], inches: float) -> list[str]:
    """Return the names, the long ones shortened in the middle; different names stay different."""
    for head in (0.6, 0.4, 0.2, 0.8):
        short_names = [_shortened(name, inches, head) for name in names]
        if len(set(short_names)) == len(set(names)):
            return short_names
    return [_shortened(f"{number}: {name}", inches, 0.6) for number, name in enumerate(names, 1)]


def _shortened(name: str, inches: float, head: float) -> str:
    short, length = name, len(name)
    while text_width(short) > inches + 1e-6 and length > 2:
        length -= 1
        first = max(1, round(length * head))
        short = f"{name[:first]}…{name[len(name) - (length - first) :]}"
    return short


def wrap(text: str, inches: float, size: float) -> list[str]:
    """Break a text into lines that fit; a word that is too long for a line is broken."""
    return _fill(text.split(), " ", inches, size)


def in_lines(names: Sequence[str], inches: float) -> list[str]:
    """Break long names into several lines; nothing is left out, as that may tell a name from others."""
    return ["\n".join(_fill(name.split(" · "), " · ", inches, TEXT)) for name in names]


def lines_height(names: Sequence[str], minimum: float) -> float:
    """Return the inches that each of several names has: `minimum`, or more where the longest has several lines."""
    return minimum + (max(name.count("\n") for name in names)) * BETWEEN


def _fill(parts: Sequence[str], between: str, inches: float, size: float) -> list[str]:
    """Return lines with as many parts in each as fit; parts that are too long are broken after a sign, or anywhere."""
    inches += 1e-6  # the longest of the names that a width was made for fits it
    lines: list[str] = []
    for part in parts:
        if lines and text_width(f"{lines[-1]}{between}{part}", size) <= inches:
            lines[-1] += f"{between}{part}"
            continue
        lines.append("")
        for piece in re.split(r"(?<=[/,;:@_+-])", part):
            signs = [piece] if text_width(piece, size) <= inches else piece
            for sign in signs:
                if lines[-1] and text_width(f"{lines[-1]}{sign}", size) > inches:
                    lines.append("")
                lines[-1] += sign
    return lines


def names_width(names: Sequence[str], width: float, share: float = 0.42) -> float:
    return min(max(map(text_width, names)), share * width)


def ink(colour: Any) -> str:
    """Return black or white, whichever is easier to read on a colour (WCAG 2 contrast)."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"
