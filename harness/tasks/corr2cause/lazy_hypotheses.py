"""The claims about many classes, made when they are asked for: n = 7 alone has 9,690,282."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from harness.causal.relations import Relation
from harness.tasks.corr2cause.hypothesis import Claim, claim_at, claims, count
from harness.tasks.sampling import by_name, by_place, quotas

Stratum = tuple[Relation, int]
"""What a sample keeps the shares of: (relation, n)."""

SMALL = 6
"""Blocks up to this n are sampled by the names of their claims, larger ones by their places."""


@dataclass(frozen=True)
class Block:
    """The claims of some relations about the classes over n variables that are numbered, class by class."""

    n: int
    numbers: Sequence[int]
    seed: int
    relations: frozenset[Relation]

    def __iter__(self) -> Iterator[Claim]:
        everything = (claims(self.n, number, seed=self.seed) for number in self.numbers)
        if len(self.relations) == len(Relation):
            return chain.from_iterable(everything)
        return (claim for one_class in everything for claim in one_class if claim.relation in self.relations)

    def __len__(self) -> int:
        if len(self.relations) == len(Relation):
            return self._places
        return sum(self.sizes.values())

    @cached_property
    def sizes(self) -> Mapping[Stratum, int]:
        """How many claims there are of each relation."""
        counts = count(self.n, self.numbers, seed=self.seed)
        return {(relation, self.n): counts[relation] for relation in Relation if relation in self.relations}

    def sample(self, quota: Mapping[Stratum, int]) -> list[Claim]:
        """Return so many claims of each relation, in order; other blocks' strata may be in the quota."""
        own = {key: quota[key] for key in self.sizes}
        if self.n <= SMALL:
            return by_name(list(self), own, stratum=_stratum, name=lambda claim: claim.id, seed=self.seed)
        return by_place(self._places, self._at, own, stratum=_stratum, seed=self.seed)

    @property
    def _places(self) -> int:
        """How many claims there are of all relations."""
        return len(self.numbers) * self._per_class

    @property
    def _per_class(self) -> int:
        return 3 * self.n * (self.n - 1)

    def _at(self, place: int) -> Claim:
        at, within = divmod(place, self._per_class)
        return claim_at(self.n, self.numbers[at], within, seed=self.seed)


@dataclass(frozen=True)
class Blocks:
    """The claims of several blocks, one block after the other."""

    blocks: Sequence[Block]

    def __iter__(self) -> Iterator[Claim]:
        return chain.from_iterable(self.blocks)

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    def sample(self, limit: int, *, seed: int) -> list[Claim]:
        """Return `limit` of the claims, each relation of each block with its share, in their order."""
        quota = quotas({key: size for block in self.blocks for key, size in block.sizes.items()}, limit, seed=seed)
        return [claim for block in self.blocks for claim in block.sample(quota)]


def _stratum(claim: Claim) -> Stratum:
    return claim.relation, claim.n
