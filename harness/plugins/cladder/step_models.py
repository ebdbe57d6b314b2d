"""Baselines for cladder/steps: one takes every step rightly, one adjusts for nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from harness.plugins.cladder.metrics import STEPS
from harness.plugins.cladder.step_questions import Case
from harness.protocols import Traits
from harness.tasks.text_reasoner import TextReasoner, UnreadableText
from harness.types import JSON


@dataclass(frozen=True)
class LadderArguer(TextReasoner):
    """Reads a question of CLadder and takes its steps; `adjusts_for_nothing` takes any effect for a plain difference.

    Where it cannot read a text it says why, in words that no parser takes for an answer.
    """

    manner: Literal["steps_right", "adjusts_for_nothing"]
    name: str

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("cladder/steps",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "ladder_arguer", "manner": self.manner}

    def answer(self, words: str) -> str:
        if not (numbers := _STEP.findall(words)):
            raise UnreadableText("it asks for no step")
        case, step = Case.read(words), STEPS[int(numbers[-1]) - 1]
        if step == "estimand" and self.manner == "adjusts_for_nothing" and case.ask.query != "marginal":
            return "Answer: P(Y=1|X=1) - P(Y=1|X=0)"
        return case.reply(step)


_STEP = re.compile(rf"^Step ([1-{len(STEPS)}]): ", re.MULTILINE)
