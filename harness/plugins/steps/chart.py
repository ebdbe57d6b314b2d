"""The figure of where replies break first: a bar for each run, its parts in the order in which an argument goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.errors import ConfigError
from harness.plugins.steps.scores import PLACES
from harness.runtime.environment import installing
from harness.storage.atomic_write import cannot_write

COLORS = ("#8c510a", "#bf812d", "#dfc27d", "#f6e8c3", "#80cdc1", "#01665e")
"""Of PLACES, from ColorBrewer's BrBG: told apart without red and green."""
_ROW = 0.32
"""Inches."""


def draw(shares: Mapping[str, Sequence[float]], file: str) -> None:
    """Write the figure; `shares` has those of PLACES for each run. Raises ConfigError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(f"figures need matplotlib: {installing('plot')}.") from None
    figure = Figure(figsize=(6.75, 1.0 + _ROW * len(shares)), layout="constrained")
    axes = figure.subplots()
    left = [0.0] * len(shares)
    for k, title in enumerate(PLACES.values()):
        widths = [100 * values[k] for values in shares.values()]
        axes.barh(list(shares), widths, left=left, color=COLORS[k], label=title, height=0.7)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set(xlim=(0, 100), xlabel="replies with steps that break first at …, %")
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=len(PLACES), frameon=False, fontsize="small")
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=300)
    except OSError as error:
        raise cannot_write(file, error, "chart=") from error
