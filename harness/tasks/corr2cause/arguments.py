"""How long the shortest argument for an answer is: the group `argument` of claims about up to six variables.

A *fact* of a premise is whether two variables are independent given a set of others. A set of facts is an *argument*
for an answer if every class of graphs over as many variables that agrees with all of them has the same answer: of a No,
too, it has to rule out all premises of which the hypothesis follows. The length is the number of facts of the shortest
one; it may be 0. tools/argument_lengths.py found the index that ships by looking at all 1,076,805 labelled classes.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import combinations, permutations

from harness.causal.relations import Relation
from harness.tasks.data_files import shipped

SIZES = (2, 3, 4, 5, 6)
FILE = "corr2cause/argument_lengths.csv.gz"
GROUP = "argument"
MANY = 10
"""From here on lengths are one group."""
GROUPS = (*map(str, range(MANY)), f"{MANY} or more")
Meaning = tuple[Relation, int, int]
OTHER_END = {Relation.CHILD: Relation.PARENT, Relation.DESCENDANT: Relation.ANCESTOR}
"""Relations that are another one seen from its other end."""
SYMMETRIC = (Relation.COLLIDER, Relation.CONFOUNDER)
"""Claims whose two variables play the same part."""


def meaning(relation: Relation, i: int, j: int) -> Meaning:
    """Return a claim, equal for all that mean the same."""
    if relation in OTHER_END:
        return OTHER_END[relation], j, i
    return (relation, min(i, j), max(i, j)) if relation in SYMMETRIC else (relation, i, j)


@cache
def meanings(n: int) -> tuple[Meaning, ...]:
    """Return what can be claimed about n variables, each once: a child is a parent seen from its other end."""
    ordered, unordered = list(permutations(range(n), 2)), list(combinations(range(n), 2))
    return (
        *((kind, i, j) for kind in (Relation.PARENT, Relation.ANCESTOR) for i, j in ordered),
        *((kind, i, j) for kind in SYMMETRIC for i, j in unordered),
    )


@cache
def _lines() -> Mapping[tuple[int, int], str]:
    rows = csv.reader(shipped(FILE).decode().splitlines())
    return {(int(n), int(number)): lengths for n, number, lengths in rows}


@lru_cache(maxsize=4096)
def _lengths(n: int, number: int) -> Mapping[Meaning, int]:
    return dict(zip(meanings(n), map(int, _lines()[n, number].split()), strict=True))


def length(n: int, number: int, relation: Relation, i: int, j: int) -> int:
    """Return the length of the shortest argument for the answer to a claim about up to six variables."""
    return _lengths(n, number)[meaning(relation, i, j)]


def groups(n: int, number: int, relation: Relation, i: int, j: int) -> Mapping[str, str]:
    """Return the group of a claim; none where there are more variables."""
    return {GROUP: GROUPS[min(length(n, number, relation, i, j), MANY)]} if n in SIZES else {}
