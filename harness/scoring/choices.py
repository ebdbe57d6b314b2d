"""Scores of questions with choices: accuracy and macro F1 overall and in every breakdown, recall of each choice.

A reply that could not be read is wrong, and an answer of no choice. Failed calls are in no metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.errors import DataError
from harness.scoring.intervals import ClusterSums, Estimate, Ratio, divided, fraction, ratio_intervals, with_intervals
from harness.scoring.summary import Group, OutcomeCounts, rows_of
from harness.scoring.tally import Tally, counted
from harness.types import Metric, Record, Result, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHOICES = "choices"
"""The breakdown by how many choices a question has, where that varies."""
BY_CHOICE = "choice"
"""The breakdown by which choice is right."""
_UNREADABLE, _FAILED = -1, -2
Kind = tuple[tuple[Group, ...], int, int]
"""(groups, the right choice, the one that was read)"""
_RIGHT, _ANSWERED, _CLASSES = 0, 1, 2
"""The columns of a row; from the third on those of each class, twice its right answers, and how often it is right or
answered, which make its F1."""


def summarize(records: Iterable[Record], *, headline: str, names: Sequence[str]) -> Result:
    """Return the scores of records whose labels are places of choices; `names` is what the choices are called.

    The breakdown `choice` says how often each one was chosen where it is right. Raises DataError for other labels.
    """
    tally, totals = Tally[Kind](), OutcomeCounts()
    for record in counted(records, totals.add):
        tally.add(_kind(record, headline, len(names)), record.cluster)
    rows = rows_of(tally.kinds, lambda kind: kind[0], {})
    for place, name in enumerate(names):
        if right := [kind for kind in tally.kinds if kind[1] == place]:
            rows[BY_CHOICE, name] = right
    tables = [_table(tally, kinds, len(names)) for kinds in rows.values()]
    scores: dict[str, dict[str, Scores]] = {}
    for (breakdown, group), table, estimates in zip(rows, tables, ratio_intervals(tables), strict=True):
        of_row = {kind: tally.kinds[kind] for kind in rows[breakdown, group]}
        scores.setdefault(breakdown, {})[group] = _scores(of_row, table, estimates)
    chance = _chance(tally.kinds, len(names))
    return Result(
        headline,
        {headline: scores},
        tally.clusters,
        **totals.parts(),
        notes=() if chance is None else (f"A choice drawn at random is right in {chance:.2%} of them.",),
        choices=tuple(names),
    )


def _kind(record: Record, headline: str, number: int) -> Kind:
    gold, answer = record.labels[headline], record.answer
    label = None if answer is None else answer.label
    if max(gold, label or 0) >= number:
        raise DataError(f"the record of {record.item} tells of choice {max(gold, label or 0)}; there are {number}.")
    return tuple(record.groups.items()), gold, _FAILED if answer is None else _UNREADABLE if label is None else label


def _chance(kinds: Mapping[Kind, int], number: int) -> float | None:
    sizes: Counter[int] = Counter()
    for (groups, _, _), count in kinds.items():
        sizes[int(dict(groups).get(CHOICES, number))] += count
    return sum(sizes[size] / size for size in sorted(sizes)) / sizes.total() if sizes else None


def _table(tally: Tally[Kind], kinds: Sequence[Kind], number: int) -> ClusterSums:
    """Return what the metrics of a row are made of; `number` is how many choices there are."""
    members = {kind: _columns(*kind[1:]) for kind in kinds}
    answered = fraction(_RIGHT, _ANSWERED)
    ratios = {"macro_f1": Ratio(_macro_f1, answered.needs), "accuracy": answered}
    return ClusterSums(tally.row(members, _CLASSES + 2 * number).columns, ratios)


def _columns(gold: int, read: int) -> list[int]:
    """Return the columns that a record adds one to."""
    if read == _FAILED:
        return []
    of_gold = _CLASSES + 2 * gold
    if read == gold:
        return [_RIGHT, _ANSWERED, of_gold, of_gold, of_gold + 1, of_gold + 1]
    return [_ANSWERED, of_gold + 1, *([] if read == _UNREADABLE else [_CLASSES + 2 * read + 1])]


def _macro_f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the F1 of the choices that are right or answered somewhere; NaN where none is.

    scikit-learn's f1_score(average="macro").
    """
    import numpy as np

    above, below = sums[..., _CLASSES::2], sums[..., _CLASSES + 1 :: 2]
    return divided(np.where(below > 0, divided(above, below), 0).sum(axis=-1), (below > 0).sum(axis=-1))


def _scores(kinds: Mapping[Kind, int], table: ClusterSums, estimates: Mapping[str, Estimate]) -> Scores:
    """Return the row with its intervals. Macro F1 is undefined where the same choice is always right."""
    items = sum(kinds.values())
    unreadable, failed = (sum(kinds[kind] for kind in kinds if kind[2] == lost) for lost in (_UNREADABLE, _FAILED))
    one_class = len({gold for _, gold, _ in kinds}) < 2
    right, lost = float(table.columns[:, _RIGHT].sum()), unreadable + failed
    bounds = (right / items, (right + lost) / items) if lost else None
    macro_f1 = Metric("macro_f1", None if one_class else estimates["macro_f1"].value)
    accuracy = Metric("accuracy", estimates["accuracy"].value, bounds=bounds)
    return Scores(
        items,
        0,
        unreadable,
        failed,
        with_intervals((macro_f1, accuracy), estimates),
        clusters=table.clusters,
        resamples=table.resamples,
    )
