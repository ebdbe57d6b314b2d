"""Two runs item by item: what they share, by which labels they count, where their answers differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import ConfigError, DataError, unknown
from harness.scoring.definitions import definition
from harness.scoring.samples import votes
from harness.scoring.summary import OVERALL, rows_of
from harness.scoring.tally import Group, Tally, named_units, unordered
from harness.storage.find import below
from harness.storage.replies import Reply, ReplyReader, reply_of
from harness.storage.runs import Run

if TYPE_CHECKING:
    from harness.compare.difference import Cells

Kind = tuple[tuple[Group, ...], int]
"""(groups, 4 · gold + 2 · first run's answer + second run's)"""
LEAST = 0.5
"""The share of the smaller run's items that both have to have."""


@dataclass(frozen=True)
class Replies:
    """The replies of one run."""

    run: Run
    by_item: Mapping[str, Reply]
    """In the order of the file."""

    @property
    def path(self) -> Path:
        return self.run.folder

    @property
    def label_sets(self) -> list[str]:
        """Return the label sets that each item has."""
        sets = [[name for name, _ in labels] for labels in {reply.labels for reply in self.by_item.values()}]
        return [name for name in sets[0] if all(name in other for other in sets)] if sets else []


class Loader:
    """Makes the replies of runs, from what `read` remembers: a page sets each run beside several others."""

    def __init__(self, read: ReplyReader | None = None) -> None:
        self._read = read or ReplyReader()

    def __call__(self, run: Run) -> Replies:
        """Return the replies of a run by item, of several to an item their vote. Raises DataError."""
        if run.manifest_error:
            raise run.manifest_error
        shared: dict[Any, Any] = {}
        replies: Iterable[Reply] = self._read.of(run) if run.samples == 1 else ()
        if run.samples > 1:
            replies = (reply_of(vote, shared) for vote in votes(run.records(), run.samples))
        if any(definition(metric.name).made_of == "items" for metric in run.result.overall.metrics):
            raise DataError(
                f"{run.folder} has scores that are means over items: only right and wrong answers are compared."
            )
        return Replies(run, {reply.item: reply for reply in replies})


def one_run(folder: str) -> Run:
    """Return the one run in or below a folder. Raises ConfigError where there are several, and as `below` does."""
    runs = [run for run, _ in below([folder]).values()]
    if len(runs) > 1:
        raise ConfigError(f"{folder} holds {len(runs):,} runs: give the folder of one, such as {runs[0].folder}.")
    return runs[0]


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
    """Items that only one run has records of."""
    failed: int = 0
    """Items that both have and at least one failed."""
    unreadable: list[int] = field(default_factory=lambda: [0, 0])
    """Replies of each run that could not be read."""
    differing: list[tuple[int, Reply, Reply]] = field(default_factory=list)
    """The items that the two answered differently: the gold label, and both replies."""
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
    both = [(reply, second.by_item[item]) for item, reply in first.by_item.items() if item in second.by_item]
    pairing.first_only, pairing.second_only = len(first.by_item) - len(both), len(second.by_item) - len(both)
    if not both or len(both) < LEAST * min(len(first.by_item), len(second.by_item)):
        raise DataError(
            f"{first.path} and {second.path} share {len(both):,} items of {len(first.by_item):,} and "
            f"{len(second.by_item):,}: too few to pair. Both need the same split and sample (items pair by their ids)."
        )
    gold_of = [dict(a.labels)[pairing.labels] for a, _ in both]
    others = [a.item for gold, (a, b) in zip(gold_of, both, strict=True) if gold != dict(b.labels)[pairing.labels]]
    if others:
        raise DataError(
            f"{len(others):,} of {len(both):,} shared items have another {pairing.labels} label in {second.path} "
            f"than in {first.path}, such as {others[0]}: choose other labels=."
        )
    breakdowns = {name for groups in {a.groups for a, _ in both} for name, _ in groups}
    for name in by:
        if name not in breakdowns:
            raise ConfigError(unknown("breakdown", name, breakdowns))
    for gold, (a, b) in zip(gold_of, both, strict=True):
        if a.failed or b.failed:
            pairing.failed += 1
            continue
        pairing.shared += 1
        if a.answer != b.answer:
            pairing.differing.append((gold, a, b))
        # Of several choices right or wrong, as if Yes were right.
        kind = 1 if first.run.result.choices or max(gold, a.answer or 0, b.answer or 0) > 1 else gold
        cell = 4 * kind
        for place, (reply, run) in enumerate(((a, first.run), (b, second.run))):
            pairing.unreadable[place] += reply.answer is None
            cell += (2 - place) * (_right(reply, gold, run) == kind)
        groups = tuple(group for group in a.groups if group[0] in by)
        pairing.tally.add((groups, cell), a.cluster, unordered(a.unit))
    if not pairing.shared:
        raise DataError(f"{first.path} and {second.path} have no item that both answered: {pairing.failed:,} failed.")
    return pairing


def _labels(first: Replies, second: Replies, labels: str | None) -> str:
    """Return the label set that both are scored by. Raises ConfigError where they share none."""
    common = [name for name in first.label_sets if name in second.label_sets]
    headline, other = first.run.result.headline, second.run.result.headline
    if labels is None and common and headline != other:
        raise ConfigError(
            f"{first.path} is scored by {headline} labels, {second.path} by {other}: choose one with labels= "
            f"({', '.join(common)})."
        )
    if (chosen := labels or headline) not in common:
        raise ConfigError(unknown("label set that both runs have", chosen, common))
    return chosen


def _right(reply: Reply, gold: int, run: Run) -> bool:
    """Return whether an answer scores as right: one that could not be read as the run's task has it count."""
    if reply.answer is None:
        return run.unreadable_is_no and not gold and not run.result.choices
    return reply.answer == gold
