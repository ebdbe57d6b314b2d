"""The exact reasoner: reads the request's text as a model would and answers by logic. Corr2Cause's ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness.protocols import Traits
from harness.tasks.corr2cause.text import follows, read_question
from harness.tasks.text_models import TextReasoner
from harness.types import JSON


@dataclass(frozen=True)
class Reasoner(TextReasoner):
    """Rebuilds the Markov equivalence class from the premise's words and checks the hypothesis in all of it.

    It works from the words alone, in Table 2's and Table 9's phrasing, whatever the variables are called.
    """

    name: str = "reasoner"

    traits: ClassVar[Traits] = Traits(role="solver", instant=True, tasks=("corr2cause",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "reasoner"}

    def answer(self, words: str) -> str:
        return "Yes" if follows(*read_question(words)) else "No"
