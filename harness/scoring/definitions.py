"""What each metric is, said once: tables, charts, the page, comparisons and exports ask its definition.

A metric of a plug-in is one more definition (`harness.plugin.Plugin.metrics`); of one that nobody defines, `definition`
takes it for a share of which more is better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from harness.plugin import load, plugins

if TYPE_CHECKING:
    from harness.types import Scores

Numbers = Any
"""A count, or an array of counts (numpy, floats)."""
OfCounts = Callable[[Numbers, Numbers, Numbers, Numbers], tuple[Numbers, ...]]
"""A function of how many answers are right and wrong: true positives, false positives, false negatives, true
negatives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDefinition:
    """A metric: what it is called, how it is shown, and what its interval is made of."""

    name: str
    """As results have it."""
    title: str
    """As readers see it."""
    unit: Literal["percent", "number", "count"] = "percent"
    """How it is shown: a share in percent, a number as it is, or a count, which has decimals only in means."""
    decimals: int = 2
    best: Literal["high", "low"] | None = "high"
    """The good end; None where neither is: such a metric is never marked as best, nor exported as a score."""
    limits: tuple[float, float | None] = (0, 1)
    """The least and the greatest value that it can have; None where there is no greatest."""
    lead: Literal["first", "second", ""] = ""
    """Whether runs that have it are ranked by it, or by it where the first is the same: F1, then accuracy. `compare`
    takes the first where nothing else is said."""
    shown: bool = True
    """Whether tables and the page have it, or result.json alone."""
    in_heat_maps: bool = False
    made_of: Literal["counts", "probabilities", "items", ""] = ""
    """What resamples of clusters make it anew from: counts of right and wrong answers, probabilities of Yes, or one
    number of each item, whose mean it is; "" where its task makes the interval."""
    of_counts: OfCounts | None = None
    """Numerator and denominator, where it is made of counts; undefined where the denominator is 0."""
    rests_on: OfCounts | None = None
    """The sums that have to be above 0 for it to be defined. It has an interval where each is in enough clusters. Only
    where the metric is no ratio of sums over clusters: that of such a ratio is its denominator."""

    def sums(self, *counts: Numbers) -> tuple[Numbers, ...]:
        assert self.of_counts is not None
        return self.rests_on(*counts) if self.rests_on else self.of_counts(*counts)[1:]


def _of_counts(name: str, title: str, of_counts: OfCounts, **more: Any) -> MetricDefinition:
    return MetricDefinition(name=name, title=title, in_heat_maps=True, made_of="counts", of_counts=of_counts, **more)


def _distance(name: str, title: str, **more: Any) -> MetricDefinition:
    return MetricDefinition(name=name, title=title, unit="count", best="low", limits=(0, None), **more)


def _neither(name: str, title: str, **more: Any) -> MetricDefinition:
    return MetricDefinition(name=name, title=title, best=None, **more)


_DEGREE: dict[str, Any] = {"unit": "count", "limits": (0, None)}
_LEFT_OUT: dict[str, Any] = {"shown": False}
"""Tables of all metrics would be too wide."""

OWN = (
    _of_counts("f1", "F1", lambda tp, fp, fn, tn: (2 * tp, 2 * tp + fp + fn), lead="first"),
    MetricDefinition(name="macro_f1", title="macro F1", lead="first", in_heat_maps=True),
    _of_counts("precision", "precision", lambda tp, fp, fn, tn: (tp, tp + fp)),
    _of_counts("recall", "recall", lambda tp, fp, fn, tn: (tp, tp + fn)),
    _of_counts("accuracy", "accuracy", lambda tp, fp, fn, tn: (tp + tn, tp + fp + fn + tn), lead="second"),
    MetricDefinition(name="auroc", title="AUROC", made_of="probabilities"),
    MetricDefinition(name="average_precision", title="avg. precision", made_of="probabilities"),
    MetricDefinition(name="brier", title="Brier", unit="number", decimals=4, best="low", made_of="probabilities"),
    _neither("longest_chain", "longest chain", unit="count", decimals=0, limits=(0, None)),
    _distance("shd", "SHD"),
    _distance("sid", "SID"),
    _distance("shd_closure", "SHD to the closure", **_LEFT_OUT),
    _distance("sid_closure", "SID to the closure", **_LEFT_OUT),
    _neither("density", "density"),
    _neither("average_in_degree", "average in-degree", **_DEGREE, **_LEFT_OUT),
    _neither("average_out_degree", "average out-degree", **_DEGREE, **_LEFT_OUT),
    _neither("acyclic", "acyclic"),
    MetricDefinition(name="cell_accuracy", title="cell accuracy", lead="second", in_heat_maps=True),
    _distance("cell_shd", "cell SHD"),
    _distance("parent_set_errors", "parent set errors"),
    _neither("cell_density", "cell density"),
    _neither("degree", "degree", **_DEGREE),
    _neither("yes", "Yes"),
    _neither("chance", "chance F1"),
    MetricDefinition(name="pair_accuracy", title="both right", lead="first", in_heat_maps=True),
    MetricDefinition(name="yes_missed", title="only Yes missed", best="low"),
    MetricDefinition(name="no_missed", title="only No missed", best="low"),
    MetricDefinition(name="both_missed", title="both missed", best="low"),
)
"""The metrics of this package, in the order in which tables have them.

The last four are of pairs of a claim that follows and one that does not: 25% of both right by chance, 0% where both get
the same answer; only Yes is missed where both were called No.
"""


@cache
def definitions() -> Mapping[str, MetricDefinition]:
    """Return all metrics by name, those of plug-ins last."""
    added = [load(path) for plugin in plugins() for path in plugin.metrics]
    return {metric.name: metric for metric in (*OWN, *added)}


def definition(name: str) -> MetricDefinition:
    """Return what a metric is; a share that goes by its name, where nobody defines it."""
    return definitions().get(name) or MetricDefinition(name=name, title=name)


def of_counts() -> list[MetricDefinition]:
    return [metric for metric in definitions().values() if metric.made_of == "counts"]


def leading_first(names: Iterable[str]) -> list[str]:
    """Return metrics in the order of tables, but first those that runs are ranked by."""
    there = set(names)
    known = [metric for metric in definitions().values() if metric.name in there]
    return [metric.name for metric in sorted(known, key=lambda metric: metric.lead != "first")]


def main_metrics(scores: Scores) -> tuple[str, str]:
    """Return the two metrics of a row that runs are ranked by: F1 and accuracy where it has none that lead."""
    names = {metric.name for metric in scores.metrics}
    there = [metric for name, metric in definitions().items() if name in names]
    first = next((metric.name for metric in there if metric.lead == "first"), "f1")
    return first, next((metric.name for metric in there if metric.lead == "second"), "accuracy")
