"""What a judge may say and has said, and the reader audited: some of the replies that the rules did read."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nsmallest

from msgspec.structs import replace

from harness.prompting.parsing import choice_in
from harness.prompting.reading.own_words import own_words
from harness.types import JUDGE, LETTERS, TOKENS, Answer, AnswerForm, Failure, Judged, Record, Response, Scores, Usage

NOTHING, NOT_A_WORD, FAILED = "nothing", "not a word", "failed"
"""What a judge read besides answers: none, what only itself knows, and a failed call."""
_TELLS_NOTHING = {
    FAILED: "had no reading, as the call failed",
    NOT_A_WORD: "had a reading that is none of its words",
}
_AROUND = " \t\r\n.\"'`*()"

Key = tuple[str, int]
"""(item, sample)"""


def key_of(record: Record) -> Key:
    return record.item, record.sample


def by_judge(record: Record) -> bool:
    """Return whether the judge was asked in the place of the rules, and not to audit them."""
    answer = record.answer
    return record.judge is not None and (answer is None or answer.label is None or answer.rule == JUDGE)


def read_by_rules(record: Record) -> bool:
    """Return whether a record holds a reply in words that the rules have read."""
    if isinstance(record.outcome, Failure) or record.answer is None or record.request is None:
        return False
    return record.answer.label is not None and record.answer.rule not in ("", JUDGE) and not record.outcome.logprobs


def unread(record: Record) -> bool:
    """Return whether a record holds a reply in words in which the rules have read nothing."""
    outcome, answer = record.outcome, record.answer
    if isinstance(outcome, Failure) or answer is None or not outcome.text.strip() or outcome.logprobs is not None:
        return False
    # Of thoughts that never came to an answer there is nothing to judge: a judge would take them for one.
    return by_judge(record) or (answer.label is None and bool(own_words(outcome.text).strip()))


def by_rules_alone(record: Record) -> Record:
    return replace(record, judge=None, answer=Answer(label=None)) if by_judge(record) else record


def audited_sample(records: Iterable[Record], size: int) -> set[Key]:
    """Return which replies are read once more: always the same of a run, in whatever order they came."""
    keys = (key_of(record) for record in records if read_by_rules(record))
    return set(nsmallest(size, keys, key=rank))


def rank(key: Key) -> bytes:
    """Return what replies are drawn by, the least first."""
    return hashlib.sha256(f"audit:{key[0]}:{key[1]}".encode()).digest()


def judge_words(choices: int) -> tuple[str, ...]:
    """Return what a judge may say: of a question with choices a letter or none."""
    return (*LETTERS[:choices], "none") if choices else ("yes", "no", "unreadable")


def verdict(outcome: Response, choices: int) -> tuple[int | None, bool]:
    """Return the label that a judge's reply names, None for no answer, and whether the reply is one of its words."""
    words = judge_words(choices)
    text = outcome.text.rpartition("</think>")[2]
    said = (choice_in(text, AnswerForm(words, "json_schema")) or text).strip(_AROUND).casefold()
    names = [word.casefold() for word in words]
    if said not in names:
        return None, False
    place = names.index(said)
    return (None if place == len(words) - 1 else place if choices else 1 - place), True


def _said(outcome: Response | Failure) -> str:
    """Return what a judge read, as names of `Judged.audit` end."""
    if isinstance(outcome, Failure):
        return FAILED
    for choices in (0, len(LETTERS)):
        label, known = verdict(outcome, choices)
        if known:
            return NOTHING if label is None else str(label)
    return NOT_A_WORD


def audit_note(audit: Mapping[str, int], reader: str, *, choices: bool) -> str:
    """Return the error rate of the rules in words, and what told nothing of it; "" where nothing was audited."""
    pairs = [(rules, judge, count) for pair, count in audit.items() for rules, _, judge in [pair.partition("/")]]
    untold = {end: sum(count for _, judge, count in pairs if judge == end) for end in _TELLS_NOTHING}
    besides = ", ".join(f"{untold[end]:,} {words}" for end, words in _TELLS_NOTHING.items() if untold[end])
    if besides:
        besides = f"Of the replies that {reader} was to audit, {besides}: they count as neither."
    if not (total := sum(count for *_, count in pairs) - sum(untold.values())):
        return besides
    from scipy.stats import binomtest

    wrong = Counter[str]()
    for rules, judge, count in pairs:
        wrong[rules] += count * (judge != rules and judge not in _TELLS_NOTHING)
    errors, yes, no = wrong.total(), wrong["1"], wrong["0"]
    low, high = binomtest(errors, total).proportion_ci(method="wilson")
    note = (
        f"Of {total:,} replies drawn from those that the rules did read, {reader} reads {errors:,} otherwise: an error "
        f"rate of {errors / total:.1%} [{low:.1%}, {high:.1%}] for this model on this task."
    )
    if not choices and yes != no:
        more, less = ("Yes", "No") if yes > no else ("No", "Yes")
        note += f" Its errors lean to {more}: {max(yes, no):,} wrong {more}, {min(yes, no):,} wrong {less}."
    return f"{note} {besides}".rstrip()


class JudgeTally:
    """Counts of what a judge has read."""

    def __init__(self) -> None:
        self.judged = self._waiting = self._not_words = 0
        self._labels: Counter[int | None] = Counter()
        self._audit: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._audit_failures: Counter[str] = Counter()
        self._requests: dict[str, Usage] = {}
        """What each distinct request took: several replies may have been put in the same words."""

    def add(self, record: Record) -> None:
        """Count a record."""
        if (judgement := record.judge) is None:
            self._waiting += unread(record)
            return
        outcome, label = judgement.outcome, record.answer.label if record.answer else None
        if judged := by_judge(record):
            self.judged += 1
        else:
            self._audit[f"{label}/{_said(outcome)}"] += 1
        if isinstance(outcome, Failure):
            (self._failures if judged else self._audit_failures)[outcome.kind] += 1
            return
        if judged:
            self._labels[label] += 1
            self._not_words += _said(outcome) == NOT_A_WORD
        self._requests.setdefault(judgement.request, outcome.usage)

    def summary(self, judge: str, without: Scores, *, choices: bool) -> Judged:
        labels = self._labels
        return Judged(
            judge,
            labels.total() - labels[None] if choices else labels[1],
            0 if choices else labels[0],
            labels[None],
            self._waiting,
            dict(self._failures),
            total(self._requests.values()),
            without,
            self._not_words,
            dict(sorted(self._audit.items())),
            dict(self._audit_failures),
        )


def total(usages: Iterable[Usage]) -> Usage:
    """Return the sum of what several replies took; None for what none of them tells."""
    counts: Counter[str] = Counter()
    for usage in usages:
        counts.update({name: count for name in TOKENS if (count := getattr(usage, name)) is not None})
    return Usage(**{name: counts.get(name) for name in TOKENS})
