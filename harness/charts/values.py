"""The contents of charts, and the marks of runs in them: the same on the page and in figures.

Values are fractions or None where undefined, intervals (low, high) or None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from harness.scoring.probabilities import Bin
from harness.types import Role

Interval = tuple[float, float] | None
Unit = Literal["USD", "tokens"]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """The fields that all kinds of charts have."""

    kind: ClassVar[str]
    id: str
    """Unique, and the same whatever other results there are, such as corr2cause/perturbation=paraphrase/scores/f1."""
    task: str
    heading: str
    """How its runs differ from the task's others, as above the leaderboard's tables; mostly nothing."""
    title: str
    notes: Sequence[str]
    """Sentences that belong below it."""


@dataclass(frozen=True, kw_only=True)
class Ref:
    """The run that a row is of."""

    run: str
    """task/variant/prompt/model, unique among all runs."""
    label: str
    """The model, with what else tells it from the other rows of the chart."""
    role: Role
    family: str


@dataclass(frozen=True, kw_only=True)
class ScoreRow(Ref):
    """A run's value."""

    value: float | None
    interval: Interval
    items: int
    clusters: int


@dataclass(frozen=True, kw_only=True)
class ScoresChart(Chart):
    """The leaderboard with its intervals."""

    kind: ClassVar[str] = "scores"
    metric: str
    rows: Sequence[ScoreRow]


@dataclass(frozen=True, kw_only=True)
class HeatColumn:
    """A group of a breakdown."""

    group: str
    title: str
    items: int
    positives: int


@dataclass(frozen=True, kw_only=True)
class HeatCell:
    """A run's metrics in a group."""

    items: int
    positives: int
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval]


@dataclass(frozen=True, kw_only=True)
class HeatRow(Ref):
    """A run's cells, one for each column; None where it has no such group."""

    cells: Sequence[HeatCell | None]


@dataclass(frozen=True, kw_only=True)
class HeatChart(Chart):
    """Metrics by the groups of a breakdown."""

    kind: ClassVar[str] = "heat"
    breakdown: str
    metrics: Sequence[str]
    columns: Sequence[HeatColumn]
    rows: Sequence[HeatRow]


@dataclass(frozen=True, kw_only=True)
class ConfusionRow(Ref):
    """A run's counts: tp, fp, fn, tn, and positives and negatives that were unreadable or failed."""

    counts: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class ConfusionChart(Chart):
    """What became of the items, run by run."""

    kind: ClassVar[str] = "confusion"
    rows: Sequence[ConfusionRow]


@dataclass(frozen=True, kw_only=True)
class Point:
    """A run's value at one step."""

    run: str
    value: float | None
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class StepsRow(Ref):
    """The runs of a model, one for each step; None where it has no run."""

    points: Sequence[Point | None]


@dataclass(frozen=True, kw_only=True)
class RobustnessChart(Chart):
    """The same questions in other words."""

    kind: ClassVar[str] = "robustness"
    metric: str
    steps: Sequence[str]
    rows: Sequence[StepsRow]


@dataclass(frozen=True, kw_only=True)
class NamesChart(RobustnessChart):
    """The same questions with other names for the variables."""

    kind: ClassVar[str] = "names"


@dataclass(frozen=True, kw_only=True)
class DirectnessChart(RobustnessChart):
    """Questions about pairs that are directly related, and about pairs that are not."""

    kind: ClassVar[str] = "directness"


@dataclass(frozen=True, kw_only=True)
class CostRow(Ref):
    """What 1,000 items took (x), and the score."""

    x: float
    value: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class CostChart(Chart):
    """Cost against score."""

    kind: ClassVar[str] = "cost"
    metric: str
    unit: Unit
    rows: Sequence[CostRow]


@dataclass(frozen=True, kw_only=True)
class NetworkColumn:
    """A network that items are about."""

    name: str
    nodes: int
    edges: int
    scale: str


@dataclass(frozen=True, kw_only=True)
class ScaleRow(Ref):
    """A run's value on each network."""

    values: Sequence[float | None]
    intervals: Sequence[Interval]


@dataclass(frozen=True, kw_only=True)
class ScaleChart(Chart):
    """Score by the size of the network."""

    kind: ClassVar[str] = "scale"
    metric: str
    networks: Sequence[NetworkColumn]
    rows: Sequence[ScaleRow]


@dataclass(frozen=True, kw_only=True)
class ReliabilityRow(Ref):
    """A run's probabilities of Yes in bins, and how far they are from the shares that are Yes, as numbers."""

    bins: Sequence[Bin]
    ece: float
    error: float | None
    error_interval: Interval
    brier: float | None
    brier_interval: Interval


@dataclass(frozen=True, kw_only=True)
class ReliabilityChart(Chart):
    """What was predicted against what is so."""

    kind: ClassVar[str] = "reliability"
    source: Literal["probability", "stated"]
    """Where the probabilities are from: what a model gave, or what its words say of how sure it is."""
    rows: Sequence[ReliabilityRow]


def as_json(chart: Chart) -> dict[str, Any]:
    return {"kind": chart.kind, **_lists_for_tuples(asdict(chart))}


def _lists_for_tuples(value: Any) -> Any:
    """Return the value with lists in place of tuples, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _lists_for_tuples(part) for name, part in value.items()}
    return [_lists_for_tuples(part) for part in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Mark:
    """How a role is marked; its shape tells it apart for those who do not see colours."""

    title: str
    """In legends."""
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
