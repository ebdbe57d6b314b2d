"""Records into a Result: one pass, counts per label set, breakdown and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from math import inf
from typing import Any, TypeVar

import numpy as np

from harness.errors import DataError
from harness.scoring.choices import BY_CHOICE, note_on_chance, row_of_choices
from harness.scoring.classification import AnswerCounts, decisions, ratios
from harness.scoring.intervals import ClusterSums, Ranking, fraction, with_intervals
from harness.scoring.probabilities import probabilities
from harness.scoring.replies import cut_off
from harness.scoring.tally import CUT_OFF, FAILED, UNREADABLE, Group, Tally, counted
from harness.types import TOKENS, Failure, Record, Result, Scores, Unreadable, Usage

K = TypeVar("K")
Kind = tuple[tuple[tuple[str, int], ...], tuple[Group, ...], int]
"""(labels, groups, what was read)"""
OVERALL: Group = ("overall", "all")
_NAMES = ("finish_reason", "served_model", "provider", "system_fingerprint")
"""What replies have of which a result says how often each name stands there."""
_FIELDS = tuple(f.name for f in fields(AnswerCounts))
_CUT_OFF = len(_FIELDS)
"""The column of replies that were cut off, after those of the fields of AnswerCounts."""
_FIRST = {1: 0, 0: 2, UNREADABLE: 4, CUT_OFF: 4, FAILED: 6}
"""The field of AnswerCounts that a reading adds to where the label is 1; the next one where it is 0."""


def summarize(
    records: Iterable[Record],
    *,
    headline: str,
    orders: Mapping[str, Sequence[str]],
    unreadable: Unreadable = "wrong",
    crossed: Sequence[tuple[str, str]] = (),
    within: Callable[[Record], str] | None = None,
    unit: str = "",
    choices: Sequence[str] = (),
) -> Result:
    """Score the records overall and in every breakdown, under every label set that all of them have.

    `orders` gives the order of a breakdown's groups; others follow in alphabetical order. Two breakdowns that are
    `crossed` make one more, called a/b. Intervals are over clusters; in a row of one cluster over what `within` gives
    for each record, called `unit`. Labels are 0 and 1 for No and Yes, or the places of `choices`; DataError for others.
    Memory grows with the number of kinds of records in each cluster and, for models that give probabilities, by two
    numbers an item.
    """
    tally, totals, labels = Tally[Kind](), OutcomeCounts(), len(choices) or 2
    for record in counted(records, totals.add):
        kind = tuple(record.labels.items()), tuple(record.groups.items()), _reading(record)
        if (label := max(kind[2], *record.labels.values())) >= labels:
            raise DataError(f"the record of {record.item} tells of answer {label}; they are 0 to {labels - 1}.")
        p_yes = None if record.answer is None else record.answer.probability
        numbers = () if p_yes is None or choices else (p_yes,)
        tally.add(kind, record.cluster, within(record) if within else "", numbers)
    members = rows_of(tally.kinds, lambda kind: _crossing(kind[1], crossed), orders)
    for place, name in enumerate(choices):
        if right := [kind for kind in tally.kinds if dict(kind[0])[headline] == place]:
            members[BY_CHOICE, name] = right
    scores = {}
    for label_set in _label_sets(tally.kinds, headline):
        answers = {kind: (dict(kind[0])[label_set], kind[2]) for kind in tally.kinds}
        rows = {}
        for key, kinds in members.items():
            read = {kind: answers[kind] for kind in kinds}
            if choices:
                rows[key] = row_of_choices(tally, read, len(choices))
            else:
                rows[key] = _row(tally, read, unreadable, parts=within is not None, unit=unit)
        scores[label_set] = with_intervals(rows)
    notes = note_on_chance(((kind[1], count) for kind, count in tally.kinds.items()), len(choices)) if choices else ()
    return Result(
        headline,
        scores,
        tally.clusters,
        **totals.parts(),
        notes=notes,
        choices=tuple(choices),
        unreadable=unreadable,
    )


def rows_of(
    kinds: Iterable[K], groups: Callable[[K], Iterable[Group]], orders: Mapping[str, Sequence[str]]
) -> dict[Group, list[K]]:
    """Return which kinds of records a row counts: one of all, then breakdowns and groups in the order of `orders`.

    Those that it does not name follow by name, groups that are numbers by size.
    """
    rows: dict[Group, list[K]] = {OVERALL: []}
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
    complete = set.intersection(*({name for name, _ in labels} for labels, _, _ in kinds)) if kinds else {headline}
    return sorted(complete, key=lambda name: (name != headline, name))


def _row(
    tally: Tally[Kind], read: Mapping[Kind, tuple[int, int]], unreadable: Unreadable, *, parts: bool, unit: str
) -> tuple[Scores, ClusterSums]:
    """Return the scores of some kinds of records, by the label of each and what was read, and what they are made of."""
    columns = {kind: (_column(*pair), *([_CUT_OFF] if pair[1] == CUT_OFF else [])) for kind, pair in read.items()}
    row = tally.row(columns, _CUT_OFF + 1, parts=parts)
    *of_fields, replies_cut_off = map(int, row.columns.sum(axis=0))
    counts = AnswerCounts(*of_fields)
    metrics, sums = decisions(counts, unreadable=unreadable), ClusterSums(row.columns, ratios(unreadable))
    if tally.has_numbers:
        gold = np.array([label for label, _ in read.values()], dtype=np.int64)[row.kind]
        p_yes = row.numbers[:, 0]
        order = np.lexsort((gold, p_yes))  # floats add up to another last digit in another order
        metrics += probabilities(gold[order], p_yes[order])
        brier = {"brier": fraction(_CUT_OFF + 1, _CUT_OFF + 2)}
        with_errors = np.column_stack([row.columns, row.sums((p_yes - gold) ** 2)])
        sums = ClusterSums(with_errors, {**sums.ratios, **brier}, Ranking(gold, p_yes, row.cluster))
    scores = Scores(
        counts.items,
        counts.positives,
        counts.unreadable,
        counts.failed,
        metrics,
        unit=unit if row.by_part else "",
        cut_off=replies_cut_off,
        confusion=counts.confusion if counts.items else {},
    )
    return scores, sums


class OutcomeCounts:
    """Counts over outcomes of all but their answers: failures, finish reasons, tokens, who answered."""

    def __init__(self) -> None:
        self._names: dict[str, Counter[str]] = {
            part: Counter() for part in ("failures", *(f"{name}s" for name in _NAMES))
        }
        self._tokens: Counter[str] = Counter()

    def add(self, record: Record) -> None:
        """Count the outcome of a record."""
        if isinstance(outcome := record.outcome, Failure):
            self._names["failures"][outcome.kind] += 1
            return
        for name in _NAMES:
            self._names[f"{name}s"][getattr(outcome, name)] += 1
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
    reading = _reading(record)
    if max(gold, reading) > 1:
        reading, gold = int(reading == gold) if reading >= 0 else reading, 1
    return _FIELDS[_column(gold, reading)]


def _column(gold: int, reading: int) -> int:
    return _FIRST[reading] + 1 - gold


def _reading(record: Record) -> int:
    """Return the answer, or why there is none."""
    if record.answer is None:
        return FAILED
    if record.answer.label is None:
        return CUT_OFF if cut_off(record) else UNREADABLE
    return record.answer.label
