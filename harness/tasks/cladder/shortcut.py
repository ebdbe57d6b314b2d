"""What CLadder's questions give away: two baselines that know no graph and no formula, fitted on fresh questions.

Both see a question's kind and which way it asks. One sees which words it has besides, its numbers blanked; the other
how many effects its story has, and its numbers in their order. `tools/cladder_shortcut.py` makes both.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import ClassVar, Literal

from harness.protocols import Traits
from harness.tasks.cladder.parse_text import kind_of
from harness.tasks.cladder.queries import ORDER
from harness.tasks.text_models import FittedModel, Forest, UnreadableText
from harness.types import JSON

FILE = "shortcut.json.gz"
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


@dataclass(frozen=True)
class WordWeights:
    """A logistic regression over which words there are."""

    intercept: float
    weights: Mapping[str, float]

    def log_odds(self, text: str) -> float:
        """Return the logarithm of P(Yes) / P(No); unknown words count for nothing."""
        return _rounded(self.intercept + sum(self.weights.get(word, 0.0) for word in words_of(text)))


def _rounded(log_odds: float) -> float:
    """Return log-odds in ten-thousandths; as likely as not is a No, and not unread."""
    return round(log_odds, 4) or -0.0001


@cache
def _file() -> bytes:
    return (resources.files("harness") / "data" / "cladder" / FILE).read_bytes()


@cache
def shipped(sees: str) -> Callable[[str], float]:
    """Return what gives the logarithm of P(Yes) / P(No) of a text, by its words or by its numbers."""
    data = json.loads(gzip.decompress(_file()))[sees]
    if sees == "words":
        return WordWeights(**data).log_odds
    forest = Forest(**data)
    return lambda text: _rounded(forest.log_odds(features(text)))


@dataclass(frozen=True)
class LadderShortcut(FittedModel):
    """Says how likely Yes is by words or by numbers alone; it reads the request's text as a model does."""

    name: str
    sees: Literal["words", "numbers"]

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("cladder",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "ladder_shortcut", "sees": self.sees, "sha256": hashlib.sha256(_file()).hexdigest()}

    def log_odds(self, words: str) -> float:
        return shipped(self.sees)(last_question(words))
