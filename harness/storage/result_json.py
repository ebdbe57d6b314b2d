"""A result as JSON and back: what result.json holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from harness.scoring import bootstrap
from harness.storage.forms import Amount, Finite, Open, Pair, Part, PlaceForm, Whole, checked, form_of
from harness.types import JSON, LETTERS, Judged, Metric, Result, Scores, Usage

_COUNTS = ("items", "positives", "unreadable", "failed")
_FLAT = tuple(name for name in Scores.__struct_fields__ if name != "metrics")
"""What a row of scores holds besides its metrics,"""
_OF_METRICS: Mapping[str, Any] = {"no_interval": dict[str, list[str]]} | dict.fromkeys(
    ("intervals", "bounds", "firm"), dict[str, Pair]
)
"""and what it holds of them, by their names. All but the counts is left out where it is empty."""
_BESIDE = frozenset((*_FLAT, *_OF_METRICS))
_NOT_IN_FILE = ("files", "unreadable")


class CostForm(Open):
    """What a run's answers cost."""

    usd: Amount | None
    answers_without_cost: Whole
    answers: Whole = 0
    price: str | None = None


class _WholeResult(Open):
    def __post_init__(self: Any) -> None:
        """Raise ValueError where there are no scores of all items, or more choices than letters."""
        if "all" not in self.scores.get(self.headline, {}).get("overall", {}):
            raise ValueError(f"there are no scores of {self.headline!r:.80}")
        if self.choices and len(self.choices) > len(LETTERS):
            raise ValueError("a question has no more choices than letters")


_Usage = form_of(Usage, without=("usd",))
_Row = form_of(Scores, without=("metrics",), more=_OF_METRICS)
_Judged = form_of(Judged, also={"replies": Whole}, more={"cost": CostForm | None}, Usage=_Usage, Scores=Part)
ResultForm = form_of(
    Result,
    without=_NOT_IN_FILE,
    more={"run": PlaceForm, "complete": bool, "interval": Part, "cost": CostForm | None},
    base=_WholeResult,
    Usage=_Usage,
    Judged=_Judged,
    Scores=Part,  # read row by row, as most of a row is metrics by their names
)
"""result.json: a result, and what only its run knows."""


def result_json(result: Result) -> dict[str, Any]:
    """Return a result as JSON; metrics by name, as fractions, null where undefined; what is empty is left out."""
    parts = {part: _plain(getattr(result, part)) for part in _PARTS}
    parts["interval"] = {"level": bootstrap.LEVEL, "method": bootstrap.METHOD, "seed": bootstrap.SEED}
    return {name: parts[name] for name in _ORDER if parts[name] or name in _ALWAYS}


_PARTS = tuple(name for name in Result.__struct_fields__ if name not in _NOT_IN_FILE)
_HEAD, _TAIL = ("headline", "choices", "clusters", "interval", "failures", "finish_reasons"), ("usage", "scores")
_ORDER = (*_HEAD, *(part for part in _PARTS if part not in (*_HEAD, *_TAIL)), *_TAIL)
_ALWAYS = ("headline", "clusters", "failures", "finish_reasons", "usage", "scores")


def _plain(value: Any) -> Any:
    """Return a part of a result as JSON."""
    if isinstance(value, Scores):
        return _row_json(value)
    if isinstance(value, Usage):
        return {name: count for name, count in structs.asdict(value).items() if count is not None}
    if isinstance(value, Judged):
        parts = {name: _plain(getattr(value, name)) for name in Judged.__struct_fields__}
        parts = {
            name: part for name, part in parts.items() if part or name not in ("not_words", "audit", "audit_failures")
        }
        return {"model": parts.pop("model"), "replies": value.replies, **parts}
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return list(value) if isinstance(value, tuple) else value


def result_from_json(content: Mapping[str, Any]) -> Result:
    """Return the result that `result_json` wrote. Raises ValueError for everything else."""
    checked(content, ResultForm)
    parts = {part: content[part] for part in _PARTS if part in content}
    parts["usage"] = Usage(**content["usage"])
    parts["scores"] = {
        label_set: {
            breakdown: {
                group: _row_from_json(row, f".scores.{label_set}.{breakdown}.{group}") for group, row in groups.items()
            }
            for breakdown, groups in breakdowns.items()
        }
        for label_set, breakdowns in content["scores"].items()
    }
    if "judge" in content:
        judge = {name: content["judge"][name] for name in Judged.__struct_fields__ if name in content["judge"]}
        without = _row_from_json(judge["without"], ".judge.without")
        parts["judge"] = Judged(**judge | {"usage": Usage(**judge["usage"]), "without": without})
    return Result(**parts | {name: tuple(parts[name]) for name in ("notes", "choices") if name in parts})


def counts(result: Result) -> dict[str, JSON]:
    """Return the counts of a result that the manifest holds: items, failures, names under which the server answered."""
    overall = result.overall
    return {
        "items": overall.items,
        "clusters": result.clusters,
        "unreadable": overall.unreadable,
        "failures": dict(result.failures),
        "finish_reasons": dict(result.finish_reasons),
        "served_models": dict(result.served_models),
    }


def _row_json(row: Scores) -> dict[str, Any]:
    """Return a row: counts and metrics flat, intervals and bounds by metric, metrics without interval by reason."""
    without: dict[str, list[str]] = {}
    for metric in row.metrics:
        if metric.no_interval:
            without.setdefault(metric.no_interval, []).append(metric.name)
    beside = {
        **{name: _plain(getattr(row, name)) for name in _FLAT if name not in _COUNTS},
        "intervals": {metric.name: list(metric.interval) for metric in row.metrics if metric.interval},
        "no_interval": without,
        "bounds": {metric.name: list(metric.bounds) for metric in row.metrics if metric.bounds},
        "firm": {metric.name: list(metric.firm) for metric in row.metrics if metric.firm},
    }
    return {
        **{name: getattr(row, name) for name in _COUNTS},
        **{metric.name: metric.value for metric in row.metrics},
        **{name: value for name, value in beside.items() if value},
    }


def _row_from_json(row: Mapping[str, Any], at: str) -> Scores:
    checked({name: value for name, value in row.items() if name in _BESIDE}, _Row, at)
    values = {name: value for name, value in row.items() if name not in _BESIDE}
    checked(values, dict[str, Finite | None], at)
    intervals, bounds, firm = (
        {name: (low, high) for name, (low, high) in row.get(part, {}).items()}
        for part in ("intervals", "bounds", "firm")
    )
    reasons = {name: reason for reason, names in row.get("no_interval", {}).items() for name in names}
    metrics = tuple(
        Metric(name, value, intervals.get(name), reasons.get(name, ""), bounds.get(name), firm.get(name))
        for name, value in values.items()
    )
    return Scores(**{name: row[name] for name in _FLAT if name in row}, metrics=metrics)
