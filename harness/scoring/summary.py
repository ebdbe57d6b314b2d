"""Records into a Result: one pass, counts per label set, breakdown and group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields

from harness.scoring.classification import Counts, Unreadable, decisions, probabilities
from harness.types import Failure, Record, Response, Result, Scores, Usage

Key = tuple[str, str, str]
"""(label set, breakdown, group)"""
Kind = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, str], ...], str]
"""(labels, groups, reading): all that a count needs of a record. Few kinds, many records."""


def summarize(
    records: Iterable[Record],
    *,
    headline: str,
    orders: Mapping[str, Sequence[str]],
    unreadable: Unreadable,
    without: Container[str] = (),
    crossed: Sequence[tuple[str, str]] = (),
) -> Result:
    """Scores overall and in every breakdown of the records, under every label set that all of them have.

    `orders` gives the order of a breakdown's groups; others follow in alphabetical order. Groups named in `without`
    make no breakdown; two that are `crossed` make one more, called a/b. Memory grows with the number of kinds of
    records and, for models that give probabilities, by a few numbers an item.
    """
    kinds: Counter[Kind] = Counter()
    p_yes: dict[Kind, list[float]] = defaultdict(list)
    clusters: set[str] = set()
    failures: Counter[str] = Counter()
    finish_reasons: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for record in records:
        clusters.add(record.cluster)
        if isinstance(record.outcome, Failure):
            failures[record.outcome.kind] += 1
        else:
            _add(record.outcome, finish_reasons, tokens)
        groups = tuple(pair for pair in record.groups.items() if pair[0] not in without)
        kind = tuple(record.labels.items()), groups, _reading(record)
        kinds[kind] += 1
        if record.answer is not None and record.answer.probability is not None:
            p_yes[kind].append(record.answer.probability)
    tallies: dict[Key, Counter[str]] = defaultdict(Counter)
    probable: dict[Key, tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
    for kind, number in kinds.items():
        labels, groups, reading = kind
        for label_set, gold in labels:
            for breakdown, group in _breakdowns(groups, crossed):
                key = label_set, breakdown, group
                tallies[key][_COUNTED[reading, gold]] += number
                if kind in p_yes:
                    probable[key][0].extend([gold] * len(p_yes[kind]))
                    probable[key][1].extend(p_yes[kind])
    scores: dict[str, dict[str, dict[str, Scores]]] = {}
    for key in sorted(tallies, key=lambda key: (key[0] != headline, key[0], key[1] != "overall", _rank(key, orders))):
        label_set, breakdown, group = key
        if tallies[label_set, "overall", "all"].total() < kinds.total():
            continue  # a label set that only some items have would score another set of items
        counts = Counts(**tallies[key])
        metrics = decisions(counts, unreadable=unreadable) + (probabilities(*probable[key]) if p_yes else ())
        scores.setdefault(label_set, {}).setdefault(breakdown, {})[group] = Scores(
            counts.items, counts.positives, counts.unreadable, counts.failed, metrics
        )
    if not kinds:
        scores = {headline: {"overall": {"all": Scores(0, 0, 0, 0, decisions(Counts(), unreadable=unreadable))}}}
    usage = Usage(**{f.name: tokens.get(f.name) for f in fields(Usage)})
    return Result(headline, scores, len(clusters), dict(failures), dict(finish_reasons), usage)


def _breakdowns(groups: Sequence[tuple[str, str]], crossed: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    yield "overall", "all"
    yield from groups
    found = dict(groups)
    for first, second in crossed:
        if first in found and second in found:
            yield f"{first}/{second}", f"{found[first]}/{found[second]}"


_COUNTED = {
    ("yes", 1): "tp",
    ("yes", 0): "fp",
    ("no", 1): "fn",
    ("no", 0): "tn",
    ("unreadable", 1): "unreadable_positive",
    ("unreadable", 0): "unreadable_negative",
    ("failed", 1): "failed_positive",
    ("failed", 0): "failed_negative",
}
"""The field of Counts that a reading adds to, by gold label."""


def _reading(record: Record) -> str:
    if record.answer is None:
        return "failed"
    if record.answer.label is None:
        return "unreadable"
    return "yes" if record.answer.label else "no"


_NOTHING = Usage()
_TOKENS = tuple(f.name for f in fields(Usage))


def _add(response: Response, finish_reasons: Counter[str], tokens: Counter[str]) -> None:
    if response.finish_reason:
        finish_reasons[response.finish_reason] += 1
    if response.usage != _NOTHING:
        for name in _TOKENS:
            count = getattr(response.usage, name)
            if count is not None:
                tokens[name] += count


def _rank(key: Key, orders: Mapping[str, Sequence[str]]) -> tuple[list[str], int, str]:
    _, breakdown, group = key
    order = list(orders.get(breakdown, ()))
    place = list(orders).index(breakdown) if breakdown in orders else len(orders)
    return [f"{place:03}", breakdown], order.index(group) if group in order else len(order), group
