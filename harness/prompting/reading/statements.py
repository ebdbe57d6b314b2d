"""Stage 3 of reading: the places of a reply that assert a verdict; `context` leaves out what is only supposed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from harness.prompting.reading import places
from harness.prompting.reading.clauses import clauses, may_tell
from harness.prompting.reading.context import Context
from harness.prompting.reading.places import Places
from harness.prompting.reading.words import TELLING, label_of

Kind = Literal["announced", "opening", "answered", "closing", "said"]
"""Announced as the answer; the first word; the answer to its own question; a sentence of its own; in other words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A place that asserts Yes (1) or No (0)."""

    label: int
    kind: Kind
    span: str
    sentence: int
    """Which sentence of the reply, counted from 0."""
    weak: bool = False
    """Said of another world ("the answer would be"): it counts where nothing else does."""
    partial: bool = False
    """Announced for a step or a question on the way."""
    corrects: bool = False
    """It takes back what was said before ("wait, no")."""
    alone: bool = False
    """Nothing but the verdict stands in its sentence; or, in other words, it names the hypothesis."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a reply asserts, in its order."""

    verdicts: tuple[Verdict, ...]
    sentences: tuple[str, ...]


def verdicts(text: str, *, choices: bool = False) -> Reading:
    """Return what a normalised reply asserts, sentence by sentence: Yes or No, or one of its marked choices."""
    where = places.places(choices)
    parts = list(_sentences(places.HEADING.sub(r"\1: ", text)))
    sentences = tuple(sentence for sentence, _ in parts)
    found: list[Verdict] = []
    corrected = False
    for number, (sentence, begins_line) in enumerate(parts):
        correction = places.CORRECTS.search(sentence)
        if number and not corrected and not correction and not _may_assert(sentence, choices):
            continue
        # A correction may stand in a sentence of its own ("Wait. No."), before or after what it corrects.
        corrected = corrected or bool(number and correction and correction.start() < _BEGINNING)
        asked = number > 0 and sentences[number - 1][-1] == "?"
        # A line answers the question of the line before, but for one with a label: that is the reply's own answer.
        apart = number == 0 or (begins_line and not (asked and where.announced.search(sentence, 0, 60) is None))
        context = Context(sentence, "" if apart else sentences[number - 1])
        here = _in_sentence(where, context, number, len(parts) == 1)
        found += [replace(verdict, corrects=corrected) for verdict in here]
        breaks_off = places.BREAKS_OFF.search(sentence, max(0, len(sentence) - 20)) is not None
        corrected = breaks_off or (corrected and not here)
    return Reading(tuple(found), sentences)


_BEGINNING = 40
"""Characters within which a correction speaks of what stands before its sentence."""


def _may_assert(sentence: str, choices: bool) -> bool:
    """Return whether a sentence may say anything: a quick look."""
    if choices:
        return "C" in sentence
    return not sentence.isascii() or may_tell(sentence) or not TELLING.isdisjoint(places.WORD.findall(sentence))


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each sentence, and whether it begins a line."""
    for line in text.split("\n"):
        begins_line = True
        for part in places.SENTENCE_BREAK.split(line):
            if sentence := part.strip():
                yield sentence, begins_line
                begins_line = False


def _in_sentence(where: Places, context: Context, number: int, only: bool) -> list[Verdict]:
    """Return what one sentence asserts, in its order: in the words of answers, or in other words."""
    sentence = context.sentence
    if sentence[-1] in "?)" and places.QUESTION.search(sentence) and not only:
        return []
    found = list(_in_words(where, context, number, only))
    if not where.choices and all(verdict.kind != "announced" for verdict in found) and may_tell(sentence):
        found += [
            Verdict(label, "said", words, number, alone=named)
            for label, words, named in clauses(context)
            # "One might answer No, but that is incorrect" speaks of the word, not of the statement.
            if named or not (_YES_OR_NO.search(sentence, 1) or _on_a_step(context))
        ]
    return found


_YES_OR_NO = re.compile(r"\b(?:yes|no)\b(?! \w)")


def _on_a_step(context: Context) -> bool:
    return any(places.STEP.search(text, 0, 300) is not None for text in (context.sentence, context.before))


def _in_words(where: Places, context: Context, number: int, only: bool) -> Iterator[Verdict]:
    """Yield the verdicts in the words of answers: those announced, or else one that stands alone."""
    announced = False
    for pattern in (where.announced, where.said, where.right):
        for match in pattern.finditer(context.sentence):
            announced = announced or not _said_by_nobody(match)
            if (verdict := _announced(context, match, number)) is not None:
                yield verdict
        if announced:
            return
    for place in (_leading, _alone, _labelled, _ending):
        if (verdict := place(where, context, number, only)) is not None:
            yield verdict
            return


def _announced(context: Context, match: re.Match[str], number: int) -> Verdict | None:
    """Return the verdict of "the answer is no" or "I would say no", turned round by a "not" before it.

    A denied one ("one should not say no by default") is not the other one.
    """
    sentence, groups = context.sentence, match.groupdict()
    label, start = label_of(match), match.start("verdict")
    if label is None or context.supposes(match.start(), match.end()) or context.offers_both(start):
        return None
    # "The answer is correct" says what somebody's answer is, where "Answer: correct" gives one.
    word = groups.get("positive") or groups.get("negative")
    judges = word in _OF_AN_ANSWER and re.search(r"[:=→-]", match[0]) is None
    if judges or "?" in sentence[-2:] or places.OTHER_STATEMENT.search(match[0]):
        return None
    if groups.get("not_it"):
        if groups.get("option"):
            return None
        label = 1 - label
    elif context.denies(match.start(), start) or _said_by_nobody(match) or context.mentions(match.start()):
        return None
    elsewhere = places.ELSEWHERE.match(sentence, 0, match.start()) is not None
    would = groups.get("would") or " would " in match[0]
    if would and (elsewhere or places.IN_THAT_CASE.search(context.before + sentence[: match.start()])):
        return None
    steps = (places.STEP.search(sentence, 0, 300), places.STEP.match(context.before))
    return Verdict(
        label,
        "announced",
        match[0].strip(),
        number,
        weak=bool(groups.get("would")) or "'d be" in match[0] or elsewhere,
        partial=any(steps) or _on_the_way(context.before),
        alone=match.end() > len(sentence) - 2,
    )


_OF_AN_ANSWER = frozenset("correct incorrect right wrong accurate inaccurate".split())


def _said_by_nobody(match: re.Match[str]) -> bool:
    """Return whether a verb of saying has no subject ("… to say no"): it counts where it is denied, and else not."""
    groups = match.groupdict()
    return bool(groups.get("verb")) and not groups["speaker"]


def _leading(where: Places, context: Context, number: int, only: bool) -> Verdict | None:
    """Return the verdict that a sentence begins with ("No, because …"); the first word of a reply is its opening."""
    lead = where.sentence.match(context.sentence)
    label = label_of(lead) if lead else None
    if lead is None or label is None or not context.given(lead.start("verdict"), lead.end()):
        return None
    if places.CONCEDES.match(context.sentence):
        return None
    alone = where.alone.match(context.sentence) is not None
    asked = bool(places.QUESTION.search(context.before))
    if number and not asked and not (alone or lead.groupdict().get("yes") or lead.groupdict().get("no")):
        return None
    kind: Kind = "answered" if asked else "closing" if number else "opening"
    return Verdict(label, kind, lead[0].strip(), number, partial=asked and _on_the_way(context.before), alone=alone)


def _alone(where: Places, context: Context, number: int, only: bool) -> Verdict | None:
    """Return the verdict of a first sentence that is nothing else: "Absolutely.", "I don't think so.", "Y"."""
    if number:
        return None
    sentence = context.sentence
    if only and not where.choices and (short := places.SHORT_FORM.fullmatch(sentence)) is not None:
        return Verdict(int(short["assents"] is not None), "opening", sentence, number, alone=True)
    alone = where.alone.match(sentence)
    if alone is None or (not only and any(alone.groupdict().get(name) for name in ("y", "n", "assent"))):
        return None
    label = label_of(alone)
    return None if label is None else Verdict(label, "opening", sentence.strip(" ."), number, alone=True)


def _labelled(where: Places, context: Context, number: int, only: bool) -> Verdict | None:
    """Return the verdict of a line such as "Deducible: No"; of one about something else, it is on the way."""
    short = len(context.sentence) < places.LONGEST_LINE and places.SEPARATED.search(context.sentence)
    match = where.labelled.search(context.sentence) if short else None
    label = label_of(match) if match else None
    if match is None or label is None or not context.given(match.end("of"), match.end()):
        return None
    if places.OTHER_STATEMENT.search(match["of"]):
        return None
    return Verdict(label, "announced", match[0].strip()[-80:], number, partial=not places.ABOUT_IT.search(match["of"]))


def _ending(where: Places, context: Context, number: int, only: bool) -> Verdict | None:
    """Return the verdict that a sentence ends with ("the edge may be reversed, so no")."""
    match = where.at_end.search(context.sentence, max(0, len(context.sentence) - 40))
    label = label_of(match) if match else None
    if match is None or label is None or not context.given(match.start("verdict"), match.end()):
        return None
    weak = places.ELSEWHERE.match(context.sentence, 0, match.start()) is not None
    return Verdict(label, "closing", match[0].strip(), number, weak=weak)


def _on_the_way(question: str) -> bool:
    """Return whether a sentence asks about something else than the statement, on the way to it."""
    return places.QUESTION.search(question) is not None and not places.ABOUT_IT.search(question)
