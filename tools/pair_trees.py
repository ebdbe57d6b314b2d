"""What counting reaches on matched pairs: `python tools/pair_trees.py` writes the floor that the task states. Minutes.

Boosted trees of each kind of claim, fitted five times on four fifths of the pairs over seven variables and asked of the
others, see the counts that task.matching=strict matches, and how many others each variable is separated from.
"""

from __future__ import annotations

import json
from itertools import product

import numpy as np
from pairs import FOLDER, matched, sentences_of
from sklearn.ensemble import HistGradientBoostingClassifier

from harness.tasks.corr2cause.fresh.pairs import FLOOR, Half, Pair, index
from harness.tasks.corr2cause.shortcut import CLAIMS

FOLDS, MOST = 5, 2000  # of the pairs of each kind


def row(pair: Pair, half: Half) -> np.ndarray:  # type: ignore[type-arg]
    """Return the counts of a half."""
    sentences, (_, i, j) = sentences_of(pair.n, half.number), half
    marginal, conditional = sentences.counts.marginal > 0, sentences.counts.conditional > 0
    others = [k for k in range(pair.n) if k not in (i, j)]
    strict = matched("strict", sentences, pair.kind, *np.array([[i], [j]]))
    counts = [*strict, sentences.sizes[[i, j]].sum(axis=1).ravel()]
    for separated in (marginal, conditional, marginal | conditional):
        degrees, first, second = separated.sum(axis=1), separated[i, others], separated[j, others]
        of_both = [(first & second).sum(), (first & ~second).sum(), (second & ~first).sum()]
        counts += [degrees[[i, j]], [abs(degrees[i] - degrees[j])], of_both, np.sort(degrees)]
    return np.concatenate(counts)


def reached(pairs: list[Pair]) -> tuple[float, float]:
    """Return how many pairs have both halves right, and how many halves are right, in percent, on folds not fitted."""
    rows = np.array([[row(pair, half) for half in (pair.yes, pair.no)] for pair in pairs])
    labels, fold = np.tile([1, 0], (len(pairs), 1)), np.arange(len(pairs)) % FOLDS
    right = np.zeros(labels.shape, dtype=bool)
    for number in range(FOLDS):
        train = fold != number
        model = HistGradientBoostingClassifier(random_state=0, max_iter=200)
        model.fit(rows[train].reshape(-1, rows.shape[2]), labels[train].ravel())
        right[~train] = model.predict(rows[~train].reshape(-1, rows.shape[2])).reshape(-1, 2) == labels[~train]
    return round(100 * right.all(axis=1).mean(), 1), round(100 * right.mean(), 1)


def main() -> None:
    """Fit, and write the file that ships."""
    floor: dict[str, dict[str, tuple[float, float]]] = {}
    for name, kind in product(("counts", "counts_same", "strict", "strict_same"), CLAIMS):
        if pairs := [pair for pair in index(name) if pair.n == 7 and pair.kind is kind][:MOST]:
            floor.setdefault(name, {})[str(kind)] = reached(pairs)
    (FOLDER / FLOOR).write_text(json.dumps(floor, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
