"""A reply into the steps that it argues by: claims, and what each says that it rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.causal.statements import Statement
from harness.plugins.steps.wording import LONGEST, UnknownNameError, lists_cases, statements_of


@dataclass(frozen=True, slots=True)
class Step:
    """A claim of a reply."""

    statement: Statement
    number: int | None = None
    """What the reply numbers it; several claims of one line share a number."""
    rests_on: tuple[int, ...] | None = None
    """The numbers that it names, () for the premise alone; None where it names nothing."""
    on_premise: bool = False


@dataclass(frozen=True)
class Trace:
    """What could be read of a reply."""

    steps: tuple[Step, ...]
    numbered: int = 0
    """Lines with a number, or with what they rest on: what the form asks for."""
    unread: int = 0
    """Those of them that say nothing in the grammar."""
    unknown: int = 0
    """Lines that say something of variables that the premise does not have, or of one variable twice."""


_SIGNS = str.maketrans(
    {"→": " -> ", "←": " <- ", "⟶": " -> ", "⟵": " <- ", "–": "-", "—": "-", "⊥": " ⊥ ", "\u00a0": " "}
)
_PLAIN = (
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r"\\(?:rightarrow|to)\b"), " -> "),
    (re.compile(r"\\leftarrow\b"), " <- "),
    (re.compile(r"\\(?:perp|indep)\b"), " ⊥ "),
    (re.compile(r"\\mid\b"), " | "),
    (re.compile(r"[*`$]|\\!|\b__|__\b"), ""),
    (re.compile(r"⊥[ ⊥]*|_\|\|_"), " _||_ "),
    (re.compile(r"-{1,5}>"), " -> "),
    (re.compile(r"<-{1,5}"), " <- "),
    (re.compile(r" +"), " "),
)
_NUMBERED = re.compile(
    r"[\s>#•+-]*\(?(?:(?:claim|step)\s*#?)?\s*(?P<number>\d{1,5})\s*[.):\]]+\s*(?P<rest>\S.*)", re.IGNORECASE
)
_LISTED = re.compile(r"\s*(?:[-*>#•+]|\(?\w{1,3}[.):])\s")
_BULLET = re.compile(r"[\s>#•+-]+")
_BASIS = re.compile(
    r"(?:\b(?:from|by|rests?|on|based|because|using|premises?|claims?|steps?|lines?|the|and|see|of|no|none|nothing|nos?)\b"
    r"|[\d,;&+#. ])+[\])}]\s*[.;,]?\s*",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"\s*\([^()]{0,200}\)")
_ANSWER = re.compile(r"[\s>#-]*(?:final )?answer\b", re.IGNORECASE)
_ENDS = re.compile(r"(?<=[.!?])(?<!i\.e\.)(?<!e\.g\.)[\"”]?\s+")
_SUPPOSES = re.compile(r"\b(?:suppose|assume|assuming|imagine|let us say|let's say|by contradiction)\b", re.IGNORECASE)


def read(reply: str, names: Sequence[str]) -> Trace:
    """Return the steps of a reply about variables of these names, in its order, in time proportional to its length."""
    steps: list[Step] = []
    numbered = unread = unknown = 0
    supposed = cases = False  # the rest of a paragraph that supposes something; the list below a heading of cases
    for line in _plain(reply).splitlines():
        if not line.strip():
            supposed = False
        if not line.strip() or _ANSWER.match(line):
            continue
        if cases := lists_cases(line) or (cases and bool(_LISTED.match(line))):
            continue
        number, words = _number(line)
        words, rests_on, on_premise = _basis(words)
        statements: list[Statement] = []
        for sentence in _ENDS.split(_IN_BRACKETS.sub("", words)):
            supposed = supposed or bool(_SUPPOSES.search(sentence))
            try:
                statements += [] if supposed else statements_of(sentence, names)
            except UnknownNameError:
                unknown += number is not None
        in_form = number is not None or rests_on is not None
        numbered += in_form
        unread += in_form and not statements
        steps += [Step(one, number, rests_on, on_premise) for one in dict.fromkeys(statements)]
    return Trace(tuple(steps), numbered, unread, unknown)


def _plain(reply: str) -> str:
    """Return a reply without Markdown and LaTeX, its arrows and signs of independence as the grammar has them."""
    lines = []
    for line in reply.translate(_SIGNS).splitlines():
        for pattern, text in _PLAIN:
            line = pattern.sub(text, line)
        if line.strip().startswith("|"):  # a row of a table: number, claim, what it rests on
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            line = f"{cells[0]}. {cells[1]} [{cells[2]}]" if len(cells) == 3 and cells[0].isdecimal() else ""
        lines.append(line)
    return "\n".join(lines)


def _number(line: str) -> tuple[int | None, str]:
    if match := _NUMBERED.fullmatch(line):
        return int(match["number"]), match["rest"]
    return None, line[match.end() :] if (match := _BULLET.match(line)) else line


def _basis(words: str) -> tuple[str, tuple[int, ...] | None, bool]:
    """Return a claim without the brackets that say what it rests on; their numbers, and if they have the premise."""
    start = max(map(words.rfind, "[({"))
    if start < 1 or len(words) - start > LONGEST or not (match := _BASIS.fullmatch(words, start + 1)):
        return words, None, False
    numbers = tuple(dict.fromkeys(map(int, re.findall(r"\d{1,5}", match[0]))))
    return words[:start], numbers, "premise" in match[0].lower()


def circular(steps: Sequence[Step]) -> frozenset[int]:
    """Return the numbers of steps that rest on themselves, at once or through others, or on such steps."""
    needs: dict[int, set[int]] = {}
    for step in steps:
        if step.number is not None:
            needs.setdefault(step.number, set()).update(step.rests_on or ())
    needed_by: dict[int, list[int]] = {}
    for number, others in needs.items():
        for other in others & needs.keys():
            needed_by.setdefault(other, []).append(number)
    open_needs = {number: len(others & needs.keys()) for number, others in needs.items()}
    ready = [number for number, count in open_needs.items() if not count]
    while ready:
        for number in needed_by.get(ready.pop(), ()):
            open_needs[number] -= 1
            if not open_needs[number]:
                ready.append(number)
    return frozenset(number for number, count in open_needs.items() if count)
