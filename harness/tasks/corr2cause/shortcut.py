"""The shortcut: what counting the premise's sentences is worth, without any reasoning. A baseline of Corr2Cause.

Four logistic regressions, one for each kind of claim: a direct cause, an indirect cause, a common effect, a common
cause. They read the request's words, as a model would, and count sentences: see `features`. Names of variables, and
the order of names, sentences and arguments, make no difference, so its answers are the same under every perturbation.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar

from harness.causal.dag import from_integer
from harness.causal.relations import Relation
from harness.causal.separation import Independence, independences
from harness.protocols import Outcomes, Traits
from harness.tasks.corr2cause.claim import truth
from harness.tasks.corr2cause.enumerate import SIZES, premises
from harness.tasks.corr2cause.text import Premise, read_question
from harness.tasks.fitted import respond
from harness.types import JSON, ChatRequest, ChoiceRequest, Request

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SYMMETRIC = (Relation.COLLIDER, Relation.CONFOUNDER)
"""Claims whose two variables play the same part."""
CLAIMS = (Relation.PARENT, Relation.ANCESTOR, *SYMMETRIC)
"""All kinds of claim: child and descendant are these the other way around."""
FEATURES = (
    "variables",
    "sentences: correlates, is independent of, independent given",
    "about the pair: is independent of, independent given",
    "about the cause, and about the effect (added up where the claim is symmetric): is independent of, "
    "independent given, in the condition, independent given the other one",
)
DIGITS = 4
"""Of a log-odds: fewer than machines agree on, more than a score can show."""


@dataclass(frozen=True)
class Shortcut:
    """Says how likely Yes is by the counts alone.

    Fitted before its first answer, in seconds, on the train split (n = 4 … 6, 205,026 claims with their derived
    labels, no premise of a public test set). Where it cannot read a text it says why, in words that no parser takes
    for an answer.
    """

    name: str = "shortcut"

    accepts: ClassVar[tuple[type[Request], ...]] = (ChoiceRequest, ChatRequest)
    traits: ClassVar[Traits] = Traits(role="baseline", instant=True, tasks=("corr2cause",))

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "shortcut", "split": "train", "features": list(FEATURES)}

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        for request in requests:
            yield [(request, respond(request, _log_odds))]


def _log_odds(words: str) -> float:
    return log_odds(words, fit())


def log_odds(words: str, regressions: Mapping[Relation, Regression]) -> float:
    """Return the logarithm of P(Yes) / P(No) by some regressions, rounded. Raises UnreadableText."""
    import numpy as np

    premise, read = read_question(words)
    claim = read.canonical
    weights = regressions[claim.relation]
    i, j = (np.array([premise.names.index(name)]) for name in (claim.i, claim.j))
    (row,) = features(_count_premise(premise), claim.relation, i, j).tolist()
    products = (slope * value for slope, value in zip(weights.slopes, row, strict=True))
    return round(weights.intercept + math.fsum(products), DIGITS)


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
    slopes: tuple[float, ...]


@cache
def fit() -> Mapping[Relation, Regression]:
    """Return the regression of each kind of claim, fitted on the train split."""
    return fitted((n, number) for n in SIZES for number in premises(n, "train"))


def fitted(numbers: Iterable[tuple[int, int]]) -> Mapping[Relation, Regression]:
    """Return the regression of each kind of claim, fitted on all claims about some classes."""
    import numpy as np

    weights = {}
    classes = [(count(n, independences(from_integer(n, number))), truth(n, number)) for n, number in numbers]
    for relation in CLAIMS:
        rows, labels = [], []
        for counts, holds in classes:
            pairs = np.ones_like(counts.conditions)
            i, j = np.nonzero(np.triu(pairs, 1) if relation in SYMMETRIC else pairs - np.eye(len(pairs), dtype=int))
            rows.append(features(counts, relation, i, j))
            labels += [holds[relation][a] >> b & 1 for a, b in zip(i.tolist(), j.tolist(), strict=True)]
        weights[relation] = _fit(np.concatenate(rows), labels)
    return weights


def _fit(rows: NDArray[np.int64], labels: Sequence[int]) -> Regression:
    """Return the regression (L2, C = 1, on standardised features), in units of the features as they are.

    Newton's method goes to the very optimum, so that machines agree on it.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(rows)
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000)
    model.fit(scaler.transform(rows), labels)
    slopes = model.coef_[0] / scaler.scale_
    return Regression(float(model.intercept_[0] - slopes @ scaler.mean_), tuple(map(float, slopes)))
