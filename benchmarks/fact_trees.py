"""A baseline without names: boosted trees over which independences a premise of Corr2Cause tells, as an orderless bag.

python benchmarks/fact_trees.py fits four (a direct cause, an indirect one, a common effect, a common cause;
scikit-learn's histogram trees, nothing tuned) on 100,000 hypotheses of the train split by audited labels, and prints F1
on the test set. The two variables of the hypothesis have the first two places, the others the rest, in an order drawn
for each question, so that no letter means anything. A minute (OMP_NUM_THREADS=1 on a busy machine); it writes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from harness.causal.relations import Relation
from harness.causal.separation import conditioning_sets
from harness.codec import shuffled, uniform
from harness.tables.markdown_csv_json import markdown
from harness.tables.table import Table
from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import SIZES, public_test, universe
from harness.tasks.corr2cause.text import Hypothesis, read_premise
from harness.types import Item

ROWS = 100_000
PLACES = max(SIZES)


@cache
def _column() -> Mapping[tuple[int, int, int], int]:
    """Return the column of each fact: a pair of places, and a set of other places as a bit mask."""
    pairs = combinations(range(PLACES), 2)
    facts = [(i, j, sum(1 << k for k in given)) for i, j in pairs for given in conditioning_sets(PLACES, i, j)]
    return {fact: number for number, fact in enumerate(facts)}


def features(item: Item) -> tuple[Relation, np.ndarray[Any, np.dtype[np.int8]]]:
    """Return the kind of a hypothesis, and what its premise tells with cause and effect in the first two places."""
    stated = read_premise(str(item.fields["premise"]))
    claim = Hypothesis(
        Relation(item.fields["relation"]), str(item.fields["var_i"]), str(item.fields["var_j"])
    ).canonical
    pair = [stated.names.index(claim.i), stated.names.index(claim.j)]
    others = [k for k in range(len(stated.names)) if k not in pair]
    place = {variable: k for k, variable in enumerate((*pair, *shuffled(others, "places", item.id)))}
    row = np.zeros(len(_column()) + 1, dtype=np.int8)
    for i, j, given in stated.independences:
        first, second = sorted((place[i], place[j]))
        row[_column()[first, second, sum(1 << place[k] for k in given)]] = 1
    row[-1] = len(stated.names)
    return claim.relation, row


def by_kind(items: Iterable[Item]) -> Iterator[tuple[Relation, np.ndarray[Any, Any], list[Item]]]:
    """Yield the rows of each kind of hypothesis with their items."""
    found: dict[Relation, tuple[list[Any], list[Item]]] = {}
    for item in items:
        kind, row = features(item)
        rows, kept = found.setdefault(kind, ([], []))
        rows.append(row)
        kept.append(item)
    for kind, (rows, kept) in found.items():
        yield kind, np.array(rows), kept


def main() -> int:
    """Fit and print F1 on the public test sets."""
    claims = sorted(universe(SIZES, split="train", seed=0), key=lambda claim: uniform("trees", claim.id))[:ROWS]
    writer = ItemWriter("none", 0)
    trees = {
        kind: HistGradientBoostingClassifier(random_state=0).fit(rows, [item.labels["audited"] for item in items])
        for kind, rows, items in by_kind(writer.item(claim) for claim in claims)
    }
    table = []
    for version, perturbation in (("v1", "none"), ("v2", "none"), ("v2", "permutation")):
        counts = {labels: np.zeros(2) for labels in ("published", "audited")}
        test = ItemWriter(perturbation, 0)
        for kind, rows, items in by_kind(test.item(claim) for claim in public_test(version)):
            for said, item in zip(trees[kind].predict(rows), items, strict=True):
                for labels, hits_asked in counts.items():
                    gold = item.labels[labels]
                    hits_asked += (2 * (said & gold), said + gold)
        table += [[version, perturbation, labels, f"{100 * n[0] / n[1]:.2f}"] for labels, n in counts.items()]
    print(markdown([Table.of(["version", "perturbation", "labels", "F1"], table, text_columns=3)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
