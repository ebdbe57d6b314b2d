"""task=corr2cause/pairs: matched pairs of claims, alike in all that is counted, of which one follows and one does not.

A rule that sees only what is matched says the same of both halves: it never has both right, and is at chance. The index
that ships (tools/pairs.py made it) holds which claims are matched; labels and texts are made when an item is asked for.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import chain, count, islice
from typing import Annotated, ClassVar, Literal, NamedTuple

from harness.causal.relations import Relation
from harness.codec import permuted, shuffled, uniform
from harness.errors import ConfigError, DataError
from harness.scoring.means import MeanRow, scores_of_means
from harness.scoring.summary import summarize
from harness.scoring.tally import counted, together
from harness.tasks.base import Count, LazyItems, OneOrMore, in_brackets
from harness.tasks.corr2cause.arguments import SYMMETRIC
from harness.tasks.corr2cause.claim import Claim, Page
from harness.tasks.corr2cause.fresh.blocks import ORDERED, PHRASINGS, names, page
from harness.tasks.corr2cause.fresh.task import MadeAnew, Sizes
from harness.tasks.corr2cause.shortcut import CLAIMS
from harness.tasks.data_files import shipped, shipped_digest
from harness.types import JSON, Item, Metric, Record, Result, Scores, Unreadable, replace

Matching = Literal["counts", "strict"]
FILE = "corr2cause/pairs.npz"
FLOOR = "corr2cause/pairs_floor.json"


class Half(NamedTuple):
    """A claim of one kind: class `number`, variables i and j."""

    number: int
    i: int
    j: int


class Pair(NamedTuple):
    """Two claims that are matched: one that follows, and one that does not."""

    n: int
    kind: Relation
    yes: Half
    no: Half


@cache
def floors(name: str) -> dict[str, tuple[float, float]]:
    """Return what counting reaches on a list, by kind of claim: tools/pair_trees.py measured it on pairs not fitted.

    The first number is the percentage of pairs with both halves right, the second that of halves.
    """
    return {kind: tuple(of) for kind, of in json.loads(shipped(FLOOR)).get(name, {}).items()}


@cache
def index(name: str) -> tuple[Pair, ...]:
    """Return the pairs of a list: counts, strict, and of one premise counts_same and strict_same.

    A row of the file holds n, the kind's place in CLAIMS, and of the half that follows and of the other one the class
    and the two variables.
    """
    import numpy as np

    with np.load(io.BytesIO(shipped(FILE)), allow_pickle=False) as lists:
        rows = lists[name].tolist()
    return tuple(Pair(n, CLAIMS[kind], Half(*of[:3]), Half(*of[3:])) for n, kind, *of in rows)


_WORDS: Mapping[Relation, tuple[Relation, ...]] = {
    Relation.PARENT: (Relation.PARENT, Relation.CHILD),
    Relation.ANCESTOR: (Relation.ANCESTOR, Relation.DESCENDANT),
    Relation.COLLIDER: (Relation.COLLIDER,),
    Relation.CONFOUNDER: (Relation.CONFOUNDER,),
}
"""How a kind of claim can be called."""
_TURNED = (Relation.CHILD, Relation.DESCENDANT)

_MEASURES = ("pair_accuracy", "yes_missed", "no_missed", "both_missed")
_LEFT_OUT = ("f1", "precision", "recall")
"""Of an even number of each label accuracy says it, and the missed halves say the rest."""


@dataclass(frozen=True)
class Pairs(MadeAnew):
    """The task; configs/task/corr2cause/pairs.yaml says what each setting means."""

    num_nodes: Sizes = (6, 7)
    relations: Annotated[tuple[Relation, ...] | None, OneOrMore] = None
    matching: Matching = "counts"
    same_premise: bool = False
    limit: Count | None = field(default=1000, kw_only=True)

    draw_size: ClassVar[int] = 2
    """How many consecutive items, from the first on, make one independent draw: a pair."""

    def __post_init__(self) -> None:
        """Refuse half a pair."""
        if self.limit is not None and self.limit % 2:
            raise ConfigError(f"task.limit={self.limit} counts items, two for each pair: use {self.limit + 1}.")

    @property
    def data(self) -> Mapping[str, JSON]:
        """The digest of the index."""
        return {"index": shipped_digest(FILE)}

    @property
    def remarks(self) -> Sequence[str]:
        """Say what counting reaches on pairs of these kinds, where somebody has measured it."""
        there = {pair.kind for _, pair in self._pairs}
        reached = [f"{kind} {both:g}" for kind, (both, _) in floors(self._list).items() if kind in there]
        return [f"Counting alone has both halves right in % of such pairs: {', '.join(reached)}; chance: 25."] * bool(
            reached
        )

    def items(self) -> Iterable[Item]:
        """Return the halves, two and two: kinds and sizes in turn, so that a smaller limit begins a larger one."""
        chosen = self._pairs
        return LazyItems(lambda: chain.from_iterable(self._items(*pair) for pair in chosen), 2 * len(chosen))

    @property
    def _list(self) -> str:
        return f"{self.matching}_same" if self.same_premise else self.matching

    @cached_property
    def _pairs(self) -> list[tuple[Relation, Pair]]:
        """Return the pairs in a drawn order, with the relation that their hypotheses name."""
        most = None if self.limit is None else self.limit // 2
        strata: dict[tuple[int, Relation], list[Pair]] = defaultdict(list)
        for pair in index(self._list):
            if pair.n in self.num_nodes:
                strata[pair.n, pair.kind].append(pair)
        places = []
        for (n, kind), pairs in strata.items():
            words = [word for word in _WORDS[kind] if self.relations is None or word in self.relations]
            order = permuted(len(pairs) if words else 0, self.seed, "pairs", n, kind)
            for turn, place in enumerate(islice(order, most)):
                lot = uniform(self.seed, "turn", turn, n, kind)
                places.append((turn, lot, words[turn % len(words)], pairs[place]))
        if not places:
            raise ConfigError(
                f"no pair is left: none has task.relations={in_brackets(self.relations)}, "
                f"task.num_nodes={in_brackets(self.num_nodes)}, task.matching={self.matching} and "
                f"task.same_premise={str(self.same_premise).lower()}."
            )
        return [(word, pair) for _, _, word, pair in sorted(places)][:most]

    def _items(self, relation: Relation, pair: Pair) -> Iterator[Item]:
        """Yield both halves of a pair, in a drawn order, in the words of one table."""
        halves = (pair.yes, pair.no)
        name = "+".join(f"n{pair.n}-g{number}" for number in sorted({half.number for half in halves}))
        paraphrased = uniform(self.seed, "phrasing", name) < 1 / 2
        claims = [self._claim(relation, pair.n, half) for half in halves]
        groups = {"phrasing": PHRASINGS[paraphrased], **claims[0].argument}
        together = [claims] if self.same_premise else [[claim] for claim in claims]
        pages = [page_ for of in together for page_ in [self._page(of)] * len(of)]
        for claim, page_, label in shuffled(list(zip(claims, pages, (1, 0), strict=True)), self.seed, "halves", name):
            item = page_.item(claim, paraphrased=paraphrased)
            if item.labels != {self.headline: label}:
                raise DataError(f"the index of pairs says {label} of {item.id}: it is not of this version.")
            yield replace(item, cluster=name, groups={**item.groups, **groups})

    def _claim(self, relation: Relation, n: int, half: Half) -> Claim:
        i, j = half.i, half.j
        turned = uniform(self.seed, "arguments", n, half.number, i, j) < 1 / 2
        if relation in _TURNED or (relation in SYMMETRIC and turned):
            i, j = j, i
        return Claim(n, half.number, relation, i, j)

    def _page(self, claims: Sequence[Claim]) -> Page:
        """Return the premise of some claims under names of its own, its variables in a drawn order."""
        n, number, relation = claims[0].n, claims[0].number, claims[0].relation
        key = (self.seed, "pairs", n, number)
        for draw in count():
            place = tuple(shuffled(range(n), *key, "places", draw))
            if relation not in ORDERED or _in_order(claims, place):
                return page(n, number, place, names(self.names, n, *key))
        raise AssertionError

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores of halves and of pairs; no pair counts of which a call failed, or a half is missing."""
        rows: list[MeanRow] = []
        pairs = together(records, lambda record: record.cluster, lambda halves: len(halves) == 2)
        halves = chain.from_iterable(counted(pairs, partial(self._add, rows)))
        result = summarize(halves, headline=self.headline, orders=self.orders, unreadable=self.unreadable)
        means = scores_of_means(rows, (*_MEASURES, "lowest", "highest"), self.orders)
        scores = {
            breakdown: {group: _with_pairs(row, means.get(breakdown, {}).get(group)) for group, row in of.items()}
            for breakdown, of in result.scores[self.headline].items()
        }
        return replace(result, scores={**result.scores, self.headline: scores})

    def _add(self, rows: list[MeanRow], records: Sequence[Record]) -> None:
        if len(records) == 2:
            no, yes = sorted(records, key=lambda record: record.labels[self.headline])
            rows.append(_row(yes, *(_outcome(half, self.headline, self.unreadable) for half in (yes, no))))


def _in_order(claims: Sequence[Claim], place: Sequence[int]) -> bool:
    """Test whether a premise lists the first variable of each claim before the second; if that can be, of both."""
    (first, *_), last = claims, claims[-1]
    opposite = (first.i, first.j) == (last.j, last.i)
    return opposite or all(place[claim.i] < place[claim.j] for claim in claims)


State = Literal["read", "unreadable", "failed"]


def _outcome(record: Record, headline: str, unreadable: Unreadable) -> tuple[State, bool]:
    """Return what became of a half, and whether it is right."""
    gold, answer = record.labels[headline], record.answer
    if answer is None:
        return "failed", False
    if answer.label is None:
        return "unreadable", unreadable == "no" and not gold
    return "read", answer.label == gold


def _row(record: Record, yes: tuple[State, bool], no: tuple[State, bool]) -> MeanRow:
    """Return what a pair adds to the means over pairs; `record` is of its half that follows."""
    state = next(state for state in ("failed", "unreadable", "read") if state in (yes[0], no[0]))
    outcomes = (yes[1] and no[1], no[1] > yes[1], yes[1] > no[1], not (yes[1] or no[1]))
    values = {} if state == "failed" else dict(zip(_MEASURES, map(float, outcomes), strict=True))
    values["lowest"] = float(all(half == ("read", True) for half in (yes, no)))
    values["highest"] = float(all(half != ("read", False) for half in (yes, no)))
    return MeanRow(record.cluster, "", tuple(record.groups.items()), False, state, values)


def _with_pairs(row: Scores, pairs: Scores | None) -> Scores:
    """Return a row of halves with the metrics of its pairs before its own."""
    if pairs is None:
        return row
    lowest, highest = pairs["lowest"], pairs["highest"]
    bounds = None if lowest is None or highest is None or not row.unreadable + row.failed else (lowest, highest)
    metrics = [metric for metric in pairs.metrics if metric.name in _MEASURES]
    first = Metric(metrics[0].name, metrics[0].value, metrics[0].interval, metrics[0].no_interval, bounds)
    return replace(row, metrics=(first, *metrics[1:], *(m for m in row.metrics if m.name not in _LEFT_OUT)))
