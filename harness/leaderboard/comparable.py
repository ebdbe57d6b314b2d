"""Runs that may stand side by side: complete, with the same items and the same headline labels."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.leaderboard.headings import heading_of, variants_text
from harness.leaderboard.rows import Row
from harness.scoring.definitions import definition, main_metrics
from harness.tables.numbers import COUNTS

NAMES = ("model", "prompt", "variant", "folder")


@dataclass(frozen=True)
class ComparableRuns:
    """Runs of one task that may stand side by side."""

    heading: str
    """What is special about them, in words; nothing for the default settings where there are no others."""
    settings: str
    """The same as folders and manifests have it."""
    rows: Sequence[Row]
    """In their order in tables."""


def comparable_sets(rows: Sequence[Row], sort: str | None = None) -> list[ComparableRuns]:
    """Return the complete runs of one task in sets that are never mixed, the default settings first."""
    sets: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.complete:
            sets[row.result.headline, items_of(row)].append(row)
    ordered = sorted(
        sets.values(), key=lambda members: (min(row.variant != "default" for row in members), _differing(members))
    )
    several = len({headline for headline, _ in sets}) > 1
    headings = [heading_of(members, labels=several) for members in ordered]
    shared = Counter(headings)
    result = []
    for heading, members in zip(headings, ordered, strict=True):
        if len(sets) == 1 and all(row.variant == "default" for row in members):
            heading = ""
        elif shared[heading] > 1:
            heading = f"{heading}; {items_text(members[0])}"
        settings = f"{variants_text(members)}; {items_text(members[0])}" if heading else ""
        result.append(ComparableRuns(heading, settings, sorted(members, key=lambda row: sort_key(row, sort))))
    return result


def items_of(row: Row) -> str:
    """Return what tells a run's items from others'. Without a manifest, as many items are the same items."""
    return row.items or str(row.result.overall.items)


def items_text(row: Row) -> str:
    """Return in words which items a run has."""
    item_set = f"item set {row.items[:8]}" if row.items else "item set not known"
    return f"{row.result.overall.items:,} items, {item_set}"


def _differing(rows: Sequence[Row]) -> tuple[str, ...]:
    return (*sorted({row.variant for row in rows}), rows[0].result.headline, rows[0].items or "")


def sort_key(row: Row, sort: str | None = None) -> tuple[float | str, ...]:
    """Return what rows are sorted by: the `sort` column, then F1 and accuracy, best first; undefined values last."""
    overall = row.result.overall
    merits = (_best_first(name, overall[name]) for name in main_metrics(overall))
    rest: tuple[float | str, ...] = (*merits, row.model, row.variant, row.prompt)
    if sort is None:
        return rest
    if sort in NAMES:
        return (str(getattr(row, sort)), *rest)
    value = getattr(overall, sort) if sort in COUNTS else overall[sort]
    if value is None:
        return (1.0, 0.0, *rest)
    return (0.0, _best_first(sort, value), *rest)


def _best_first(metric: str, value: float | None) -> float:
    """Return what sorts the best values of a metric first, undefined ones last."""
    low_is_good = definition(metric).best == "low"
    if value is None:
        return math.inf if low_is_good else 1.0
    return value if low_is_good else -value
