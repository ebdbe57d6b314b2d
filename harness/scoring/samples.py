"""Several answers to each item (samples=5): what is scored of them, and what is told.

The vote is Wang et al.'s self-consistency (ICLR 2023): the answer that most draws give. pass@1, pass@k and pass^k are
the chances that one draw, any of the k, and all of the k are right, estimated by the k draws that there are (Chen et
al., Evaluating Large Language Models Trained on Code, 2021, section 2.1, with n = k; Yao et al., τ-bench, 2024).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from statistics import fmean, stdev
from typing import Any

from harness.errors import ConfigError
from harness.protocols import Task
from harness.scoring.audit import JudgeTally, by_rules_alone, total
from harness.scoring.classification import AnswerCounts, decisions
from harness.scoring.definitions import of_counts
from harness.scoring.grades import FIRM, FORM, GRADES, firm_only, grade_of, with_firm
from harness.scoring.replies import AnswerNotes
from harness.scoring.summary import count_field
from harness.scoring.tally import counted, together
from harness.types import Answer, Failure, Record, Response, Result, Unreadable, replace


def summarize(task: Task, read: Callable[[], Iterable[Record]], samples: int, judge: str | None) -> Result:
    """Return the scores of the records; `read` gives them anew at each call, and `judge` is the name of the judge.

    The result says how firm the answers are, and what the scores come to if only the firm ones count. With a judge it
    says what it has read, and what the scores would be by the rules alone.
    """
    grades: Counter[str] = Counter()
    tally = JudgeTally()
    records = read() if judge is None else counted(read(), tally.add)
    graded = counted(records, lambda record: grades.update([grade_of(record.answer)]))
    result = summarize_votes(task, graded, samples)
    counts = {grade: grades[grade] for grade in GRADES if grades[grade]}
    if counts.keys() - {FORM}:
        result = replace(result, grades=counts)
    if counts.keys() - FIRM:
        result = with_firm(result, summarize_votes(task, map(firm_only, read()), samples))
    if judge is None:
        return result
    without = summarize_votes(task, map(by_rules_alone, read()), samples) if tally.judged else result
    return replace(result, judge=tally.summary(judge, without.overall, choices=bool(result.choices)))


def summarize_votes(task: Task, records: Iterable[Record], samples: int) -> Result:
    """Return the task's scores of the votes, with what the single samples come to in `Result.samples`."""
    answers = AnswerNotes()
    records = counted(records, answers.add)
    if samples == 1:
        result = _checked(task, task.summarize(records))
    else:
        draws = Draws(task.headline, samples)
        of_items = counted(_of_items(records, samples), draws.add)
        result = _checked(task, task.summarize(map(vote, of_items)))
        # Of choices draws are right or wrong: what tells Yes from No means nothing.
        names = {"accuracy"} if result.choices else {metric.name for metric in of_counts()}
        drawn = draws.summary(names, result.unreadable)
        result = replace(result, failures=dict(sorted(draws.failures.items())), samples=drawn)
    return replace(result, notes=(*result.notes, *task.remarks, *answers.notes()))


def _checked(task: Task, result: Any) -> Result:
    """Return the result of a task's `summarize`. Raises ConfigError for anything else, or without headline scores."""
    if isinstance(result, Result) and "all" in result.scores.get(result.headline, {}).get("overall", {}):
        return result
    raise ConfigError(
        f"task {task.name}: summarize gives {type(result).__name__}; harness.types.Result is needed, as "
        "harness.scoring.summary.summarize returns it, with scores[headline]['overall']['all']."
    )


def votes(records: Iterable[Record], samples: int) -> Iterable[Record]:
    """Return one record an item, the vote over its samples; those that a stopped run has not all of come in the end."""
    return records if samples == 1 else map(vote, _of_items(records, samples))


def _of_items(records: Iterable[Record], samples: int) -> Iterable[Sequence[Record]]:
    return together(records, lambda record: record.item, lambda draws: len(draws) == samples)


def vote(records: Sequence[Record]) -> Record:
    """Return the record of an item with the answer that most of its samples give, and with the usage of all."""
    pairs = [(record, record.outcome) for record in records if isinstance(record.outcome, Response)]
    if not pairs:
        return records[0]
    ranked = _labels(records).most_common(2)
    label = ranked[0][0] if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]) else None
    best = next((pair for pair in pairs if pair[0].answer and pair[0].answer.label == label), pairs[0])
    usage = total([response.usage for _, response in pairs])
    answer = best[0].answer if label is not None else Answer(None)
    return replace(best[0], sample=0, answer=answer, response=replace(best[1], usage=usage))


def _labels(records: Sequence[Record]) -> Counter[int]:
    return Counter(r.answer.label for r in records if r.answer is not None and r.answer.label is not None)


class Draws:
    """What scores of the samples need; `headline` names the labels that samples are right or wrong by."""

    def __init__(self, headline: str, samples: int) -> None:
        self.failures: Counter[str] = Counter()
        self._headline = headline
        self._samples = samples
        self._counts: dict[int, Counter[str]] = defaultdict(Counter)
        self._right: Counter[tuple[int, int]] = Counter()
        """(right draws, draws that were answered) → items"""
        self._agreement: Counter[tuple[int, int]] = Counter()
        """(draws that give the likeliest answer, draws that give one) → items"""

    def add(self, records: Sequence[Record]) -> None:
        """Count the samples of an item."""
        labels_of = records[0].labels
        gold = labels_of.get(self._headline, next(iter(labels_of.values())))
        for record in records:
            if isinstance(record.outcome, Failure):
                self.failures[record.outcome.kind] += 1
            self._counts[record.sample][count_field(record, gold)] += 1
        if answered := sum(isinstance(record.outcome, Response) for record in records):
            labels = _labels(records)
            self._right[labels[gold], answered] += 1
            if labels:
                self._agreement[max(labels.values()), labels.total()] += 1

    def summary(self, names: Collection[str], unreadable: Unreadable) -> dict[str, float | int | None]:
        """Return what the samples come to: shares as fractions, None where undefined.

        `sd` between draws is of the metric of a whole draw, which is one sample of every item; metrics by `names`.
        """
        rows = [decisions(AnswerCounts(**counts), unreadable=unreadable) for counts in self._counts.values()]
        summary: dict[str, float | int | None] = {"number": self._samples}
        for metrics in zip(*rows, strict=True):
            values = [metric.value for metric in metrics if metric.value is not None]
            if (name := metrics[0].name) in names:
                summary[f"{name}_mean"] = fmean(values) if len(values) == len(rows) else None
                summary[f"{name}_sd_between_draws"] = stdev(values) if len(values) == len(rows) > 1 else None
        shares = [right / answered for right, answered in self._right.elements()]
        complete = [right for right, answered in self._right.elements() if answered == self._samples]
        agreement = [most / labels for most, labels in self._agreement.elements()]
        return summary | {
            "agreement": fmean(agreement) if agreement else None,
            "pass@1": fmean(shares) if shares else None,
            f"pass@{self._samples}": fmean(right > 0 for right in complete) if complete else None,
            f"pass^{self._samples}": fmean(right == self._samples for right in complete) if complete else None,
        }
