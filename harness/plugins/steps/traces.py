"""A reply into the steps that it argues by: claims, and what each says that it rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.causal.statements import Statement
from harness.plugins.steps.taken_back import is_supposed, numbers_in, supposes, taken_back, without_lead
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
    (re.compile(r"</?(?:li|ol|ul|p|b|i|em|strong|code|span|div|br)\b[^<>]{0,40}>"), " "),
    (re.compile(r"\\(?:begin|end)\{\w{1,20}\}|\\item\b"), " "),
    (re.compile(r"\\(?:text\w{0,4}|mathrm|mathbf)\{([^{}]{0,200})\}"), r"\1"),
    (re.compile(r"\\([{}])"), r"\1"),
    (re.compile(r"(?:\\not\s*)(?:\\(?:perp|indep)\b|\\!)+|[⊥⟂⫫]+ *\u0338[⊥⟂⫫\u0338 ]*"), " _/_ "),
    (re.compile(r"\b(?:variables?|nodes?) (?=[‘’'\"“”]?\w{1,20}\b)", re.IGNORECASE), ""),
    (re.compile(r"(?<!\w)[‘'\"“](\w{1,20})[’'\"”](?!\w)"), r"\1"),
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r"\\(?:rightarrow|to)\b"), " -> "),
    (re.compile(r"\\leftarrow\b"), " <- "),
    (re.compile(r"\\(?:perp|indep)\b"), " ⊥ "),
    (re.compile(r"\\mid\b"), " | "),
    (re.compile(r"[*`$]|\\!|\b__|__\b"), ""),
    (re.compile(r"[⊥⟂⫫][ ⊥⟂⫫]*|_\|\|_"), " _||_ "),
    (re.compile(r"-{1,5}>"), " -> "),
    (re.compile(r"<-{1,5}"), " <- "),
    (re.compile(r" +"), " "),
)
_NUMBERED = re.compile(
    r"[\s>#•+-]*[\[(]?(?:(?:claim|step)\s*#?)?\s*(?P<number>\d{1,5})\s*[.):\]]+\s*(?P<rest>\S.*)", re.IGNORECASE
)
_LISTED = re.compile(r"\s*(?:[-*>#•+]|\(?\w{1,3}[.):])\s")
_BULLET = re.compile(r"[\s>#•+-]+")
_BASIS = re.compile(
    r"(?:\b(?:from|by|rests?|on|based|because|using|premises?|claims?|steps?|lines?|the|and|see|of|no|none|nothing|nos?)\b"
    r"|[\d,;&+#.: –-])+[\])}]\s*[.;,]?\s*",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"\s*\([^()]{0,200}\)")
_ANSWER = re.compile(r"[\s>#-]*(?:final )?answer\b", re.IGNORECASE)
_ONE_LINE = re.compile(r"(?<=[\])}]) +(?=\d{1,3}[.)] |(?:final )?answer\b)", re.IGNORECASE)
"""Where a numbered claim begins on the line of the one before it."""
_ENDS = re.compile(r"(?<=[.!?])(?<!i\.e\.)(?<!e\.g\.)[\"”]?\s+")


def read(reply: str, names: Sequence[str]) -> Trace:
    """Return the steps of a reply about variables of these names, in its order, in time proportional to its length."""
    reading = _Reading(names)
    for line in _plain(reply).splitlines():
        lead, rest = without_lead(line)
        for part in filter(None, (lead, rest)) if lead else (rest,):
            reading.add(part)
    return Trace(tuple(reading.kept()), reading.numbered, reading.unread, reading.unknown)


@dataclass
class _Reading:
    """What is known of a reply line by line."""

    names: Sequence[str]
    lines: list[list[Step]] = field(default_factory=list)
    """The claims of each line that has any; none where they were taken back."""
    by_number: dict[int, list[list[Step]]] = field(default_factory=dict)
    """The same lists by the number of the line."""
    numbered: int = 0
    unread: int = 0
    unknown: int = 0
    supposed: bool = False
    """The rest of a paragraph that supposes something."""
    loosely: bool = False
    """The same where a numbered line does: claims that name what they rest on are judged by `under`."""
    cases: bool = False
    """The list below a heading of cases, or of what is not claimed."""
    under: set[int] = field(default_factory=set)
    """Numbers of lines that suppose something, and of those that rest on them."""

    def add(self, line: str) -> None:
        """Read the next line."""
        if not line.strip():
            self.supposed = self.loosely = False
        if not line.strip() or _ANSWER.match(line):
            return
        self._take_back(line)
        if self._in_cases(line):
            return
        number, words = _number(line)
        assumed = is_supposed(words)
        words, rests_on, on_premise = _basis(words)
        supposed = self.supposed or (self.loosely and rests_on is None)
        statements = [] if assumed else self._statements(words, number, supposed)
        in_form = number is not None or rests_on is not None
        self.numbered += in_form
        self.unread += in_form and not statements
        if number is not None and (assumed or self.under & {*(rests_on or ())}):
            self.under.add(number)
            statements = [one for one in statements if one.open]  # what all cases come to
        steps = [Step(one, number, rests_on, on_premise) for one in dict.fromkeys(statements)]
        if steps:
            self.lines.append(steps)
            if number is not None:
                self.by_number.setdefault(number, []).append(steps)

    def kept(self) -> list[Step]:
        return [step for steps in self.lines for step in steps]

    def _statements(self, words: str, number: int | None, supposed: bool) -> list[Statement]:
        """Return what a line says; nothing from where it supposes something."""
        statements: list[Statement] = []
        for sentence in _ENDS.split(_IN_BRACKETS.sub("", words)):
            if supposes(sentence):
                supposed = True
                self.supposed |= number is None
                self.loosely |= number is not None
                self.under |= set() if number is None else {number}
            try:
                statements += [] if supposed else statements_of(sentence, self.names)
            except UnknownNameError:
                self.unknown += number is not None
        return statements

    def _in_cases(self, line: str) -> bool:
        self.cases = lists_cases(line) or (self.cases and bool(_LISTED.match(line)))
        return self.cases

    def _take_back(self, line: str) -> None:
        """Remove the claims that a line takes back."""
        back = taken_back(line)
        if back.everything:
            self.lines.clear()
            self.by_number.clear()
        for number in back.numbers:
            for steps in self.by_number.pop(number, ()):
                steps.clear()
        if back.last:
            while self.lines and not self.lines[-1]:
                self.lines.pop()
            if self.lines:
                self.lines.pop().clear()


def _plain(reply: str) -> str:
    """Return a reply without Markdown and LaTeX, its arrows and signs of independence as the grammar has them."""
    lines, in_code = [], False
    for line in _ONE_LINE.sub("\n", reply.translate(_SIGNS)).splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
            continue
        if in_code:
            line = line.partition("#")[0]  # a comment
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
    numbers = tuple(dict.fromkeys(numbers_in(match[0])))
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
