"""Records into a Result: one pass, counts per label set, breakdown and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any, TypeVar

from harness.errors import DataError
from harness.scoring.classification import AnswerCounts, decisions, ratios
from harness.scoring.intervals import ClusterSums, Estimate, Ranking, fraction, ratio_intervals, with_intervals
from harness.scoring.probabilities import probabilities
from harness.scoring.replies import cut_off
from harness.scoring.tally import CountedRow, Tally, counted
from harness.types import TOKENS, Failure, Metric, Record, Result, Scores, Unreadable, Usage

K = TypeVar("K")
Group = tuple[str, str]
"""(breakdown, group)"""
Kind = tuple[tuple[tuple[str, int], ...], tuple[Group, ...], str]
"""(labels, groups, reading)"""
OVERALL: Group = ("overall", "all")
_NAMES = {
    "finish_reasons": "finish_reason",
    "served_models": "served_model",
    "providers": "provider",
    "system_fingerprints": "system_fingerprint",
}
"""The parts of a result that say how often each name stands in the replies, and where it stands."""


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
    for record in counted(records, totals.add):
        p_yes = None if record.answer is None else record.answer.probability
        kind = tuple(record.labels.items()), tuple(record.groups.items()), _reading(record)
        tally.add(kind, record.cluster, within(record) if within else "", () if p_yes is None else (p_yes,))
    scores: dict[str, dict[str, dict[str, Scores]]] = {}
    members = rows_of(tally.kinds, lambda kind: _crossing(kind[1], crossed), orders)
    for label_set in _label_sets(tally.kinds, headline):
        rows = {key: _Row.of(tally, kinds, label_set, within is not None) for key, kinds in members.items()}
        estimates = ratio_intervals([row.table(unreadable) for row in rows.values()])
        for ((breakdown, group), row), of_row in zip(rows.items(), estimates, strict=True):
            of_groups = scores.setdefault(label_set, {}).setdefault(breakdown, {})
            of_groups[group] = row.scores(of_row, unreadable, unit, probable=len(rows[OVERALL].counted.numbers) > 0)
    if not tally.kinds:
        scores = {headline: {"overall": {"all": Scores(0, 0, 0, 0, decisions(AnswerCounts(), unreadable=unreadable))}}}
    return Result(headline, scores, tally.clusters, **totals.parts(), unreadable=unreadable)


def rows_of(
    kinds: Iterable[K], groups: Callable[[K], Iterable[Group]], orders: Mapping[str, Sequence[str]]
) -> dict[Group, list[K]]:
    """Return which kinds of records a row counts: one of all, then breakdowns and groups in the order of `orders`.

    Those that it does not name follow by name, groups that are numbers by size.
    """
    rows: dict[Group, list[K]] = {}
    for kind in kinds:
        for key in (OVERALL, *groups(kind)):
            rows.setdefault(key, []).append(kind)
    return {key: rows[key] for key in sorted(rows, key=lambda key: _rank(key, orders))}


def _rank(key: Group, orders: Mapping[str, Sequence[str]]) -> tuple[object, ...]:
    breakdown, group = key
    names, order = [*orders], [*orders.get(breakdown, ())]
    place = names.index(breakdown) if breakdown in orders else len(names)
    size = float(group) if group.isdecimal() else inf
    return key != OVERALL, place, breakdown, order.index(group) if group in order else len(order), size, group


def _crossing(groups: Sequence[Group], crossed: Sequence[tuple[str, str]]) -> Iterator[Group]:
    """Yield the groups, and those of breakdowns that are crossed."""
    yield from groups
    group_of = dict(groups)
    for first, second in crossed:
        if first in group_of and second in group_of:
            yield f"{first}/{second}", f"{group_of[first]}/{group_of[second]}"


def _label_sets(kinds: Mapping[Kind, int], headline: str) -> list[str]:
    """Return the label sets that all records have, the headline first: another would score another set of items."""
    having: Counter[str] = Counter()
    for (labels, _, _), count in kinds.items():
        having.update(dict.fromkeys(dict(labels), count))
    complete = [name for name, count in having.items() if count == sum(kinds.values())]
    return sorted(complete, key=lambda name: (name != headline, name))


@dataclass(frozen=True)
class _Row:
    """The records of a row, by one label set."""

    counted: CountedRow
    gold: Sequence[int]
    """By the place of a kind."""

    @classmethod
    def of(cls, tally: Tally[Kind], kinds: Sequence[Kind], label_set: str, parts: bool) -> _Row:
        gold = [dict(labels)[label_set] for labels, _, _ in kinds]
        members = {kind: _columns(kind[2], label) for kind, label in zip(kinds, gold, strict=True)}
        return cls(tally.row(members, _CUT_OFF + 1, parts=parts), gold)

    def table(self, unreadable: Unreadable) -> ClusterSums:
        """Return what metrics and intervals are made of."""
        import numpy as np

        row = self.counted
        if not len(row.numbers):
            return ClusterSums(row.columns, ratios(unreadable))
        gold, p_yes = np.array(self.gold)[row.kind], row.numbers[:, 0]
        columns = np.column_stack([row.columns, row.sums((p_yes - gold) ** 2)])
        brier = fraction(_CUT_OFF + 1, _CUT_OFF + 2)
        return ClusterSums(columns, ratios(unreadable) | {"brier": brier}, Ranking(gold, p_yes, row.cluster))

    def scores(self, estimates: Mapping[str, Estimate], unreadable: Unreadable, unit: str, *, probable: bool) -> Scores:
        """Return the row with its intervals; `probable` asks for the metrics of probabilities."""
        *fields_of_counts, cut_off = map(int, self.counted.columns.sum(axis=0))
        counts = AnswerCounts(*fields_of_counts)
        metrics = decisions(counts, unreadable=unreadable) + (self._probabilities() if probable else ())
        return Scores(
            counts.items,
            counts.positives,
            counts.unreadable,
            counts.failed,
            with_intervals(metrics, estimates),
            clusters=len(self.counted.columns),
            unit=unit if self.counted.by_part else "",
            resamples=self.table(unreadable).resamples,
            cut_off=cut_off,
            confusion=counts.confusion,
        )

    def _probabilities(self) -> tuple[Metric, ...]:
        import numpy as np

        gold, p_yes = np.array(self.gold)[self.counted.kind], self.counted.numbers[:, 0]
        order = np.lexsort((gold, p_yes))  # floats add up to another last digit in another order
        return probabilities(gold[order], p_yes[order])


class OutcomeCounts:
    """Counts over outcomes of all but their answers: failures, finish reasons, tokens, who answered."""

    def __init__(self) -> None:
        self._names: dict[str, Counter[str]] = {part: Counter() for part in ("failures", *_NAMES)}
        self._tokens: Counter[str] = Counter()

    def add(self, record: Record) -> None:
        """Count the outcome of a record."""
        if isinstance(outcome := record.outcome, Failure):
            self._names["failures"][outcome.kind] += 1
            return
        for part, name in _NAMES.items():
            self._names[part][getattr(outcome, name)] += 1
        if outcome.usage != _NOTHING:
            for name in TOKENS:
                if (count := getattr(outcome.usage, name)) is not None:
                    self._tokens[name] += count

    def parts(self) -> dict[str, Any]:
        """Return the parts of a result that do not depend on what was answered, by their names.

        Names are in alphabetical order: records come in any.
        """
        names = {
            part: {name: count for name, count in sorted(counts.items()) if name}
            for part, counts in self._names.items()
        }
        return {**names, "usage": Usage(**{name: self._tokens.get(name) for name in TOKENS})}


def count_field(record: Record, gold: int) -> str:
    """Return the field of AnswerCounts that a record adds to: of one with choices, as if Yes were the right one."""
    reading, label = _reading(record), None if record.answer is None else record.answer.label
    if max(gold, label or 0) > 1:
        reading, gold = reading if label is None else "yes" if label == gold else "no", 1
    return _FIELD_OF[reading][gold]


_FIELDS = tuple(f.name for f in fields(AnswerCounts))
_CUT_OFF = len(_FIELDS)
"""The column of replies that were cut off, after those of the fields of AnswerCounts."""
_FIELD_OF = {
    "yes": ("fp", "tp"),
    "no": ("tn", "fn"),
    "unreadable": ("unreadable_negative", "unreadable_positive"),
    "cut_off": ("unreadable_negative", "unreadable_positive"),
    "failed": ("failed_negative", "failed_positive"),
}
"""The field of AnswerCounts that a reading adds to, by gold label."""


def _columns(reading: str, gold: int) -> tuple[int, ...]:
    if gold not in (0, 1):
        raise DataError(f"a record has the label {gold}; of questions of Yes and No it is 0 or 1.")
    place = _FIELDS.index(_FIELD_OF[reading][gold])
    return (place, _CUT_OFF) if reading == "cut_off" else (place,)


def _reading(record: Record) -> str:
    if record.answer is None:
        return "failed"
    if record.answer.label is None:
        return "cut_off" if cut_off(record) else "unreadable"
    return "yes" if record.answer.label else "no"


_NOTHING = Usage()
