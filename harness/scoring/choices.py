"""Scores of questions with choices: accuracy and macro F1; for each choice, how often it was read where it is right.

A reply that could not be read is wrong, and an answer of no choice. Failed calls are in no metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from harness.scoring.intervals import ClusterSums, Ratio, divided, fraction, number_of
from harness.scoring.tally import FAILED, Group, Kind, Tally
from harness.types import Metric, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHOICES = "choices"
"""The breakdown by how many choices a question has, where that varies."""
BY_CHOICE = "choice"
"""The breakdown by which choice is right."""
_RIGHT, _ANSWERED, _UNREADABLE, _FAILED, _CLASSES = 0, 1, 2, 3, 4
"""The columns of a row; from the last one on those of each class, twice its right answers, and how often it is right or
answered, which make its F1."""


def row_of_choices(tally: Tally[Kind], read: Mapping[Kind, tuple[int, int]], number: int) -> tuple[Scores, ClusterSums]:
    """Return the scores of some kinds of records, by the right choice of each and the one that was read.

    Macro F1 is undefined where the same one of the `number` of choices is always right.
    """
    answered = fraction(_RIGHT, _ANSWERED)
    columns = tally.row({kind: _columns(*pair) for kind, pair in read.items()}, _CLASSES + 2 * number).columns
    sums = ClusterSums(columns, {"macro_f1": Ratio(_macro_f1, answered.needs), "accuracy": answered})
    total = columns.sum(axis=0)
    right, in_metrics, unreadable, failed = map(int, total[:_CLASSES])
    items, lost = in_metrics + failed, unreadable + failed
    macro_f1, accuracy = (number_of(ratio.of(total)) for ratio in sums.ratios.values())
    one_class = len({gold for gold, _ in read.values()}) < 2
    bounds = (right / items, (right + lost) / items) if lost else None
    metrics = Metric("macro_f1", None if one_class else macro_f1), Metric("accuracy", accuracy, bounds=bounds)
    return Scores(items, 0, unreadable, failed, metrics), sums


def note_on_chance(counts: Iterable[tuple[tuple[Group, ...], int]], number: int) -> tuple[str, ...]:
    """Return what a choice at random comes to, of counts of records by their groups; () where there are none."""
    sizes: Counter[int] = Counter()
    for groups, count in counts:
        sizes[int(dict(groups).get(CHOICES, number))] += count
    if not sizes:
        return ()
    chance = sum(sizes[size] / size for size in sorted(sizes)) / sizes.total()
    return (f"A choice drawn at random is right in {chance:.2%} of them.",)


def _columns(gold: int, read: int) -> list[int]:
    """Return the columns that a record adds one to."""
    of_gold = _CLASSES + 2 * gold
    if read == FAILED:
        return [_FAILED]
    if read == gold:
        return [_RIGHT, _ANSWERED, of_gold, of_gold, of_gold + 1, of_gold + 1]
    return [_ANSWERED, of_gold + 1, _UNREADABLE if read < 0 else _CLASSES + 2 * read + 1]


def _macro_f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the F1 of the choices that are right or answered somewhere; NaN where none is.

    scikit-learn's f1_score(average="macro").
    """
    import numpy as np

    above, below = sums[..., _CLASSES::2], sums[..., _CLASSES + 1 :: 2]
    return divided(np.where(below > 0, divided(above, below), 0).sum(axis=-1), (below > 0).sum(axis=-1))
