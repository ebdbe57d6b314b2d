"""Stage 5 of reading: which of the verdicts of a reply is its own, and why."""

from __future__ import annotations

import re

from harness.prompting.reading.statements import Reading, Verdict
from harness.types import Answer

UNREAD = Answer(label=None)

# What may follow a last sentence without being one: an offer, a note, thanks.
_CLOSER = re.compile(
    r"^\W*(?:let me know|please|feel free|i hope|hope this|would you|do you|if you|note|thank|happy to|confidence"
    r"|this is because|because|since|explanation|ps|p\.s)"
)


def decide(reading: Reading, *, cut_off: bool) -> Answer:
    """Return the verdict of a reply.

    In this order: the last one that is announced, which what is merely said after it cannot turn; the first word, where
    no conclusion contradicts it; the last sentence that is a verdict or says one in other words.
    """
    firm = [verdict for verdict in reading.verdicts if not verdict.weak]
    verdicts = firm or list(reading.verdicts)
    if not verdicts:
        return UNREAD
    whole = [verdict for verdict in verdicts if verdict.kind == "announced" and not verdict.partial]
    if whole:
        finals = {v.label for v in whole if reading.sentences[v.sentence].startswith("final")}
        contradicts = len(finals) > 1 and not whole[-1].corrects
        return UNREAD if contradicts else _announced(whole[-1], verdicts)
    if verdicts[0].kind == "opening":
        return _opened(verdicts[0], verdicts[1:])
    if cut_off:
        return UNREAD
    return _ended(verdicts, reading)


def _announced(last: Verdict, verdicts: list[Verdict]) -> Answer:
    """Return the announced verdict; nothing where a conclusion after it says the opposite."""
    others = [v for v in verdicts if v.kind == "announced" and not v.partial and v.sentence == last.sentence - 1]
    if any(other.label != last.label and other.alone and last.alone for other in others) and not last.corrects:
        return UNREAD
    after = [verdict for verdict in verdicts if verdict.sentence > last.sentence and not verdict.partial]
    against = [verdict for verdict in after if verdict.label != last.label]
    if not against:
        return _answer(last, "announced")
    final = after[-1]
    if final.label != last.label and any(verdict.corrects for verdict in against):
        return _answer(final, "corrected")
    # After a line of its own comes talk.
    return _answer(last, "announced") if last.alone or final.label == last.label else UNREAD


def _opened(first: Verdict, rest: list[Verdict]) -> Answer:
    """Return the first word, or what takes it back; nothing where another conclusion contradicts it."""
    rest = [verdict for verdict in rest if not verdict.partial]
    if corrections := [verdict for verdict in rest if verdict.corrects and verdict.kind != "said"]:
        return _answer(corrections[-1], "corrected")
    against = [verdict for verdict in rest if verdict.label != first.label]
    firmly = any(verdict.kind == "closing" or verdict is rest[-1] for verdict in against)
    return UNREAD if firmly else _answer(first, "opening")


def _ended(verdicts: list[Verdict], reading: Reading) -> Answer:
    """Return the verdict of the last sentence that has one, if the reply ends with it or nothing contradicts it."""
    candidates = [verdict for verdict in verdicts if not verdict.partial] or (
        verdicts if len(reading.sentences) <= 2 else []
    )
    if not candidates:
        return UNREAD
    last = candidates[-1]
    against = [verdict for verdict in candidates if verdict.label != last.label]
    if against and (last.partial or against[-1].sentence == last.sentence):
        return UNREAD
    trailing = [s for s in reading.sentences[last.sentence + 1 :] if not _CLOSER.match(s)]
    if trailing and (against or not (last.alone or (last.sentence == 0 and last.kind != "said"))):
        return UNREAD
    return _answer(last, "closing" if last.kind in ("closing", "answered") else last.kind)


def _answer(verdict: Verdict, rule: str) -> Answer:
    return Answer(label=verdict.label, span=verdict.span, rule=rule)
