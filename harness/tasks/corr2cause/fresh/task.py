"""task=corr2cause/fresh: questions of Corr2Cause that stand in no public test set, made anew for every seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.codec import uniform
from harness.errors import ConfigError
from harness.tasks.base import Count, LazyItems, OneOrMore, TaskBase, in_brackets
from harness.tasks.corr2cause.claim import ItemWriter
from harness.tasks.corr2cause.enumerate import premises
from harness.tasks.corr2cause.fresh.blocks import PHRASINGS, SIZES, Blocks, DrawnClasses, Names, deal, names, page
from harness.tasks.corr2cause.task import ORDERS, solved
from harness.types import JSON, Item, replace

Size = Annotated[int, Field(ge=min(SIZES), le=max(SIZES))]
Sizes = Annotated[tuple[Size, ...], OneOrMore, Field(min_length=1)]


@dataclass(frozen=True)
class _AllItems(Iterable[Item]):
    """Items of which nobody has counted how many there are."""

    make: Callable[[], Iterator[Item]]
    most: int

    def __iter__(self) -> Iterator[Item]:
        return self.make()

    def __length_hint__(self) -> int:
        return self.most


@dataclass(frozen=True)
class MadeAnew(TaskBase):
    """What fresh items and pairs have in common."""

    prompts: tuple[str, ...]
    num_nodes: Sizes = SIZES
    names: Names = field(default="letters", kw_only=True)

    orders: ClassVar[Mapping[str, Sequence[str]]] = {**ORDERS, "phrasing": PHRASINGS}
    like: ClassVar[str] = "corr2cause"
    """Whoever answers that task's questions answers these."""
    headline: ClassVar[str] = "audited"
    """The labels by logic: nobody has published others."""

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return two items of four variables, of the public train split: none of them is among the questions."""
        return solved(ItemWriter("permutation", 0))


@dataclass(frozen=True)
class Fresh(MadeAnew):
    """The task; configs/task/corr2cause/fresh.yaml says what each setting means."""

    per_premise: Count = 1
    balance: Literal["even", "published"] = "even"

    def __post_init__(self) -> None:
        """Raise ConfigError where premises and blocks do not go together."""
        blocks = self._blocks
        if not blocks.fits:
            deck = blocks.deck
            fitting = [str(k) for k in range(1, deck + 1) if deck % k == 0]
            raise ConfigError(
                f"task.per_premise={self.per_premise}: with task.balance={self.balance} a block has {deck} items, "
                f"so {', '.join(fitting)} or a multiple of {deck} of them can be of one premise."
            )

    @property
    def draw_size(self) -> int:
        """How many consecutive items, from the first on, make one independent draw: a block."""
        return self._blocks.size

    def items(self) -> Iterable[Item]:
        """Return the items, made one at a time. Raises ConfigError where there are not so many."""
        _ = self._changes
        if self.limit is None:
            return _AllItems(self._items, self.per_premise * sum(len(premises(n, "all")) for n in self._sizes))
        return LazyItems(lambda: islice(self._items(), self.limit), self.limit)

    @property
    def remarks(self) -> Sequence[str]:
        """Return from which item on a size is left out, because its premises are used up."""
        said, before = [], self._sizes
        for first, active in self._changes:
            gone = [n for n in before if n not in active]
            said.append(
                f"The premises over {' and '.join(map(str, gone))} variables are used up with item {first:,}; "
                f"those after it have {' and '.join(map(str, active))}."
            )
            before = active
        return said

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self.num_nodes))

    @property
    def _blocks(self) -> Blocks:
        return Blocks(self.balance, self.per_premise, self._sizes)

    @cached_property
    def _classes(self) -> Mapping[int, DrawnClasses]:
        return {n: DrawnClasses(n, self._blocks.needs, str(self.seed)) for n in self._sizes}

    @cached_property
    def _changes(self) -> list[tuple[int, tuple[int, ...]]]:
        """After which items which sizes remain. Raises ConfigError where a limit is more than there can be."""
        before, number = self._sizes, 0
        changes: list[tuple[int, tuple[int, ...]]] = []
        for active in self._blocks.plan(self._classes):
            if active != before:
                changes.append((number, active))
                before = active
            number += self.draw_size
            # All of seven variables take seconds to count, and nothing is said of the end.
            if number >= self.limit if self.limit is not None else len(active) == 1:
                return changes
        if self.limit is None and number:
            return changes
        raise ConfigError(
            f"task.limit={self.limit}: task.num_nodes={in_brackets(self._sizes)}, task.balance={self.balance} and "
            f"task.per_premise={self.per_premise} give {number:,} items, as no premise comes twice."
        )

    def _items(self) -> Iterator[Item]:
        seed = str(self.seed)
        for n, number, strata in self._blocks.premises(self._classes, seed):
            place, claims = deal(n, number, strata, seed, n, number)
            shared = page(n, number, place, names(self.names, n, seed, n, number))
            for claim in claims:
                paraphrased = uniform(seed, "wording", claim.id) < 1 / 2
                item = shared.item(claim, paraphrased=paraphrased, argument=True)
                yield replace(item, groups={**item.groups, "phrasing": PHRASINGS[paraphrased]})
