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
        return _opened(verdicts[0], verdicts[1:], cut_off)
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
    if last.alone:  # a line of its own: what comes after it is talk
        return _answer(last, "announced")
    firmly = [v for v in against if (v.kind == "said" and v.alone) or v.kind == "closing"]
    return UNREAD if firmly and final.label != last.label else _answer(last, "announced")


def _opened(first: Verdict, rest: list[Verdict], cut_off: bool) -> Answer:
    """Return the first word, or the conclusion that it gives way to where it spoke of something else ("Yes, but …")."""
    rest = [verdict for verdict in rest if not verdict.partial]
    if corrections := [verdict for verdict in rest if verdict.corrects and verdict.kind != "said"]:
        return _answer(corrections[-1], "corrected")
    final = rest[-1] if rest else first
    if final.label == first.label:
        against = any(verdict.kind == "closing" and verdict.label != first.label for verdict in rest)
        return UNREAD if against else _answer(first, "opening")
    if cut_off:
        return _answer(first, "opening") if first.alone else UNREAD
    if final.corrects:
        return _answer(final, "corrected")
    if final.kind != "said" and not first.alone and final.sentence == first.sentence:
        return _answer(final, "closing")
    return UNREAD


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
