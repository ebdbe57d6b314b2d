"""The numbered claims of a reply: "4. B is a collider between A and C [1, 2, premise]".

`in_words` writes the grammar that prompt=trace asks for, and `read` reads lines of it back. What stands in other words
is counted as unread, and no claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.tasks.corr2cause.text import listed
from harness_lab.statements import Kind, Statement


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a reply."""

    statement: Statement
    number: int
    rests_on: tuple[int, ...] | None = None
    """The numbers that it names, () for the premise alone; None where it names nothing."""
    on_premise: bool = False


@dataclass(frozen=True)
class Trace:
    """What could be read of a reply."""

    claims: tuple[Claim, ...]
    numbered: int = 0
    """Lines with a number."""
    unread: int = 0
    """Those of them that are not in the grammar, or speak of variables that the premise does not have."""


def in_words(statement: Statement, names: Sequence[str]) -> str:
    """Return the statement as the grammar has it."""
    if statement.open:
        return f"It is open whether {in_words(statement.plain, names)}"
    first, last = names[statement.nodes[0]], names[statement.nodes[-1]]
    denied = " not" if statement.denied else ""
    if statement.kind is Kind.ADJACENT:
        return f"{first} and {last} are{denied} adjacent"
    if statement.kind is Kind.INDEPENDENT:
        condition = f" given {listed([names[k] for k in statement.condition])}" if statement.condition else ""
        return f"{first} and {last} are {'dependent' if denied else 'independent'}{condition}"
    if statement.kind is Kind.COLLIDER:
        return f"{names[statement.nodes[1]]} is{denied} a collider between {first} and {last}"
    verb = "directly cause" if statement.kind is Kind.PARENT else "cause"
    return f"{first} does not {verb} {last}" if denied else f"{first} {verb}s {last}"


_NAME = r"\w[\w'’-]{0,60}"
_A, _B, _M = (rf"(?P<{slot}>{_NAME})" for slot in "abm")
_GIVEN = rf"(?: given (?P<given>{_NAME}(?:(?:, and | and |, ){_NAME}){{0,20}}))?"
_FORMS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(form, re.IGNORECASE))
    # `no` denies; a and b are the ends, m stands between them.
    for kind, form in (
        (Kind.ADJACENT, rf"{_A} and {_B} are (?P<no>not )?adjacent"),
        (Kind.INDEPENDENT, rf"{_A} and {_B} are (?:in|(?P<no>))dependent{_GIVEN}"),
        (Kind.COLLIDER, rf"{_M} is (?P<no>not )?a collider between {_A} and {_B}"),
        (Kind.PARENT, rf"{_A} directly causes {_B}"),
        (Kind.PARENT, rf"{_A} (?P<no>does not) directly cause {_B}"),
        (Kind.CAUSE, rf"{_A} causes {_B}"),
        (Kind.CAUSE, rf"{_A} (?P<no>does not) cause {_B}"),
    )
)
_OPEN = re.compile(r"it is open whether (?P<rest>.+)", re.IGNORECASE)
_NUMBERED = re.compile(r"[\s>#•+-]*(?:claim )?(?P<number>\d{1,5})[.):]\s+(?P<rest>\S.*)", re.IGNORECASE)
_BASIS = re.compile(r"(?P<words>.{1,600}?)\s*[\[(](?P<basis>[^\[\]()]{0,200})[\])]")
_MARKS = re.compile(r"[*`$]")


def read(reply: str, names: Sequence[str]) -> Trace:
    """Return the claims of a reply about variables of these names, in its order."""
    claims: list[Claim] = []
    numbered = 0
    for line in _MARKS.sub("", reply).splitlines():
        if match := _NUMBERED.fullmatch(line):
            numbered += 1
            claim = _claim(int(match["number"]), match["rest"].strip(" ."), names)
            claims += [] if claim is None else [claim]
    return Trace(tuple(claims), numbered, numbered - len(claims))


def _claim(number: int, words: str, names: Sequence[str]) -> Claim | None:
    rests_on, on_premise = None, False
    if match := _BASIS.fullmatch(words):
        words, basis = match["words"].strip(" ."), match["basis"]
        rests_on = tuple(dict.fromkeys(map(int, re.findall(r"\d{1,5}", basis))))
        on_premise = "premise" in basis.lower()
    statement = statement_of(words, names)
    return None if statement is None else Claim(statement, number, rests_on, on_premise)


def statement_of(words: str, names: Sequence[str]) -> Statement | None:
    """Return what a sentence of the grammar says; None for any other, and for one about another variable."""
    if opened := _OPEN.fullmatch(words):
        plain = statement_of(opened["rest"], names)
        return None if plain is None else Statement.of(plain.kind, plain.nodes, plain.condition, open=True)
    for kind, form in _FORMS:
        if match := form.fullmatch(words):
            slots = match.groupdict()
            given = re.split(r", and | and |, ", slots["given"]) if slots.get("given") else []
            try:
                ends = [_place(slots[slot], names) for slot in ("a", "m", "b") if slots.get(slot)]
                return Statement.of(
                    kind, ends, [_place(name, names) for name in given], denied=slots.get("no") is not None
                )
            except ValueError:  # no such variable, or one twice
                return None
    return None


def _place(name: str, names: Sequence[str]) -> int:
    """Return which variable is meant: by its name, or by that in other case where only one has it."""
    if name in names:
        return names.index(name)
    (place,) = [k for k, other in enumerate(names) if other.casefold() == name.casefold()]
    return place


def circular(claims: Sequence[Claim]) -> frozenset[int]:
    """Return the numbers of claims that rest on themselves, at once or through others, or on such claims."""
    needs: dict[int, set[int]] = {}
    for claim in claims:
        needs.setdefault(claim.number, set()).update(claim.rests_on or ())
    left = set(needs)
    while ready := {number for number in left if not needs[number] & left}:
        left -= ready
    return frozenset(left)
