"""The league as a figure: error over samples, a line for each algorithm, whoever learns from no data a level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.plugins.discovery.league_rows import TITLES, Entry, Seeds, metric_of
from harness.runtime.environment import installing
from harness.storage.atomic_write import beside
from harness.tasks.causalbench.networks import SCALES

METRICS = ("parent_aid", "class_shd")
_DATES = {".png": "Software", ".pdf": "CreationDate", ".svg": "Date"}
"""What would make two files of the same numbers differ."""
_MARKERS = "osDv^P*X<>hd"


def draw(entries: Mapping[Entry, Seeds], path: str) -> None:
    """Write a figure with a row of frames for each set of networks. Raises ConfigError if matplotlib is missing."""
    try:
        import matplotlib
    except ImportError as error:
        raise ConfigError(f"chart= needs matplotlib, which is not installed: {installing('plot')}.") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows: dict[tuple[str, ...], dict[Entry, Seeds]] = defaultdict(dict)
    for entry, seeds in entries.items():
        rows[entry.networks][entry] = seeds
    rows = {networks: of for networks, of in rows.items() if len({entry.samples for entry in of} - {None}) > 1}
    if not rows:
        raise ConfigError(
            "chart= needs algorithms on the same networks with several numbers of samples: "
            "harness discover -m algorithm=hc,pc samples=100,1000,10000 seed=0,1,2 makes them."
        )
    labels = _labels({entry.name for of in rows.values() for entry in of})
    looks = {label: (f"C{k % 10}", _MARKERS[k % len(_MARKERS)]) for k, label in enumerate(sorted({*labels.values()}))}
    figure, frames = pyplot.subplots(len(rows), len(METRICS), figsize=(9, 3.4 * len(rows) + 0.8), squeeze=False)
    for (networks, of), row in zip(rows.items(), frames, strict=True):
        for metric, frame in zip(METRICS, row, strict=True):
            _frame(frame, {replace(entry, name=labels[entry.name]): of[entry] for entry in of}, metric, looks)
            frame.set_title(f"{TITLES[metric]}: {_where(networks)}", size=9)
    handles: dict[str, Any] = {}
    for frame in frames.flat:
        handles |= dict(zip(*reversed(frame.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles, loc="lower center", ncols=min(5, len(handles)), fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.1 / len(rows), 1, 1))
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(beside(target), format=target.suffix[1:], dpi=150, metadata={_DATES[target.suffix]: None})
    beside(target).replace(target)
    pyplot.close(figure)


def _labels(names: Collection[str]) -> dict[str, str]:
    """Return what each row is called: a model by its name and, where it has several rows, by what they differ in.

    Not by its networks, which stand above the frames.
    """
    settings: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for name in names:
        model, *rest = name.split(" · ")
        words = ",".join(rest).split(",")
        settings[model][name] = [word for word in words if not word.startswith("networks=")]
    labels = {}
    for model, of in settings.items():
        for name, words in of.items():
            own = [word for word in words if not all(word in others for others in of.values())]
            labels[name] = f"{model} ({', '.join(own)})" if own else model
    return labels


def _where(networks: tuple[str, ...]) -> str:
    """Return the names of a few networks; of more their number, and the size that they share."""
    if len(networks) < 4:
        return ", ".join(networks)
    scales = {SCALES[network] for network in networks}
    return f"{len(networks)} {scales.pop() if len(scales) == 1 else ''} networks".replace("  ", " ")


def _frame(frame: Any, of: Mapping[Entry, Seeds], metric: str, looks: Mapping[str, tuple[str, str]]) -> None:
    lines: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    levels: dict[str, float] = {}
    for entry, seeds in of.items():
        mean, half = metric_of(seeds, metric)
        if entry.samples is None or entry.role == "baseline":
            levels[entry.name] = mean
        else:
            lines[entry.name].append((entry.samples, mean, half or 0.0))
    # Whoever draws edges at random has an SHD at which nobody could tell the others apart.
    top = 1.4 * max((mean + half for points in lines.values() for _, mean, half in points), default=1.0) or 1.0
    for name, level in levels.items():
        frame.axhline(level, color=looks[name][0], linestyle="--", linewidth=1, label=name)
    above = [f"{name} {level:,.0f}" for name, level in levels.items() if level > top]
    frame.text(
        0.98, 0.97, "\n".join(f"{text} ↑" for text in above), size=7, ha="right", va="top", transform=frame.transAxes
    )
    for name, points in sorted(lines.items()):
        colour, marker = looks[name]
        samples, means, halves = zip(*sorted(points), strict=True)
        frame.errorbar(
            samples, means, halves, color=colour, marker=marker, markersize=4, linewidth=1.2, elinewidth=0.6,
            capsize=2, label=name,
        )  # fmt: skip
    frame.set_xscale("log")
    ticks = sorted({samples for points in lines.values() for samples, _, _ in points})
    frame.set_xticks(ticks, [f"{tick:,}" for tick in ticks], size=8)
    frame.minorticks_off()
    room = 1 + 0.07 * len(above)  # for their names
    frame.set_ylim(0, room * max([top / 1.3, *(1.15 * level for level in levels.values() if level <= top)]))
    frame.tick_params(axis="y", labelsize=8)
    frame.set_xlabel("samples", size=8)
