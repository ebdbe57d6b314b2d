"""Corr2Cause in words, byte for byte as in the public data (Jin et al. 2024, §3.6), and words back into structure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations

from harness.causal.dag import DAG
from harness.causal.equivalence import from_independences, members, smallest
from harness.causal.relations import Holds, Relation, common_relations
from harness.causal.separation import Independence, conditioning_sets, independences
from harness.tasks.text_models import UnreadableText

TEMPLATES = {
    Relation.PARENT: "{i} directly causes {j}.",
    Relation.ANCESTOR: "{i} causes something else which causes {j}.",
    Relation.CHILD: "{j} directly causes {i}.",
    Relation.DESCENDANT: "{j} is a cause for {i}, but not a direct one.",
    Relation.COLLIDER: "There exists at least one collider (i.e., common effect) of {i} and {j}.",
    Relation.CONFOUNDER: "There exists at least one confounder (i.e., common cause) of {i} and {j}.",
}
"""Table 2."""

PARAPHRASES = {
    Relation.PARENT: "{i} directly affects {j}.",
    Relation.ANCESTOR: "{i} influences {j} through some mediator(s).",
    Relation.CHILD: "{j} directly affects {i}.",
    Relation.DESCENDANT: "{j} influences {i} through some mediator(s).",
    Relation.COLLIDER: "{i} and {j} together cause some other variable(s).",
    Relation.CONFOUNDER: "Some variable(s) cause(s) both {i} and {j}.",
}
"""Table 9."""

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
REFACTORED = tuple(reversed(LETTERS))
"""Variable refactorization (§4.5): A, B, C, … become Z, Y, X, …"""


def premise(dag: DAG, names: Sequence[str] = LETTERS) -> str:
    """Write the statistical relations of a DAG in words; node k is called names[k], everything in the nodes' order."""
    n = len(dag)
    text = (
        f"Suppose there is a closed system of {n} variables, {listed(names[:n])}. "
        f"All the statistical relations among these {n} variables are as follows:"
    )
    return text + sentences(n, independences(dag), names)


def sentences(n: int, separations: Sequence[Independence], names: Sequence[str] = LETTERS) -> str:
    """Write which of n variables correlate and, in the order given, which are independent; a space before each."""
    marginal = {(i, j) for i, j, condition in separations if not condition}
    text = ""
    correlated = [(i, j) for i, j in combinations(range(n), 2) if (i, j) not in marginal]
    for i, j in correlated:
        text += f" {names[i]} correlates with {names[j]}."
    if correlated and separations:
        text += " However,"
    of_each = _sentences(tuple(names[:n]))
    return text + "".join([of_each[separation] for separation in separations])


@lru_cache(maxsize=16)
def _sentences(names: tuple[str, ...]) -> dict[Independence, str]:
    """Return the sentence of every independence among the variables, a space before it: 2^(n-3) n(n-1) of them."""
    n = len(names)
    return {
        (i, j, condition): f" {names[i]} and {names[j]} are independent given {listed([names[k] for k in condition])}."
        if condition
        else f" {names[i]} is independent of {names[j]}."
        for i, j in combinations(range(n), 2)
        for condition in conditioning_sets(n, i, j)
    }


def hypothesis(relation: Relation, i: str, j: str, *, paraphrased: bool = False) -> str:
    """Write the hypothesis about the variables called i and j, in the words of Table 2 or of Table 9."""
    return (PARAPHRASES if paraphrased else TEMPLATES)[relation].format(i=i, j=j)


def as_input(premise: str, hypothesis: str) -> str:
    return f"Premise: {premise}\nHypothesis: {hypothesis}"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@dataclass(frozen=True)
class Premise:
    """The variables' names in the order of the list, and every independence that is stated."""

    names: tuple[str, ...]
    independences: frozenset[Independence]
    silent: tuple[tuple[int, int], ...] = ()
    """Pairs of which no sentence says anything; none in a premise of the benchmark."""


_NAME = r"[^\s,.:;()?]+"
_LEAD = "closed system of"
_OPENING = re.compile(
    rf"{_LEAD} (\d+) variables?, (.+?)\. All the statistical relations among these \d+ variables? "
    r"are as follows:"
)
_SENTENCES = (
    re.compile(rf"(?P<a>{_NAME}) correlates with (?P<b>{_NAME})"),
    re.compile(rf"(?P<a>{_NAME}) is independent of (?P<b>{_NAME})"),
    re.compile(rf"(?P<a>{_NAME}) and (?P<b>{_NAME}) are independent given (?P<given>.+)"),
)


@lru_cache(maxsize=4096)
def read_premise(text: str) -> Premise:
    """Return the structure of a premise, whatever its variables are called. Raises UnreadableText."""
    opening = _OPENING.search(text)
    if not opening:
        raise UnreadableText('no "closed system of … variables, …" in the premise')
    names = tuple(_names(opening[2]))
    if len(names) != int(opening[1]) or len(set(names)) != len(names):
        raise UnreadableText(f"{opening[1]} variables are announced, {opening[2]!r} are listed")
    place = {name: k for k, name in enumerate(names)}
    statements: set[Independence] = set()
    correlated: set[tuple[int, int]] = set()
    body = text[opening.end() :].partition("\n")[0]
    for sentence in filter(None, (part.strip() for part in re.split(r"\.(?:\s+|$)", body))):
        words = sentence.removeprefix("However, ")
        match = next(filter(None, (form.fullmatch(words) for form in _SENTENCES)), None)
        if match is None:
            raise UnreadableText(f"the premise's sentence {sentence!r}")
        condition = _names(match["given"]) if "given" in match.re.groupindex else []
        try:
            i, j = sorted((place[match["a"]], place[match["b"]]))
            others = tuple(sorted(place[name] for name in condition))
        except KeyError as missing:
            raise UnreadableText(f"{missing} is not among the premise's variables") from None
        if i == j or {i, j} & set(others):
            raise UnreadableText(f"the premise's sentence {sentence!r} names a variable twice")
        if "correlates" in words:
            correlated.add((i, j))
        else:
            statements.add((i, j, others))
    if any((i, j) in correlated for i, j, condition in statements if not condition):
        raise UnreadableText("the premise says of one pair that it correlates and that it is independent")
    spoken_of = correlated | {(i, j) for i, j, _ in statements}
    silent = tuple(pair for pair in combinations(range(len(names)), 2) if pair not in spoken_of)
    return Premise(names, frozenset(statements), silent)


_CONVERSES = {
    Relation.PARENT: Relation.CHILD,
    Relation.CHILD: Relation.PARENT,
    Relation.ANCESTOR: Relation.DESCENDANT,
    Relation.DESCENDANT: Relation.ANCESTOR,
}


@dataclass(frozen=True)
class Hypothesis:
    """A relation of two variables, by name."""

    relation: Relation
    i: str
    j: str

    @property
    def converse(self) -> Hypothesis:
        """The same claim with its variables in the other order: what A is to B said as what B is to A."""
        return Hypothesis(_CONVERSES.get(self.relation, self.relation), self.j, self.i)

    @property
    def canonical(self) -> Hypothesis:
        """The same claim, equal for all that mean the same: parent and ancestor from cause to effect, names sorted."""
        if self.relation in (Relation.CHILD, Relation.DESCENDANT):
            return self.converse
        if self.relation in (Relation.COLLIDER, Relation.CONFOUNDER):
            return Hypothesis(self.relation, *sorted((self.i, self.j)))
        return self


def read_hypothesis(text: str, names: tuple[str, ...] | None = None) -> Hypothesis:
    """Return the canonical reading of the first hypothesis in the words of Table 2 or 9. Raises UnreadableText.

    Two readings fit "B directly causes A" (child of (A, B), parent of (B, A)): the one whose first argument
    comes first in the premise's list is taken, in the alphabet without a list, as the public data has it.
    "A influences B through some mediator(s)" is read as ancestor or descendant by the same rule.
    """
    matches = [
        (match.start(), relation, match["i"], match["j"]) for relation, form in _forms() if (match := form.search(text))
    ]
    if not matches:
        raise UnreadableText(f"no hypothesis in the words of Tables 2 and 9 in {_short(text)!r}")
    first = min(start for start, *_ in matches)
    readings = [Hypothesis(relation, i, j) for start, relation, i, j in matches if start == first]
    order = {name: k for k, name in enumerate(names or sorted({readings[0].i, readings[0].j}))}
    for name in (readings[0].i, readings[0].j):
        if name not in order:
            raise UnreadableText(f"the hypothesis' {name!r} is not among the premise's variables {', '.join(order)}")
    return next((reading for reading in readings if order[reading.i] < order[reading.j]), readings[0])


@cache
def _forms() -> list[tuple[Relation, re.Pattern[str]]]:
    # A name begins where no other does: tried at each sign of one very long word, the search would take its square.
    slots = {f"\\{{{k}\\}}": rf"(?<![^\s,.:;()?])(?P<{k}>{_NAME})" for k in "ij"}
    forms = []
    for templates in (TEMPLATES, PARAPHRASES):
        for relation, template in templates.items():
            form = re.escape(template.rstrip("."))
            for slot, group in slots.items():
                form = form.replace(slot, group)
            forms.append((relation, re.compile(form)))
    return forms


@lru_cache(maxsize=4096)
def read_dag(premise: Premise) -> DAG:
    """Return a DAG whose independences are exactly the stated ones. Raises UnreadableText."""
    if premise.silent:
        i, j = premise.silent[0]
        raise UnreadableText(f"the premise says nothing of {premise.names[i]} and {premise.names[j]}")
    dag = from_independences(len(premise.names), premise.independences)
    if dag is None or frozenset(independences(dag)) != premise.independences:
        raise UnreadableText("no directed acyclic graph has exactly the independences that the premise states")
    return dag


@lru_cache(maxsize=4096)
def read_class(premise: Premise) -> Holds:
    """Return the relations that hold in every DAG with exactly the stated independences. Raises UnreadableText."""
    return common_relations(members(read_dag(premise)))


def follows(premise: Premise, hypothesis: Hypothesis) -> bool:
    """Test whether the hypothesis holds in every DAG that the premise allows. Raises UnreadableText."""
    i, j = premise.names.index(hypothesis.i), premise.names.index(hypothesis.j)
    return bool(read_class(premise)[hypothesis.relation][i] >> j & 1)


def _names(text: str) -> list[str]:
    return [name for name in re.split(r",\s*|\s+and\s+", text) if name]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:77]}…"


def read_question(text: str) -> tuple[Premise, Hypothesis]:
    """Return the last premise and hypothesis of a request's words (examples come before). Raises UnreadableText."""
    first, _, rest = (_LEAD + text.rpartition(_LEAD)[2]).partition("\n")
    premise = read_premise(first)
    return premise, read_hypothesis(rest, premise.names)


@lru_cache(maxsize=4096)
def class_of(premise: Premise) -> tuple[int, int]:
    """Return (n, representative) of the premise's class up to renaming. Raises UnreadableText."""
    return len(premise.names), smallest(read_dag(premise))
