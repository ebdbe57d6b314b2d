"""Which of an item's choices a response takes: by probability, or by the letter or the words of the reply.

The label is the place of the choice. What names none of them, or several, is not read: a wrong reading is worse. What
is not the reply, and its decoration, is taken off as for Yes and No (`harness.prompting.reading`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.prompting.reading.normalise import normalised
from harness.prompting.reading.own_words import NEXT_QUESTION, own_words
from harness.prompting.reading.places import LABEL
from harness.types import LETTERS, Answer, Response

UNREAD = Answer(label=None)
_ENDS = r"(?=\s*(?:$|[.,;:!)%/\n]|-+(?:\s|$)|→)|\s+(?:because|since|as|is|which|due|given|with|\(?\d))"
"""What may follow a letter: the end, a sign, a reason or a number; "a dog" begins with an article."""
_LETTER = rf"(?:(?:option|choice|answer|alternative)\s+)?[(\"']*(?P<letter>[a-z])(?![\w'-])[)\"']*{_ENDS}"
_FIRST = re.compile(rf"\W*+{_LETTER}")
_ALONE = re.compile(r"[^\w\n]*(?:(?:option|choice)\s+)?\(?([a-z])[).:,!]*[^\w\n]*", re.IGNORECASE)
_LABELLED = re.compile(
    rf"(?:答案|回答|结论|結論|答え|정답|답변|\b(?:{LABEL}|option"
    r"|(?:correct|right|best) (?:one|option))\b)\)?(?:\s+(?:correct[aeo]?|corrette|richtige|choice"
    r"|option|to (?:the|this) question))?"
    r"\s*(?:(?:is|was|es|est|ist|é|è|must be|should be|would be|has to be)\b\s*[:=]?|[:=→]|-+(?=\s)|\n)"
    r"\s*(?:(?:therefore|thus|then|clearly|definitely|probably|most likely|likely|indeed)\b,?\s*)?"
)
"""Words after which an answer comes, on normalised text."""
_SAID = re.compile(
    r"(?:\bi(?:'d| would|'ll| will)?(?: therefore)? (?:go with|choose|pick|select|say|answer|vote for|opt for)"
    r"|\b(?:i'm|i am) going with|\blet's go with|\bit(?:'s| is| has to be| must be)|\b(?:so|therefore|thus|hence),?)"
    rf"\s+(?:it's |it is )?{_LETTER}"
)
_IS_RIGHT = re.compile(
    r"(?<![\w'(])\(?(?P<letter>[a-z])\)?\s+(?:fits best\b|(?:is|seems|appears|looks|must be|would be)\s+"
    r"(?:(?:the|clearly|most|definitely|therefore|indeed|thus|by far)\s+){0,3}"
    r"(?:correct|right|best|answer|likely|likeliest|plausible)\b)(?!\s*\?)"
)
_DENIED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|wrong|incorrect|unlikely|implausible|rules? out|ruled out|except)\b|n['’]t\b",
    re.I,
)
_LISTED = re.compile(r"\(([a-z])\)|(?<![\w'])([b-hj-z])[.)](?=\s|$)")
_LONGEST_LINE = 400


class Taken(NamedTuple):
    """A place of a reply that takes a choice."""

    start: int
    choice: int
    span: str


def likeliest(response: Response, choices: Sequence[str]) -> Answer:
    """Return the choice with the greatest log-probability; none where several have it, or one has none."""
    logprobs = response.logprobs or {}
    values = [logprobs.get(choice, math.nan) for choice in choices]
    if len(values) < 2 or any(map(math.isnan, values)) or not math.isfinite(top := max(values)):
        return UNREAD
    best = [place for place, value in enumerate(values) if value == top]
    return Answer(best[0] if len(best) == 1 else None, span=" = ".join(choices[place] for place in best))


def read(response: Response, texts: Sequence[str]) -> Answer:
    """Return the choice that a reply in words takes, by its letter or its own words.

    The last place that says what the answer is decides; without one the reply has to be, or to begin with, a choice,
    or to hold the words of one choice alone. Of a reply that was cut off only a whole statement counts.
    """
    text = _before_next_question(own_words(response.text), texts)
    text = normalised(text)
    if taken := sorted(_stated(text, texts)):
        return Answer(taken[-1].choice, span=taken[-1].span, rule="choice stated")
    if response.finish_reason == "length" and "\n" in text:
        return UNREAD
    return _whole(text, texts)


def _before_next_question(text: str, texts: Sequence[str]) -> str:
    """Return what comes before the next question, where a base model has answered and then asks itself another."""
    for question in NEXT_QUESTION.finditer(text):
        before = normalised(text[: question.start()])
        if before and (_opened(before, texts) is not None or any(_stated(before, texts))):
            return text[: question.start()]
    return text


def _stated(text: str, texts: Sequence[str]) -> Iterator[Taken]:
    """Yield each place of a normalised text that says what the answer is."""
    for match in _LABELLED.finditer(text):
        line = text[match.end() : match.end() + _LONGEST_LINE].lstrip(" \"'(").partition("\n")[0]
        if (place := _named(line, texts)) is not None:
            yield Taken(match.start(), place, f"{match[0].strip()} {line[:80]}".strip())
    for pattern in (_SAID, _IS_RIGHT):
        for match in pattern.finditer(text):
            if (place := _letter(match["letter"], texts)) is not None:
                yield Taken(match.start(), place, match[0].strip())


def _named(words: str, texts: Sequence[str]) -> int | None:
    """Return the choice that words after "the answer is" name: by its letter first, else by its own words."""
    by_words = _by_words(words, texts, begins=True)
    letter = _FIRST.match(words)
    place = _letter(letter["letter"], texts) if letter else None
    # "A. dog barked" and a choice that begins with these words say the same; of two that differ neither is sure.
    return by_words if place is None else place if by_words in (None, place) else None


def _letter(letter: str, texts: Sequence[str]) -> int | None:
    place = LETTERS.index(letter.upper())
    return place if place < len(texts) else None


def _by_words(words: str, texts: Sequence[str], *, begins: bool) -> int | None:
    """Return the only choice whose words these are, or that they begin with; the longest of several that fit."""
    plain = _plain(words)
    fitting = [p for p, t in enumerate(texts) if _plain(t) and (plain == _plain(t) or (begins and _starts(plain, t)))]
    if len(fitting) > 1:
        longest = max(len(_plain(texts[place])) for place in fitting)
        fitting = [place for place in fitting if len(_plain(texts[place])) == longest]
    return fitting[0] if len(fitting) == 1 else None


def _starts(plain: str, text: str) -> bool:
    return plain.startswith(_plain(text) + " ")


def _plain(text: str) -> str:
    """Return words in lower case without the signs around them."""
    words = re.sub(r"[^\w%+\-/.']+|[.\-/'](?=\s|$)|(?<!\S)[.\-/'](?!\d)", " ", text.casefold())
    return " ".join(words.split())


def _opened(text: str, texts: Sequence[str]) -> int | None:
    """Return the choice whose letter a normalised text begins with, and no other's as well."""
    line, _, rest = text.partition("\n")
    if alone := _ALONE.fullmatch(line):
        listed = {found[1] for other in rest.split("\n") if (found := _ALONE.fullmatch(other))}
        return _letter(alone[1], texts) if listed <= {alone[1]} else None
    match = _FIRST.match(line)
    if match is None or (place := _letter(match["letter"], texts)) is None:
        return None
    others = {found for pair in _LISTED.findall(text) for found in pair if found} - {match["letter"]}
    listed_too = any(_letter(other, texts) is not None for other in others)
    # "B is …" says of B what has to be read: that it is right is a statement of the answer.
    return None if listed_too or line[match.end() :].lstrip().startswith("is ") else place


def _whole(text: str, texts: Sequence[str]) -> Answer:
    """Return the choice that a reply without a statement is, begins with, or alone holds the words of."""
    if (place := _by_words(text, texts, begins=False)) is not None:
        return Answer(place, span=text[:200], rule="choice in words")
    if (place := _opened(text, texts)) is not None:
        return Answer(place, span=text.partition("\n")[0][:80].strip(), rule="choice by letter")
    plain = f" {_plain(text)} "
    held = [p for p, t in enumerate(texts) if _plain(t) and f" {_plain(t)} " in plain]
    held = [p for p in held if not any(p != q and _plain(texts[p]) in _plain(texts[q]) for q in held)]
    if len(held) == 1 and not _DENIED.search(text):
        return Answer(held[0], span=texts[held[0]], rule="choice in words")
    return UNREAD
