"""Statements about a graph in words, and words back into statements: only what is said plainly is read.

The sentences that `in_words` writes are the grammar that prompt=trace asks for. A reply may say the same in a few other
plain ways; a sentence that asks, supposes, hedges or quotes says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from harness.causal.statements import Kind, Statement
from harness.tasks.corr2cause.text import listed

LONGEST = 600
"""Characters of a sentence: what is longer is not read, so that reading takes time in proportion to the reply."""


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


class UnknownNameError(ValueError):
    """A sentence says something plainly of a variable that the premise does not have."""


_NAME = r"\w[\w'’-]{0,60}"
_A, _B, _M = (rf"(?P<{slot}>{_NAME})" for slot in "abm")
_NOT = r"(?P<no>not |n't |n’t |non-?)"
_GIVEN = (
    rf"(?: (?:if|when|once) we condition on| (?:when )?(?:given|conditional on|conditioned on|conditioning on)|\s?\|)"
    rf" ?\{{?(?P<given>{_NAME}(?:(?:, and | and |, | & ){_NAME}){{0,20}})\}}?"
)
_EDGE = r"(?:direct )?(?:edge|link|connection)"
_FORMS: tuple[tuple[Kind, bool, str], ...] = (
    # Kind, whether the words themselves deny it, the form. `no` denies; a and b are the ends, m stands between them.
    (Kind.ADJACENT, False, rf"{_A} (?:and|-) {_B} are {_NOT}?(?:adjacent|neighbou?rs|directly connected)"),
    (Kind.ADJACENT, False, rf"{_A} (?:is|are) {_NOT}?(?:adjacent|directly connected) to {_B}"),
    (Kind.ADJACENT, False, rf"(?:there is |there exists )?an? {_EDGE} between {_A} and {_B}"),
    (Kind.ADJACENT, True, rf"(?:there is |there exists )?no {_EDGE} between {_A} and {_B}"),
    (Kind.INDEPENDENT, False, rf"{_A} and {_B} are {_NOT}?(?:conditionally |marginally )?independent(?:{_GIVEN})?"),
    (Kind.INDEPENDENT, True, rf"{_A} and {_B} are {_NOT}?(?:dependent|correlated|associated)(?:{_GIVEN})?"),
    (
        Kind.INDEPENDENT,
        False,
        rf"{_A} is {_NOT}?(?:conditionally |marginally )?independent (?:of|from) {_B}(?:{_GIVEN})?",
    ),
    (Kind.INDEPENDENT, True, rf"{_A} is {_NOT}?(?:correlated|associated) with {_B}(?:{_GIVEN})?"),
    (Kind.INDEPENDENT, True, rf"{_A} correlates with {_B}"),
    (Kind.INDEPENDENT, False, rf"{_A} _\|\|_ {_B}(?:{_GIVEN})?"),
    (Kind.INDEPENDENT, True, rf"{_A} _/_ {_B}(?:{_GIVEN})?"),
    (Kind.COLLIDER, False, rf"{_M} is {_NOT}?a collider between {_A} and {_B}"),
    (Kind.COLLIDER, True, rf"{_M} is no collider between {_A} and {_B}"),
    (Kind.COLLIDER, False, rf"{_A} -> {_M} <- {_B}"),
    (Kind.PARENT, False, rf"{_A} directly causes {_B}"),
    (Kind.PARENT, True, rf"{_A} (?:does not|doesn['’]t) directly cause {_B}"),
    (Kind.PARENT, False, rf"{_A} is {_NOT}?(?:a|the) (?:direct cause|parent) of {_B}"),
    (Kind.PARENT, False, rf"{_B} is {_NOT}?a child of {_A}"),
    (Kind.PARENT, False, rf"{_B} is {_NOT}?directly caused by {_A}"),
    (Kind.CAUSE, False, rf"{_A} causes {_B}"),
    (Kind.CAUSE, True, rf"{_A} (?:does not|doesn['’]t) cause {_B}"),
    (Kind.CAUSE, False, rf"{_A} is {_NOT}?(?:a cause|an ancestor) of {_B}"),
    (Kind.CAUSE, False, rf"{_B} is {_NOT}?a descendant of {_A}"),
)
_READ = tuple((kind, denies, re.compile(form, re.IGNORECASE)) for kind, denies, form in _FORMS)
_CHAIN = re.compile(rf"{_NAME}(?: (?:->|<-) {_NAME}){{1,20}}")
_UNSETTLED = r"(?:open|undetermined|undecided|not determined|not settled|left open)"
_OPEN = re.compile(
    rf"(?:it (?:is|remains) {_UNSETTLED}|the premise leaves (?:it )?open) (?:whether|if) (?P<rest>.+)"
    rf"|whether (?P<other>.+) (?:is|remains) {_UNSETTLED}",
    re.IGNORECASE,
)
_DIRECTION = re.compile(
    rf"the (?:direction|orientation) of (?:the )?(?:edge )?(?:between )?{_A} (?:and|-) {_B} (?:is|remains) "
    rf"{_UNSETTLED}",
    re.IGNORECASE,
)

_LEADS = re.compile(
    r"(?:(?:so|thus|therefore|hence|then|also|next|likewise|similarly|finally|now|and|but|yet|however|moreover|indeed|"
    r"furthermore|consequently|accordingly|as a result|in addition|since|because|as|given that|i\.?e\.?|that is|first|"
    r"second|third|(?:this means|this implies|it follows|which means|we (?:have|know|see|conclude|get|find|note)|note|"
    r"i (?:claim|conclude)|it is (?:clear|plain)|the premise (?:says|states|tells us))(?: that)?|clearly|obviously|"
    r"in every graph|(?:by|from) the premise)[,:]? +)+",
    re.IGNORECASE,
)
_TAILS = re.compile(
    r"(?: holds| too| as well| in (?:every graph|all graphs)(?: that fits?)?(?: the premise)?| by the premise|"
    r" marginally| ?[✓✔☑])+$",
    re.IGNORECASE,
)
_SAYS_NOTHING = re.compile(
    r"\?|\b(?:if|whether|unless|suppos\w*|assum\w*|imagin\w*|consider\w*|could|would|might|may|can|cannot|can['’]t|could"
    r"n['’]t|should|(?:im)?possib\w*|perhaps|maybe|probabl\w*|likely|unlikely|seem\w*|appear\w*|believe|guess|either|or|"
    r"neither|question|claims?|statement|hypothes\w*|check\w*|asked?|prove|verify|test|determine|contradict\w*|contrary|"
    r"absurd|violat\w*|inconsistent|reject\w*|exclude\w*|example|instance|another|alternative\w*|scenario|ruled? out|"
    r"false|wrong|incorrect|not (?:true|allowed|the case)|need|want|were|unclear|unknown|some|"
    r"(?:not|n['’]t|never) (?:follow|mean|imply|say|state|necessarily|know|tell|sure))\b"
    r"|\b(?:case|option|graph|dag|model|structure|chain|fork|path|goal|aim|target|plan)s?\b[^:]{0,30}:",
    re.IGNORECASE,
)
"""What keeps a sentence from saying anything: it asks, supposes, hedges, quotes, leads to the absurd or lists cases."""
_OF_SOME = re.compile(
    r"(?:in|for|with|under|when|where|given|after|before|once|while|without|even|not|no|only|unlike|until|among)\b",
    re.IGNORECASE,
)
"""How a sentence begins whose first clause says of what the others hold."""
_LISTS_CASES = re.compile(
    r"\b(?:graphs?|dags?|structures?|cases?|options?|models?|chains?|forks?|paths?|possib\w*|could|might|may|either|or|if|"
    r"suppose|assume|examples?|alternatives?|compatible|consistent|hypothes\w*|plan|goals?|aims?|"
    r"to (?:do|show|check|prove)|false|wrong|incorrect|untrue|not (?:true|so|the case)|(?:does|do) not (?:hold|follow)|"
    r"withdrawn|rejected)\b[^:]*:$",
    re.IGNORECASE,
)
_EDGES = " .,;:!\"'“”"
_CLAUSES = re.compile(
    r"[;:,](?: (?=and\b|so\b|but\b|thus\b|hence\b|therefore\b|since\b|because\b|i\.?e\b|which\b|as\b)| )"
    r"| (?=(?:because|since|so|but|thus|hence|therefore|which means)\b)",
    re.IGNORECASE,
)


def statements_of(sentence: str, names: Sequence[str]) -> list[Statement]:
    """Return what a sentence says plainly.

    Raises UnknownNameError where all that it says is of a variable that is not there, or of one twice.
    """
    if len(sentence) > LONGEST:
        return []
    sentence = _trimmed(sentence)
    if match := _DIRECTION.fullmatch(sentence):
        return [_statement(Kind.PARENT, match, names, denied=False, open=True)]
    opened = _OPEN.fullmatch(sentence)
    words = sentence if opened is None else _trimmed(opened["rest"] or opened["other"])
    if _SAYS_NOTHING.search(words):
        return []
    statements: list[Statement] = []
    problem: UnknownNameError | None = None
    for place, part in enumerate((words, *_CLAUSES.split(words))):
        try:
            statements += _clause(_trimmed(part), names)
        except UnknownNameError as unknown:
            problem = unknown
        if (place == 0 and statements) or (place == 1 and not statements and _OF_SOME.match(words)):
            break
    if problem and not statements:
        raise problem
    if opened:
        return [replace(one, denied=False, open=True) for one in dict.fromkeys(statements)]
    return list(dict.fromkeys(statements))


def lists_cases(line: str) -> bool:
    """Test whether a line heads a list of what may be, rather than of what is."""
    return len(line) <= LONGEST and line.rstrip().endswith(":") and bool(_LISTS_CASES.search(line.rstrip()))


def _trimmed(words: str) -> str:
    words = words.strip(_EDGES)
    if lead := _LEADS.match(words):
        words = words[lead.end() :]
    return _TAILS.sub("", words).strip(_EDGES)


def _clause(words: str, names: Sequence[str]) -> list[Statement]:
    """Return what a clause says; of several with "and" between them all, or nothing where one says something else."""
    if statements := _single(words, names):
        return statements
    start, joints = 0, [match.span() for match in re.finditer(" and (?:that )?", words)]
    for end, following in [*joints, (len(words), len(words))]:
        with suppress(UnknownNameError):
            if here := _single(words[start:end], names):
                statements += here
                start = following
    return statements if start == len(words) else []


def _single(words: str, names: Sequence[str]) -> list[Statement]:
    for kind, denies, form in _READ:
        if match := form.fullmatch(words):
            denied = denies != bool(match.groupdict().get("no"))
            return [_statement(kind, match, names, denied=denied)]
    if _CHAIN.fullmatch(words):
        parts = words.split(" ")
        edges = zip(parts[::2], parts[1::2], parts[2::2], strict=False)
        ways = [(a, b) if arrow == "->" else (b, a) for a, arrow, b in edges]
        return [Statement.of(Kind.PARENT, [_place(name, names) for name in way]) for way in ways if way[0] != way[1]]
    return []


def _statement(
    kind: Kind, match: re.Match[str], names: Sequence[str], *, denied: bool, open: bool = False
) -> Statement:
    slots = match.groupdict()
    ends = [slots[slot] for slot in ("a", "m", "b") if slots.get(slot)]
    condition = re.split(r", and | and |, | & ", slots["given"]) if slots.get("given") else []
    try:
        places = [_place(name, names) for name in ends], [_place(name, names) for name in condition]
        return Statement.of(kind, *places, denied=denied, open=open)
    except UnknownNameError:
        raise
    except ValueError as twice:
        raise UnknownNameError(str(twice)) from None


def _place(name: str, names: Sequence[str]) -> int:
    """Return which variable is meant: by its name, or by that in other case where only one has it."""
    if name in names:
        return names.index(name)
    alike = [k for k, other in enumerate(names) if other.casefold() == name.casefold()]
    if len(alike) != 1:
        raise UnknownNameError(f"{name} is no variable of the premise")
    return alike[0]
