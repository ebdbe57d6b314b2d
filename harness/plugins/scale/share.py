"""One share of a task: its items dealt to so many shards, of which each machine asks its own.

Items that follow each other within one cluster stay together, 256 of them at most: a server's prefix cache, or shared
prefixes in this process, serve a premise's questions as they would in one run. Such runs of items are dealt in turn, so
that easy and hard clusters are spread. Openings that the model answers itself are never cut: two shards would hold two
conversations, and the questions of one of them would be asked again. The deal depends on the items and on the number of
shards alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import length_hint

from harness.codec import text_digest
from harness.errors import ConfigError
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Task, remarks_of
from harness.settings import Main
from harness.types import JSON, Item, Record, Result

LONGEST = 256
"""Items of a cluster that stay together at most; fewer where shards would be left without any."""


@dataclass(frozen=True)
class Share(Task):
    """A task of which only one shard's items are asked."""

    task: Task
    prompt: Prompt
    shard: int
    shards: int
    runs: tuple[tuple[int, int], ...] | None = None
    """Which items these are, where they were dealt already: from a place to before another one, in order."""

    @property
    def name(self) -> str:
        """The task's."""
        return self.task.name

    @property
    def headline(self) -> str:
        """The task's."""
        return self.task.headline

    @property
    def prompts(self) -> Sequence[str]:
        """The task's."""
        return self.task.prompts

    @property
    def prompt_format(self) -> str:
        """The task's."""
        return self.task.prompt_format

    @property
    def data(self) -> Mapping[str, JSON]:
        """The task's."""
        return self.task.data

    @property
    def remarks(self) -> Sequence[str]:
        """The task's."""
        return remarks_of(self.task)

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Return the task's."""
        return self.task.examples()

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the task's scores; of a share alone there are none that mean anything."""
        return self.task.summarize(records)

    def items(self) -> Iterable[Item]:
        """Return the items of this shard, in the task's order. Raises ConfigError where there are fewer than shards."""
        items = self.task.items()
        if self.runs is not None:
            return _Runs(items, self.runs)
        total = length_hint(items)
        if 0 < total < self.shards:
            raise ConfigError(
                f"shards={self.shards}, but the run has {total:,} item{'s' * (total > 1)}: choose shards={total} at "
                "most."
            )
        return _Shard(self, items, total)

    def __str__(self) -> str:
        return f"shard {self.shard} of {self.shards}"


class _Shard(Iterable[Item]):
    """The items of a shard, with a guess at how many there are."""

    def __init__(self, share: Share, items: Iterable[Item], total: int) -> None:
        self._share, self._items, self._total = share, items, total

    def __iter__(self) -> Iterator[Item]:
        share = self._share
        longest = longest_run(self._total, share.shards)
        turns = dealt(self._items, share.prompt, longest)
        return (item for item, turn in turns if turn % share.shards == share.shard)

    def __length_hint__(self) -> int:
        return -(-self._total // self._share.shards)


class _Runs(Iterable[Item]):
    """The items at certain places."""

    def __init__(self, items: Iterable[Item], runs: Sequence[tuple[int, int]]) -> None:
        self._items, self._runs = items, runs

    def __iter__(self) -> Iterator[Item]:
        items, place = iter(self._items), 0
        for start, end in self._runs:
            yield from islice(items, start - place, end - place)
            place = end

    def __length_hint__(self) -> int:
        return sum(end - start for start, end in self._runs)


def longest_run(items: int, shards: int) -> int:
    """Return how many items in a row stay together at most, so that each shard gets some; `items` is 0 if unknown."""
    return max(1, min(LONGEST, items // shards)) if items else LONGEST


def dealt(items: Iterable[Item], prompt: Prompt, longest: int) -> Iterator[tuple[Item, int]]:
    """Yield each item with the number of the turn in which it is dealt: turn t goes to shard t modulo their number.

    Where the model answers openings itself, 64 bits of each first turn of one are kept.
    """
    talks = holds_talks(prompt)
    turn_of: dict[int, int] = {}
    turn, length, cluster = -1, 0, None
    for item in items:
        mark = int(text_digest(prompt.opening(item.fields)[0])[:16], 16) if talks else None
        if mark is not None and mark in turn_of:
            yield item, turn_of[mark]
            continue
        if item.cluster != cluster or length == longest:
            turn, length, cluster = turn + 1, 0, item.cluster
        length += 1
        if mark is not None:
            turn_of[mark] = turn
        yield item, turn


def holds_talks(prompt: Prompt) -> bool:
    """Return whether the model answers openings of this prompt."""
    return bool(prompt.words.opening) and prompt.replies != "fixed"


def check_shard(settings: Main, model: Model) -> None:
    """Refuse what cannot be asked in shards. Raises ConfigError."""
    shard, shards = settings.shard, settings.shards
    if shard is None:
        if shards > 1 and settings.workers is None:
            raise ConfigError(
                f"shards={shards} needs to know which of them this is: shard=0 to shard={shards - 1}, or "
                f"-m 'shard=range({shards})' for all of them."
            )
        return
    if shard >= shards:
        raise ConfigError(f"shard={shard} of shards={shards}: they are counted from 0 to {shards - 1}.")
    if settings.workers is not None:
        raise ConfigError(f"shard={shard} is what one of the workers asks: leave it out with workers=….")
    rule = f"shard={shard}: a shard asks its items into the cache and leaves nothing else"
    if model.traits.instant:
        raise ConfigError(f"{rule}, and {model.name} answers at once, without one: leave shards= and shard= out.")
    if settings.cache.mode in ("off", "frozen"):
        raise ConfigError(f"{rule}, which cannot be with cache={settings.cache.mode}: use cache=on.")
    if settings.dry_run:
        raise ConfigError(f"{rule}: dry_run=true without shards= and shard= plans all of them together.")
