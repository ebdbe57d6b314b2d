"""A natural story's words, read back into names, statements and a claim.

The variables' names are read from the premise ("three variables, ice cream sales, hot weather and …": the first is A;
or "hot weather (A)"). Every further sentence has to be a statement about them, in one of the shapes below, or say that
there is nothing else; a hypothesis has to be one of the six relations. What has no shape is kept as not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from harness.causal.relations import Relation
from harness.causal.separation import Independence
from harness.tasks.corr2cause.text import Hypothesis

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_NOUN = (
    r"(?:variables?|factors?|things?|quantities|measures?|measurements|elements|events|phenomena|aspects|conditions?)"
)
_LISTED = re.compile(
    rf"\b(?P<number>{'|'.join(NUMBERS)}|[2-6])\s+(?:\w+\s+){{0,2}}?{_NOUN}\b[^,:.\n]{{0,40}}?\s*[,:–—-]\s*"
    r"(?P<names>[^.;\n]+)",
    re.IGNORECASE,
)
_LETTERED = re.compile(r"(?:^|(?<=[().,;:]))(?P<name>[^().,;:]+)\((?:variable )?(?P<letter>[A-F])\)")
_ARTICLE = re.compile(r"^(?:and|or|the|a|an|between|both|of|that|factors?|variables?|consider|let's|suppose)\s+", re.I)
_BEYOND = re.compile(
    r"\b(?:caus|affect|influenc|effect|because|lead(?:s|ing)?\b|led\b|due to|driv(?:es?|en)\b|produc(?:es?|ed|ing)\b"
    r"|experiment|randomi[sz]|trial\b|interven|forc(?:es?|ed|ing)\b|assign|manipulat|no matter|except|unless|other than"
    r"|not\b|n't\b|never)",
    re.IGNORECASE,
)
"""In the words before the statements: what says more than which variables there are."""

_VARIABLES = r"§\d(?:,? and §\d|, §\d)*"
_LONGEST = 500
"""Characters of a sentence: no statement about six variables needs more."""
_LEAD = (
    r"(?:(?:however|but|also|and|yet|still|moreover|furthermore|in addition|additionally|similarly|likewise|meanwhile"
    r"|finally|at the same time|on the other hand|it is (?:also )?(?:known|observed|found) that"
    r"|(?:over|throughout|during|across) (?:the|these|all) (?:days?|weeks?|months?|seasons?|years?)),? )*"
)
_ADVERB = r"(?:(?:strongly|clearly|positively|negatively|statistically|closely|also|all|both|in turn) )*"
_BE = r"(?:is|are|was|were) "
_TOGETHER = (
    rf"(?:{_BE}{_ADVERB}(?:correlated|associated|linked|related|connected) (?:with|to)|{_ADVERB}correlates? with"
    rf"|{_ADVERB}(?:goes|go|moves?) (?:together|hand in hand|along) with)"
)
_TIE = r"(?:correlations?|associations?|relations?|relationships?|links?|connections?)"
_APART = (
    rf"(?:{_BE}{_ADVERB}(?:independent (?:of|from)|unrelated to|uncorrelated with"
    r"|not (?:correlated|associated|linked|related|connected) (?:with|to))"
    rf"|ha(?:s|ve) no {_TIE} (?:with|to)|do(?:es)? not correlate with)"
)
_EACH_OTHER = r"(?:each other|one another)"
_KNOWN = r"(?: (?:is|are) (?:known|given|fixed|held fixed|held constant|controlled for|taken into account))?"
_GIVEN = (
    rf"(?:given(?: that)?|once|when|if|as soon as|conditional on|conditioned on|controlling for|holding|knowing)"
    rf"(?: both| the value of| the values of)? (?P<given>{_VARIABLES}){_KNOWN}(?: (?:fixed|constant))?"
)
_CORRELATIONS = tuple(
    re.compile(rf"{_LEAD}(?:{shape})", re.IGNORECASE)
    for shape in (
        rf"(?P<left>{_VARIABLES}) {_TOGETHER} (?:both )?(?P<right>{_VARIABLES})",
        r"there (?:is|are) (?:(?:an?|strong|clear|positive|negative|statistical|also) )*"
        rf"{_TIE} between (?P<pairs>{_VARIABLES}(?:,? and between {_VARIABLES})*)",
        rf"(?P<all>{_VARIABLES}) (?:{_BE}{_ADVERB}(?:correlated|associated|linked|related|connected) (?:with|to)"
        rf"|{_ADVERB}correlate with|{_ADVERB}(?:go|move) together with) {_EACH_OTHER}",
        rf"(?P<all>{_VARIABLES}) (?:are {_ADVERB}(?:correlated|associated)|correlate|go together)"
        r"(?: pairwise| mutually)?",
    )
)
_INDEPENDENCES = tuple(
    re.compile(rf"{_LEAD}(?:{shape})", re.IGNORECASE)
    for shape in (
        rf"(?P<left>{_VARIABLES}) {_APART} (?P<right>{_VARIABLES})",
        rf"(?P<all>{_VARIABLES}) {_APART} {_EACH_OTHER}",
        rf"(?P<all>{_VARIABLES}) {_BE}{_ADVERB}(?:independent|unrelated|uncorrelated|not correlated)",
        rf"there (?:is|are) no {_TIE} between (?P<pairs>{_VARIABLES})",
    )
)
_BEFORE = re.compile(rf"{_LEAD}{_GIVEN},? (?P<claim>§.*|there (?:is|are) .*)", re.IGNORECASE)
_AFTER = re.compile(rf"(?P<claim>.*?§\d[^§]*),? {_GIVEN}", re.IGNORECASE)
_AS_FOLLOWS = re.compile(r"all (?:of )?the (?:statistical )?(?:relations|relationships) .*as follows", re.IGNORECASE)
_NOTHING_ELSE = re.compile(
    rf"(?:it is (?:known|certain) that |take it that )?(?:there (?:is|are) )?(?:nothing else|no others?)"
    rf"(?: (?:{_NOUN}|influences?|causes?))?(?: (?:is|are|has|have|plays?|acts?|matters?|counts?|that|behind|in|on|at"
    r"|to|with|any|all|either|of|them|these|this|the|here|a|part|role|hand|say|work|play|system|influence|involved))*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?<=[.;!?:])\s+|,?\s+\b(?:but|while|whereas|yet|although)\b\s+|,?\s+and (?=there (?:is|are)\b)", re.IGNORECASE
)
_TOKEN = re.compile(r"§(\d)")

_CAUSES = r"(?:causes?|affects?|influences?|impacts?)"
_SOMETHING = (
    r"(?:something(?: else)?|some other (?:variable|thing|factor)(?:\(?s\)?)?|another (?:variable|thing|factor)"
    r"|a third (?:variable|thing|factor)|some variable\(?s?\)?|a mediator|some mediator\(?s?\)?|mediators)"
)
_SHARED = (
    r"(?:there (?:exists|is) (?:at least one |a )(?:{noun})(?: \(i\.e\., {word}\))? (?:of|to) (?P<i>§\d) and (?P<j>§\d)"
    r"|(?P<i2>§\d) and (?P<j2>§\d) (?:have|share) (?:at least one|a|some) {word}s?)"
)
_CLAIMS: Sequence[tuple[Relation, re.Pattern[str]]] = [
    (relation, re.compile(shape, re.IGNORECASE))
    for relation, shapes in {
        Relation.PARENT: (
            rf"(?P<i>§\d) (?:directly {_CAUSES}|has a direct (?:effect|influence|impact) on|have a direct effect on"
            r"|(?:is|are) a direct cause (?:of|for)) (?P<j>§\d)",
            r"(?P<j>§\d) (?:is|are) directly (?:caused|affected|influenced) by (?P<i>§\d)",
        ),
        Relation.ANCESTOR: (
            rf"(?P<i>§\d) {_CAUSES} {_SOMETHING},? (?:which|that)(?: in turn| then)? {_CAUSES} (?P<j>§\d)",
            rf"(?P<i>§\d) {_CAUSES} (?P<j>§\d) (?:through|by way of|via) {_SOMETHING}",
            rf"(?P<i>§\d) (?:indirectly {_CAUSES}|(?:has|have) an indirect (?:effect|influence|impact) on) (?P<j>§\d)",
            r"(?P<i>§\d) (?:is|are) a cause (?:for|of) (?P<j>§\d), but not a direct one",
        ),
        Relation.COLLIDER: (
            _SHARED.format(noun="collider|common effect", word="common effect"),
            rf"(?P<i>§\d) and (?P<j>§\d) (?:together|both|jointly) {_CAUSES} {_SOMETHING}",
            rf"{_SOMETHING} is (?:caused|affected|influenced) by both (?P<i>§\d) and (?P<j>§\d)",
        ),
        Relation.CONFOUNDER: (
            _SHARED.format(noun="confounder|common cause", word="common cause"),
            rf"(?:there is )?{_SOMETHING} (?:that |which )?(?:cause\(s\)|{_CAUSES}) both (?P<i>§\d) and (?P<j>§\d)",
        ),
    }.items()
    for shape in shapes
]


@dataclass(frozen=True)
class StoryReading:
    """What a story's premise says, by rule."""

    names: tuple[str, ...]
    """Of the variables, in the order of their letters; nothing where no list of them can be read."""
    correlated: frozenset[tuple[int, int]] = frozenset()
    independent: frozenset[Independence] = frozenset()
    closed: bool = False
    """Whether it says that there is nothing else."""
    not_understood: tuple[str, ...] = field(default=())
    """The sentences that have none of the shapes, names as § and a number."""


def read(premise: str) -> StoryReading:
    """Return the names of a story's variables and what its premise says of them."""
    text = " ".join(re.sub(r"\s*\n\s*(?:[-*•]\s*|\d+\.\s*)?", ". ", premise.strip()).split())
    names, start = _names(text)
    if not names:
        return StoryReading(())
    opening, body = text[:start], _with_tokens(text[start:], names)
    correlated: set[tuple[int, int]] = set()
    independent: set[Independence] = set()
    closed = "closed system" in opening.lower()
    listed = _with_tokens(opening, names)
    plain = len(_TOKEN.findall(listed)) == len(names) and not _BEYOND.search(listed)
    not_understood = [] if plain else [listed]
    for sentence in _sentences(body):
        if (statements := _statements(sentence)) is not None:
            correlated |= statements[0]
            independent |= statements[1]
        elif _NOTHING_ELSE.fullmatch(sentence) is not None:
            closed = True
        elif not _AS_FOLLOWS.fullmatch(sentence):
            not_understood.append(sentence)
    return StoryReading(names, frozenset(correlated), frozenset(independent), closed, tuple(not_understood))


def read_claim(text: str, names: Sequence[str]) -> Hypothesis | None:
    """Return the relation that a hypothesis claims, from cause to effect; None where it has none of the shapes."""
    words = _with_tokens(" ".join(text.split()), names).strip(" .")
    for relation, shape in _CLAIMS:
        if (match := shape.fullmatch(words)) is not None:
            groups: Mapping[str, str | None] = match.groupdict()
            i, j = (int((groups[k] or groups[f"{k}2"] or "§0")[1:]) for k in "ij")
            return Hypothesis(relation, names[i], names[j]) if i != j else None
    return None


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE.split(text):
        words = part.strip(" .;:!?,")
        if words and _TOKEN.sub("", words).strip(" ,"):
            yield words


def _statements(sentence: str) -> tuple[set[tuple[int, int]], set[Independence]] | None:
    """Return which pairs a sentence says go together and which are independent; None where it has no such shape."""
    if len(sentence) > _LONGEST:
        return None
    matches = [(True, match) for shape in _CORRELATIONS if (match := shape.fullmatch(sentence))]
    condition: tuple[int, ...] = ()
    if not matches:
        claim = sentence
        given = _BEFORE.fullmatch(sentence) or _AFTER.fullmatch(sentence)
        if given is not None:
            claim, condition = given["claim"].rstrip(" ,"), tuple(sorted(_variables(given["given"])))
        matches = [(False, match) for shape in _INDEPENDENCES if (match := shape.fullmatch(claim))]
    if not matches:
        return _of_halves(sentence)
    correlation, match = matches[0]
    pairs = _pairs(match)
    if not pairs or any(i in condition or j in condition for i, j in pairs):
        return None
    return (pairs, set()) if correlation else (set(), {(i, j, condition) for i, j in pairs})


def _of_halves(sentence: str) -> tuple[set[tuple[int, int]], set[Independence]] | None:
    """Return what both halves of "A goes with B, and C goes with D" say; None unless each is a statement of its own."""
    for mark in re.finditer(r",? and (?=§)", sentence):
        halves = [_statements_alone(half) for half in (sentence[: mark.start()], sentence[mark.end() :])]
        if halves[0] is not None and halves[1] is not None:
            return halves[0] | halves[1], set()
    return None


def _statements_alone(words: str) -> set[tuple[int, int]] | None:
    match = next(filter(None, (shape.fullmatch(words) for shape in _CORRELATIONS)), None)
    return _pairs(match) if match is not None else None


def _pairs(match: re.Match[str]) -> set[tuple[int, int]]:
    """Return the pairs that a statement is about; no pair at all if it names a variable with itself."""
    groups = match.groupdict()
    if groups.get("left"):
        pairs = set(product(_variables(groups["left"]), _variables(groups["right"])))
    elif groups.get("pairs"):
        parts = [_variables(part) for part in re.split(r",? and between ", groups["pairs"])]
        if any(len(part) != 2 for part in parts):
            return set()
        pairs = {(part[0], part[1]) for part in parts}
    else:
        pairs = set(combinations(_variables(groups["all"]), 2))
    return set() if any(i == j for i, j in pairs) else {(min(pair), max(pair)) for pair in pairs}


def _names(text: str) -> tuple[tuple[str, ...], int]:
    """Return the names that a premise lists, by letters in brackets or after "three variables", and where that ends."""
    marks = list(_LETTERED.finditer(text))
    lettered = {mark["letter"]: _name(mark["name"]) for mark in marks}
    if len(lettered) > 1:
        first = [mark for k, mark in enumerate(marks) if mark["letter"] not in {m["letter"] for m in marks[:k]}]
        return tuple(name for _, name in sorted(lettered.items())), _end(text, first[-1].end())
    listed = _LISTED.search(text)
    if listed is None:
        return (), 0
    parts = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", listed["names"])
    names = tuple(name for part in parts if (name := _name(part)))
    word = listed["number"].lower()
    number = NUMBERS.get(word, 0) or int(word)
    return (names, _end(text, listed.end())) if len(names) == number == len(set(names)) else ((), 0)


def _end(text: str, start: int) -> int:
    """Return where the sentence ends that goes on at `start`."""
    stop = re.compile(r"[.;!?]").search(text, start)
    return stop.end() if stop else len(text)


def _name(text: str) -> str:
    words = re.split(r"\b(?:are|is):?\s", text.strip())[-1].strip()
    while (shorter := _ARTICLE.sub("", words)) != words:
        words = shorter
    return words


def _with_tokens(text: str, names: Sequence[str]) -> str:
    """Return a text with every name as § and its number, the longest first."""
    text = re.sub(r" ?\((?:variable )?[A-F]\)", "", text.replace("§", " "))
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(
            rf"\b(?:the )?{re.escape(name)}(?:e?s)?(?!\w)", f"§{names.index(name)}", text, flags=re.IGNORECASE
        )
    return text


def _variables(text: str) -> list[int]:
    return list(dict.fromkeys(int(k) for k in _TOKEN.findall(text)))
