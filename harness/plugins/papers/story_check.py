"""What of a natural story can be checked by rule: does it name every variable, and say as much as its item?

The names are read from the premise ("three variables, ice cream sales, hot weather and …", or "hot weather (A)"); its
sentences are then read for pairs that go together and pairs that are independent. A rule does not understand a story:
what it finds wrong may stand in words that it cannot read, and what it finds right may make no sense.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_NOUN = r"(?:variables|factors|things|quantities|measures|measurements|elements|events|phenomena|aspects|conditions)"
_LISTED = re.compile(
    rf"\b(?:{'|'.join(NUMBERS)}|[2-6])\s+(?:\w+\s+){{0,2}}?{_NOUN}\b[^,:.\n]{{0,40}}?\s*[,:–—-]\s*(?P<names>[^.;\n]+)",
    re.IGNORECASE,
)
_LETTERED = re.compile(r"(?P<name>[^().,;:]+?)\s*\(\s*(?:variable\s+)?(?P<letter>[A-F])\s*\)")
_ARTICLE = re.compile(r"^(?:and|or|the|a|an|between|both|of|that|factors?|variables?|consider|let's|suppose)\s+", re.I)
_INDEPENDENT = re.compile(
    r"\bindependent|\buncorrelated|\bunrelated|\bnot (?:\w+ ){0,2}(?:correlat|relat|associat|linked|connected)"
    r"|\bno (?:\w+ ){0,2}(?:correlation|relation|relationship|association|link|connection)\b|\bnothing about\b",
    re.IGNORECASE,
)
_DEPENDENT = re.compile(
    r"\bcorrelat|\bassociat|\brelat(?:ed|es?|ion)|\blink(?:ed|s)?\b|\bgo(?:es)? (?:together|along|hand in hand)"
    r"|\bmoves? together|\bconnect(?:ed|ion)",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"(?:,\s*)?\b(?:given|conditional on|conditioned on|controlling for|once|when|as soon as|holding|knowing|if)\b.*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|,?\s+\b(?:but|while|whereas|yet|although)\b\s+|\bhowever,?\s+", re.IGNORECASE)
_TOKEN = re.compile(r"§(\d)")
_BETWEEN = re.compile(r"\b(?:with|of|to|from)\b", re.IGNORECASE)


@dataclass(frozen=True)
class StoryReading:
    """What a story's premise says, by rule."""

    names: tuple[str, ...]
    """Of the variables, in their order; nothing where no list of them can be read."""
    correlated: frozenset[frozenset[int]]
    independent: frozenset[tuple[frozenset[int], str]]
    """A pair, and given which variables: their numbers, nothing for a pair that is independent as such."""

    @property
    def mentioned(self) -> frozenset[int]:
        """Variables about which the premise says something."""
        pairs = [*self.correlated, *(pair for pair, _ in self.independent)]
        return frozenset(k for pair in pairs for k in pair)


@dataclass(frozen=True)
class Check:
    """What a story gets right of its item; None where that cannot be told."""

    named: bool
    """Every variable has a name, something is said of each, and the hypothesis names two of them."""
    correlations: bool
    """As many pairs that go together as in the item."""
    independences: bool
    """As many independences, given nothing or something."""

    @property
    def holds(self) -> bool:
        return self.named and self.correlations and self.independences

    @property
    def problems(self) -> list[str]:
        return [name for name in ("named", "correlations", "independences") if not getattr(self, name)]


def check(premise: str, hypothesis: str, *, symbolic: str, number: int) -> Check:
    """Return what a story gets right of an item with the `symbolic` premise over `number` variables."""
    story = read(premise)
    in_hypothesis = {int(k) for k in _TOKEN.findall(_with_tokens(hypothesis, story.names))}
    named = len(story.names) == number and len(story.mentioned) == number and len(in_hypothesis) == 2
    return Check(
        named=named,
        correlations=bool(story.names) and len(story.correlated) == symbolic.count(" correlates with "),
        independences=bool(story.names) and len(story.independent) == len(re.findall(r"\bindependent\b", symbolic)),
    )


def read(premise: str) -> StoryReading:
    """Return the names of a story's variables and what its premise says of them."""
    names = _names(premise)
    correlated: set[frozenset[int]] = set()
    independent: set[tuple[frozenset[int], str]] = set()
    for claim, condition in _claims(_with_tokens(premise, names)) if names else ():
        if _INDEPENDENT.search(claim):
            independent |= {(pair, condition) for pair in _pairs(claim)}
        elif _DEPENDENT.search(claim):
            correlated |= set(_pairs(claim))
    return StoryReading(names, frozenset(correlated), frozenset(independent))


def _claims(text: str) -> Iterator[tuple[str, str]]:
    """Yield each claim of a text, and the numbers of the variables that it is made given.

    "A and B are independent given C" and "given C, A and B are independent" alike; of "A goes with B, and C with D"
    both where each has a verb of its own.
    """
    for sentence in filter(None, _SENTENCE.split(text)):
        clause = _GIVEN.search(sentence)
        if clause is not None and not _TOKEN.search(sentence[: clause.start()]):
            before, _, claim = sentence.partition(", ")
            yield claim, "".join(sorted(_TOKEN.findall(before)))
            continue
        claim = _GIVEN.sub("", sentence)
        parts = re.split(r",?\s+and\s+", claim)
        verbs = [bool(_DEPENDENT.search(part) or _INDEPENDENT.search(part)) for part in parts]
        for part in parts if len(parts) == 2 and all(verbs) and "between" not in claim else [claim]:
            yield part, "".join(sorted(_TOKEN.findall(sentence[len(claim) :])))


def _names(premise: str) -> tuple[str, ...]:
    """Return the names that the premise lists, by letters in brackets or after "three variables"."""
    lettered = {match["letter"]: _name(match["name"]) for match in _LETTERED.finditer(premise)}
    if len(lettered) > 1:
        return tuple(name for _, name in sorted(lettered.items()))
    listed = _LISTED.search(premise)
    if listed is None:
        return ()
    parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", listed["names"])
    names = tuple(name for part in parts if (name := _name(part)))
    number = next((NUMBERS.get(word, 0) or int(word) for word in _counts(listed[0])), 0)
    return names if len(names) == number else ()


def _counts(text: str) -> Iterator[str]:
    yield from re.findall(rf"\b(?:{'|'.join(NUMBERS)}|[2-6])\b", text.lower())


def _name(text: str) -> str:
    words = re.split(r"\b(?:are|is):?\s", text.strip())[-1].strip()
    while (shorter := _ARTICLE.sub("", words)) != words:
        words = shorter
    return words


def _with_tokens(text: str, names: Sequence[str]) -> str:
    """Return a text with every name as § and its number, the longest first."""
    text = re.sub(r"\s*\(\s*(?:variable\s+)?[A-F]\s*\)", "", text)
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"\b(?:the\s+)?{re.escape(name)}(?:e?s)?(?!\w)", f"§{names.index(name)}", text, flags=re.I)
    return text


def _pairs(claim: str) -> Iterator[frozenset[int]]:
    """Yield the pairs of variables that a clause is about: "between A and B, and between C and B", "A with B and C"."""
    between = re.split(r"\bbetween\b", claim, flags=re.IGNORECASE)
    if len(between) > 1:
        for part in between[1:]:
            yield from (frozenset(pair) for pair in combinations(_variables(part)[:2], 2))
        return
    variables = _variables(claim)
    if re.search(r"\b(?:each other|one another|pairwise|mutually)\b", claim, re.IGNORECASE):
        yield from map(frozenset, combinations(variables, 2))
        return
    for mark in _BETWEEN.finditer(claim):
        left, right = _variables(claim[: mark.start()]), _variables(claim[mark.end() :])
        if left and right:
            yield from (frozenset(pair) for pair in product(left, right) if len(set(pair)) == 2)
            return
    if len(variables) == 2:
        yield frozenset(variables)


def _variables(text: str) -> list[int]:
    return list(dict.fromkeys(int(k) for k in _TOKEN.findall(text)))
