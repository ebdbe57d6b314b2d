"""Two small models of Corr2Cause that were fitted on the train split and ship with the package.

`HypothesisOnly` never sees the premise: the floor. `Linear` looks up which sentences the premise has. Neither parses
anything: a text is the sentences and the hypotheses that the train split has, letter for letter, and what is not among
them counts for nothing. Other names, Table 9's words and a seventh variable are not: there the answer is No.
tools/small_models.py makes both.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import ClassVar

from harness.protocols import Traits
from harness.tasks.data_files import shipped, shipped_digest
from harness.tasks.text_models import FittedModel, UnreadableText, Weights
from harness.types import JSON

LEAD = "closed system of"
"""What every premise begins with, but for a word."""
SHARES = "models/hypothesis_only/shares.csv"
WEIGHTS = "models/linear/weights.csv"
OTHER = "any other"
"""Stands for all hypotheses that are not known: their answer is that of the whole train split, a No."""
UNIT = 1000
"""Weights are whole thousandths, so that sums are exact and the same on every machine."""


def read(words: str) -> tuple[str, str]:
    """Return the last premise (LEAD to the end of its line) and the first known hypothesis after it, else OTHER.

    Raises UnreadableText without a premise.
    """
    _, lead, after = words.rpartition(LEAD)
    if not lead:
        raise UnreadableText(f'no "{LEAD} … variables, …" in the premise')
    premise, _, rest = after.partition("\n")
    match = _known().search(rest)
    return lead + premise, match[0] if match else OTHER


@cache
def _known() -> re.Pattern[str]:
    either = "|".join(re.escape(hypothesis) for hypothesis in shipped_shares() if hypothesis != OTHER)
    return re.compile(rf"(?<![\w'-])(?:{either})(?![\w'-])")


@lru_cache(maxsize=4096)
def sentences(premise: str) -> tuple[str, ...]:
    """Return a premise's sentences without what joins them, the list of its variables first."""
    opening, _, body = premise[max(premise.find(LEAD), 0) :].partition(". All the statistical relations among these ")
    rest = body.partition(":")[2]
    parts = (part.strip().removeprefix("However, ") for part in re.split(r"\.(?:\s+|$)", rest))
    return (opening, *filter(None, parts))


def smoothed(yes: int, total: int) -> float:
    """Return the log-odds of a share, with half a claim more on either side, so that they are finite."""
    return math.log((yes + 0.5) / (total - yes + 0.5))


@dataclass(frozen=True)
class HypothesisOnly(FittedModel):
    """Says Yes where the hypothesis, word for word, is a Yes for more premises of the train split than the threshold.

    The probability is the share seen from there: 0.5 is a share of the threshold.
    """

    name: str = "hypothesis_only"

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("corr2cause",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "hypothesis_only", "sha256": shipped_digest(SHARES), "threshold": threshold()}

    def log_odds(self, words: str) -> float:
        _, hypothesis = read(words)
        return smoothed(*shipped_shares()[hypothesis]) - math.log(threshold() / (1 - threshold()))


@dataclass(frozen=True)
class Linear(FittedModel):
    """Says how likely Yes is by a logistic regression of each hypothesis over which sentences the premise has."""

    name: str = "linear"

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("corr2cause",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "linear", "sha256": shipped_digest(WEIGHTS)}

    def log_odds(self, words: str) -> float:
        premise, hypothesis = read(words)
        total = shipped_weights()[hypothesis].log_odds(sentences(premise))
        return (total - 0.5) / UNIT  # half a unit less: as likely as not is a No, and not unread


@cache
def threshold() -> float:
    """Return the share of Yes above which a hypothesis alone is a Yes."""
    return float(json.loads(shipped("models/hypothesis_only/training.json"))["settings"]["threshold"])


@cache
def shipped_shares() -> Mapping[str, tuple[int, int]]:
    """Return how many of each hypothesis are a Yes in the train split, of how many."""
    _, *rows = csv.reader(shipped(SHARES).decode().splitlines())
    return {name: (int(yes), int(total)) for name, yes, total in rows}


@cache
def shipped_weights() -> Mapping[str, Weights]:
    """Return the regression of each hypothesis; one with a single label in the train split has no weights."""
    (_, _, *columns), *rows = csv.reader(shipped(WEIGHTS).decode().splitlines())
    return {
        name: Weights(int(intercept), dict(zip(columns, map(int, slopes), strict=False)))
        for name, intercept, *slopes in rows
    }
