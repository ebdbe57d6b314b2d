"""task=corr2cause/fresh: questions of Corr2Cause that stand in no public test set, made anew for every seed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.codec import uniform
from harness.errors import ConfigError, SealedError
from harness.plugins.fresh import private, whole
from harness.plugins.fresh.blocks import PHRASINGS, SIZES, Blocks, Classes, Names, deal, names, page
from harness.tasks.base import Count, LazyItems, OneOrMore, Share, TaskBase, in_brackets
from harness.tasks.corr2cause.claim import Claim, ItemWriter
from harness.tasks.corr2cause.enumerate import premises
from harness.tasks.corr2cause.task import EXAMPLES, ORDERS
from harness.types import JSON, Item

Size = Annotated[int, Field(ge=min(SIZES), le=max(SIZES))]


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
class Fresh(TaskBase):
    """The task; configs/task/corr2cause/fresh.yaml says what each setting means."""

    prompts: tuple[str, ...]
    num_nodes: Annotated[tuple[Size, ...], OneOrMore, Field(min_length=1)] = SIZES
    per_premise: Count = 1
    balance: Literal["even", "published"] = "even"
    names: Names = "letters"
    whole: bool = field(default=False, kw_only=True)
    seed: int | str = field(default=0, kw_only=True)  # type: ignore[assignment]
    prior: Share = field(default=0.5, kw_only=True)
    secret: str | None = field(default=None, init=False, repr=False, compare=False)
    """What the draws come from; None for a private seed that is not at hand."""

    orders: ClassVar[Mapping[str, Sequence[str]]] = {**ORDERS, "phrasing": PHRASINGS}
    like: ClassVar[str] = "corr2cause"
    """Whoever answers that task's questions answers these."""

    def __post_init__(self) -> None:
        """Take a private seed from the user's files, and call it by its SHA-256 from here on."""
        blocks = self._blocks
        if self.whole and (self.per_premise, self.balance) != (1, "even"):
            raise ConfigError(
                "task.whole=true asks all hypotheses of each premise: leave task.per_premise and task.balance out."
            )
        if not blocks.fits:
            deck = blocks.deck
            fitting = [str(k) for k in range(1, deck + 1) if deck % k == 0]
            raise ConfigError(
                f"task.per_premise={self.per_premise}: with task.balance={self.balance} a block has {deck} items, "
                f"so {', '.join(fitting)} or a multiple of {deck} of them can be of one premise."
            )
        seed = private.current() if self.seed == private.PRIVATE else self.seed
        if isinstance(seed, str) and not re.fullmatch(private.PATTERN, seed):
            raise ConfigError(
                f"task.seed={seed}: a whole number, or {private.PRIVATE} for a seed that nobody has seen."
            )
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "secret", str(seed) if isinstance(seed, int) else private.kept(seed))

    @property
    def headline(self) -> Literal["audited"]:
        """The labels by logic: nobody has published others."""
        return "audited"

    @property
    def draw_size(self) -> int:
        """How many consecutive items, from the first on, make one independent draw: a block, or a turn of premises."""
        return sum(3 * n * (n - 1) for n in self._sizes) if self.whole else self._blocks.size

    @property
    def recorded(self) -> Mapping[str, JSON]:
        """The settings that a manifest holds in place of the user's: a private seed by its SHA-256."""
        return {} if isinstance(self.seed, int) else {"seed": self.seed}

    @property
    def sealed(self) -> str:
        """Why the items cannot be made here; "" where they can."""
        if self.secret is not None:
            return ""
        return f"the items cannot be made again before their seed is revealed (harness reveal): {self.seed}"

    def opened(self, folder: Path) -> Fresh:
        """Return the task with the seed that was revealed in a run's folder; itself where there is none to be had."""
        if self.secret is not None or (secret := private.revealed(folder, str(self.seed))) is None:
            return self
        task = replace(self)
        object.__setattr__(task, "secret", secret)
        return task

    def items(self) -> Iterable[Item]:
        """Return the items, made one at a time. Raises SealedError, and ConfigError where there are not so many."""
        if self.sealed:
            raise SealedError(f"{self.sealed}.")
        if self.whole:
            most = sum(3 * n * (n - 1) * len(premises(n, "all")) for n in self._sizes)
            number = None if self.limit is None else whole.count(self._classes, self.limit)
            return _AllItems(self._items, most) if number is None else LazyItems(self._items, number)
        _ = self._changes
        if self.limit is None:
            return _AllItems(self._items, self.per_premise * sum(len(premises(n, "all")) for n in self._sizes))
        return LazyItems(lambda: islice(self._items(), self.limit), self.limit)

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return two items of four variables, of the public train split: none of them is among the questions."""
        writer = ItemWriter("permutation", 0)
        return [{**writer.item(claim).fields, "answer": "Yes" if claim.derived else "No"} for claim in EXAMPLES]

    @property
    def remarks(self) -> Sequence[str]:
        """Return from which item on a size is left out, because its premises are used up."""
        if self.whole:
            return ()
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
    def _classes(self) -> Mapping[int, Classes]:
        return {n: Classes(n, self._blocks.needs, self.secret) for n in self._sizes}

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
        seed = self.secret
        assert seed is not None
        for n, number, place, claims in self._dealt(seed):
            shared = page(n, number, place, names(self.names, n, seed, n, number))
            for claim in claims:
                paraphrased = uniform(seed, "wording", claim.id) < 1 / 2
                item = shared.item(claim, paraphrased=paraphrased, argument=True)
                yield replace(item, groups={**item.groups, "phrasing": PHRASINGS[paraphrased]})

    def _dealt(self, seed: str) -> Iterator[tuple[int, int, tuple[int, ...], Sequence[Claim]]]:
        """Yield the size and class of each premise, the place of each of its nodes, and its claims."""
        if self.whole:
            for n, number in whole.premises(self._classes, self.limit):
                yield n, number, *whole.ask_everything(n, number, seed, n, number)
        else:
            for n, number, strata in self._blocks.premises(self._classes, seed):
                yield n, number, *deal(n, number, strata, seed, n, number)
