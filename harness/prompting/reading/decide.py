"""Stage 5 of reading: which of the verdicts of a reply is its own, and why."""

from __future__ import annotations

from harness.prompting.reading.verdicts import Verdict
from harness.prompting.reading.words import compiled
from harness.types import Answer

UNREAD = Answer(label=None)
_UNDECIDED = (
    r"\W*(?:(?:yes and no|no and yes|it depends)\b|yes,? (?:but )?(?:only )?(?:for|in|under) some\b[^,]{0,40}$)"
)


def decide(verdicts: list[Verdict], sentences: list[str], *, cut_off: bool) -> Answer:
    """Return the verdict of a reply.

    In this order: the last one that is announced, which what is merely said after it cannot turn; the first word, where
    no conclusion contradicts it; the last sentence that is a verdict or says one in other words.
    """
    verdicts = [verdict for verdict in verdicts if not verdict.weak] or verdicts
    whole = [verdict for verdict in verdicts if not verdict.partial]
    announced = [verdict for verdict in whole if verdict.kind == "announced"]
    if announced:
        return _announced(announced, whole, sentences)
    if verdicts and verdicts[0].kind == "opening":
        return _opened(verdicts[0], [verdict for verdict in whole if verdict is not verdicts[0]])
    undecided = compiled(_UNDECIDED).match(sentences[0]) if sentences else None
    return UNREAD if cut_off or undecided else _ended(whole or (verdicts if len(sentences) <= 2 else []), sentences)


def _announced(announced: list[Verdict], whole: list[Verdict], sentences: list[str]) -> Answer:
    """Return the last verdict that is announced; nothing where another one beside or after it says the opposite."""
    last = announced[-1]
    finals = {verdict.label for verdict in announced if sentences[verdict.sentence].startswith("final")}
    beside = [v for v in announced if v.sentence == last.sentence - 1 and v.label != last.label]
    twice = len(finals) > 1 or any(other.alone and last.alone for other in beside)
    if twice and not last.corrects:
        return UNREAD
    after = [verdict for verdict in whole if verdict.sentence > last.sentence]
    against = [verdict for verdict in after if verdict.label != last.label]
    if any(verdict.corrects for verdict in against) and after[-1].label != last.label:
        return _answer(after[-1], "corrected")
    # After a line of its own comes talk.
    return _answer(last, "announced") if not against or last.alone or after[-1].label == last.label else UNREAD


def _opened(first: Verdict, rest: list[Verdict]) -> Answer:
    """Return the first word, or what takes it back; nothing where another conclusion contradicts it."""
    if corrections := [verdict for verdict in rest if verdict.corrects and verdict.kind != "said"]:
        return _answer(corrections[-1], "corrected")
    return UNREAD if any(verdict.label != first.label for verdict in rest) else _answer(first, "opening")


def _ended(verdicts: list[Verdict], sentences: list[str]) -> Answer:
    """Return the verdict of the last sentence that has one, if the reply ends with it or nothing contradicts it."""
    if not verdicts:
        return UNREAD
    last = verdicts[-1]
    against = [verdict for verdict in verdicts if verdict.label != last.label]
    if against and (last.partial or against[-1].sentence == last.sentence):
        return UNREAD
    ends = last.sentence == len(sentences) - 1
    if not ends and (against or not (last.alone or (last.sentence == 0 and last.kind != "said"))):
        return UNREAD
    return _answer(last, last.kind)


def _answer(verdict: Verdict, rule: str) -> Answer:
    return Answer(verdict.label, span=verdict.span, rule=rule)
