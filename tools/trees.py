"""Fit the trees of model=trees anew, byte for byte: `python tools/trees.py`, in two minutes."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.causal.dag import from_integer
from harness.causal.relations import Relation
from harness.causal.separation import independences
from harness.tasks.corr2cause.claim import truth
from harness.tasks.corr2cause.enumerate import SIZES, premises
from harness.tasks.corr2cause.fresh.trees import DIGITS, FILE, Stated, facts
from harness.tasks.corr2cause.shortcut import CLAIMS, SYMMETRIC
from harness.tasks.fitted import Forest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


def training(kind: Relation, sizes: Iterable[int] = SIZES) -> tuple[NDArray[np.uint8], list[int]]:
    """Return facts and labels of all claims of a kind in the train split."""
    import numpy as np

    rows, labels = [], []
    for n in sizes:
        for number in premises(n, "train"):
            stated, holds = Stated.of(n, independences(from_integer(n, number))), truth(n, number)[kind]
            for i, j in _claimed(n, kind):
                rows.append(facts(stated, kind, i, j))
                labels.append(holds[i] >> j & 1)
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), -1), labels


def _claimed(n: int, kind: Relation) -> Iterator[tuple[int, int]]:
    for i, j in combinations(range(n), 2):
        yield i, j
        if kind not in SYMMETRIC:
            yield j, i


def main() -> int:
    """Fit the trees of all kinds and write the file that ships."""
    forests = {str(kind): forest(fit(*training(kind)), digits=DIGITS) for kind in CLAIMS}
    text = json.dumps(
        {kind: {"base": it.base, "trees": it.trees} for kind, it in forests.items()}, separators=(",", ":")
    )
    (Path(__file__).parents[1] / "harness" / "data" / "corr2cause" / FILE).write_bytes(
        gzip.compress(text.encode(), mtime=0)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
