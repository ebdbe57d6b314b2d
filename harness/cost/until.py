"""`until=`: a run that stops when it knows enough, however often it has looked (harness.scoring.sequences).

Items are asked in an order in which whole draws come at random. A draw counts when the answers to all its items and to
those of all draws before it are there: fast answers would be no random sample. The records of a run that has stopped so
are those of the draws that counted, no others, so that the same answers always make the same run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from operator import length_hint
from typing import Literal

from harness.codec import uniform
from harness.errors import ConfigError
from harness.protocols import Drawn, Task
from harness.scoring import sequences
from harness.scoring.sequences import ALPHA, DIFFERENCES, RatioSequence
from harness.scoring.summary import count_field
from harness.tasks.check import CheckedItems
from harness.types import JSON, Item, Record, Unreadable

Outcome = int | None
"""Of an item: the place among true and false positives, false and true negatives; None for a failed call."""
_PLACES = {"tp": 0, "fp": 1, "fn": 2, "tn": 3, "unreadable_positive": 2}
_RULE = re.compile(r"width:(\d+(?:\.\d+)?)|decided")
LEAST_WIDTH, MOST_WIDTH = 0.2, 90.0
"""Percentage points; the grid on which an interval is computed has steps of 0.1."""
MOST_ITEMS = 1_000_000


@dataclass(frozen=True)
class Rule:
    """When a run knows enough."""

    kind: Literal["width", "decided"]
    width: float | None = None
    """As a fraction."""

    @classmethod
    def of(cls, words: str) -> Rule:
        """Return the rule in the words of the setting. Raises ConfigError for any others."""
        match = _RULE.fullmatch(words.strip())
        if match is None:
            raise ConfigError(
                f"until={words}: write until=width:5 (stop when the interval is at most 5 points wide), or "
                "until=decided until.against=RUN (stop when it is better or worse than a run, or than always_no)."
            )
        if match[1] is None:
            return cls("decided")
        if not LEAST_WIDTH <= (points := float(match[1])) <= MOST_WIDTH:
            raise ConfigError(
                f"until={words}: a width is {LEAST_WIDTH:g} to {MOST_WIDTH:g} percentage points, such as until=width:5."
            )
        return cls("width", points / 100)

    def __str__(self) -> str:
        return self.kind if self.width is None else f"width:{100 * self.width:g}"


@dataclass(frozen=True)
class Against:
    """What a run is to be better or worse than."""

    name: str
    identity: Mapping[str, JSON]
    records: Callable[[Sequence[Item]], Sequence[Record]]
    """Returns its records of some items. Raises DataError where it has none."""


BEST = Against("the best run before it", {"best": "of its sweep"}, lambda items: ())
"""In a sweep, until the run begins: which one it is, nobody knows before."""


class Order:
    """The items of a task as independent draws in random order."""

    def __init__(self, task: Task, seed: object) -> None:
        """Take the items of a task. Raises ConfigError for more than can be held."""
        self.task, self._seed = task, seed
        self.drawn = task.draw_size if isinstance(task, Drawn) else None
        """How many items a draw has where the task gives them in independent draws of a large population."""

    @cached_property
    def _clusters(self) -> Sequence[Sequence[Item]]:
        if length_hint(self.task.items()) > MOST_ITEMS:
            raise ConfigError(f"until= asks in random order, and holds {MOST_ITEMS:,} items at most: add task.limit=….")
        by_name: dict[str, list[Item]] = defaultdict(list)
        for item in CheckedItems(self.task):
            by_name[item.cluster].append(item)
        return [by_name[name] for name in sorted(by_name, key=lambda name: (uniform(self._seed, "until", name), name))]

    def draws(self) -> Iterator[Sequence[Item]]:
        """Yield the items draw by draw, in the same order at every call."""
        if self.drawn is None:
            yield from self._clusters
            return
        items = iter(CheckedItems(self.task))
        while draw := tuple(islice(items, self.drawn)):
            yield draw

    def items(self) -> Iterator[Item]:
        return chain.from_iterable(self.draws())

    @property
    def number(self) -> int | None:
        """How many draws there are; None where they do not use up what they are drawn from."""
        return len(self._clusters) if self.drawn is None else None

    @property
    def size(self) -> int:
        """How many items the largest draw has."""
        return self.drawn or max(map(len, self._clusters))

    def __iter__(self) -> Iterator[Item]:
        return self.items()

    def __length_hint__(self) -> int:
        return length_hint(self.task.items()) if self.drawn is not None else sum(map(len, self._clusters))


@dataclass(frozen=True)
class Until:
    """The rule of a run: what stops it, and by which number."""

    rule: Rule
    metric: str
    order: Order
    unreadable: Unreadable
    against: Against | None = None
    alpha: float = ALPHA
    beaten_only: bool = False
    """Whether only a run that is worse stops: in a sweep, the best one is asked everything."""
    by: str = ""
    """The metric, where it is not the task's first."""

    @property
    def configuration(self) -> dict[str, JSON]:
        """What of it decides which items are asked."""
        against = {} if self.against is None else {"against": dict(self.against.identity)}
        against = {"against": dict(BEST.identity)} if self.beaten_only else against
        return {"rule": str(self.rule), "metric": self.metric, **against}

    @property
    def words(self) -> str:
        """It in a name of a variant."""
        against = ""
        if self.against is not None and not self.beaten_only:
            identity = self.against.identity
            against = f"-{self.against.name}{'-' * ('result' in identity)}{identity.get('result', '')[:8]}"
        return f"{self.rule}{against}{f'-{self.by}' if self.by else ''}"

    @property
    def paired(self) -> bool:
        """Whether it is decided by the differences of single items, rather than by a number known beforehand."""
        return self.against not in (None, BEST) and self.metric in DIFFERENCES

    def outcomes(self, records: Sequence[Record]) -> list[Outcome]:
        """Return how each record counts, as the headline counts it."""
        fields = [count_field(record, record.labels[self.order.task.headline]) for record in records]
        places = {**_PLACES, "unreadable_negative": 3 if self.unreadable == "no" else 1}
        outcomes = [places.get(name) for name in fields]
        if self.metric != "pair_accuracy":
            return outcomes
        return [None if None in outcomes else 0 if all(place in (0, 3) for place in outcomes) else 1]

    @cached_property
    def target(self) -> float | None:
        """The other run's own number, where the decision is not by differences."""
        if self.against is None or self.paired or self.against is BEST:
            return None
        sums = [0.0, 0.0]
        (ratio,) = sequences.components(self.metric)
        for draw in self.order.draws():
            for place in self.outcomes(self.against.records(draw)):
                if place is not None:
                    sums = [total + part for total, part in zip(sums, ratio[place], strict=True)]
        return sums[0] / sums[1] if sums[1] else 0.0

    def estimate(self, grid: int = sequences.GRID) -> Estimate:
        return Estimate(self, grid)


class Estimate:
    """What is known after some draws: the interval of the number, or of the difference, and the decision."""

    def __init__(self, until: Until, grid: int = sequences.GRID) -> None:
        self._until = until
        ratios = sequences.components(until.metric)
        self._ratios, order = ratios, until.order
        aim = None if until.rule.width is None else until.rule.width / 2
        size = 1 if until.metric == "pair_accuracy" else order.size
        self.sequences = [
            RatioSequence(
                sequences.PAIRED if until.paired else ratio,
                size,
                alpha=until.alpha / len(ratios),
                aim=aim,
                draws=order.number,
                at=0.5 if until.target is None else min(max(until.target, 0.0), 1.0),
                grid=grid,
            )
            for ratio in ratios
        ]

    def add(self, draw: Sequence[Item], records: Sequence[Record]) -> None:
        """Enter the records of a draw's items."""
        against = self._until.against
        others = against.records(draw) if against is not None and self._until.paired else None
        self.enter(self._until.outcomes(records), None if others is None else self._until.outcomes(others))

    def enter(self, own: Sequence[Outcome], others: Sequence[Outcome] | None) -> None:
        """Enter a draw by its outcomes, and those of the run that it is compared with."""
        for ratio, sequence in zip(self._ratios, self.sequences, strict=True):
            a = b = 0.0
            for place, other in zip(own, others or [0] * len(own), strict=True):
                if place is None or other is None:
                    continue  # a failed call: in no metric, and in no difference
                a += ratio[place][0] if others is None else (ratio[place][1] + ratio[place][0] - ratio[other][0]) / 2
                b += ratio[place][1]
            sequence.add(a, b)

    def _mean(self, values: Iterable[float]) -> float:
        mean = sum(values) / len(self.sequences)
        return 2 * mean - 1 if self._until.paired else mean

    @property
    def interval(self) -> tuple[float, float]:
        """The interval that holds the number, or the difference, at all times at once."""
        low, high = self._mean(s.low for s in self.sequences), self._mean(s.high for s in self.sequences)
        return round(low, 6), round(high, 6)

    @property
    def width(self) -> float:
        low, high = self.interval
        return high - low

    @property
    def value(self) -> float | None:
        """The number, or the difference, of the draws so far."""
        values = [sequence.value for sequence in self.sequences]
        return None if None in values else round(self._mean(value for value in values if value is not None), 6)

    @property
    def exhausted(self) -> bool:
        return self.sequences[0].exhausted

    @property
    def decision(self) -> str:
        """What is known: "narrow enough", "better", "worse", "equal" of all that there is, or ""."""
        low, high = self.interval
        if self._until.rule.width is not None:
            return "narrow enough" if high - low <= self._until.rule.width + 1e-9 else ""
        if self._until.against is BEST:
            return ""  # the first of a sweep
        bar = self._until.target or 0.0
        if self.exhausted:
            value = self.value or 0.0
            return "equal" if abs(value - bar) < 1e-6 else "better" if value > bar else "worse"
        if low >= bar and any(sequence.raised for sequence in self.sequences):
            return "better"
        return "worse" if high <= bar and any(sequence.lowered for sequence in self.sequences) else ""
