"""Two runs item by item: what they share, by which labels they count, where their answers differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.compare.runs import Replies, Reply
from harness.errors import ConfigError, DataError, unknown
from harness.scoring.significance import McNemar
from harness.scoring.units import unordered

if TYPE_CHECKING:
    from harness.scoring.paired import Cells
from harness.types import Unreadable

Group = tuple[str, str]
"""(breakdown, group), as in relation, parent."""
OVERALL: Group = ("overall", "all")


@dataclass(frozen=True, slots=True)
class Differing:
    """An item that the two answered differently; None for what could not be read."""

    item: str
    gold: int
    first: int | None
    second: int | None
    first_span: str
    second_span: str


@dataclass
class Pairing:
    """What two runs have in common."""

    labels: str
    shared: int = 0
    """Items that both answered: those that count."""
    first_only: int = 0
    second_only: int = 0
    """Items that one run has no record of; they count nowhere."""
    failed: int = 0
    """Items that both have, and that failed in one of them at least; they count nowhere."""
    unreadable: tuple[int, int] = (0, 0)
    differing: list[Differing] = field(default_factory=list)
    counts: dict[Group, dict[str, list[int]]] = field(default_factory=dict)
    """Items of each group and cluster, by 4 · gold + 2 · first run's answer + second run's."""
    parts: dict[Group, dict[str, list[int]]] = field(default_factory=dict)
    """The same by parts of clusters: in CausalBench, a network's unordered pairs of variables."""

    def cells(self, group: Group) -> tuple[Cells, str]:
        """The counts of a group, and what its clusters are where they are parts of a single one."""
        import numpy as np

        found, parts = self.counts[group], self.parts.get(group, {})
        if len(found) == 1 and len(parts) > 1:
            return np.array(list(parts.values())).reshape(-1, 2, 2, 2), "pairs of variables"
        return np.array(list(found.values())).reshape(-1, 2, 2, 2), ""


def mcnemar(cells: Cells) -> McNemar:
    """Who was right, over all clusters."""
    table = cells.sum(axis=0)
    right = table[1] + table[0, ::-1, ::-1]  # by whether each was right: No is right where gold is No
    return McNemar(int(right[1, 1]), int(right[1, 0]), int(right[0, 1]), int(right[0, 0]))


def pair(first: Replies, second: Replies, *, by: Sequence[str], labels: str | None, least: float) -> Pairing:
    """Pairs the runs by item. Raises DataError where too little is shared, or where the labels are not the same."""
    found = Pairing(_labels(first, second, labels))
    if first.place and second.place and first.place["task"] != second.place["task"]:
        raise DataError(f"{first.path} is a run of {first.place['task']}, {second.path} of {second.place['task']}.")
    both = [item for item in first.by_item if item in second.by_item]
    found.first_only, found.second_only = len(first.by_item) - len(both), len(second.by_item) - len(both)
    fewer = min(len(first.by_item), len(second.by_item))
    if not both or len(both) < least * fewer:
        raise DataError(
            f"{first.path} and {second.path} share {len(both):,} items of {len(first.by_item):,} and "
            f"{len(second.by_item):,}: too few to pair. Both need the same split and sample"
            + ("; least=0 compares what there is." if both else " (items pair by their ids).")
        )
    disagreeing = _disagreeing(both, first, second, found.labels)
    if disagreeing:
        raise DataError(
            f"{len(disagreeing):,} of {len(both):,} shared items have another {found.labels} label in {second.path} "
            f"than in {first.path}, such as {disagreeing[0]}: choose other labels=."
        )
    _check(by, first)
    counts: dict[Group, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0] * 8))
    parts: dict[Group, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0] * 8))
    unreadable = [0, 0]
    for item in both:
        a, b = first.by_item[item], second.by_item[item]
        if a.failed or b.failed:
            found.failed += 1
            continue
        found.shared += 1
        unreadable[0] += a.answer is None
        unreadable[1] += b.answer is None
        gold = dict(a.labels)[found.labels]
        if a.answer != b.answer:
            found.differing.append(Differing(item, gold, a.answer, b.answer, a.span, b.span))
        cell = 4 * gold + 2 * _counted(a, gold, first.unreadable) + _counted(b, gold, second.unreadable)
        part = unordered(a.unit)
        for group in _groups(a, by):
            counts[group][a.cluster][cell] += 1
            if part:
                parts[group][part][cell] += 1
    if not found.shared:
        raise DataError(f"{first.path} and {second.path} have no item that both answered: {found.failed:,} failed.")
    found.unreadable = unreadable[0], unreadable[1]
    # In the order of the names: what is drawn must not depend on the order in which answers landed.
    found.counts = {group: dict(sorted(clusters.items())) for group, clusters in sorted(counts.items(), key=_overall)}
    found.parts = {group: dict(sorted(clusters.items())) for group, clusters in parts.items()}
    return found


def _overall(entry: tuple[Group, object]) -> tuple[bool, str, int, str]:
    breakdown, group = entry[0]
    return entry[0] != OVERALL, breakdown, int(group) if group.isdecimal() else 0, group


def _labels(first: Replies, second: Replies, chosen: str | None) -> str:
    """The label set that both count by."""
    common = [name for name in first.label_sets if name in second.label_sets]
    if chosen is not None:
        if chosen not in common:
            raise ConfigError(unknown("label set that both runs have", chosen, common))
        return chosen
    if first.headline and second.headline and first.headline != second.headline:
        raise ConfigError(
            f"{first.path} is scored by {first.headline} labels, {second.path} by {second.headline}: choose one with "
            f"labels= ({', '.join(common) or 'they have none in common'})."
        )
    headline = first.headline or second.headline
    if headline in common:
        return headline
    if headline or not common:
        raise DataError(f"{first.path} and {second.path} have no label set in common that all their items have.")
    return common[0]


def _disagreeing(items: Sequence[str], first: Replies, second: Replies, labels: str) -> list[str]:
    same = {}
    found = []
    for item in items:
        key = first.by_item[item].labels, second.by_item[item].labels
        if key not in same:
            same[key] = dict(key[0])[labels] == dict(key[1])[labels]
        if not same[key]:
            found.append(item)
    return found


def _check(by: Sequence[str], run: Replies) -> None:
    known = {name for groups in {reply.groups for reply in run.by_item.values()} for name, _ in groups}
    for name in by:
        if name not in known:
            raise ConfigError(unknown("breakdown", name, known))


def _groups(reply: Reply, by: Sequence[str]) -> Iterator[Group]:
    yield OVERALL
    if by:
        yield from ((name, group) for name, group in reply.groups if name in by)


def _counted(reply: Reply, gold: int, unreadable: Unreadable) -> int:
    """The answer as it scores."""
    if reply.answer is not None:
        return reply.answer
    return 0 if unreadable == "no" else 1 - gold
