"""What CLadder's questions give away: two baselines that know no graph and no formula, fitted on fresh questions.

Both see a question's kind and which way it asks. One sees which words it has besides, its numbers blanked; the other
how many effects its story has, and its numbers in their order. `tools/cladder_shortcut.py` makes both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

from harness.protocols import Traits
from harness.tasks.cladder.parse_text import kind_of
from harness.tasks.cladder.queries import ORDER
from harness.tasks.data_files import shipped, shipped_digest
from harness.tasks.text_models import FittedModel, Forest, UnreadableText, Weights
from harness.types import JSON

FILE = "cladder/shortcut.json.gz"
NUMBERS = 9
"""No question prints more."""
FEATURES = (
    *(f"kind: {query}" for query in (*ORDER, "det-counterfactual")),
    *("asks for more", "effects", "sentences about them", "a variable is unobserved", "method 1 adjusts for nothing"),
    *(f"number {place}" for place in range(1, NUMBERS + 1)),
)


def last_question(words: str) -> str:
    """Return the last question of a text, from its world to its question mark. Raises UnreadableText without one."""
    opening = words.rfind("Imagine ")
    if opening < 0 or "?" not in words[opening:]:
        raise UnreadableText("it asks no question of CLadder's")
    return words[opening : words.index("?", opening) + 1]


def features(text: str) -> list[int]:
    """Return what `FEATURES` names: 0 or 1, counts, and numbers in percent, -1 where there are no more of them."""
    query, upward = kind_of(text)
    effects = [len(told.split(" and ")) for told in re.findall(r"has a direct effect on ([^.]+)\.", text)]
    numbers = [int(number) for number in re.findall(r" (\d+)%", text)]
    numbers += [round(100 * float(number)) for number in re.findall(r" is (-?\d\.\d+)\.", text)]
    return [
        *(int(query == one) for one in (*ORDER, "det-counterfactual")),
        *(int(upward), sum(effects), len(effects), int("is unobserved" in text), int("Method 1: We look dir" in text)),
        *(numbers + [-1] * NUMBERS)[:NUMBERS],
    ]


def words_of(text: str) -> list[str]:
    """Return the different words of a text, all numbers as one, by themselves and with the kind and the way asked."""
    query, upward = kind_of(text)
    words = sorted(set(re.findall(r"[a-z']+|%", re.sub(r"-?\d+(\.\d+)?%?", "%", text.lower()))))
    return [*words, *(f"{query} {'more' if upward else 'less'} {word}" for word in words)]


@cache
def _numbers(sees: str) -> Any:
    data = json.loads(shipped(FILE))[sees]
    return Weights(**data) if sees == "words" else Forest(**data)


@dataclass(frozen=True)
class LadderShortcut(FittedModel):
    """Says how likely Yes is by words or by numbers alone; it reads the request's text as a model does."""

    name: str
    sees: Literal["words", "numbers"]

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("cladder",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "ladder_shortcut", "sees": self.sees, "sha256": shipped_digest(FILE)}

    def log_odds(self, words: str) -> float:
        text = last_question(words)
        seen = words_of(text) if self.sees == "words" else features(text)
        return float(_numbers(self.sees).log_odds(seen))
