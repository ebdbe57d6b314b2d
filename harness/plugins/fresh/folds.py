"""task=corr2cause/folds: all classes of two to six variables in five parts, for whoever trains.

The public test split has 21 premises, and whatever was trained says little of itself on so few. Here a model learns
from four fifths of all 2,370 classes and answers the rest, five times: every class is answered once, by a model that
has never seen it, under any names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Annotated, Literal

from pydantic import Field

from harness.causal.relations import Relation
from harness.codec import uniform
from harness.errors import ConfigError
from harness.tasks.base import LazyItems, OneOrMore, Share, TaskBase
from harness.tasks.corr2cause.claim import Claim, ItemWriter, Perturbation
from harness.tasks.corr2cause.enumerate import SIZES, ClaimBlock, ClaimBlocks, premises
from harness.tasks.corr2cause.task import EXAMPLES, ORDERS
from harness.types import JSON, Item

FOLDS = 5
DEV_SHARE = 0.1
"""Of the classes that are not in the fold: they choose the checkpoint."""
Split = Literal["test", "dev", "train"]
Size = Annotated[int, Field(ge=min(SIZES), le=max(SIZES))]


@cache
def parts(n: int, fold: int) -> Mapping[Split, list[int]]:
    """Return the classes (by representative, ascending) over n variables that are in a fold, and what the others are.

    Folds of one n differ by at most one class, and which class is in which never changes.
    """
    everything = sorted(premises(n, "all"), key=lambda number: uniform("folds", n, number))
    others = [number for k, number in enumerate(everything) if k % FOLDS != fold]
    dev = {number for number in others if uniform("dev of folds", n, number) < DEV_SHARE}
    return {
        "test": sorted(everything[fold::FOLDS]),
        "dev": sorted(dev),
        "train": sorted(number for number in others if number not in dev),
    }


@dataclass(frozen=True)
class Folds(TaskBase):
    """The task; configs/task/corr2cause/folds.yaml says what each setting means."""

    prompts: tuple[str, ...]
    fold: Annotated[int, Field(ge=0, lt=FOLDS, strict=True)] = 0
    split: Split = "test"
    perturbation: Perturbation = "none"
    num_nodes: Annotated[tuple[Size, ...] | None, OneOrMore] = None
    relations: Annotated[tuple[Relation, ...] | None, OneOrMore] = None
    prior: Share = field(default=0.2113, kw_only=True)

    orders = ORDERS

    @property
    def headline(self) -> Literal["audited"]:
        """The labels by logic, as of all that is made here."""
        return "audited"

    def items(self) -> Iterable[Item]:
        """Return the fold's items, or those of the other folds for split=train and dev, class by class."""
        return self._items(self.seed)

    def part(self, split: Split, limit: int | None = None) -> Folds:
        return replace(self, split=split, limit=limit)

    def epoch(self, number: int) -> Iterable[Item]:
        """Return the items of a pass over them: with permutation and varied each pass draws new names."""
        return self._items(self.seed + number)

    def held_out(self) -> frozenset[str]:
        """Return the fold's premises."""
        return frozenset(f"n{n}-g{number}" for n in SIZES for number in parts(n, self.fold)["test"])

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return one valid and one invalid item, as those of the public data; each is a question of some fold."""
        items = [(self._writer(self.seed).item(claim), claim) for claim in EXAMPLES]
        return [{**item.fields, "answer": "Yes" if claim.derived else "No"} for item, claim in items]

    def _items(self, seed: int) -> LazyItems:
        claims, writer = self._claims, self._writer(seed)
        return LazyItems(lambda: map(writer.item, claims), len(claims))

    def _writer(self, seed: int) -> ItemWriter:
        return ItemWriter(self.perturbation, seed, argument=True)

    @cached_property
    def _claims(self) -> list[Claim] | ClaimBlocks:
        kinds = frozenset(self.relations or Relation)
        sizes = dict.fromkeys(self.num_nodes or SIZES)
        # The order of arguments is drawn by 0 whatever the seed is, so that a fold has the same claims always.
        blocks = ClaimBlocks([ClaimBlock(n, parts(n, self.fold)[self.split], 0, kinds) for n in sizes])
        if not len(blocks):
            raise ConfigError(f"no item is left: fold {self.fold} has no premise over task.num_nodes={list(sizes)}.")
        return blocks if self.limit is None else blocks.sample(self.limit, seed=self.seed)
