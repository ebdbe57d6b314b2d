"""Fit model=trees and model=shortcut anew, byte for byte: `python tools/counting_models.py`, in two minutes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.causal.dag import from_integer
from harness.causal.relations import Relation
from harness.causal.separation import independences
from harness.tasks.corr2cause import shortcut
from harness.tasks.corr2cause.arguments import SYMMETRIC
from harness.tasks.corr2cause.claim import truth
from harness.tasks.corr2cause.enumerate import SIZES, premises
from harness.tasks.corr2cause.fresh import trees
from harness.tasks.corr2cause.fresh.trees import ToldFacts, facts
from harness.tasks.corr2cause.shortcut import CLAIMS, Regression, count, features
from harness.tasks.text_models import DIGITS, Forest


def fit(rows: NDArray[np.uint8], labels: Sequence[int], **settings: Any) -> Any:
    """Fit scikit-learn's histogram trees with its own settings: 100 of them."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0, early_stopping=False, **settings).fit(rows, labels)


def forest(model: Any, *, digits: int | None = None) -> Forest:
    """Return the trees of a fitted model as plain numbers, the leaves rounded."""

    def short(value: float) -> float:
        return float(value) if digits is None else round(float(value), digits)

    trees = [
        [
            short(node["value"])
            if node["is_leaf"]
            else [int(node["feature_idx"]), float(node["num_threshold"]), int(node["left"]), int(node["right"])]
            for node in predictor.nodes
        ]
        for (predictor,) in model._predictors  # no public attribute has them
    ]
    return Forest(short(model._baseline_prediction.item()), trees)


def regression(rows: NDArray[np.int64], labels: Sequence[int]) -> Regression:
    """Return a logistic regression (L2, C = 1, on standardised features), in units of the features as they are.

    Newton's method goes to the very optimum, so that machines agree on it.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(rows)
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000)
    model.fit(scaler.transform(rows), labels)
    slopes = model.coef_[0] / scaler.scale_
    return Regression(float(model.intercept_[0] - slopes @ scaler.mean_), slopes.tolist())


def training(kind: Relation, sizes: Iterable[int] = SIZES) -> tuple[NDArray[np.uint8], list[int]]:
    """Return facts and labels of all claims of a kind in the train split."""
    rows, labels = [], []
    for n in sizes:
        ends = [(i, j) for a, b in combinations(range(n), 2) for i, j in ((a, b), (b, a))]
        for number in premises(n, "train"):
            stated, holds = ToldFacts.of(n, independences(from_integer(n, number))), truth(n, number)[kind]
            for i, j in combinations(range(n), 2) if kind in SYMMETRIC else ends:
                rows.append(facts(stated, kind, i, j))
                labels.append(holds[i] >> j & 1)
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1), labels


def counted(kind: Relation) -> tuple[NDArray[np.int64], list[int]]:
    """Return counts and labels of the same claims."""
    rows, labels = [], []
    for n in SIZES:
        ends = list(combinations(range(n), 2) if kind in SYMMETRIC else permutations(range(n), 2))
        for number in premises(n, "train"):
            rows.append(features(count(n, independences(from_integer(n, number))), kind, *np.array(ends).T))
            labels += [truth(n, number)[kind][i] >> j & 1 for i, j in ends]
    return np.concatenate(rows), labels


def main() -> None:
    """Fit the models of all kinds and write the files that ship."""
    forests = {str(kind): vars(forest(fit(*training(kind)), digits=DIGITS)) for kind in CLAIMS}
    regressions = {str(kind): vars(regression(*counted(kind))) for kind in CLAIMS}
    folder = Path(__file__).parents[1] / "harness" / "data"
    text = json.dumps(forests, separators=(",", ":"))
    (folder / trees.FILE).write_bytes(gzip.compress(text.encode(), mtime=0))
    (folder / shortcut.FILE).write_text(json.dumps(regressions, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
