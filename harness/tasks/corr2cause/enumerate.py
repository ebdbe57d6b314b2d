"""Which hypotheses there are: all for n = 2 … 7, their splits, and the two public test sets.

Claims about many classes are made when they are asked for: n = 7 alone has 9,690,282.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain

from harness.causal.equivalence import representatives
from harness.causal.relations import Relation
from harness.codec import uniform
from harness.tasks.base import quotas, subset, subset_by_place
from harness.tasks.corr2cause.claim import Claim, claim_at, claims, count
from harness.tasks.corr2cause.text import LETTERS
from harness.tasks.data_files import shipped

Stratum = tuple[Relation, int]
"""What a sample keeps the shares of: (relation, n)."""

SMALL = 6
"""Blocks up to this n are sampled by the names of their claims, larger ones by their places."""


@dataclass(frozen=True)
class ClaimBlock:
    """The claims of some relations about the classes over n variables that are numbered, class by class."""

    n: int
    numbers: Sequence[int]
    seed: int
    relations: frozenset[Relation]

    def __iter__(self) -> Iterator[Claim]:
        everything = chain.from_iterable(claims(self.n, number, seed=self.seed) for number in self.numbers)
        return (claim for claim in everything if claim.relation in self.relations)

    def __len__(self) -> int:
        return sum(self.sizes.values())

    @cached_property
    def sizes(self) -> Mapping[Stratum, int]:
        counts = count(self.n, self.numbers, seed=self.seed)
        return {(relation, self.n): counts[relation] for relation in Relation if relation in self.relations}

    def subset(self, quota: Mapping[Stratum, int]) -> list[Claim]:
        """Return the quota's number of claims of each relation, in order; strata of other blocks are ignored."""
        own = {key: quota[key] for key in self.sizes}
        if self.n <= SMALL:
            return subset(list(self), own, stratum=_stratum, name=lambda claim: claim.id, seed=self.seed)
        of_each = 3 * self.n * (self.n - 1)

        def at(place: int) -> Claim:
            number, within = divmod(place, of_each)
            return claim_at(self.n, self.numbers[number], within, seed=self.seed)

        return subset_by_place(len(self.numbers) * of_each, at, own, stratum=_stratum, seed=self.seed)


@dataclass(frozen=True)
class ClaimBlocks:
    """The claims of several blocks, one block after the other."""

    blocks: Sequence[ClaimBlock]

    def __iter__(self) -> Iterator[Claim]:
        return chain.from_iterable(self.blocks)

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    def subset(self, limit: int, *, seed: int) -> list[Claim]:
        """Return `limit` of the claims, each relation of each block with its share, in their order."""
        quota = quotas({key: size for block in self.blocks for key, size in block.sizes.items()}, limit, seed=seed)
        return [claim for block in self.blocks for claim in block.subset(quota)]

    def of_premises(self, limit: int, *, seed: int) -> ClaimBlocks:
        """Return all claims about `limit` of the classes, each number of variables with its share."""
        classes = [(block.n, number) for block in self.blocks for number in block.numbers]
        chosen = subset(classes, limit, stratum=lambda at: at[0], name=lambda at: f"n{at[0]}-g{at[1]}", seed=seed)
        numbers = {block.n: [number for n, number in chosen if n == block.n] for block in self.blocks}
        return ClaimBlocks([replace(block, numbers=numbers[block.n]) for block in self.blocks if numbers[block.n]])


def _stratum(claim: Claim) -> Stratum:
    return claim.relation, claim.n


SIZES = (2, 3, 4, 5, 6)
"""The paper's numbers of variables: the default."""
LARGEST = 7
"""Beyond, premises outgrow what models read, and there are too many for all of them."""
DEV_SHARE = 0.1
"""Of the classes over more nodes than the public test sets have."""


def public_test(version: str) -> list[Claim]:
    """Return the public test set in its order: v2 has 1,162 claims, v1 (Tables 4 to 6 and 12) 2,246."""
    name = {"v2": "official_test_index.csv", "v1": "v1_test_index.csv"}[version]
    return [
        Claim(
            n=int(row["num_nodes"]),
            number=int(row["dag"]),
            relation=Relation(row["relation"]),
            i=LETTERS.index(row["var_i"]),
            j=LETTERS.index(row["var_j"]),
            published=int(row["published_label"]),
        )
        for row in csv.DictReader(shipped(f"corr2cause/{name}").decode().splitlines())
    ]


def universe(
    sizes: Iterable[int] = SIZES, *, split: str, seed: int, relations: Iterable[Relation] = Relation
) -> ClaimBlocks:
    """Return all claims of a split about some relations, class by class: six for every pair of every class.

    `all` is everything; `train` and `dev` share out the premises that the public test sets do not touch. The seed draws
    the order of arguments; which split a class is in is fixed.
    """
    kinds = frozenset(relations)
    return ClaimBlocks([ClaimBlock(n, premises(n, split), seed, kinds) for n in sizes])


@cache
def premises(n: int, split: str) -> list[int]:
    """Return the classes (by representative) of a split, ascending; n up to 7.

    dev has as many as the public test set, or all that are left (n = 2 and 3, so that train begins at n = 4);
    for n = 7, which the public test set does not have, a tenth.
    """
    everything = representatives(n)
    if split == "all":
        return everything
    if n > max(SIZES):
        return [number for number in everything if (_lot(n, number) < DEV_SHARE) == (split == "dev")]
    tested = {claim.number for claim in public_test("v2") if claim.n == n}
    others = [number for number in everything if number not in tested]
    by_lot = sorted(others, key=lambda number: _lot(n, number))
    return sorted({"dev": by_lot[: len(tested)], "train": by_lot[len(tested) :]}[split])


def _lot(n: int, number: int) -> float:
    return uniform("corr2cause dev split", n, number)
