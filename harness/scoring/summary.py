"""Records into a Result: one pass, counts per label set, breakdown and group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from harness.errors import DataError
from harness.scoring.classification import AnswerCounts, decisions, probabilities
from harness.scoring.intervals import intervals, with_intervals
from harness.scoring.replies import cut_off
from harness.scoring.tally import Tally
from harness.types import TOKENS, Failure, Metric, Record, Result, Scores, Unreadable, Usage

Key = tuple[str, str, str]
"""(label set, breakdown, group)"""
Kind = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, str], ...], str]
"""(labels, groups, reading)"""
Member = tuple[Kind, int, int]
"""(a kind of record, its gold label, the place among the fields of AnswerCounts that it adds to)"""
WHO = ("served_models", "providers", "system_fingerprints")
"""The parts of a result that say who answered: names that stood in the replies, and how often each."""


def summarize(
    records: Iterable[Record],
    *,
    headline: str,
    orders: Mapping[str, Sequence[str]],
    unreadable: Unreadable,
    crossed: Sequence[tuple[str, str]] = (),
    within: Callable[[Record], str] | None = None,
    unit: str = "",
) -> Result:
    """Score the records overall and in every breakdown, under every label set that all of them have.

    `orders` gives the order of a breakdown's groups; others follow in alphabetical order. Two breakdowns that are
    `crossed` make one more, called a/b. Intervals are over clusters; in a row of one cluster over what `within` gives
    for each record, called `unit`. Memory grows with the number of kinds of records in each cluster and, for models
    that give probabilities, by two numbers an item.
    """
    tally: Tally[Kind] = Tally()
    totals = OutcomeCounts()
    for record in records:
        totals.add(record)
        _add(tally, record, within)
    kinds = tally.kinds
    members = _members(kinds, crossed)
    keys = sorted(members, key=lambda key: (key[0] != headline, key[0], key[1] != "overall", _rank(key, orders)))
    row_data_by_key = {key: tally.row_data(members[key], parts=within is not None) for key in keys}
    ranges = intervals({key: row_data for key, (row_data, _) in row_data_by_key.items()}, unreadable=unreadable)
    scores: dict[str, dict[str, dict[str, Scores]]] = {}
    for key, (row_data, by_part) in row_data_by_key.items():
        label_set, breakdown, group = key
        counts = _counts(kinds, members[key])
        metrics = decisions(counts, unreadable=unreadable) + _probable(tally, members[key])
        scores.setdefault(label_set, {}).setdefault(breakdown, {})[group] = Scores(
            counts.items,
            counts.positives,
            counts.unreadable,
            counts.failed,
            with_intervals(metrics, ranges[key]),
            clusters=len(row_data),
            unit=unit if by_part else "",
            resamples=row_data.resamples,
            cut_off=sum(kinds[kind] for kind, _, _ in members[key] if kind[2] == "cut_off"),
            confusion=counts.confusion,
        )
    if not kinds:
        scores = {headline: {"overall": {"all": Scores(0, 0, 0, 0, decisions(AnswerCounts(), unreadable=unreadable))}}}
    return Result(headline, scores, tally.clusters, **totals.parts(), unreadable=unreadable)


def _add(tally: Tally[Kind], record: Record, within: Callable[[Record], str] | None) -> None:
    p_yes = None if record.answer is None else record.answer.probability
    kind = tuple(record.labels.items()), tuple(record.groups.items()), _reading(record)
    tally.add(kind, record.cluster, within(record) if within else "", () if p_yes is None else (p_yes,))


class OutcomeCounts:
    """Counts over outcomes of all but their answers: failures, finish reasons, tokens, models."""

    def __init__(self) -> None:
        self.failures: Counter[str] = Counter()
        self.finish_reasons: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.served: Counter[tuple[str, str, str]] = Counter()

    def add(self, record: Record) -> None:
        """Count the outcome of a record."""
        if isinstance(outcome := record.outcome, Failure):
            self.failures[outcome.kind] += 1
            return
        self.served[outcome.served_model, outcome.provider, outcome.system_fingerprint] += 1
        if outcome.finish_reason:
            self.finish_reasons[outcome.finish_reason] += 1
        if outcome.usage != _NOTHING:
            for name in TOKENS:
                count = getattr(outcome.usage, name)
                if count is not None:
                    self.tokens[name] += count

    def parts(self) -> dict[str, Any]:
        """Return the parts of a result that do not depend on what was answered, by their names.

        Names are in alphabetical order: records come in any.
        """
        usage = Usage(**{name: self.tokens.get(name) for name in TOKENS})
        who = {part: self._names(place) for place, part in enumerate(WHO)}
        failures, reasons = (dict(sorted(counts.items())) for counts in (self.failures, self.finish_reasons))
        return {"failures": failures, "finish_reasons": reasons, "usage": usage, **who}

    def _names(self, place: int) -> dict[str, int]:
        """Return how often each name stands in the replies, in one of the places of WHO."""
        counts: Counter[str] = Counter()
        for names, count in self.served.items():
            counts[names[place]] += count
        return {name: count for name, count in sorted(counts.items()) if name}


def _members(kinds: Mapping[Kind, int], crossed: Sequence[tuple[str, str]]) -> dict[Key, list[Member]]:
    """Return what each row of the result counts; `kinds` says how many records there are of each.

    A label set that only some items have is left out: it would score another set of items.
    """
    members: dict[Key, list[Member]] = defaultdict(list)
    having: Counter[str] = Counter()
    for kind, count in kinds.items():
        labels, groups, reading = kind
        for label_set, gold in labels:
            having[label_set] += count
            for breakdown, group in _breakdowns(groups, crossed):
                members[label_set, breakdown, group].append((kind, gold, _place(reading, gold)))
    return {key: members_of_row for key, members_of_row in members.items() if having[key[0]] == sum(kinds.values())}


def _counts(kinds: Mapping[Kind, int], members: Sequence[Member]) -> AnswerCounts:
    numbers = [0] * len(_FIELDS)
    for kind, _, place in members:
        numbers[place] += kinds[kind]
    return AnswerCounts(*numbers)


def _probable(tally: Tally[Kind], members: Sequence[Member]) -> tuple[Metric, ...]:
    """Return the metrics of probabilities, where one record at least has one."""
    if not any(map(tally.numbers, tally.kinds)):
        return ()
    import numpy as np

    p_yes = np.concatenate([np.array(tally.numbers(kind), dtype=np.float64) for kind, _, _ in members])
    gold = np.repeat([gold for _, gold, _ in members], [len(tally.numbers(kind)) for kind, _, _ in members])
    order = np.lexsort((gold, p_yes))  # floats add up to another last digit in another order
    return probabilities(gold[order], p_yes[order])


def _breakdowns(groups: Sequence[tuple[str, str]], crossed: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    yield "overall", "all"
    yield from groups
    group_of = dict(groups)
    for first, second in crossed:
        if first in group_of and second in group_of:
            yield f"{first}/{second}", f"{group_of[first]}/{group_of[second]}"


def count_field(record: Record, gold: int) -> str:
    """Return the field of AnswerCounts that a record adds to: of one with choices, as if Yes were the right one."""
    label = record.answer.label if record.answer is not None else None
    if max(gold, label or 0) > 1:
        reading = _reading(record) if label is None else "yes" if label == gold else "no"
        return _FIELDS[_PLACES[reading, 1]]
    return _FIELDS[_PLACES[_reading(record), gold]]


_FIELDS = tuple(f.name for f in fields(AnswerCounts))
_PLACES = {
    (reading, gold): _FIELDS.index(name)
    for (reading, gold), name in {
        ("yes", 1): "tp",
        ("yes", 0): "fp",
        ("no", 1): "fn",
        ("no", 0): "tn",
        ("unreadable", 1): "unreadable_positive",
        ("unreadable", 0): "unreadable_negative",
        ("cut_off", 1): "unreadable_positive",
        ("cut_off", 0): "unreadable_negative",
        ("failed", 1): "failed_positive",
        ("failed", 0): "failed_negative",
    }.items()
}
"""The place among the fields of AnswerCounts that a reading adds to, by gold label."""


def _place(reading: str, gold: int) -> int:
    if (place := _PLACES.get((reading, gold))) is None:
        raise DataError(f"a record has the label {gold}; of questions of Yes and No it is 0 or 1.")
    return place


def _reading(record: Record) -> str:
    if record.answer is None:
        return "failed"
    if record.answer.label is None:
        return "cut_off" if cut_off(record) else "unreadable"
    return "yes" if record.answer.label else "no"


_NOTHING = Usage()


def _rank(key: Key, orders: Mapping[str, Sequence[str]]) -> tuple[list[str], int, str]:
    _, breakdown, group = key
    order = list(orders.get(breakdown, ()))
    place = list(orders).index(breakdown) if breakdown in orders else len(orders)
    return [f"{place:03}", breakdown], order.index(group) if group in order else len(order), group
