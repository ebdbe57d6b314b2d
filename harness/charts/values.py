"""A chart as a value, the same for the page and for the figures of a paper, and the marks of runs in charts.

What the body of a chart has, by its kind; every row has run, label and role besides:

    scores       metric; rows: value, interval, items, clusters
    heat         breakdown, metrics, columns (group, title, items, positives); rows: cells, each None or
                 items, positives, and by metric values and intervals
    confusion    rows: counts (tp, fp, fn, tn, and positives and negatives that were unreadable or failed)
    robustness, names, directness    metric, steps; rows: points, each None or run, value, interval
    cost         metric, unit (USD or tokens); rows: x (of 1,000 items), value, interval
    scale        metric, networks (name, nodes, edges, scale); rows: values, intervals
    reliability  source (probability or stated); rows: bins, ece, and error and brier with their intervals

Values are fractions or None where undefined, intervals [low, high] or None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.types import JSON, Role


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart of some runs."""

    kind: str
    id: str
    """Unique, and the same whatever other results there are, such as corr2cause/perturbation=paraphrase/scores/f1."""
    task: str
    heading: str
    """How its runs differ from the task's others, as above the leaderboard's tables; mostly nothing."""
    title: str
    notes: Sequence[str]
    """Sentences that belong below it."""
    body: Mapping[str, JSON]

    @property
    def rows(self) -> list[dict[str, JSON]]:
        rows: list[dict[str, JSON]] = self.body["rows"]
        return rows


def points_of(row: Mapping[str, JSON]) -> list[tuple[float | None, list[float] | None]]:
    """Return the values and intervals of a row of scores, of steps or of networks; None where there is none."""
    if "points" in row:
        return [(point["value"], point["interval"]) if point else (None, None) for point in row["points"]]
    if "values" in row:
        return list(zip(row["values"], row["intervals"], strict=True))
    return [(row["value"], row["interval"])]


def as_json(chart: Chart) -> dict[str, JSON]:
    names = ("kind", "id", "task", "heading", "title")
    return {name: getattr(chart, name) for name in names} | {"notes": list(chart.notes), **chart.body}


@dataclass(frozen=True)
class Mark:
    """How a role is marked; its shape tells it apart for those who do not see colours."""

    title: str
    colour: Literal["blue", "grey", "green", "orange"]
    """Its name: paper and the page's themes have their own shade of each."""
    shape: Literal["disc", "square", "diamond", "triangle"]
    open: bool = False
    """Whether the mark is an outline."""


MARKS: dict[Role, Mark] = {
    "model": Mark("model", "blue", "disc"),
    "baseline": Mark("baseline", "grey", "square", open=True),
    "solver": Mark("exact solver", "green", "diamond"),
    "algorithm": Mark("algorithm on data", "orange", "triangle"),
    "cheat": Mark("cheat", "grey", "diamond", open=True),
}
"""In the order of legends."""


def marks_json() -> dict[str, Any]:
    return {role: asdict(mark) for role, mark in MARKS.items()}
