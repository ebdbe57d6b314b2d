"""Corr2Cause: does a causal hypothesis follow from the statistical relations? (Jin et al., ICLR 2024)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from harness.causal.relations import Relation
from harness.errors import ConfigError
from harness.tasks.base import LazyItems, OneOrMore, Share, SourcedTask, in_brackets, subset
from harness.tasks.corr2cause import arguments
from harness.tasks.corr2cause.claim import WORDINGS, Claim, ItemWriter, Perturbation
from harness.tasks.corr2cause.enumerate import LARGEST, SIZES, ClaimBlocks, public_test, universe
from harness.tasks.corr2cause.sources import HypothesisRow, hub_config, read_rows
from harness.types import JSON, Item

C = TypeVar("C", Claim, HypothesisRow)

Split = Literal["test", "train", "dev", "all"]

ORDERS: Mapping[str, Sequence[str]] = {
    "relation": tuple(Relation),
    "num_nodes": tuple(map(str, range(min(SIZES), LARGEST + 1))),
    arguments.GROUP: arguments.GROUPS,
}

# Two claims of the train split over four variables (short premises), the same relation twice, so that only the
# premise tells the one that follows from the one that does not.
EXAMPLES = (Claim(4, 42, Relation.PARENT, 2, 3), Claim(4, 55, Relation.PARENT, 0, 1))

Size = Annotated[int, Field(ge=min(SIZES))]


def solved(writer: ItemWriter) -> Sequence[Mapping[str, JSON]]:
    """Return the examples in the words of a writer, with their answers."""
    return [{**writer.item(claim).fields, "answer": "Yes" if claim.derived else "No"} for claim in EXAMPLES]


@dataclass(frozen=True)
class Corr2Cause(SourcedTask):
    """The benchmark; configs/task/corr2cause.yaml says what each setting means."""

    prompts: tuple[str, ...]
    split: Split = "test"
    version: Literal["v2", "v1"] = "v2"
    labels: Literal["published", "audited"] | None = None
    perturbation: Perturbation = "none"
    relations: Annotated[tuple[Relation, ...] | None, OneOrMore] = None
    num_nodes: Annotated[tuple[Size, ...] | None, OneOrMore] = None
    wording: Annotated[int, Field(ge=0, lt=WORDINGS, strict=True)] = field(default=0, kw_only=True)
    whole: bool = field(default=False, kw_only=True)
    argument: bool = field(default=False, kw_only=True)
    prior: Share = field(default=0.1857, kw_only=True)

    orders = ORDERS
    hub_path = "causalnlp/corr2cause"
    hub_revision = "42ba12c769e11ff6427c9f52d7db58e3f9bf3e53"

    def __post_init__(self) -> None:
        """Refuse combinations of settings that mean nothing."""
        if self.version == "v1" and (self.split != "test" or self.source != "builtin"):
            raise ConfigError(
                "task.version=v1 is the test set of Tables 4 to 6 and 12: it goes with task.split=test and "
                f"task.source=builtin, not with task.split={self.split} task.source={self.source}."
            )
        if self.labels == "published" and self.split != "test" and self.source == "builtin":
            raise ConfigError(
                f"task.labels=published exists for task.split=test only; task.split={self.split} has derived "
                "labels: use task.labels=audited or leave it out."
            )
        self.check_source()
        if self.source == "file" and (self.perturbation != "none" or self.split != "test"):
            raise ConfigError(
                "task.source=file takes the rows of the file as they are: leave out task.perturbation and task.split."
            )
        if self.wording and self.source != "builtin":
            raise ConfigError(
                f"task.wording={self.wording} needs task.source=builtin; questions from elsewhere have the "
                "words that they have."
            )
        if self.whole and (self.source != "builtin" or self.split == "test"):
            raise ConfigError(
                "task.whole=true asks all hypotheses of each premise, which only splits that are made here have: use "
                "task.split=all, train or dev."
            )
        if self.argument and self.source != "builtin":
            raise ConfigError("task.argument=true needs task.source=builtin: others are of no index.")
        self._check_sizes()
        if self.source == "hub" and (self.perturbation in ("permutation", "varied") or self.split == "all"):
            raise ConfigError(
                "task.source=hub has the splits train, dev and test and the perturbations paraphrase and "
                "refactorization; use task.source=builtin for task.split=all, task.perturbation=permutation and varied."
            )

    def _check_sizes(self) -> None:
        largest = max(self.num_nodes or SIZES) if self.source == "builtin" else 0
        if largest > LARGEST:
            raise ConfigError(
                f"task.num_nodes={largest}: the premises made here have at most {LARGEST} variables, as their text "
                "doubles with every variable and soon outgrows what models read."
            )
        if largest > max(SIZES) and self.split == "test":
            raise ConfigError(
                f"task.num_nodes={largest}: the public test sets have 2 to {max(SIZES)} variables; use task.split=all, "
                "train or dev for more."
            )

    @property
    def headline(self) -> str:
        if self.labels:
            return self.labels
        return "published" if self.split == "test" or self.source != "builtin" else "audited"

    def items(self) -> Iterable[Item]:
        """Return the questions: filtered, then sampled."""
        if self.source == "builtin":
            return self._lazy_items(self._writer)
        return LazyItems(lambda: (row.item() for row in self._rows), len(self._rows))

    def _lazy_items(self, writer: ItemWriter) -> LazyItems:
        return LazyItems(lambda: map(writer.item, self._claims), len(self._claims))

    def part(self, split: Split, limit: int | None = None) -> Corr2Cause:
        return replace(self, split=split, limit=limit)

    def epoch(self, number: int) -> Iterable[Item]:
        """Return the items of a pass over them: with permutation and varied each pass draws new names."""
        if self.source != "builtin":
            return self.items()
        return self._lazy_items(ItemWriter(self.perturbation, self.seed + number, self.wording, self.argument))

    def held_out(self) -> frozenset[str]:
        return frozenset(f"n{claim.n}-g{claim.number}" for version in ("v1", "v2") for claim in public_test(version))

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return one valid and one invalid item of the train split, perturbed as the questions are.

        With task.split=train or all these two are among the questions as well.
        """
        return solved(self._writer)

    @cached_property
    def _writer(self) -> ItemWriter:
        return ItemWriter(self.perturbation, self.seed, self.wording, self.argument)

    @cached_property
    def _claims(self) -> list[Claim] | ClaimBlocks:
        if self.split == "test":
            return self._filtered(public_test(self.version))
        claim_blocks = universe(
            dict.fromkeys(self.num_nodes or SIZES),
            split=self.split,
            seed=self.seed,
            relations=self.relations or Relation,
        )
        if not len(claim_blocks):
            raise self._nothing_left(0)
        if self.limit is None:
            return claim_blocks
        take = claim_blocks.of_premises if self.whole else claim_blocks.subset
        return take(self.limit, seed=self.seed)

    @cached_property
    def _rows(self) -> list[HypothesisRow]:
        rows = self.rows(self.split, lambda names: hub_config(names, self.perturbation))
        return self._filtered(list(read_rows(rows, derivable=self.headline == "audited")))

    def _filtered(self, values: Sequence[C]) -> list[C]:
        fitting = [
            value
            for value in values
            if (self.relations is None or value.relation in self.relations)
            and (self.num_nodes is None or value.n in self.num_nodes)
        ]
        if not fitting:
            raise self._nothing_left(len(values))
        if self.limit is None:
            return fitting
        return subset(
            fitting,
            self.limit,
            stratum=lambda value: (value.relation, value.n),
            name=lambda value: value.id,
            seed=self.seed,
        )

    def _nothing_left(self, of: int) -> ConfigError:
        return ConfigError(
            f"no item is left: none of the {of:,} items of this split has "
            f"task.relations={in_brackets(self.relations)} and task.num_nodes={in_brackets(self.num_nodes)}."
        )
