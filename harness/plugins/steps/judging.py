"""The steps of a reply judged: each by the premise's class, and by whether it follows from what it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from harness.causal.dag import DAG
from harness.causal.every_graph import Constraint
from harness.causal.inference import Support, supported
from harness.causal.statements import GraphClass, Kind, PairSentences, Statement, Verdict, class_of
from harness.plugins.steps.traces import Step, Trace, circular, read
from harness.tasks.corr2cause.text import Premise, read_dag

Unjudged = Literal["names nothing", "circular", "names what is not there", "of a class"]
"""Why nothing is said of whether a step follows.

- names what is not there: a number that no line has, or a line that could not be read.
- of a class: it says that something is open, or rests on that; no other claims settle it, only the whole premise does.
"""
KINDS: Mapping[tuple[Kind, bool], str] = {
    (Kind.ADJACENT, False): "adjacent",
    (Kind.ADJACENT, True): "not adjacent",
    (Kind.INDEPENDENT, False): "independent",
    (Kind.INDEPENDENT, True): "dependent",
    (Kind.COLLIDER, False): "collider",
    (Kind.COLLIDER, True): "no collider",
    (Kind.PARENT, False): "direct cause",
    (Kind.PARENT, True): "no direct cause",
    (Kind.CAUSE, False): "cause",
    (Kind.CAUSE, True): "no cause",
}
OPEN = "open"


def kind_of(statement: Statement) -> str:
    """Return what a statement is called in tables."""
    return OPEN if statement.open else KINDS[statement.kind, statement.denied]


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """A step with its verdict, and whether it follows from the claims and sentences that it names."""

    step: Step
    verdict: Verdict
    support: Support | Unjudged
    counterexample: DAG | None = None
    """Of a leap, a graph in which all that it names is true, and the step is not."""

    @property
    def sound(self) -> bool:
        """Whether the premise entails it."""
        return self.verdict == "entailed"


@dataclass(frozen=True)
class JudgedTrace:
    """A reply's steps, judged, and what could not be read of it."""

    trace: Trace
    steps: tuple[JudgedStep, ...]

    @property
    def broken(self) -> int | None:
        """The place of the first step that the premise does not entail; None where it entails all."""
        return next((place for place, step in enumerate(self.steps) if not step.sound), None)


def judge(reply: str, premise: Premise) -> JudgedTrace:
    """Return the steps of a reply, judged. Raises UnreadableText where no graph has the premise's independences."""
    graphs, trace = class_of(read_dag(premise)), read(reply, premise.names)
    by_number: dict[int, list[Step]] = {}
    for step in trace.steps:
        if step.number is not None:
            by_number.setdefault(step.number, []).append(step)
    in_circles = circular(trace.steps)
    steps = [
        JudgedStep(step, graphs.verdict(step.statement), *_support(step, by_number, in_circles, graphs))
        for step in trace.steps
    ]
    return JudgedTrace(trace, tuple(steps))


def _support(
    step: Step, by_number: Mapping[int, Sequence[Step]], in_circles: frozenset[int], graphs: GraphClass
) -> tuple[Support | Unjudged, DAG | None]:
    if step.rests_on is None or not (step.rests_on or step.on_premise):
        return "names nothing", None
    if step.number in in_circles:
        return "circular", None
    if any(number not in by_number for number in step.rests_on):
        return "names what is not there", None
    named = [other.statement for number in step.rests_on for other in by_number[number]]
    if any(statement.open for statement in (step.statement, *named)):
        return "of a class", None
    basis: set[Constraint] = set(named)
    if step.on_premise:
        about = sorted({node for statement in (step.statement, *named) for node in statement.nodes})
        basis |= {PairSentences.of(graphs.n, graphs.separations, i, j) for i, j in combinations(about, 2)}
    return supported(graphs.n, basis, step.statement, graphs.graphs)
