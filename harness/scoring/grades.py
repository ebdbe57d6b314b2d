"""Grades: how an answer was read, from its rule alone, so that every record has one.

An answer is firm that stands in the form that was asked for, or in the words of the answers themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from harness.types import JUDGE, NOT_IN_FORM, Answer, Record

FORM, ANNOUNCED, SAID, JUDGED = "form", "announced", "other words", "judged"
GRADES = {FORM: "in the form", ANNOUNCED: "announced", SAID: "said in other words", JUDGED: "read by the judge"}
"""What each grade is called in a sentence, the firmest first."""
FIRM = frozenset((FORM, ANNOUNCED))
_OF_RULE = {
    **dict.fromkeys(("announced", "opening", "closing", "corrected", "choice stated", "choice by letter"), ANNOUNCED),
    **dict.fromkeys(("said", "concluded", "choice in words"), SAID),
    JUDGE: JUDGED,
}
"""All other rules are those of a form: a field, a probability, or what a parser of the prompt's own looks for."""


def grade_of(answer: Answer | None) -> str:
    """Return the grade of an answer; "" where there is none."""
    if answer is None or answer.label is None:
        return ""
    return _OF_RULE.get(answer.rule.removeprefix(f"{NOT_IN_FORM}, "), FORM)


def firm_only(record: Record) -> Record:
    """Return a record without an answer where the one that it has is not firm."""
    if grade_of(record.answer) in FIRM:
        return record
    return record if record.answer is None else replace(record, judgement=None, answer=Answer(label=None))


class GradeCounts:
    """Counts of answers by grade, while their records pass."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def counted(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records as they come, each counted."""
        for record in records:
            self._counts[grade_of(record.answer)] += 1
            yield record

    @property
    def summary(self) -> dict[str, int]:
        """The number of answers by grade; {} where all of them are in their form."""
        counts = {grade: self._counts[grade] for grade in GRADES if self._counts[grade]}
        return counts if counts.keys() - {FORM} else {}
