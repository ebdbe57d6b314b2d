"""Boosted trees without names: what can be had from which independences a premise of Corr2Cause tells. A baseline.

The two variables of the hypothesis have the first two places, the others follow in an order that no name decides; a
fact is whether "the variables in places a and b are independent given those in places c, d, …" is told. Four models,
one for each kind of claim, as `shortcut` has. tools/counting_models.py fits them anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations

from harness.causal.relations import Relation
from harness.causal.separation import Independence, conditioning_sets
from harness.tasks.corr2cause.arguments import SYMMETRIC
from harness.tasks.corr2cause.enumerate import SIZES
from harness.tasks.corr2cause.shortcut import CountingModel, count
from harness.tasks.corr2cause.text import Premise
from harness.tasks.data_files import shipped, shipped_digest
from harness.tasks.text_models import Forest
from harness.types import JSON

FILE = "corr2cause/trees.json.gz"
PLACES = max(SIZES)
"""Those of the train split. Of a larger premise the facts about its last variables are not looked at."""


@dataclass(frozen=True)
class Trees(CountingModel):
    """Says how likely Yes is by trees that were fitted on the train split (n = 4 … 6, no public premise)."""

    name: str = "trees"

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "trees", "sha256": shipped_digest(FILE)}

    def of_claim(self, premise: Premise, kind: Relation, i: int, j: int) -> float:
        return forests()[kind].log_odds(facts(_stated(premise), kind, i, j))


@dataclass(frozen=True)
class ToldFacts:
    """The independences of a premise, and how many sentences name which variables."""

    n: int
    independences: frozenset[Independence]
    links: Sequence[Sequence[tuple[int, ...]]]
    """[k][l]: sentences that k and l are independent, or given something, and of one with the other given."""

    @classmethod
    def of(cls, n: int, statements: Iterable[Independence]) -> ToldFacts:
        told = frozenset(statements)
        counts = count(n, told)
        tables = (counts.marginal, counts.conditional, counts.conditions, counts.conditions.T)
        columns = [table.tolist() for table in tables]
        return cls(n, told, [[tuple(table[k][m] for table in columns) for m in range(n)] for k in range(n)])


@lru_cache(maxsize=4096)
def _stated(premise: Premise) -> ToldFacts:
    return ToldFacts.of(len(premise.names), premise.independences)


def places(stated: ToldFacts, kind: Relation, i: int, j: int) -> list[int]:
    """Return the variables in the order of their places: those of the claim first.

    The others, and the two of a symmetric claim, are told apart by what is told of them and, three times over, of what
    they are told of with (colour refinement). Variables that stay alike keep their order; nearly all of these can be
    exchanged without any change of the facts.
    """
    second = 0 if kind in SYMMETRIC else 1
    colours = [0 if k == i else second if k == j else 2 for k in range(stated.n)]
    for _ in range(3):
        signs = [
            (colours[k], sorted((stated.links[k][m], colours[m]) for m in range(stated.n) if m != k))
            for k in range(stated.n)
        ]
        order = sorted(signs)  # by the counts themselves, so that alike places have alike variables
        colours = [order.index(sign) for sign in signs]
    return sorted(range(stated.n), key=lambda k: (k not in (i, j), colours[k]))


@cache
def _columns() -> Mapping[tuple[int, int, int], int]:
    """Return the column of each fact: two places, and a set of other places as a bit mask."""
    pairs = combinations(range(PLACES), 2)
    told = [(a, b, sum(1 << k for k in given)) for a, b in pairs for given in conditioning_sets(PLACES, a, b)]
    return {fact: column for column, fact in enumerate(told)}


def facts(stated: ToldFacts, kind: Relation, i: int, j: int) -> bytearray:
    """Return 0 or 1 for each fact, and the number of variables last: 241 numbers."""
    place = {variable: k for k, variable in enumerate(places(stated, kind, i, j))}
    row = bytearray(len(_columns()) + 1)
    for a, b, given in stated.independences:
        first, second = sorted((place[a], place[b]))
        column = _columns().get((first, second, sum(1 << place[k] for k in given)))
        if column is not None:
            row[column] = 1
    row[-1] = stated.n
    return row


@cache
def forests() -> Mapping[Relation, Forest]:
    """Return the trees of each kind of claim."""
    return {Relation(kind): Forest(**forest) for kind, forest in json.loads(shipped(FILE)).items()}
