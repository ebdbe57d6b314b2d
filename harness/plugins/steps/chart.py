"""The figure of where replies break first: a bar for each run, its parts in the order in which an argument goes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError
from harness.runtime.environment import installing
from harness.storage.atomic_write import cannot_write

COLORS = "BrBG"
"""From ColorBrewer: told apart without red and green; the last place, nowhere, is the darkest of its end."""
_ROW, _AROUND = 0.32, 1.0
"""Inches."""


@dataclass(frozen=True)
class Panel:
    """The bars of runs that were asked the same."""

    title: str
    places: Collection[str]
    shares: Mapping[str, Sequence[float]]
    """Those of the places for each run."""


def draw(panels: Sequence[Panel], file: str) -> None:
    """Write the figure. Raises ConfigError without matplotlib."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(f"figures need matplotlib: {installing('plot')}.") from None
    heights = [_AROUND + _ROW * len(panel.shares) for panel in panels]
    figure = Figure(figsize=(6.75, sum(heights)), layout="constrained")
    rows = figure.subplots(len(panels), squeeze=False, height_ratios=heights)
    for axes, panel in zip(rows[:, 0], panels, strict=True):
        left = [0.0] * len(panel.shares)
        for k, title in enumerate(panel.places):
            widths = [100 * values[k] for values in panel.shares.values()]
            color = colormaps[COLORS](0.08 + 0.87 * k / (len(panel.places) - 1))
            axes.barh(list(panel.shares), widths, left=left, color=color, label=title, height=0.7, ec="0.4", lw=0.4)
            left = [a + b for a, b in zip(left, widths, strict=True)]
        axes.set(xlim=(0, 100), xlabel=f"{panel.title}: breaks first at …, %")
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False, fontsize="small")
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=300)
    except OSError as error:
        raise cannot_write(file, error, "chart=") from error
