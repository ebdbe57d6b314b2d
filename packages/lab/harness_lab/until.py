"""A model that is asked until enough is known of it, however often one looks (harness_lab.sequences).

What is estimated is the score that a run of all items would have, which the settings name. They are asked in whole
clusters in random order. A cluster counts when the answers to all its items and to those of all before it are there:
fast answers would be no random sample. So the same answers always lead to the same interval, in whatever order they
land.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import length_hint
from pathlib import Path

from harness.codec import uniform
from harness.errors import ConfigError, DataError
from harness.protocols import Task
from harness.runtime.signals import STOP
from harness.scoring.definitions import definition, definitions, main_metrics
from harness.scoring.samples import vote
from harness.scoring.summary import count_field
from harness.storage.runs import load
from harness.tasks.check import CheckedItems
from harness.types import Item, Record, Unreadable
from harness_lab import sequences
from harness_lab.sequences import DIFFERENCES, RatioSequence

Outcome = int | None
"""Of an item: the place among true and false positives, false and true negatives; None for a failed call."""
_PLACES = {"tp": 0, "fp": 1, "fn": 2, "tn": 3, "unreadable_positive": 2}
MOST_ITEMS = 50_000
"""All are made before the first is asked, as their order is random."""


class Order:
    """The items that a task's settings name, a whole cluster a draw, in random order.

    So no draw is of another difficulty than those before, whatever order the task gives its items in.
    """

    def __init__(self, task: Task, seed: object) -> None:
        self.task, self._seed = task, seed

    @cached_property
    def draws(self) -> Sequence[Sequence[Item]]:
        """The items cluster by cluster. Raises ConfigError where they are too many."""
        if length_hint(self.task.items()) > MOST_ITEMS:
            raise ConfigError(
                f"items are asked in random order, so all are made first, {MOST_ITEMS:,} at most: add task.limit=…. "
                "The interval is then of what a run with this limit asks."
            )
        by_name: dict[str, list[Item]] = defaultdict(list)
        for item in CheckedItems(self.task):
            by_name[item.cluster].append(item)
        return [by_name[name] for name in sorted(by_name, key=lambda name: (uniform(self._seed, "until", name), name))]

    @cached_property
    def size(self) -> int:
        """How many items the largest draw has."""
        return max(map(len, self.draws))

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(self.draws)

    def __len__(self) -> int:
        return sum(map(len, self.draws))


class OtherRun:
    """A finished run that a model is to be better or worse than."""

    def __init__(self, folder: Path) -> None:
        """Read its records. Raises DataError for a run that is not whole."""
        run = load(folder)
        if not run.sound or run.records_file is None:
            raise DataError(f"against={folder} is no complete run with its records.")
        self.name, self._folder = run.model, folder
        by_item: dict[str, list[Record]] = defaultdict(list)
        for record in run.records():
            by_item[record.item].append(record)
        self._votes = {name: vote(records) for name, records in by_item.items()}

    def records(self, items: Sequence[Item]) -> Sequence[Record]:
        """Return its record of each item. Raises DataError where it has none."""
        for item in items:
            if item.id not in self._votes or self._votes[item.id].labels != item.labels:
                raise DataError(f"{self._folder} has no answer to the item {item.id}: it is of other items.")
        return [self._votes[item.id] for item in items]


@dataclass(frozen=True)
class Until:
    """What is asked for: an interval of a number that is no wider than `width`, or a decision against another run."""

    order: Order
    metric: str
    unreadable: Unreadable
    width: float | None = None
    """As a fraction."""
    against: OtherRun | None = None

    def outcomes(self, records: Sequence[Record]) -> list[Outcome]:
        """Return how the records of a draw count, as the headline counts them."""
        fields = [count_field(record, record.labels[self.order.task.headline]) for record in records]
        places = {**_PLACES, "unreadable_negative": 3 if self.unreadable == "no" else 1}
        outcomes = [places.get(name) for name in fields]
        if self.metric != "pair_accuracy":
            return outcomes
        return [None if None in outcomes else 0 if all(place in (0, 3) for place in outcomes) else 1]


def metric_of(name: str | None, order: Order, *, decides: bool) -> tuple[str, Unreadable]:
    """Return the number that is looked at, and how unreadable replies count. Raises ConfigError.

    Without a name it is the task's first number, or accuracy where it `decides` between two runs.
    """
    empty = order.task.summarize(())
    metric = name or ("accuracy" if decides else main_metrics(empty.overall)[0])
    has = {metric.name for metric in empty.overall.metrics} | {*DIFFERENCES} - {"accuracy"}
    can = [known for known in definitions() if sequences.components(known)]
    can = [known for known in dict.fromkeys([*can, *DIFFERENCES]) if known in has]
    can = [known for known in can if known in DIFFERENCES] if decides else can
    if metric not in can:
        raise ConfigError(f"this is not known of {definition(metric).title}: metric={' | '.join(can)} are.")
    several = any(label > 1 for item in order for label in item.labels.values())
    if several and metric not in ("accuracy", "pair_accuracy"):
        raise ConfigError(f"{definition(metric).title} is not of questions with choices: add metric=accuracy.")
    return metric, empty.unreadable


class Estimate:
    """What is known after some draws: the interval of the number, or of the difference, and the decision."""

    def __init__(self, until: Until, grid: int = sequences.GRID) -> None:
        self._until = until
        self._ratios = sequences.components(until.metric)
        size = 1 if until.metric == "pair_accuracy" else until.order.size
        self._sequences = [
            RatioSequence(
                ratio if until.against is None else sequences.PAIRED,
                size,
                alpha=sequences.ALPHA / len(self._ratios),
                aim=None if until.width is None else until.width / 2,
                draws=len(until.order.draws),
                grid=grid,
            )
            for ratio in self._ratios
        ]

    def add(self, draw: Sequence[Item], records: Sequence[Record]) -> None:
        """Enter the records of a draw's items, one of each."""
        against, own = self._until.against, self._until.outcomes(records)
        others = None if against is None else self._until.outcomes(against.records(draw))
        for ratio, sequence in zip(self._ratios, self._sequences, strict=True):
            a = b = 0.0
            for place, other in zip(own, others or [0] * len(own), strict=True):
                if place is None or other is None:
                    continue  # a failed call: in no metric, and in no difference
                a += ratio[place][0] if others is None else (ratio[place][1] + ratio[place][0] - ratio[other][0]) / 2
                b += ratio[place][1]
            sequence.add(a, b)

    def _mean(self, values: Iterable[float]) -> float:
        mean = sum(values) / len(self._sequences)
        return 2 * mean - 1 if self._until.against is not None else mean

    @property
    def interval(self) -> tuple[float, float]:
        """The interval that holds the number, or the difference, at all times at once."""
        low, high = self._mean(s.low for s in self._sequences), self._mean(s.high for s in self._sequences)
        return round(low, 6), round(high, 6)

    @property
    def value(self) -> float | None:
        """The number, or the difference, of the draws so far."""
        values = [sequence.value for sequence in self._sequences]
        return None if None in values else round(self._mean(value for value in values if value is not None), 6)

    @property
    def decision(self) -> str:
        """What is known: "narrow enough", "better", "worse", "equal" of all that there is, or ""."""
        low, high = self.interval
        if self._until.width is not None:
            return "narrow enough" if high - low <= self._until.width + 1e-9 else ""
        if self._sequences[0].exhausted:
            value = self.value or 0.0
            return "equal" if abs(value) < 1e-6 else "better" if value > 0 else "worse"
        if low >= 0 and any(sequence.raised for sequence in self._sequences):
            return "better"
        return "worse" if high <= 0 and any(sequence.lowered for sequence in self._sequences) else ""


class Looks:
    """A look after each draw whose answers are all there; nothing more is asked after the decision."""

    def __init__(self, until: Until, samples: int = 1) -> None:
        self._until, self._samples = until, samples
        self.estimate = Estimate(until)
        self.decision = ""
        self.draws = self.items = 0
        """Looked at."""
        self._open: deque[Sequence[Item]] = deque()

    def asked(self) -> Iterator[Item]:
        """Yield the items in the order in which they are asked."""
        for draw in self._until.order.draws:
            if self.decision:
                return
            self._open.append(draw)
            yield from draw

    def follow(self, landing: Iterable[Record]) -> None:
        """Take in records as they land. Once all is decided, the end is asked for as Ctrl-C asks for it."""
        waiting: dict[str, list[Record]] = defaultdict(list)
        for record in landing:
            waiting[record.item].append(record)
            while self._open and not self.decision and self._whole(self._open[0], waiting):
                draw = self._open.popleft()
                self.draws, self.items = self.draws + 1, self.items + len(draw)
                self.estimate.add(draw, [vote(waiting.pop(item.id)) for item in draw])
                self.decision = self.estimate.decision
                STOP.requested = STOP.requested or bool(self.decision)

    def _whole(self, draw: Sequence[Item], waiting: dict[str, list[Record]]) -> bool:
        return all(len(waiting.get(item.id, ())) == self._samples for item in draw)
