"""The shortcut: what counting the premise's sentences is worth, without any reasoning. A baseline of Corr2Cause.

Four logistic regressions, one for each kind of claim: a direct cause, an indirect cause, a common effect, a common
cause. They read the request's words, as a model would, and count sentences: see `features`. Names of variables, and
the order of names, sentences and arguments, make no difference, so its answers are the same under every perturbation.
"""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar

from harness.causal.relations import Relation
from harness.causal.separation import Independence
from harness.protocols import Traits
from harness.tasks.corr2cause.arguments import SYMMETRIC
from harness.tasks.corr2cause.text import Premise, read_question
from harness.tasks.data_files import shipped
from harness.tasks.text_models import FittedModel
from harness.types import JSON

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLAIMS = (Relation.PARENT, Relation.ANCESTOR, *SYMMETRIC)
"""All kinds of claim: child and descendant are these the other way around."""
FEATURES = (
    "variables",
    "sentences: correlates, is independent of, independent given",
    "about the pair: is independent of, independent given",
    "about the cause, and about the effect (added up where the claim is symmetric): is independent of, "
    "independent given, in the condition, independent given the other one",
)
FILE = "corr2cause/shortcut.json"


class CountingModel(FittedModel):
    """Says how likely Yes is by what sentences a premise has about the variables of a claim, whatever their names."""

    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("corr2cause",))

    def log_odds(self, words: str) -> float:
        premise, hypothesis = read_question(words)
        claim = hypothesis.canonical
        return self.of_claim(premise, claim.relation, premise.names.index(claim.i), premise.names.index(claim.j))

    @abstractmethod
    def of_claim(self, premise: Premise, kind: Relation, i: int, j: int) -> float:
        """Return the log-odds of a claim of one of the kinds in CLAIMS."""


@dataclass(frozen=True)
class Shortcut(CountingModel):
    """Says how likely Yes is by the counts alone.

    tools/counting_models.py fitted it on the train split: n = 4 … 6, 205,026 claims with their derived labels, no
    premise of a public test set.
    """

    name: str = "shortcut"

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "shortcut", "split": "train", "features": list(FEATURES)}

    def of_claim(self, premise: Premise, kind: Relation, i: int, j: int) -> float:
        import numpy as np

        weights = regressions()[kind]
        (row,) = features(_count_premise(premise), kind, np.array([i]), np.array([j])).tolist()
        return weights.intercept + math.fsum(slope * value for slope, value in zip(weights.slopes, row, strict=True))


@dataclass(frozen=True)
class SentenceCounts:
    """How many sentences a premise has, by what they name: matrices over its n variables."""

    marginal: NDArray[np.int64]
    """[i, j], symmetric: "i is independent of j"."""
    conditional: NDArray[np.int64]
    """[i, j], symmetric: "i and j are independent given …"."""
    conditions: NDArray[np.int64]
    """[i, k]: "i and … are independent given …", with k in the condition."""


def count(n: int, statements: Iterable[Independence]) -> SentenceCounts:
    """Count the sentences of a premise over n variables."""
    import numpy as np

    marginal, conditional, conditions = ([[0] * n for _ in range(n)] for _ in range(3))
    for i, j, condition in statements:
        pairs = conditional if condition else marginal
        for end, other in ((i, j), (j, i)):
            pairs[end][other] += 1
            for k in condition:
                conditions[end][k] += 1
    return SentenceCounts(np.array(marginal), np.array(conditional), np.array(conditions))


@lru_cache(maxsize=4096)
def _count_premise(premise: Premise) -> SentenceCounts:
    return count(len(premise.names), premise.independences)


def features(
    counts: SentenceCounts, relation: Relation, i: NDArray[np.int64], j: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return what `FEATURES` names, a row for each claim about variables i and j: 14 columns, 10 if symmetric."""
    import numpy as np

    n = len(counts.conditions)
    marginal, conditional = counts.marginal.sum() // 2, counts.conditional.sum() // 2
    first, second = (
        [
            counts.marginal.sum(axis=1)[end],
            counts.conditional.sum(axis=1)[end],
            counts.conditions.sum(axis=0)[end] // 2,
            counts.conditions[end, other],
        ]
        for end, other in ((i, j), (j, i))
    )
    ends = [a + b for a, b in zip(first, second, strict=True)] if relation in SYMMETRIC else [*first, *second]
    sentences = [np.full(len(i), value) for value in (n, n * (n - 1) // 2 - marginal, marginal, conditional)]
    return np.column_stack([*sentences, counts.marginal[i, j], counts.conditional[i, j], *ends])


@dataclass(frozen=True)
class Regression:
    """A logistic regression: log-odds = intercept + slopes · features."""

    intercept: float
    slopes: Sequence[float]


@cache
def regressions() -> Mapping[Relation, Regression]:
    """Return the regression of each kind of claim."""
    return {Relation(kind): Regression(**numbers) for kind, numbers in json.loads(shipped(FILE)).items()}
