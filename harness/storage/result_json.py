"""A result as JSON and back: what result.json holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, convert

from harness.codec import as_json, set_fields
from harness.scoring import bootstrap
from harness.storage.manifest import Place
from harness.types import JSON, LETTERS, Amount, Judged, Result, Scores, Tally

_COUNTS = ("items", "positives", "unreadable", "failed")
_OF_METRICS = {"interval": "intervals", "bounds": "bounds", "firm": "firm"}
"""What a row holds of its metrics, by their names, beside their values and why some have no interval."""
_BESIDE = frozenset((*Scores.__struct_fields__, *_OF_METRICS.values(), "no_interval"))
_HEAD, _TAIL = ("headline", "choices", "clusters", "interval", "failures", "finish_reasons"), ("usage", "scores")
_NOT_IN_FILE = ("files", "unreadable")


class Cost(Struct):
    """What a run's answers cost."""

    usd: Amount | None
    answers_without_cost: Tally
    answers: Tally = 0
    price: str | None = None


class OfRun(Struct):
    """What only the run knows of its result."""

    run: Place
    complete: bool
    interval: Mapping[str, JSON] = {}
    cost: Cost | None = None


def result_json(result: Result) -> dict[str, Any]:
    """Return a result as JSON; metrics by name, as fractions, null where undefined; what is empty is left out."""
    parts = {name: as_json(part, _OWN) for name, part in set_fields(result).items() if name not in _NOT_IN_FILE}
    parts["interval"] = {"level": bootstrap.LEVEL, "method": bootstrap.METHOD, "seed": bootstrap.SEED}
    others = (name for name in parts if name not in (*_HEAD, *_TAIL))
    return {name: parts[name] for name in (*_HEAD, *others, *_TAIL) if name in parts}


def _judged_json(judged: Judged) -> dict[str, Any]:
    parts = {name: as_json(part, _OWN) for name, part in set_fields(judged).items()}
    return {"model": parts.pop("model"), "replies": judged.replies, **parts}


def _row_json(row: Scores) -> dict[str, Any]:
    """Return a row: counts and metrics flat, intervals and bounds by metric, metrics without interval by reason."""
    without: dict[str, list[str]] = {}
    for metric in row.metrics:
        if metric.no_interval:
            without.setdefault(metric.no_interval, []).append(metric.name)
    beside = {
        **{name: as_json(part) for name, part in set_fields(row).items() if name not in (*_COUNTS, "metrics")},
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


_OWN: Mapping[type, Callable[[Any], Any]] = {Scores: _row_json, Judged: _judged_json}


def result_from_json(content: Mapping[str, Any]) -> Result:
    """Return the result that `result_json` wrote. Raises ValueError for everything else."""
    parts = {name: content[name] for name in Result.__struct_fields__ if name in content and name not in _NOT_IN_FILE}
    try:
        parts["scores"] = {
            label_set: {of: {group: _row(row) for group, row in rows.items()} for of, rows in breakdowns.items()}
            for label_set, breakdowns in content["scores"].items()
        }
        if "judge" in content:
            judge = {name: part for name, part in content["judge"].items() if name not in ("replies", "cost")}
            parts["judge"] = judge | {"without": _row(judge["without"])}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"its scores have another form ({error})") from None
    result = convert(parts, Result)
    if "all" not in result.scores.get(result.headline, {}).get("overall", {}):
        raise ValueError(f"there are no scores of {result.headline!r:.80}")
    if len(result.choices) > len(LETTERS):
        raise ValueError("a question has no more choices than letters")
    return result


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the file with the fields of `Scores`."""
    reasons = {name: reason for reason, names in row.get("no_interval", {}).items() for name in names}
    metrics = [
        {"name": name, "value": value, "no_interval": reasons.get(name, "")}
        | {part: row.get(at, {}).get(name) for part, at in _OF_METRICS.items()}
        for name, value in row.items()
        if name not in _BESIDE
    ]
    return {name: row[name] for name in Scores.__struct_fields__ if name in row} | {"metrics": metrics}


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
