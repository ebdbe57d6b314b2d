"""Which hypotheses there are: the complete universe for n = 2 … 6, its splits, and the two public test sets."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import combinations

from harness.causal.dag import DAG, from_integer
from harness.causal.equivalence import members, representatives
from harness.causal.relations import Holds, Relation, shared
from harness.draws import uniform
from harness.tasks.corr2cause.text import LETTERS

SIZES = (2, 3, 4, 5, 6)


@dataclass(frozen=True)
class Claim:
    """A hypothesis about nodes i and j of the class that DAG `number` over n nodes represents.

    `published` is the public label where the claim stands in a public test set, else None.
    """

    n: int
    number: int
    relation: Relation
    i: int
    j: int
    published: int | None = None

    @property
    def cluster(self) -> str:
        """The premise's name: the unit of independence."""
        return f"n{self.n}-g{self.number}"

    @property
    def id(self) -> str:
        """A readable name that no perturbation, split or version changes."""
        return f"{self.cluster}-{self.relation}-{LETTERS[self.i]}-{LETTERS[self.j]}"

    @cached_property
    def derived(self) -> int:
        """1 iff the claim holds in every DAG of the class (§3.5): the audited label."""
        return truth(self.n, self.number)[self.relation][self.i] >> self.j & 1

    @property
    def labels(self) -> Mapping[str, int]:
        """Every label there is, by its label set."""
        return (
            {"audited": self.derived}
            if self.published is None
            else {"published": self.published, "audited": self.derived}
        )


@cache
def dag_of(n: int, number: int) -> DAG:
    """The representative with that number."""
    return from_integer(n, number)


@cache
def truth(n: int, number: int) -> Holds:
    """The relations that hold throughout a class."""
    return shared(members(dag_of(n, number)))


def public_test(version: str) -> list[Claim]:
    """The public test set in its order: v2 has 1,162 claims, v1 (Tables 4 to 6 and 12) 2,246."""
    name = {"v2": "official_test_index.csv", "v1": "v1_test_index.csv"}[version]
    with (resources.files("harness") / "data" / "corr2cause" / name).open(encoding="utf-8") as lines:
        return [
            Claim(
                n=int(row["num_nodes"]),
                number=int(row["dag"]),
                relation=Relation(row["relation"]),
                i=LETTERS.index(row["var_i"]),
                j=LETTERS.index(row["var_j"]),
                published=int(row["published_label"]),
            )
            for row in csv.DictReader(lines)
        ]


def universe(sizes: Iterable[int] = SIZES, *, split: str, seed: int) -> Iterator[Claim]:
    """All claims of a split, class by class: six for every pair of every class.

    `all` is everything, 207,432 claims for n = 2 … 6. `train` and `dev` share out the premises that the
    public test sets do not touch; what those sets left over of their own premises is in neither. The seed
    draws the order of arguments only; the splits are fixed.
    """
    for n in sizes:
        chosen = premises(n, split)
        for number in chosen:
            yield from claims(n, number, seed=seed)


@cache
def premises(n: int, split: str) -> list[int]:
    """The classes (by representative) of a split, ascending.

    dev has as many as the public test set, or all that are left (n = 2 and 3, so that train begins at n = 4).
    """
    everything = representatives(n)
    if split == "all":
        return everything
    tested = {claim.number for claim in public_test("v2") if claim.n == n}
    others = [number for number in everything if number not in tested]
    by_lot = sorted(others, key=lambda number: uniform("corr2cause dev split", n, number))
    return sorted({"dev": by_lot[: len(tested)], "train": by_lot[len(tested) :]}[split])


def claims(n: int, number: int, *, seed: int) -> list[Claim]:
    """The six claims of every pair: one of each two that mean the same (Table 10), drawn where both are kept apart."""
    pairs = list(combinations(range(n), 2))
    text = f"{seed}\x1forder of arguments\x1f{n}\x1f{number}"
    lots = int.from_bytes(hashlib.shake_256(text.encode()).digest(len(pairs)), "big")
    found: list[Claim] = []
    for at, (i, j) in enumerate(pairs):
        a, b, c, d = (lots >> (8 * at + k) & 1 for k in range(4))
        found += [
            Claim(n, number, relation, x, y)
            for relation, x, y in (
                (Relation.PARENT, i, j),
                (Relation.CHILD, i, j),
                (Relation.DESCENDANT, j, i) if a else (Relation.ANCESTOR, i, j),
                (Relation.DESCENDANT, i, j) if b else (Relation.ANCESTOR, j, i),
                (Relation.COLLIDER, *((j, i) if c else (i, j))),
                (Relation.CONFOUNDER, *((j, i) if d else (i, j))),
            )
        ]
    return found
