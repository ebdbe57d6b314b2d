"""Binary classification with Yes as the positive class, from counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from harness.scoring.definitions import MetricDefinition, of_counts
from harness.scoring.intervals import Ratio, divided
from harness.types import Metric, Unreadable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.scoring.intervals import Columns, Values

Number = TypeVar("Number", int, "NDArray[np.float64]")
"""One count, or an array of them."""


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How many items were answered right or wrong (tp, fp, fn, tn), unreadably, or not at all.

    Failed calls are in no metric. They are shown beside it.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    unreadable_positive: int = 0
    unreadable_negative: int = 0
    failed_positive: int = 0
    failed_negative: int = 0

    @property
    def confusion(self) -> dict[str, int]:
        """The counts by name: the four of the table always, the others where there are any."""
        counts = asdict(self)
        return {name: count for name, count in counts.items() if count or name in ("tp", "fp", "fn", "tn")}

    @property
    def items(self) -> int:
        return self.tp + self.fp + self.fn + self.tn + self.unreadable + self.failed

    @property
    def positives(self) -> int:
        return self.tp + self.fn + self.unreadable_positive + self.failed_positive

    @property
    def unreadable(self) -> int:
        return self.unreadable_positive + self.unreadable_negative

    @property
    def failed(self) -> int:
        return self.failed_positive + self.failed_negative


def settle(
    counts: Sequence[Number], lost: Sequence[Number], score: Unreadable | Literal["right"]
) -> tuple[Number, Number, Number, Number]:
    """Return (tp, fp, fn, tn) with what is lost, of either gold label (1, 0), scored as wrong, right or No."""
    tp, fp, fn, tn = counts
    positive, negative = lost
    if score == "right":
        return tp + positive, fp, fn, tn + negative
    if score == "no":
        return tp, fp, fn + positive, tn + negative
    return tp, fp + negative, fn + positive, tn


def decisions(counts: AnswerCounts, *, unreadable: Unreadable) -> tuple[Metric, ...]:
    """Return the metrics that are made of counts as fractions; None where one is undefined.

    F1, precision, recall and accuracy equal scikit-learn's with Yes as the positive label wherever they are defined.
    With bounds where there are unreadable replies or failed calls.
    """
    answered = counts.tp, counts.fp, counts.fn, counts.tn
    unread = counts.unreadable_positive, counts.unreadable_negative
    lost = unread[0] + counts.failed_positive, unread[1] + counts.failed_negative
    scored = settle(answered, unread, unreadable)
    ends = [settle(answered, lost, end) for end in ("wrong", "right")] if any(lost) else []
    metrics = []
    for metric in of_counts():
        assert metric.of_counts is not None
        value, *bounds = (_ratio(*metric.of_counts(*of)) for of in (scored, *ends))
        known = [bound for bound in bounds if bound is not None]
        metrics.append(Metric(metric.name, value, bounds=(known[0], known[1]) if len(known) == 2 else None))
    return tuple(metrics)


def ratios(unreadable: Unreadable) -> dict[str, Ratio]:
    """Return the metrics that are made of counts, of columns that are the fields of AnswerCounts in their order."""

    def counts(sums: Columns) -> Sequence[Values]:
        fields = [sums[..., place] for place in range(6)]
        return settle(fields[:4], fields[4:], unreadable)

    return {metric.name: ratio_of(metric, counts) for metric in of_counts()}


def ratio_of(metric: MetricDefinition, counts: Callable[[Columns], Sequence[Values]]) -> Ratio:
    """Return a metric that is made of counts; `counts` gives (tp, fp, fn, tn) of what clusters add up to."""
    of = metric.of_counts
    assert of is not None
    return Ratio(lambda sums: divided(*of(*counts(sums))), lambda sums: metric.sums(*counts(sums)))


def multiclass(outcomes: Mapping[tuple[int, int], int]) -> tuple[float | None, float | None]:
    """Return (macro F1, accuracy) from how often each (gold class, answered class) occurs; None where nothing does.

    The classes are those that occur as either; scikit-learn's f1_score(average="macro") and accuracy_score.
    """
    total = sum(outcomes.values())
    classes = {c for pair, number in outcomes.items() if number for c in pair}
    f1 = []
    for c in classes:
        gold = sum(number for (g, _), number in outcomes.items() if g == c)
        answered = sum(number for (_, a), number in outcomes.items() if a == c)
        f1.append(2 * outcomes.get((c, c), 0) / (gold + answered))
    right = sum(number for (g, a), number in outcomes.items() if g == a)
    return (sum(f1) / len(f1) if f1 else None), _ratio(right, total)


def _ratio(numerator: float, denominator: float) -> float | None:
    return numerator / denominator if denominator else None
