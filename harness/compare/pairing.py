"""Two runs item by item: what they share, by which labels they count, where their answers differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from harness.compare.runs import Replies
from harness.errors import ConfigError, DataError, unknown
from harness.scoring.summary import OVERALL, rows_of
from harness.scoring.tally import Group, Tally, named_units, unordered
from harness.storage.replies import Reply
from harness.storage.runs import Run

if TYPE_CHECKING:
    from harness.compare.difference import Cells

Kind = tuple[tuple[Group, ...], int]
"""(groups, 4 · gold + 2 · first run's answer + second run's)"""
LEAST = 0.5
"""The share of the smaller run's items that both have to have."""


class Differing(NamedTuple):
    """An item that the two runs answered differently."""

    gold: int
    first: Reply
    second: Reply


@dataclass
class Pairing:
    """What two runs have in common."""

    labels: str
    by: Sequence[str] = ()
    """Breakdowns that are compared, in this order."""
    shared: int = 0
    """Items that both answered: only these are compared."""
    first_only: int = 0
    second_only: int = 0
    """Items that only one run has records of; they are not compared."""
    failed: int = 0
    """Items that both have and at least one failed; they are not compared."""
    unreadable: tuple[int, int] = (0, 0)
    differing: list[Differing] = field(default_factory=list)
    tally: Tally[Kind] = field(default_factory=Tally)
    """The shared items by kind, cluster and unit: in CausalBench an unordered pair of variables."""

    @cached_property
    def rows(self) -> dict[Group, list[Kind]]:
        """The kinds of items in each group that is compared, those of all first."""
        return rows_of(self.tally.kinds, lambda kind: kind[0], dict.fromkeys(self.by, ()))

    def cells(self, group: Group = OVERALL) -> tuple[Cells, str]:
        """Return the counts of a group, and what its rows are if they are parts of a single cluster."""
        import numpy as np

        row = self.tally.row({kind: (kind[1],) for kind in self.rows[group]}, 8, parts=True)
        unit = named_units(self.tally.parts) if row.by_part and len(row.columns) > 1 else ""
        return row.columns.astype(np.int64).reshape(-1, 2, 2, 2), unit


def pair(first: Replies, second: Replies, *, by: Sequence[str], labels: str | None) -> Pairing:
    """Pair two runs by item. Raises DataError where they share too few items, or their labels differ."""
    if first.run.task != second.run.task:
        raise DataError(f"{first.path} is a run of {first.run.task}, {second.path} of {second.run.task}.")
    pairing = Pairing(_labels(first, second, labels), by)
    both = [item for item in first.by_item if item in second.by_item]
    pairing.first_only, pairing.second_only = len(first.by_item) - len(both), len(second.by_item) - len(both)
    fewer = min(len(first.by_item), len(second.by_item))
    if not both or len(both) < LEAST * fewer:
        raise DataError(
            f"{first.path} and {second.path} share {len(both):,} items of {len(first.by_item):,} and "
            f"{len(second.by_item):,}: too few to pair. Both need the same split and sample (items pair by their ids)."
        )
    disagreeing = _disagreeing(both, first, second, pairing.labels)
    if disagreeing:
        raise DataError(
            f"{len(disagreeing):,} of {len(both):,} shared items have another {pairing.labels} label in {second.path} "
            f"than in {first.path}, such as {disagreeing[0]}: choose other labels=."
        )
    _check(by, first)
    unreadable = [0, 0]
    for item in both:
        a, b = first.by_item[item], second.by_item[item]
        if a.failed or b.failed:
            pairing.failed += 1
            continue
        pairing.shared += 1
        unreadable[0] += a.answer is None
        unreadable[1] += b.answer is None
        gold = dict(a.labels)[pairing.labels]
        if a.answer != b.answer:
            pairing.differing.append(Differing(gold, a, b))
        if (
            first.run.result.choices or max(gold, a.answer or 0, b.answer or 0) > 1
        ):  # right or wrong, as if Yes were right
            cell = 4 + 2 * (a.answer == gold) + (b.answer == gold)
        else:
            cell = 4 * gold + 2 * scored_answer(a, gold, first.run) + scored_answer(b, gold, second.run)
        kind = tuple(group for group in a.groups if group[0] in by), cell
        pairing.tally.add(kind, a.cluster, unordered(a.unit))
    if not pairing.shared:
        raise DataError(f"{first.path} and {second.path} have no item that both answered: {pairing.failed:,} failed.")
    pairing.unreadable = unreadable[0], unreadable[1]
    return pairing


def _labels(first: Replies, second: Replies, label_set: str | None) -> str:
    """Return the label set that both are scored by. Raises ConfigError or DataError where they share none."""
    common = [name for name in first.label_sets if name in second.label_sets]
    if label_set is not None and label_set not in common:
        raise ConfigError(unknown("label set that both runs have", label_set, common))
    headline, other = first.run.result.headline, second.run.result.headline
    if label_set is None and common and headline != other:
        raise ConfigError(
            f"{first.path} is scored by {headline} labels, {second.path} by {other}: choose one with labels= "
            f"({', '.join(common)})."
        )
    if (labels := label_set or headline) not in common:
        raise DataError(f"{first.path} and {second.path} have no label set in common that all their items have.")
    return labels


def _disagreeing(items: Sequence[str], first: Replies, second: Replies, labels: str) -> list[str]:
    gold = ((item, first.by_item[item].labels, second.by_item[item].labels) for item in items)
    return [item for item, a, b in gold if a != b and dict(a)[labels] != dict(b)[labels]]


def _check(by: Sequence[str], run: Replies) -> None:
    breakdowns = {name for groups in {reply.groups for reply in run.by_item.values()} for name, _ in groups}
    for name in by:
        if name not in breakdowns:
            raise ConfigError(unknown("breakdown", name, breakdowns))


def scored_answer(reply: Reply, gold: int, run: Run) -> int:
    """Return the answer as it is scored: one that could not be read as the run's task has it count."""
    if reply.answer is not None:
        return reply.answer
    return 0 if run.unreadable_is_no else 1 - gold
