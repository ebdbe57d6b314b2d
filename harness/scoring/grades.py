"""Grades: how an answer was read, from its rule alone, so that every record has one.

An answer is firm that stands in the form that was asked for, or in the words of the answers themselves. One that was
read by a rule of which nothing is known, such as a name that a parser of one's own gives, is not.
"""

from __future__ import annotations

from harness.types import IN_FORM, JUDGE, NOT_IN_FORM, RECORDED, Answer, Record, Result, Scores, replace

FORM, ANNOUNCED, SAID, JUDGED, BY_OTHERS, UNKNOWN = "form", "announced", "other words", "judged", "recorded", "unknown"
GRADES = {
    FORM: "in the form",
    ANNOUNCED: "announced",
    SAID: "said in other words",
    JUDGED: "read by the judge",
    BY_OTHERS: "taken as others have recorded them",
    UNKNOWN: "read by rules without a grade",
}
"""What each grade is called in a sentence, the firmest first."""
FIRM = frozenset((FORM, ANNOUNCED, BY_OTHERS))
"""Of a recorded answer nothing but itself is known: without it there is no run whose scores could be shown beside."""
_OF_RULE = {
    **dict.fromkeys(("", IN_FORM, "a ranking", "nothing to rank", "a story"), FORM),
    **dict.fromkeys(("announced", "opening", "closing", "corrected"), ANNOUNCED),
    "said": SAID,
    JUDGE: JUDGED,
    RECORDED: BY_OTHERS,
}
"""By the rules of harness.prompting; "" where nothing had to be read in words, as of a probability."""


def grade_of(answer: Answer | None) -> str:
    """Return the grade of an answer; "" where there is none."""
    return "" if answer is None or answer.label is None else grade_of_rule(answer.rule)


def grade_of_rule(rule: str) -> str:
    """Return the grade of an answer that this rule has read."""
    return _OF_RULE.get(rule.removeprefix(f"{NOT_IN_FORM}, "), UNKNOWN)


def firm_only(record: Record) -> Record:
    """Return a record without an answer where the one that it has is not firm."""
    if grade_of(record.answer) in FIRM:
        return record
    return record if record.answer is None else replace(record, judge=None, answer=Answer(label=None))


def with_firm(result: Result, firm: Result) -> Result:
    """Return a result with the bounds of the one of its firm answers only, wherever these are others than its own."""

    def beside(row: Scores, other: Scores) -> Scores:
        bounds = {metric.name: metric.bounds for metric in other.metrics}
        metrics = (replace(m, firm=None if bounds[m.name] == m.bounds else bounds[m.name]) for m in row.metrics)
        return replace(row, metrics=tuple(metrics))

    scores = {
        label_set: {
            breakdown: {group: beside(row, firm.scores[label_set][breakdown][group]) for group, row in groups.items()}
            for breakdown, groups in breakdowns.items()
        }
        for label_set, breakdowns in result.scores.items()
    }
    return replace(result, scores=scores)
