"""Corr2Cause: does a causal hypothesis follow from the statistical relations? (Jin et al., ICLR 2024)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Generic, Literal, Protocol, TypeVar

from pydantic import BeforeValidator, Field

from harness.causal.relations import Relation
from harness.errors import ConfigError
from harness.scoring.summary import summarize
from harness.settings import LOCAL
from harness.tasks.corr2cause import sources
from harness.tasks.corr2cause.data_rows import Row
from harness.tasks.corr2cause.enumerate import CLASSES, COMPLETE, LARGEST, SIZES, blocks, public_test
from harness.tasks.corr2cause.hypothesis import Claim, claim_of
from harness.tasks.corr2cause.perturbation import Perturbation, Writer
from harness.tasks.sampling import stratified
from harness.types import JSON, Item, Record, Result, Unreadable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Split = Literal["test", "train", "dev", "all"]

ORDERS: Mapping[str, Sequence[str]] = {
    "relation": tuple(Relation),
    "num_nodes": tuple(map(str, range(min(SIZES), LARGEST + 1))),
}

# Two claims of the train split over four variables (short premises), the same relation twice, so that only the
# premise tells the one that follows from the one that does not.
EXAMPLES = (Claim(4, 42, Relation.PARENT, 2, 3), Claim(4, 55, Relation.PARENT, 0, 1))

Size = Annotated[int, Field(ge=min(SIZES))]
# task.num_nodes=5 means task.num_nodes=[5].
OneOrMore = BeforeValidator(lambda value: [value] if isinstance(value, str | int) else value)


@dataclass(frozen=True)
class Corr2Cause:
    """The benchmark; configs/task/corr2cause.yaml says what each setting means."""

    name: str
    prompts: tuple[str, ...]
    split: Split = "test"
    version: Literal["v2", "v1"] = "v2"
    labels: Literal["published", "audited"] | None = None
    perturbation: Perturbation = "none"
    source: Literal["builtin", "hub", "file"] = "builtin"
    path: str | None = field(default=None, metadata=LOCAL)
    revision: str | None = None
    relations: Annotated[tuple[Relation, ...] | None, OneOrMore] = None
    num_nodes: Annotated[tuple[Size, ...] | None, OneOrMore] = None
    classes: Annotated[int, Field(gt=0, le=100_000, strict=True)] | None = None
    limit: Annotated[int, Field(gt=0, strict=True)] | None = None
    unreadable: Unreadable = "wrong"
    seed: int = 0
    prior: Annotated[float, Field(ge=0, le=1)] = field(default=0.1857, kw_only=True)

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
        if self.source == "file" and not self.path:
            raise ConfigError("task.source=file needs task.path=FILE, a CSV or JSON lines file.")
        if self.revision and self.source != "hub":
            raise ConfigError(f"task.revision={self.revision} needs task.source=hub.")
        if self.source == "builtin" and self.path:
            raise ConfigError(f"task.path={self.path} needs task.source=file (or hub); the built-in data has no path.")
        if self.source == "file" and (self.perturbation != "none" or self.split != "test"):
            raise ConfigError(
                "task.source=file takes the rows of the file as they are: leave out task.perturbation and task.split."
            )
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
        if self.classes is not None and largest <= COMPLETE:
            raise ConfigError(
                f"task.classes={self.classes} says how many premises are drawn where there are too many for all of "
                f"them: it needs task.num_nodes={COMPLETE + 1} to {LARGEST}."
            )

    @property
    def headline(self) -> str:
        """The label set that the tables show."""
        if self.labels:
            return self.labels
        return "published" if self.split == "test" or self.source != "builtin" else "audited"

    @property
    def prompt_format(self) -> str:
        """Plain words only."""
        return ""

    @property
    def data(self) -> Mapping[str, JSON]:
        """The SHA-256 of a file or folder, or the Hub data set and its revision; nothing for the built-in data."""
        if self.source == "builtin":
            return {}
        if self.path and (self.source == "file" or sources.is_folder(self.path)):
            return {"sha256": sources.digest_of(self.path)}
        return {"data_set": sources.hub_place(self.path, self.revision)}

    def items(self) -> Iterable[Item]:
        """Return the questions: filtered, then sampled."""
        if self.source == "builtin":
            return Questions(self._claims, self._writer.item)
        return Questions(self._rows, lambda row: row.item())

    def part(self, split: Split, limit: int | None = None) -> Corr2Cause:
        """Return the task with the items of another split, so many of them."""
        return replace(self, split=split, limit=limit)

    def epoch(self, number: int) -> Iterable[Item]:
        """Return the items of a pass over them: with permutation and varied each pass draws new names."""
        if self.source != "builtin":
            return self.items()
        return Questions(self._claims, Writer(self.perturbation, self.seed + number).item)

    def refuted(self, item: Item) -> bool:
        """Return whether the hypothesis holds in no graph that fits the premise. Raises ConfigError for other items."""
        if self.source != "builtin":
            raise ConfigError(
                f"task.source={self.source} does not say which hypotheses are false in every graph: use builtin."
            )
        return claim_of(item.id).refuted

    def held_out(self) -> frozenset[str]:
        """Return the clusters of both public test sets."""
        return frozenset(f"n{claim.n}-g{claim.number}" for version in ("v1", "v2") for claim in public_test(version))

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return one valid and one invalid item of the train split, perturbed as the questions are.

        With task.split=train or all these two are among the questions as well.
        """
        items = [(self._writer.item(claim), claim) for claim in EXAMPLES]
        return [{**item.fields, "answer": "Yes" if claim.derived else "No"} for item, claim in items]

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return scores overall, per relation type and per number of variables."""
        return summarize(records, headline=self.headline, orders=ORDERS, unreadable=self.unreadable)

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self.perturbation, self.seed)

    @cached_property
    def _claims(self) -> Sources[Claim]:
        if self.split == "test":
            claims = public_test(self.version)
            return self._filtered(claims, lambda claim: claim.relation, lambda claim: claim.n, lambda claim: claim.id)
        claim_blocks = blocks(
            dict.fromkeys(self.num_nodes or SIZES),
            split=self.split,
            seed=self.seed,
            classes=self.classes or CLASSES,
            relations=self.relations or Relation,
        )
        if not len(claim_blocks):
            raise self._nothing_left(0)
        return claim_blocks if self.limit is None else claim_blocks.sample(self.limit, seed=self.seed)

    @property
    def remarks(self) -> Sequence[str]:
        """What has to be said of the user's file; nothing of other data."""
        return self._file_rows[1] if self.source == "file" else ()

    @cached_property
    def _file_rows(self) -> tuple[list[Row], tuple[str, ...]]:
        return sources.from_file(str(self.path))

    @cached_property
    def _rows(self) -> list[Row]:
        if self.source == "file":
            rows, _ = self._file_rows
        else:
            rows = sources.from_hub(
                self.path, self.revision, split=self.split, perturbation=self.perturbation, seed=self.seed
            )
        for row in rows:
            row.check(derivable=self.headline == "audited")
        return self._filtered(rows, lambda row: row.relation, lambda row: row.num_nodes, lambda row: row.item_id)

    def _filtered(
        self,
        values: Sequence[T],
        relation: Callable[[T], Relation],
        num_nodes: Callable[[T], int],
        name: Callable[[T], str],
    ) -> list[T]:
        fitting = [
            value
            for value in values
            if (self.relations is None or relation(value) in self.relations)
            and (self.num_nodes is None or num_nodes(value) in self.num_nodes)
        ]
        if not fitting:
            raise self._nothing_left(len(values))
        if self.limit is None:
            return fitting
        return stratified(fitting, self.limit, stratum=lambda v: (relation(v), num_nodes(v)), name=name, seed=self.seed)

    def _nothing_left(self, of: int) -> ConfigError:
        return ConfigError(
            f"no item is left: none of the {of:,} items of this split has "
            f"task.relations={_as_list(self.relations)} and task.num_nodes={_as_list(self.num_nodes)}."
        )


class Sources(Protocol[T_co]):
    """What items are made from, one by one, and how many there are."""

    def __iter__(self) -> Iterator[T_co]: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Questions(Generic[T]):
    """Items made one at a time, with a length: the text of 200,000 of them is never in memory at once."""

    sources: Sources[T]
    make: Callable[[T], Item]

    def __iter__(self) -> Iterator[Item]:
        return map(self.make, self.sources)

    def __len__(self) -> int:
        return len(self.sources)


def _as_list(values: Sequence[object] | None) -> str:
    return "any" if values is None else f"[{','.join(map(str, values))}]"
