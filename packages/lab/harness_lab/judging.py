"""The claims of a reply judged: each by the premise's class, and by whether it follows from what it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from harness.tasks.corr2cause.text import Premise, read_dag
from harness_lab.claims import Claim, Trace, circular, read
from harness_lab.every_graph import Constraint
from harness_lab.inference import Support, support
from harness_lab.statements import GraphClass, PairSentences, Verdict, class_of

Unjudged = Literal["names nothing", "circular", "names what is not there", "of a class"]
"""Why nothing is said of whether a claim follows.

- names what is not there: a number that no line has, or a line that could not be read.
- of a class: it says that something is open, or rests on that; no other claims settle it, only the whole premise does.
"""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with its verdict, and whether it follows from the claims and sentences that it names."""

    claim: Claim
    verdict: Verdict
    support: Support | Unjudged

    @property
    def sound(self) -> bool:
        """Whether the premise entails it."""
        return self.verdict == "entailed"


@dataclass(frozen=True)
class JudgedTrace:
    """A reply's claims, judged, and what could not be read of it."""

    trace: Trace
    claims: tuple[JudgedClaim, ...]

    @property
    def broken(self) -> int | None:
        """The place of the first claim that the premise does not entail; None where it entails all."""
        return next((place for place, claim in enumerate(self.claims) if not claim.sound), None)


def judge(reply: str, premise: Premise) -> JudgedTrace:
    """Return the claims of a reply, judged. Raises UnreadableText where no graph has the premise's independences."""
    graphs, trace = class_of(read_dag(premise)), read(reply, premise.names)
    by_number: dict[int, list[Claim]] = {}
    for claim in trace.claims:
        by_number.setdefault(claim.number, []).append(claim)
    in_circles = circular(trace.claims)
    judged = [
        JudgedClaim(claim, graphs.verdict(claim.statement), _support(claim, by_number, in_circles, graphs))
        for claim in trace.claims
    ]
    return JudgedTrace(trace, tuple(judged))


def _support(
    claim: Claim, by_number: Mapping[int, Sequence[Claim]], in_circles: frozenset[int], graphs: GraphClass
) -> Support | Unjudged:
    if claim.rests_on is None or not (claim.rests_on or claim.on_premise):
        return "names nothing"
    if claim.number in in_circles:
        return "circular"
    if any(number not in by_number for number in claim.rests_on):
        return "names what is not there"
    named = [other.statement for number in claim.rests_on for other in by_number[number]]
    if any(statement.open for statement in (claim.statement, *named)):
        return "of a class"
    basis: set[Constraint] = set(named)
    if claim.on_premise:
        about = sorted({node for statement in (claim.statement, *named) for node in statement.nodes})
        basis |= {PairSentences.of(graphs.n, graphs.separations, i, j) for i, j in combinations(about, 2)}
    return support(graphs.n, basis, claim.statement, graphs.graphs)
