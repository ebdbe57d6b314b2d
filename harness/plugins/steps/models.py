"""Baselines that argue: each is right or wrong in a known way, so that it shows what the scores of steps find out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

from harness.causal.statements import Kind, Statement
from harness.plugins.steps.arguments import MANNERS, Argument, Pair
from harness.plugins.steps.metrics import QUESTIONS
from harness.plugins.steps.questions import reply_of
from harness.plugins.steps.wording import in_words
from harness.protocols import Traits
from harness.tasks.corr2cause.text import read_hypothesis, read_premise, read_question
from harness.tasks.text_reasoner import TextReasoner
from harness.types import JSON

Manner = Literal["argues_right", "forgets_colliders", "orients_at_random", "argues_wrong"]


@dataclass(frozen=True)
class Arguer(TextReasoner):
    """Reads a question of Corr2Cause and answers it with the claims that prompt=trace asks for, or step by step.

    Where it cannot read a text it says why, in words that no parser takes for an answer.
    """

    manner: Manner
    name: str

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("corr2cause", "corr2cause/steps"))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "arguer", "manner": self.manner}

    def answer(self, words: str) -> str:
        before, _, last = words.rpartition("Step ")
        if not _STEP.match(last):
            premise, hypothesis = read_question(words)
            argument = MANNERS[self.manner](premise, hypothesis)
            return "\n".join([*_lines(argument, premise.names), f"Answer: {'Yes' if argument.answer else 'No'}"])
        question = QUESTIONS[int(last[0]) - 1]
        premise = read_premise(before.partition("\n")[0])
        asked = read_hypothesis(last, premise.names) if question == "answer" else None
        return reply_of(question, MANNERS[self.manner](premise, asked), premise.names)


_STEP = re.compile(f"[1-{len(QUESTIONS)}]: ")


def _lines(argument: Argument, names: Sequence[str]) -> Iterator[str]:
    """Yield the claims of an argument with what each rests on: the skeleton, its triples, the arrows, what is open."""
    numbers: dict[Statement, int] = {}

    def line(statement: Statement, *basis: object) -> str:
        numbers[statement] = len(numbers) + 1
        return f"{numbers[statement]}. {in_words(statement, names)} [{', '.join(map(str, basis))}]"

    n = len(names)
    for pair in combinations(range(n), 2):
        yield line(Statement.of(Kind.ADJACENT, pair, denied=pair not in argument.edges), "premise")
    skeleton = dict(numbers)
    for triple in sorted(argument.triples):
        sides = [number for pair, number in skeleton.items() if set(pair.nodes) <= set(triple)]
        yield line(Statement.of(Kind.COLLIDER, triple, denied=triple not in argument.colliders), *sides, "premise")
    everything = list(numbers.values())
    for arrow in sorted(argument.arrows):
        yield line(Statement.of(Kind.PARENT, arrow), *everything)
    for edge in sorted(argument.edges):
        if not _directed(edge, argument):
            yield line(Statement.of(Kind.PARENT, edge, open=True), *everything)


def _directed(edge: Pair, argument: Argument) -> bool:
    return edge in argument.arrows or edge[::-1] in argument.arrows
