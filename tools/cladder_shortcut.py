"""The two shortcuts of CLadder, fitted once more: python tools/cladder_shortcut.py (half a minute)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from harness.tasks.cladder.shortcut import FILE, features, words_of
from harness.tasks.cladder.task import CLadder

SEED, COUNT = -1, 20_000
"""Fresh questions that are fitted on: those of a seed that nobody asks by chance."""
OUT = Path(__file__).parents[1] / "harness" / "data" / FILE


def words(texts: list[str], labels: list[int]) -> dict[str, Any]:
    """Fit a logistic regression over which words there are; weights in thousandths."""
    vectors = DictVectorizer()
    rows = vectors.fit_transform([dict.fromkeys(words_of(text), 1) for text in texts])
    model = LogisticRegression(C=0.1, max_iter=2000).fit(rows, labels)
    weights = zip(vectors.get_feature_names_out().tolist(), model.coef_[0].tolist(), strict=True)
    return {
        "intercept": round(float(model.intercept_[0]), 3),
        "weights": {word: round(weight, 3) for word, weight in weights if abs(weight) >= 0.0005},
    }


def numbers(texts: list[str], labels: list[int]) -> dict[str, Any]:
    """Fit boosted trees over kind and numbers."""
    rows = np.array([features(text) for text in texts])
    model = GradientBoostingClassifier(n_estimators=200, max_depth=5, learning_rate=0.15, random_state=0)
    model.fit(rows, labels)
    share = float(np.mean(labels))
    trees = []
    for (fitted,) in model.estimators_:
        tree = fitted.tree_
        nodes = zip(
            tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.value[:, 0, 0], strict=True
        )
        trees.append(
            [
                round(model.learning_rate * float(value), 3)
                if left < 0
                else [int(feature), float(threshold), int(left), int(right)]
                for feature, threshold, left, right, value in nodes
            ]
        )
    return {"base": round(float(np.log(share / (1 - share))), 3), "trees": trees}


def main() -> None:
    """Fit both and write the file that ships."""
    items = list(CLadder("cladder", ("plain",), seed=SEED, limit=COUNT).items())
    texts, labels = [str(item.fields["text"]) for item in items], [item.labels["stated"] for item in items]
    data = {"words": words(texts, labels), "numbers": numbers(texts, labels)}
    OUT.write_bytes(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0))


if __name__ == "__main__":
    main()
