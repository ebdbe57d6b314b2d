"""Records into a Result: one pass, counts per label set, breakdown and group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields

from harness.scoring.classification import Counts, Unreadable, decisions, probabilities
from harness.types import Failure, Record, Response, Result, Scores, Usage

Key = tuple[str, str, str]
"""(label set, breakdown, group)"""


def summarize(
    records: Iterable[Record], *, headline: str, orders: Mapping[str, Sequence[str]], unreadable: Unreadable
) -> Result:
    """Scores overall and in every breakdown of the records, under every label set that all of them have.

    `orders` gives the order of a breakdown's groups; others follow in alphabetical order. Memory grows with
    the number of groups and, for models that give probabilities, by two numbers an item.
    """
    tallies: dict[Key, Counter[str]] = defaultdict(Counter)
    p_yes: dict[Key, tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
    clusters: set[str] = set()
    failures: Counter[str] = Counter()
    finish_reasons: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    total = 0
    for record in records:
        total += 1
        clusters.add(record.cluster)
        if isinstance(record.outcome, Failure):
            failures[record.outcome.kind] += 1
        else:
            _add(record.outcome, finish_reasons, tokens)
        for label_set, gold in record.labels.items():
            for breakdown, group in (("overall", "all"), *record.groups.items()):
                key = label_set, breakdown, group
                tallies[key][_outcome(record, gold)] += 1
                if record.answer is not None and record.answer.probability is not None:
                    p_yes[key][0].append(gold)
                    p_yes[key][1].append(record.answer.probability)
    scores: dict[str, dict[str, dict[str, Scores]]] = {}
    for key in sorted(tallies, key=lambda key: (key[0] != headline, key[0], key[1] != "overall", _rank(key, orders))):
        label_set, breakdown, group = key
        if tallies[label_set, "overall", "all"].total() < total:
            continue  # a label set that only some items have would score another set of items
        counts = Counts(**tallies[key])
        metrics = decisions(counts, unreadable=unreadable) + (probabilities(*p_yes[key]) if p_yes else ())
        scores.setdefault(label_set, {}).setdefault(breakdown, {})[group] = Scores(
            counts.items, counts.positives, counts.unreadable, counts.failed, metrics
        )
    if not total:
        scores = {headline: {"overall": {"all": Scores(0, 0, 0, 0, decisions(Counts(), unreadable=unreadable))}}}
    usage = Usage(**{f.name: tokens.get(f.name) for f in fields(Usage)})
    return Result(headline, scores, len(clusters), dict(failures), dict(finish_reasons), usage)


def _outcome(record: Record, gold: int) -> str:
    """The field of Counts that the record adds to."""
    if record.answer is None:
        return "failed_positive" if gold else "failed_negative"
    if record.answer.label is None:
        return "unreadable_positive" if gold else "unreadable_negative"
    return ("tp" if gold else "fp") if record.answer.label else ("fn" if gold else "tn")


def _add(response: Response, finish_reasons: Counter[str], tokens: Counter[str]) -> None:
    if response.finish_reason:
        finish_reasons[response.finish_reason] += 1
    for f in fields(Usage):
        count = getattr(response.usage, f.name)
        if count is not None:
            tokens[f.name] += count


def _rank(key: Key, orders: Mapping[str, Sequence[str]]) -> tuple[list[str], int, str]:
    _, breakdown, group = key
    order = list(orders.get(breakdown, ()))
    place = list(orders).index(breakdown) if breakdown in orders else len(orders)
    return [f"{place:03}", breakdown], order.index(group) if group in order else len(order), group
