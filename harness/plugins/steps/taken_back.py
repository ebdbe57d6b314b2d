"""What a reply takes back (earlier claims by their numbers, the last one, or all), and what it only supposes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NUMBERS = r"\d{1,5}(?:(?:,? and |, ?| ?[-–] ?)\d{1,5})*"
_ONE = r"(?:claims?|steps?|lines?|points?|numbers?|nos?\.?)"
_WRONG = (
    r"(?:wrong|incorrect|false|invalid|unsound|mistaken|withdrawn|retracted|in error|an? (?:error|mistake)|"
    r"not (?:right|correct|true|valid|so)|(?:does|do) not hold|(?:cannot|can['’]t) be (?:right|correct|true))"
)
_BE = r"(?:(?:is|are|was|were|must be|turns? out(?: to be)?|seems?|looks?) )?(?:also |however |indeed |simply )?"
_BY_NUMBER = re.compile(
    rf"\b(?:withdraw|retract|drop|discard|scrap|strike|delete|take back)\w* (?:my )?(?:{_ONE} )?#?(?P<some>{_NUMBERS})"
    rf"|\b{_ONE} #?(?P<others>{_NUMBERS}) {_BE}{_WRONG}",
    re.IGNORECASE,
)
_ALL = re.compile(
    rf"\b(?:everything|all)(?: of)?(?: (?:this|that|it|the))?(?: (?:above|so far|before|claims?|steps?|lines?))* {_BE}"
    rf"{_WRONG}|\b(?:start|begin|starting|beginning) (?:over|again|anew|afresh|from scratch)\b"
    r"|\b(?:disregard|ignore|forget|scratch|discard) (?:everything|all|the above)\b",
    re.IGNORECASE,
)
_LAST = re.compile(
    r"\b(?:scratch|strike|forget|ignore|disregard|delete) (?:that|this|the (?:last|previous))\b"
    r"|^(?:hmm|oh|oops|wait|no|hold on|actually|sorry)\b[,.! ]+(?:wait|no|hold on|sorry|scratch|wrong)\b"
    rf"|\bthe (?:previous|last|above|preceding) (?:line|claim|step|statement|one) {_BE}{_WRONG}"
    rf"|^(?:(?:but|no|hmm|wait|oh|actually|sorry)[, ]+)?(?:that|this)(?: (?:is|was)|['’]s) {_WRONG}",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?P<lead>[^.!:]{1,60}[.!:])\s+(?P<rest>\(?\d{1,5}[.):]\s.*)")
_SUPPOSES = re.compile(
    r"\b(?:suppose|supposing|assume|assuming|imagine|let us say|let['’]s say|by contradiction|hypothetically|"
    r"for the sake of argument)\b"
    r"|\b(?:case|option|scenario|possibility) \(?(?:\d{1,3}|[a-z])\)?[:.]",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"[\[(][^\[\]()]{0,60}\b(?:assum|suppos|hypothe|case\b)[^\[\]()]{0,60}[\])]", re.IGNORECASE)


@dataclass(frozen=True)
class TakenBack:
    """Which earlier claims a line takes back."""

    numbers: frozenset[int] = frozenset()
    last: bool = False
    """Those of the last line that has any."""
    everything: bool = False


def taken_back(line: str) -> TakenBack:
    """Return what a line takes back, by its words alone."""
    if _ALL.search(line):
        return TakenBack(everything=True)
    numbers = frozenset(
        number for match in _BY_NUMBER.finditer(line) for number in numbers_in(match["some"] or match["others"])
    )
    return TakenBack(numbers, bool(_LAST.search(line.strip())))


def without_lead(line: str) -> tuple[str, str]:
    """Return words that take something back before a numbered claim, and the claim: "Wait, no. 2. …"; "" if none do."""
    match = _LEAD.match(line.strip())
    if match and taken_back(match["lead"]) != TakenBack():
        return match["lead"], match["rest"]
    return "", line


def supposes(words: str) -> bool:
    """Test whether what follows is said under a supposition, or in one of several cases."""
    return bool(_SUPPOSES.search(words))


def is_supposed(line: str) -> bool:
    """Test whether a line says in brackets that it is an assumption, or a case."""
    return bool(_IN_BRACKETS.search(line))


def numbers_in(words: str) -> Iterable[int]:
    """Yield the numbers in words such as "3, 5 and 7-9"."""
    for match in re.finditer(r"(\d{1,5})(?: ?[-–] ?(\d{1,5}))?", words):
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        yield from range(first, min(last, first + 100) + 1)
