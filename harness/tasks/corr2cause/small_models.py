"""Two small models of Corr2Cause that were fitted on the train split and ship with the package.

`HypothesisOnly` never sees the premise: the floor. `Linear` looks up which sentences the premise has. Neither parses
anything: a text is the sentences and the hypotheses that the train split has, letter for letter, and what is not among
them counts for nothing. Other names, Table 9's words and a seventh variable are not: there the answer is No.
tools/small_models.py makes both.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, ClassVar

from harness.protocols import Traits
from harness.tasks.text_models import FittedModel, UnreadableText
from harness.types import JSON

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


LEAD = "closed system of"
"""What every premise begins with, but for a word."""
SHARES, WEIGHTS, TRAINING = "shares.csv", "weights.csv", "training.json"
OTHER = "any other"
"""Stands for all hypotheses that are not known: their answer is that of the whole train split, a No."""
UNIT = 1000
"""Weights are whole thousandths, so that sums are exact and the same on every machine."""


class KnownHypotheses:
    """The hypotheses that a model was fitted on, found in a request's words."""

    def __init__(self, hypotheses: Iterable[str]) -> None:
        """Take the hypotheses, without their full stops; OTHER stands for any other hypothesis."""
        self.hypotheses = tuple(hypotheses)
        either = "|".join(re.escape(name) for name in self.hypotheses if name != OTHER)
        self._pattern = re.compile(rf"(?<![\w'-])(?:{either})(?![\w'-])")

    def find(self, words: str) -> str:
        """Return the first known hypothesis after the last premise, else OTHER. Raises UnreadableText without one."""
        premise, rest = question(words)
        if not premise:
            raise UnreadableText(f'no "{LEAD} … variables, …" in the premise')
        match = self._pattern.search(rest)
        return match[0] if match else OTHER


def question(words: str) -> tuple[str, str]:
    """Return the last premise (from LEAD to the end of its line) and the words after it; ("", "") without one."""
    _, lead, after = words.rpartition(LEAD)
    if not lead:
        return "", ""
    premise, _, rest = after.partition("\n")
    return lead + premise, rest


@lru_cache(maxsize=4096)
def sentences(premise: str) -> tuple[str, ...]:
    """Return a premise's sentences without what joins them, the list of its variables first."""
    opening, _, body = premise[max(premise.find(LEAD), 0) :].partition(". All the statistical relations among these ")
    rest = body.partition(":")[2]
    parts = (part.strip().removeprefix("However, ") for part in re.split(r"\.(?:\s+|$)", rest))
    return (opening, *filter(None, parts))


@dataclass(frozen=True)
class YesShares:
    """How often each hypothesis is a Yes in the train split, and above which share the answer is Yes."""

    claims: Mapping[str, tuple[int, int]]
    """By hypothesis: how many Yes, of how many."""
    threshold: float

    @cached_property
    def vocabulary(self) -> KnownHypotheses:
        return KnownHypotheses(self.claims)

    def log_odds(self, words: str) -> float:
        """Return the log-odds of Yes over those of the threshold. Raises UnreadableText."""
        yes, total = self.claims[self.vocabulary.find(words)]
        return round(smoothed(yes, total) - math.log(self.threshold / (1 - self.threshold)), 4)


def smoothed(yes: int, total: int) -> float:
    """Return the log-odds of a share, with half a claim more on either side, so that they are finite."""
    return math.log((yes + 0.5) / (total - yes + 0.5))


@dataclass(frozen=True)
class SentenceWeights:
    """A logistic regression for each hypothesis, over which sentences a premise has; in thousandths."""

    vocabulary: KnownHypotheses
    sentences: Sequence[str]
    intercepts: NDArray[np.int64]
    slopes: NDArray[np.int64]
    """[hypothesis, sentence]; zeros where the train split has but one label."""

    @cached_property
    def _columns(self) -> Mapping[str, int]:
        return {sentence: k for k, sentence in enumerate(self.sentences)}

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        return {hypothesis: k for k, hypothesis in enumerate(self.vocabulary.hypotheses)}

    def log_odds(self, words: str) -> float:
        """Return the log-odds of Yes; sentences that are not known count for nothing. Raises UnreadableText."""
        row = self._rows[self.vocabulary.find(words)]
        known = [self._columns[text] for text in sentences(question(words)[0]) if text in self._columns]
        total = self.intercepts[row] + self.slopes[row, known].sum()
        return (int(total) - 0.5) / UNIT  # half a unit less: as likely as not is a No, and not unread


@dataclass(frozen=True)
class HypothesisOnly(FittedModel):
    """Says Yes where the hypothesis, word for word, is a Yes for more premises of the train split than the threshold.

    The probability is the share seen from there: 0.5 is a share of the threshold.
    """

    name: str = "hypothesis_only"

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("corr2cause",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "hypothesis_only", **_identity("hypothesis_only", SHARES)}

    def log_odds(self, words: str) -> float:
        return shipped_shares().log_odds(words)


@dataclass(frozen=True)
class Linear(FittedModel):
    """Says how likely Yes is by a logistic regression of the hypothesis over the sentences of the premise."""

    name: str = "linear"

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("corr2cause",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "linear", **_identity("linear", WEIGHTS)}

    def log_odds(self, words: str) -> float:
        return shipped_weights().log_odds(words)


@cache
def _identity(model: str, file: str) -> Mapping[str, JSON]:
    """Return the digest of a model's numbers, and its threshold where it has one."""
    threshold = _training(model)["settings"].get("threshold")
    numbers = hashlib.sha256(_text(model, file).encode()).hexdigest()
    return {"sha256": numbers, **({} if threshold is None else {"threshold": threshold})}


@cache
def shipped_shares() -> YesShares:
    """Return the shares of Yes: a line for each hypothesis."""
    _, *rows = csv.reader(_text("hypothesis_only", SHARES).splitlines())
    claims = {name: (int(yes), int(total)) for name, yes, total in rows}
    return YesShares(claims, _training("hypothesis_only")["settings"]["threshold"])


@cache
def shipped_weights() -> SentenceWeights:
    """Return the weights: a line for each hypothesis; one without slopes ends after its intercept."""
    import numpy as np

    (_, _, *columns), *rows = csv.reader(_text("linear", WEIGHTS).splitlines())
    slopes = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for place, (_, _, *numbers) in enumerate(rows):
        slopes[place, : len(numbers)] = [int(number) for number in numbers]
    intercepts = np.array([int(row[1]) for row in rows])
    return SentenceWeights(KnownHypotheses(row[0] for row in rows), columns, intercepts, slopes)


def _text(model: str, file: str) -> str:
    return (resources.files("harness") / "data" / "models" / model / file).read_text(encoding="utf-8")


def _training(model: str) -> Any:
    return json.loads(_text(model, TRAINING))
