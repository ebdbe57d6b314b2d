"""Stages 3 and 5 of reading: the places of a reply that assert a verdict, and which of them is its own, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Literal

from harness.prompting.reading import places
from harness.prompting.reading.clauses import Context, clauses
from harness.prompting.reading.places import Places
from harness.prompting.reading.words import compiled, label_of
from harness.types import Answer

Kind = Literal["announced", "opening", "closing", "said"]
"""Announced as the answer; the first word; a sentence of its own, or its end; in other words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A place that asserts Yes (1), No (0), or a choice, in a sentence of the reply, counted from 0.

    `weak`: of another world ("the answer would be"), which counts where nothing else does; `partial`: for a step or a
    question on the way; `corrects`: it takes back what was said before; `alone`: nothing else stands in its sentence,
    or, in other words, it names the hypothesis.
    """

    label: int
    kind: Kind
    span: str
    weak: bool = False
    partial: bool = False
    alone: bool = False
    corrects: bool = False
    sentence: int = 0


def verdicts(text: str, *, choices: bool = False) -> tuple[list[Verdict], list[str]]:
    """Return what a normalised reply asserts, Yes or No or one of its marked choices, and its sentences."""
    where = places.places(choices)
    parts = list(_sentences(compiled(places.HEADING).sub(r"\1: ", text)))
    sentences = [sentence for sentence, _ in parts]
    found: list[Verdict] = []
    corrected = False
    for number, (sentence, begins_line) in enumerate(parts):
        correction = compiled(places.CORRECTS).search(sentence)
        tells = "C" in sentence if choices else compiled(_TELLS).search(sentence)
        if number and not (corrected or correction or tells):
            continue
        # In a sentence of its own ("Wait. No.") or where one begins, it corrects what stands before or after it.
        corrected = corrected or bool(number and correction and correction.start() < 40)
        # A line answers the question of the line before, but for one with a label: that is the reply's own answer.
        asked = number and sentences[number - 1][-1] == "?" and where.announced.search(sentence, 0, 60) is None
        context = Context(sentence, "" if begins_line and not asked else sentences[number - 1])
        here = _in_sentence(where, context, number, len(parts) == 1)
        found += [replace(verdict, corrects=corrected, sentence=number) for verdict in here]
        breaks_off = correction is not None and compiled(r"\w").search(sentence, correction.end()) is None
        corrected = breaks_off or (corrected and not here)
    return found, sentences


_TELLS = r"[^\x00-\x7f]|H[01]|«stem»|\b(?:not|[yn]|«yes»|«no»|«assent»|«positive»|«negative»)\b"
"""What stands in every sentence that may say anything: a quick look."""


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each sentence, and whether it begins a line."""
    for line in text.split("\n"):
        parts = [part.strip() for part in compiled(places.SENTENCE_BREAK).split(line)]
        yield from ((part, place == 0) for place, part in enumerate(filter(None, parts)))


def _in_sentence(where: Places, context: Context, number: int, only: bool) -> list[Verdict]:
    """Return what one sentence asserts, in its order: in the words of answers, or in other words."""
    sentence = context.sentence
    if sentence[-1] in "?)" and compiled(places.QUESTION).search(sentence):
        return []
    found = list(_in_words(where, context, number, only))
    if not (where.choices or any(v.kind == "announced" for v in found)) and compiled("H[01]|«stem»").search(sentence):
        # "One might answer No, but that is incorrect" speaks of the word, not of the statement.
        of_a_word = compiled(r"\b(?:yes|no)\b(?! \w)").search(sentence, 1) is not None or _on_the_way(context)
        said = ((label, words, named) for label, words, named in clauses(context) if named or not of_a_word)
        found += [Verdict(label, "said", words, alone=named) for label, words, named in said]
    return found


def _in_words(where: Places, context: Context, number: int, only: bool) -> Iterator[Verdict]:
    """Yield the verdicts in the words of answers: those announced, or else one that stands alone."""
    patterns = (where.announced, where.said, where.right)
    matches = [match for pattern in patterns for match in pattern.finditer(context.sentence)]
    if matches:
        yield from filter(None, (_announced(context, match) for match in matches))
        return
    placed = filter(None, (place(where, context, number, only) for place in (_leading, _labelled, _ending)))
    yield from islice(placed, 1)


def _announced(context: Context, match: re.Match[str]) -> Verdict | None:
    """Return the verdict of "the answer is no" or "I would say no", turned round by a "not" before it.

    A denied one ("one should not say no by default") is not the other one.
    """
    sentence, groups = context.sentence, match.groupdict()
    label, start = label_of(match), match.start("verdict")
    if label is None or context.supposes(match.start(), match.end()) or context.offers_both(start):
        return None
    # "A fallacy, where the conclusion is not supported" says what such fallacies are.
    if compiled(r"\b(?:where|whereby|whose|in which)\s+(?:(?:the|an?)\s+)?\Z").search(sentence[: match.start()]):
        return None
    # "The answer is correct" says what somebody's answer is, where "Answer: correct" gives one.
    word = groups.get("positive") or groups.get("negative")
    judges = word in _OF_AN_ANSWER and re.search(r"[:=→-]", match[0]) is None
    if judges or "?" in sentence[-2:] or compiled(places.OTHER_STATEMENT).search(match[0]):
        return None
    if groups.get("not_it"):
        if groups.get("option"):
            return None
        label = 1 - label
    elif context.denies(match.start(), start) or context.mentions(match.start()):
        return None
    elsewhere = compiled(places.ELSEWHERE).match(sentence, 0, match.start()) is not None
    would = groups.get("would") or " would " in match[0]
    if would and (elsewhere or compiled(places.IN_THAT_CASE).search(context.before + sentence[: match.start()])):
        return None
    weak = bool(groups.get("would")) or "'d be" in match[0] or elsewhere
    alone = match.end() > len(sentence) - 2
    return Verdict(label, "announced", match[0].strip(), weak, _on_the_way(context), alone)


_OF_AN_ANSWER = frozenset("correct incorrect right wrong accurate inaccurate richtig falsch".split())


def _own_label(context: Context, match: re.Match[str] | None) -> int | None:
    """Return what was found at a place of a sentence, if it is a verdict, and the reply's own."""
    if match is None or not context.given(match.start("verdict"), match.end()):
        return None
    return label_of(match)


def _leading(where: Places, context: Context, number: int, only: bool) -> Verdict | None:
    """Return the verdict that a sentence begins with ("No, because …") or is ("Absolutely.", "I don't think so.")."""
    sentence, asked = context.sentence, compiled(places.QUESTION).search(context.before) is not None
    alone = where.alone.match(sentence)
    lead = where.sentence.match(sentence) or (None if number else alone)
    if lead is None and only and not where.choices:
        lead = compiled(places.SHORT_FORM).match(sentence)
    label = _own_label(context, lead)
    if lead is None or label is None or compiled(places.CONCEDES).match(sentence):
        return None
    groups = lead.groupdict()
    if not only and any(groups.get(name) for name in ("y", "n", "assent")):
        return None
    if number and not asked and not (alone or groups.get("yes") or groups.get("no")):
        return None
    kind: Kind = "closing" if number else "opening"
    return Verdict(label, kind, lead[0].strip(" ."), False, asked and _on_the_way(context), bool(alone))


def _labelled(where: Places, context: Context, number: int, only: bool) -> Verdict | None:
    """Return the verdict of a line such as "Deducible: No"; of one about something else, it is on the way."""
    short = len(context.sentence) < places.LONGEST_LINE and compiled(places.SEPARATED).search(context.sentence)
    match = where.labelled.search(context.sentence) if short else None
    label = _own_label(context, match)
    if match is None or label is None or compiled(places.OTHER_STATEMENT).search(match["of"]):
        return None
    partial = compiled(places.ABOUT_IT).search(match["of"]) is None or _on_the_way(context)
    return Verdict(label, "announced", match[0].strip()[-80:], partial=partial)


def _ending(where: Places, context: Context, number: int, only: bool) -> Verdict | None:
    """Return the verdict that a sentence comes to ("the edge may be reversed, so no")."""
    match = where.at_end.search(context.sentence)
    label = _own_label(context, match)
    if match is None or label is None:
        return None
    weak = compiled(places.ELSEWHERE).match(context.sentence, 0, match.start()) is not None
    return Verdict(label, "closing", match[0].strip(), weak=weak)


def _on_the_way(context: Context) -> bool:
    """Return whether a sentence speaks of a step, or answers a question about something else than the statement."""
    asked = compiled(places.QUESTION).search(context.before) and not compiled(places.ABOUT_IT).search(context.before)
    return bool(asked) or any(compiled(places.STEP).search(text, 0, 300) for text in (context.sentence, context.before))


_TAKEN_UP = r"(?:\A|[.!?;:,])\W*(?:(?:but|oh|so|and)\W+)?«corrects»\b|\b«again»\b|«again_unspaced»|\bbut let me\W*\Z"
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
    if cut_off and verdicts:  # where the last one is taken up once more, nobody knows what came of it
        last = (announced or verdicts)[-1]
        rest = (sentences[last.sentence].rpartition(last.span)[2], *sentences[last.sentence + 1 :])
        if compiled(_TAKEN_UP).search(" ".join(rest)):
            return UNREAD
    if announced:
        return _last_announced(announced, whole, sentences)
    if verdicts and verdicts[0].kind == "opening":
        return _opened(verdicts[0], [verdict for verdict in whole if verdict is not verdicts[0]])
    shown = whole or (verdicts if len(sentences) <= 2 else [])
    if cut_off or not shown or compiled(_UNDECIDED).match(sentences[0]) or _differ_in_a_row(verdicts):
        return UNREAD
    return _ended(shown, sentences)


def _last_announced(announced: list[Verdict], whole: list[Verdict], sentences: list[str]) -> Answer:
    """Return the last announced verdict; none where others say the opposite after it, or beside it in bare lines."""
    last = announced[-1]
    finals = {verdict.label for verdict in announced if sentences[verdict.sentence].startswith("final")}
    if (len(finals) > 1 or _differ_in_a_row(whole if announced[1:] else announced)) and not last.corrects:
        return UNREAD
    after = [verdict for verdict in whole if verdict.sentence > last.sentence]
    against = [verdict for verdict in after if verdict.label != last.label]
    if any(verdict.corrects for verdict in against) and after[-1].label != last.label:
        return _answer(after[-1], "corrected")
    # After a line of its own comes talk.
    return _answer(last, "announced") if not against or last.alone or after[-1].label == last.label else UNREAD


def _differ_in_a_row(verdicts: list[Verdict]) -> bool:
    """Return whether the last one is a bare line, just after others of which one says the opposite: no reason why."""
    bare = {verdict.sentence: verdict.label for verdict in verdicts if verdict.alone and verdict.kind != "said"}
    row = takewhile(bare.__contains__, range(verdicts[-1].sentence, -1, -1))
    return len({bare[sentence] for sentence in row}) > 1


def _opened(first: Verdict, rest: list[Verdict]) -> Answer:
    """Return the first word, or what takes it back; nothing where another conclusion contradicts it."""
    if corrections := [verdict for verdict in rest if verdict.corrects and verdict.kind != "said"]:
        return _answer(corrections[-1], "corrected")
    return UNREAD if any(verdict.label != first.label for verdict in rest) else _answer(first, "opening")


def _ended(verdicts: list[Verdict], sentences: list[str]) -> Answer:
    """Return the verdict of the last sentence that has one, if the reply ends with it or nothing contradicts it."""
    last = verdicts[-1]
    against = [verdict for verdict in verdicts if verdict.label != last.label]
    if against and (last.partial or against[-1].sentence == last.sentence):
        return UNREAD
    goes_on = last.sentence < len(sentences) - 1
    if goes_on and (against or not (last.alone or (last.sentence == 0 and last.kind != "said"))):
        return UNREAD
    return _answer(last, last.kind)


def _answer(verdict: Verdict, rule: str) -> Answer:
    return Answer(verdict.label, span=verdict.span, rule=rule)
