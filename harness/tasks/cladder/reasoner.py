"""The reasoner of CLadder: reads a request's text as a model would, and answers by what it states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness.protocols import Traits
from harness.tasks.cladder.parse_text import read_question
from harness.tasks.cladder.stated import stated_answer
from harness.tasks.text_models import TextReasoner
from harness.types import JSON

OPEN = "The numbers leave the answer open."
"""What is said where models that fit all that is said differ."""


@dataclass(frozen=True)
class LadderReasoner(TextReasoner):
    """Finds graph, question and numbers in the words, and answers by the range that the numbers leave.

    Where they leave the answer open, or it cannot read a text, it says so in words that no parser takes for an answer.
    """

    name: str = "ladder_reasoner"

    traits: ClassVar[Traits] = Traits(role="solver", instant=True, tasks=("cladder",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "ladder_reasoner"}

    def answer(self, words: str) -> str:
        """Return Yes, No or that it is open."""
        answer = stated_answer(read_question(words))
        return OPEN if answer is None else "Yes" if answer else "No"
