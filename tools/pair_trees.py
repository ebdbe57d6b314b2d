"""What still tells the halves of matched pairs apart: boosted trees over richer counts, fitted on such pairs.

python tools/pair_trees.py (three minutes) takes the pairs over seven variables of task=corr2cause/pairs that are
matched on counts, no premise twice. It fits scikit-learn's histogram trees of each kind of claim five times on four
fifths of the pairs, and prints how often both halves of the others are right. What they see are the counts that
task.matching=strict matches, so that they are at chance there. It writes nothing.
"""

from __future__ import annotations

import sys

import numpy as np
from pairs import matched, sentences_of
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from harness.tables.markdown_csv_json import markdown
from harness.tables.table import Table
from harness.tasks.corr2cause.fresh.matching import Half, Pair, index
from harness.tasks.corr2cause.shortcut import CLAIMS

FOLDS = 5
MOST = 2000
"""Pairs of each kind."""


def row(pair: Pair, half: Half) -> np.ndarray:  # type: ignore[type-arg]
    """Return the counts of a half."""
    i, j = np.array([half.i]), np.array([half.j])
    return matched("strict", sentences_of(pair.n, half.number), pair.kind, i, j)[0]


def main() -> int:
    """Fit and print."""
    table = []
    for kind in CLAIMS:
        pairs = [pair for pair in index("counts") if pair.n == 7 and pair.kind is kind][:MOST]
        rows = np.array([[row(pair, half) for half in (pair.yes, pair.no)] for pair in pairs])
        labels = np.tile([1, 0], (len(pairs), 1))
        fold = np.arange(len(pairs)) % FOLDS
        share = np.zeros(labels.shape)
        for number in range(FOLDS):
            train = fold != number
            model = HistGradientBoostingClassifier(random_state=0, max_iter=300)
            model.fit(rows[train].reshape(-1, rows.shape[2]), labels[train].ravel())
            share[~train] = model.predict_proba(rows[~train].reshape(-1, rows.shape[2]))[:, 1].reshape(-1, 2)
        both = ((share[:, 0] > 0.5) & (share[:, 1] <= 0.5)).mean()
        right = ((share > 0.5) == labels).mean()
        auroc = roc_auc_score(labels.ravel(), share.ravel())
        table.append([str(kind), str(len(pairs)), *(f"{100 * value:.1f}" for value in (both, right, auroc))])
    print(markdown([Table.of(["kind of claim", "pairs", "both right", "accuracy", "AUROC"], table, text_columns=1)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
