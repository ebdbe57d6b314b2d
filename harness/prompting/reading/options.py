"""Letters of options put into what they stand for: Yes and No of a list in the reply, or the choices of the item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from harness.prompting.reading.normalise import normalised
from harness.prompting.reading.words import any_of, compiled
from harness.types import LETTERS

_LISTED_WORDS = r"\(?\ba[).:]\s*(yes|no|true|false)\b\W{0,5}(?:and |or )?\(?b[).:]\s*(yes|no|true|false)\b"
_DENIES = r"\b«denies_a_choice»\b|n't\b"
_CONCLUSION = r"(?:^|[.!?] )\W{0,3}«so»\b[^.!?\n]*+\W*+\Z"
_COMPARED = r"\b(?:rather )?than\b|\b(?:instead of|as opposed to)\b|[(,] ?not\b"
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ORDINAL = rf"\b(?:the )?({'|'.join(_ORDINALS)}) (?:one|option|alternative|choice|answer)\b"
_LISTED = r"(?m)^[^\w\n]*C0[^\w\n]*\n(?:[^\w\n]*C[1-9]\d*[^\w\n]*(?:\n|\Z))+"
_RIGHT = (
    r"(?:(?:the|an?|most|more|very|quite|clearly|only) )*(?:«positive»|yes|likely|likeliest|plausible|possible|best"
    r"|cause|answer|reason)\b"
)
_WRONG = (
    r"(?:(?:the|an?|very|quite|clearly|highly) )*(?:«negative»|no|not|isn't|cannot|never|neither|unlikely|implausible"
    r"|impossible|irrelevant|eliminated|excluded|ruled out|rejected|(?:less|least) \w+)\b"
)
_JUDGED = (
    r"(?m)(?:^|(?<=[.;,!?)])\s)[^\w\n]{0,4}(?:(?:option|choice) )?C(?P<option>\d+)\b"
    rf"(?:\s*[:=→(]|\s*-+\s|[.)]?\s+(?={_RIGHT}|{_WRONG}))\W*(?:(?:it|this|that)(?: is|'s) )?"
    rf"(?:(?P<right>{_RIGHT})|(?P<wrong>{_WRONG})|)(?:(?![,)]\s*C\d)[^.;\n])*+[.;,)]*"
)
"""What is said of one option, in a list of them: "C0: wrong. C1: right, because …"."""
_LONG = 5
"""Characters of words that are no others' by chance."""
_BEFORE = (
    r"^[^\w\n]*|[:=→]\s*|-\s+|[.!?,;]\s+|\b(?:leaves|leaving|queda|is|was|be|not|est|es|ist|é|è|answer|with"
    r"|choos(?:e|ing)|prefer|alternativa|réponse|pick|select|say|so|actually|towards|thus|therefore|hence|and|or|nor"
    r"|either|neither|between|but|la|die|der|das|opt for|vote for)\s+"
)
"""What stands before a letter that names a choice: also the words that name two of them, or deny one."""
_AFTER = (
    r"(?=\s*[.):,!?;%/]|\s*$|\s*[-→(]|\s+(?:because|since|as|with|given|and|or|is|are|seems|appears|looks|must be"
    r"|would be|fits|makes|\d|C\d)|です|입니다)"
)


def listed_words(text: str) -> tuple[str, ...]:
    """Return Yes and No in the order in which a normalised reply lists them with letters; () if it does not."""
    listed = compiled(_LISTED_WORDS).search(text)
    return listed.groups() if listed and listed[1] != listed[2] else ()


def choices_marked(text: str, choices: Sequence[str]) -> str:
    """Return a normalised text with C0, C1, … for the item's choices: for their words, and their letters in places.

    A letter counts where an answer may stand: with a bracket, after "option", as the first of a line or a statement,
    after "is", "with" and their kind. "B. The dog barked" is one mark; a letter with another choice's words is neither.
    """
    words, letters = _choice_patterns(tuple(choices))
    text = words.sub(lambda found: str(found.lastgroup), text)
    text = compiled(_ORDINAL).sub(lambda found: f"C{_ORDINALS.index(found[1])}", text)
    places = _letters_and_short_words(tuple(choices))

    def mark(found: re.Match[str]) -> str:
        place, word = places[found["bare"] or found["sure"]], found["word"] or ""
        same = int(word[1:]) if word[:1] == "C" else places.get(word)
        return f"{found['before'] or ''}C{place}{'' if same in (None, place) else f' or C{same}'}"

    return compiled(_LISTED).sub("", letters.sub(mark, text))


def judged(text: str) -> tuple[str, int | None]:
    """Return a text marked with choices without what it says of each, and the one that it alone calls right."""
    said = list(compiled(_JUDGED).finditer(text))
    if len({each["option"] for each in said}) < 2 and not any(each["wrong"] for each in said):
        return text, None
    right = {int(each["option"]) for each in said if each["right"]}
    return compiled(_JUDGED).sub("\n", text), right.pop() if len(right) == 1 else None


def held_alone(text: str, choices: Sequence[str]) -> int | None:
    """Return the only choice that a normalised text, or its last sentence, holds; None where that denies something."""
    for part in (text, *compiled(_CONCLUSION).findall(text)):
        named = _choice_patterns(tuple(choices))[0].search(part)
        said, *others = compiled(_COMPARED).split(choices_marked(part, choices))
        alone = named and set(compiled(r"C\d+").findall(said)) == {named.lastgroup}
        if named and alone and not any(compiled(_DENIES).search(words) for words in (said, *others)):
            return int(str(named.lastgroup)[1:])
    return None


@lru_cache(maxsize=1024)
def _choice_patterns(choices: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of the choices' long words, and of their letters and short words."""
    ways = sorted(_plain(choices).items(), key=lambda way: -len(way[0]))
    long = "|".join(rf"(?P<C{place}>{re.escape(text)})" for text, place in ways if len(text) >= _LONG)
    short = any_of(tuple(_letters_and_short_words(choices)))
    letters = (
        rf"(?m)(?:(?:\b(?:option|choice|alternative)\s+\(?|\()(?P<sure>{short})\b|(?P<before>{_BEFORE})"
        rf"(?P<bare>(?!a C\d)(?:{short})){_AFTER})\)?(?:[ .:-]{{1,3}}(?P<word>C\d+|(?:{short})(?=\s*(?:[.,;:-]|$)))\b)?"
    )
    return re.compile(rf"(?<![\w-])(?:{long or '(?!)'})(?![\w-])"), re.compile(letters)


@lru_cache(maxsize=1024)
def _letters_and_short_words(choices: tuple[str, ...]) -> dict[str, int]:
    letters = {letter: place for place, letter in enumerate(LETTERS[: len(choices)].lower())}
    return {text: place for text, place in _plain(choices).items() if len(text) < _LONG} | letters


def _plain(choices: tuple[str, ...]) -> dict[str, int]:
    """Return the words of each choice as a normalised reply has them, but for those that two choices share."""
    texts = [normalised(text).strip(" .?!\n") for text in choices]
    return {text: place for place, text in enumerate(texts) if text and texts.count(text) == 1}
