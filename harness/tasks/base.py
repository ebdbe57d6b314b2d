"""What tasks have in common: settings, sources, items made one at a time, and the subset that `task.limit` takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import BeforeValidator, Field

from harness.codec import permuted, uniform
from harness.errors import ConfigError
from harness.settings import LOCAL
from harness.tasks.data_files import DataFile, Row, hub_rows, numbered
from harness.types import JSON, Item, Record, Result, Unreadable

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Count = Annotated[int, Field(gt=0, strict=True)]
Share = Annotated[float, Field(ge=0, le=1)]
OneOrMore = BeforeValidator(lambda value: [value] if isinstance(value, str | int) else value)
"""Before a tuple of settings: task.num_nodes=5 means task.num_nodes=[5]."""


@dataclass(frozen=True)
class TaskBase(ABC):
    """A task with the settings of nearly all, asked in plain words and scored by counting (harness.protocols.Task).

    A subclass adds `prompts` to its settings, the `headline` and `all_items`; what it has otherwise it overrides. One
    that draws its sample before it makes items has `items` in place of `all_items`.
    """

    name: str
    limit: Count | None = field(default=None, kw_only=True)
    unreadable: Unreadable = field(default="wrong", kw_only=True)
    seed: int = field(default=0, kw_only=True)
    prior: Share = field(default=0.5, kw_only=True)

    orders: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The groups of breakdowns in the order of tables, where that is not the alphabet's."""

    @property
    @abstractmethod
    def headline(self) -> str: ...

    @property
    def prompt_format(self) -> str:
        return ""

    @property
    def data(self) -> Mapping[str, JSON]:
        return {}

    @property
    def remarks(self) -> Sequence[str]:
        return ()

    @property
    def like(self) -> str:
        return ""

    @property
    def draw_size(self) -> int | None:
        return None

    def items(self) -> Iterable[Item]:
        """Return the items: all that there are, or the subset that `limit` asks for, each stratum with its share."""
        if self.limit is None:
            return self.all_items()
        items = list(self.all_items())
        if not all(isinstance(item, Item) for item in items):
            return items  # tasks/check.py says what is wrong with them
        return subset(items, self.limit, stratum=self.stratum, name=lambda item: item.id, seed=self.seed)

    def all_items(self) -> Iterable[Item]:
        """Return all items, the same in the same order at every call."""
        raise NotImplementedError(f"{type(self).__name__} has no all_items")

    def stratum(self, item: Item) -> Hashable:
        """Return what a limited sample keeps the shares of: label and groups."""
        return item.labels.get(self.headline), *item.groups.values()

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        return ()

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores of all items and of each group of each breakdown."""
        from harness.scoring.summary import summarize  # with numpy, when there are records

        return summarize(records, headline=self.headline, orders=self.orders, unreadable=self.unreadable)


@dataclass(frozen=True)
class SourcedTask(TaskBase):
    """A task whose items are built in, or come from a file of the user's or a data set of the Hugging Face Hub."""

    source: Literal["builtin", "hub", "file"] = field(default="builtin", kw_only=True)
    path: str | None = field(default=None, kw_only=True, metadata=LOCAL)
    revision: str | None = field(default=None, kw_only=True)

    hub_path: ClassVar[str]
    """The data set, where no path names another."""
    hub_revision: ClassVar[str | None] = None
    """The one that is read of that data set, where none is asked for."""

    def check_source(self) -> None:
        """Raise ConfigError for a path or a revision that does not fit the source."""
        if self.source == "file" and not self.path:
            raise ConfigError("task.source=file needs task.path=FILE.")
        if self.source == "builtin" and self.path:
            raise ConfigError(f"task.path={self.path} needs task.source=file (or hub); the built-in data has no path.")
        if self.revision and self.source != "hub":
            raise ConfigError(f"task.revision={self.revision} needs task.source=hub.")

    @property
    def hub_place(self) -> tuple[str, str | None]:
        """The data set and its revision, or a folder in the same layout, which has none."""
        if self.path and Path(self.path).is_dir():
            return self.path, None
        name = self.path or self.hub_path
        return name, self.revision or (self.hub_revision if name == self.hub_path else None)

    @property
    def data(self) -> Mapping[str, JSON]:
        """The SHA-256 of a file or folder, or the Hub's data set and its revision; nothing for the built-in data."""
        if self.source == "builtin":
            return {}
        if self.path and (self.source == "file" or Path(self.path).is_dir()):
            return {"sha256": DataFile(self.path).digest()}
        return {"data_set": self.hub_place}

    def rows(self, split: str, choose: Callable[[list[str]], str] | None = None) -> Iterator[Row]:
        """Yield the rows of the file, or of a split of the data set; `choose` takes one of its configurations."""
        if self.source == "file":
            file = DataFile(str(self.path))
            return numbered(file.rows(), file.path, file.stem)
        name, revision = self.hub_place
        table, config = hub_rows(name, split, revision, choose)
        return numbered(table, f"{name}, {split}", "-".join(filter(None, (config, split))))


@dataclass(frozen=True)
class LazyItems(Iterable[Item]):
    """Items that are made one at a time, and their number: the texts of 200,000 are never in memory at once."""

    make: Callable[[], Iterator[Item]]
    number: int

    def __iter__(self) -> Iterator[Item]:
        return self.make()

    def __len__(self) -> int:
        return self.number


def capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]


def in_brackets(values: Sequence[object] | None) -> str:
    """Return a setting as the command line has it: [a,b], or `any` for None."""
    return "any" if values is None else f"[{','.join(map(str, values))}]"


def quotas(sizes: Mapping[K, int], limit: int, *, seed: int) -> dict[K, int]:
    """Return how many of `limit` values each stratum gets: its share by size (largest remainder), at most its size."""
    total = sum(sizes.values())
    if limit >= total:
        return dict(sizes)
    shares = {key: divmod(limit * size, total) for key, size in sizes.items()}
    quota = {key: share for key, (share, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda key: (-shares[key][1], uniform(seed, "remainder", key)))
    for key in by_remainder[: limit - sum(quota.values())]:
        quota[key] += 1
    return quota


def subset(
    values: Sequence[T],
    limit: int | Mapping[K, int],
    *,
    stratum: Callable[[T], K],
    name: Callable[[T], str],
    seed: int,
) -> list[T]:
    """Return `limit` of the values, each stratum with its share or with the number given, in their original order.

    Which values of a stratum are taken is drawn from (seed, name), so it depends neither on their order nor
    on what else is there, and a smaller subset of a stratum is part of a larger one.
    """
    strata: dict[K, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        strata[stratum(value)].append(place)
    sizes = {key: len(places) for key, places in strata.items()}
    quota = quotas(sizes, limit, seed=seed) if isinstance(limit, int) else limit
    chosen: list[int] = []
    for key, places in strata.items():
        if quota[key] < len(places):
            places = sorted(places, key=lambda k: uniform(seed, "limit", name(values[k])))[: quota[key]]
        chosen += places
    return [values[k] for k in sorted(chosen)]


def subset_by_place(
    size: int, value: Callable[[int], T], quota: Mapping[K, int], *, stratum: Callable[[T], K], seed: int
) -> list[T]:
    """Return each stratum's quota of the values at places 0 … size-1, in their original order.

    Places are drawn from (seed, size) and only their values are made, for a stratum that is too large to be
    looked through. A smaller subset of a stratum is part of a larger one here, too. Every place is tried where a
    quota is more than there is.
    """
    remaining = {key: count for key, count in quota.items() if count}
    values: dict[int, T] = {}
    places = permuted(size, seed, "limit by place", size)
    while remaining and (place := next(places, None)) is not None:
        here = value(place)
        key = stratum(here)
        if key in remaining:
            values[place] = here
            remaining[key] -= 1
            if not remaining[key]:
                del remaining[key]
    return [values[place] for place in sorted(values)]
