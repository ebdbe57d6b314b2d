"""Scores of questions with choices: accuracy and macro F1 overall and in every breakdown, recall of each choice.

A reply that could not be read is wrong, and an answer of no choice. Failed calls are in no metric.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from harness.errors import DataError
from harness.scoring import bootstrap
from harness.scoring.bootstrap import FEWEST
from harness.scoring.intervals import Interval, resampled, with_intervals
from harness.scoring.summary import OutcomeCounts
from harness.scoring.tally import Tally
from harness.types import Metric, Record, Result, Scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHOICES = "choices"
"""The breakdown by how many choices a question has, where that varies."""
BY_CHOICE = "choice"
"""The breakdown by which choice is right."""
_UNREADABLE, _FAILED = -1, -2
Kind = tuple[tuple[tuple[str, str], ...], int, int]
"""(groups, the right choice, the one that was read)"""


def summarize(records: Iterable[Record], *, headline: str, names: Sequence[str]) -> Result:
    """Return the scores of records whose labels are places of choices; `names` is what the choices are called.

    The breakdown `choice` says how often each one was chosen where it is right. Raises DataError for other labels.
    """
    import numpy as np

    tally: Tally[Kind] = Tally()
    totals = OutcomeCounts()
    for record in records:
        totals.add(record)
        tally.add(_kind(record, headline, len(names)), record.cluster)
    kinds = list(tally.kinds)
    kind, cluster, _ = tally.records(kinds, parts=False)
    gold, read = (np.array([each[column] for each in kinds], dtype=np.int64)[kind] for column in (1, 2))
    rows: dict[tuple[str, str], _ChoiceRow] = {("overall", "all"): _ChoiceRow(cluster, gold, read)}
    for (breakdown, group), places in sorted(_by_group(kinds).items(), key=_group_order):
        chosen = np.isin(kind, places)
        rows[breakdown, group] = _ChoiceRow(cluster[chosen], gold[chosen], read[chosen])
    for place, name in enumerate(names):
        chosen = gold == place
        if chosen.any():
            rows[BY_CHOICE, name] = _ChoiceRow(cluster[chosen], gold[chosen], read[chosen])
    ranges = resampled(rows)
    scores: dict[str, dict[str, Scores]] = {}
    for (breakdown, group), row in rows.items():
        scores.setdefault(breakdown, {})[group] = row.scores(ranges[breakdown, group])
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


def _by_group(kinds: Sequence[Kind]) -> dict[tuple[str, str], list[int]]:
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (groups, _, _) in enumerate(kinds):
        for group in groups:
            places[group].append(place)
    return places


def _group_order(group: tuple[tuple[str, str], list[int]]) -> tuple[str, float, str]:
    """Return where a group stands: breakdowns by name, numbers by size before words."""
    breakdown, name = group[0]
    return breakdown, float(name) if name.isdecimal() else float("inf"), name


def _chance(kinds: Mapping[Kind, int], number: int) -> float | None:
    sizes: Counter[int] = Counter()
    for (groups, _, _), count in kinds.items():
        sizes[int(dict(groups).get(CHOICES, number))] += count
    return sum(sizes[size] / size for size in sorted(sizes)) / sizes.total() if sizes else None


class _ChoiceRow:
    """One row: counts by cluster, and the metrics of any weighting of these."""

    def __init__(self, cluster: NDArray[np.int64], gold: NDArray[np.int64], read: NDArray[np.int64]) -> None:
        import numpy as np

        self.items = len(gold)
        self.unreadable, self.failed = int((read == _UNREADABLE).sum()), int((read == _FAILED).sum())
        present, place = np.unique(cluster, return_inverse=True)
        self.clusters = len(present)
        self.resamples = bootstrap.resamples(self.clusters) if self.clusters >= FEWEST else 0
        self.width = 1
        answered = read != _FAILED
        self.rests_on = dict.fromkeys(("accuracy", "macro_f1"), self.clusters if answered.any() else 0)
        classes = sorted({*gold[answered].tolist(), *read[read >= 0].tolist()})
        self.columns = np.zeros((self.clusters, 2 + 2 * len(classes)))
        np.add.at(self.columns[:, 0], place[gold == read], 1)
        np.add.at(self.columns[:, 1], place[answered], 1)
        for column, number in enumerate(classes):
            np.add.at(self.columns[:, 2 + 2 * column], place[(gold == number) & (read == number)], 2)
            np.add.at(self.columns[:, 3 + 2 * column], place[answered & (gold == number)], 1)
            np.add.at(self.columns[:, 3 + 2 * column], place[read == number], 1)
        self.one_class = len(set(gold.tolist())) < 2

    def metrics_under(self, weights: NDArray[np.float64], summed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (2, weightings): accuracy and macro F1 of sums of the columns, NaN where undefined.

        A choice counts for macro F1 where it is right or answered, as scikit-learn's f1_score(average="macro") has it.
        """
        import numpy as np

        with np.errstate(invalid="ignore", divide="ignore"):
            accuracy = summed[:, 0] / summed[:, 1]
            above, below = summed[:, 2::2], summed[:, 3::2]
            f1 = np.where(below > 0, above / below, 0).sum(axis=1) / (below > 0).sum(axis=1)
        return np.array([accuracy, f1])

    def scores(self, ranges: Mapping[str, Interval]) -> Scores:
        """Return the row with its intervals. Macro F1 is undefined where the same choice is always right."""
        import numpy as np

        sums = self.columns.sum(axis=0, keepdims=True)
        metrics_of_all = self.metrics_under(np.ones((1, self.clusters)), sums)[:, 0]
        accuracy, f1 = (None if value != value else float(value) for value in metrics_of_all)
        lost, right = self.unreadable + self.failed, float(sums[0, 0])
        bounds = (right / self.items, (right + lost) / self.items) if lost else None
        metrics = (Metric("macro_f1", None if self.one_class else f1), Metric("accuracy", accuracy, bounds=bounds))
        return Scores(
            self.items,
            0,
            self.unreadable,
            self.failed,
            with_intervals(metrics, ranges),
            clusters=self.clusters,
            resamples=self.resamples,
        )
