"""What a judge may say, and the reader audited: a random sample of the replies that the rules did read."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nsmallest

from harness.prompting.constrained import choice_in
from harness.types import JUDGE, LETTERS, AnswerForm, Failure, Record, Response

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
    return record.judgement is not None and (answer is None or answer.label is None or answer.rule == JUDGE)


def read_by_rules(record: Record) -> bool:
    """Return whether a record holds a reply in words that the rules have read."""
    if isinstance(record.outcome, Failure) or record.answer is None or record.request is None:
        return False
    return record.answer.label is not None and record.answer.rule not in ("", JUDGE) and not record.outcome.logprobs


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


def audit_pair(record: Record) -> str:
    """Return what the rules and the judge read in an audited reply, as one name of `Judged.audit`: "1/0"."""
    assert record.judgement is not None and record.answer is not None
    outcome = record.judgement.outcome
    if isinstance(outcome, Failure):
        return f"{record.answer.label}/{FAILED}"
    (label, known), (letter, is_letter) = verdict(outcome, 0), verdict(outcome, len(LETTERS))
    if not (known or is_letter):
        return f"{record.answer.label}/{NOT_A_WORD}"
    label = label if known else letter
    return f"{record.answer.label}/{NOTHING if label is None else label}"


def audit_note(audit: Mapping[str, int], reader: str, *, choices: bool) -> str:
    """Return the error rate of the rules in words, and what told nothing of it; "" where nothing was audited."""
    total, wrong, untold = 0, Counter[str](), Counter[str]()
    for pair, count in audit.items():
        rules, _, judge = pair.partition("/")
        if judge in _TELLS_NOTHING:
            untold[judge] += count
            continue
        total += count
        wrong[rules] += count * (rules != judge)
    besides = ", ".join(f"{untold[end]:,} {words}" for end, words in _TELLS_NOTHING.items() if untold[end])
    if besides:
        besides = f"Of the replies that {reader} was to audit, {besides}: they count as neither."
    if not total:
        return besides
    from scipy.stats import binomtest

    errors = wrong.total()
    low, high = binomtest(errors, total).proportion_ci(method="wilson")
    note = (
        f"Of {total:,} replies drawn from those that the rules did read, {reader} reads {errors:,} otherwise: an error "
        f"rate of {errors / total:.1%} [{low:.1%}, {high:.1%}] for this model on this task."
    )
    yes, no = wrong["1"], wrong["0"]
    if not choices and yes != no:
        more, less = ("Yes", "No") if yes > no else ("No", "Yes")
        note += f" Its errors lean to {more}: {max(yes, no):,} wrong {more}, {min(yes, no):,} wrong {less}."
    return f"{note} {besides}".rstrip()
