"""Which items of a run a shard has.

Items that follow each other within one cluster stay together, 256 of them at most: a server's prefix cache, or shared
prefixes in this process, serve a premise's questions as they would in one run. Such runs of items are dealt in turn, so
that easy and hard clusters are spread. Openings that the model answers itself are never cut: two shards would hold two
conversations, and the questions of one of them would be asked again. The deal depends on the items and on the number of
shards alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import length_hint

from harness.codec import text_digest
from harness.errors import ConfigError
from harness.prompting.prompts import Prompt
from harness.types import ChatRequest, Item

LONGEST = 256
"""Items of a cluster that stay together at most; fewer where shards would be left without any."""


class ShardItems(Iterable[Item]):
    """The items of one shard, in the task's order, with a guess at how many there are."""

    def __init__(self, items: Iterable[Item], prompt: Prompt, shard: int, shards: int) -> None:
        """Raise ConfigError where there are fewer items than shards."""
        self._items, self._prompt, self._shard, self._shards = items, prompt, shard, shards
        self._total = length_hint(items)
        if not 0 <= shard < shards:
            raise ConfigError(f"shard={shard} of shards={shards}: they are counted from 0 to {shards - 1}.")
        if 0 < self._total < shards:
            raise ConfigError(f"shards={shards}, but the run has {self._total:,} items: choose as many at most.")

    def __iter__(self) -> Iterator[Item]:
        turns = dealt(self._items, self._prompt, longest_run(self._total, self._shards))
        return (item for item, turn in turns if turn % self._shards == self._shard)

    def __length_hint__(self) -> int:
        return -(-self._total // self._shards)


def longest_run(items: int, shards: int) -> int:
    """Return how many items in a row stay together at most, so that each shard gets some; `items` is 0 if unknown."""
    return max(1, min(LONGEST, items // shards)) if items else LONGEST


def dealt(items: Iterable[Item], prompt: Prompt, longest: int) -> Iterator[tuple[Item, int]]:
    """Yield each item with the number of the turn in which it is dealt: turn t goes to shard t modulo their number.

    Where the model answers openings itself, 64 bits of each first turn of one are kept.
    """
    talks = bool(prompt.words.opening) and prompt.replies != "fixed"
    turn_of: dict[int, int] = {}
    turn, length, cluster = -1, 0, None
    for item in items:
        mark = int(text_digest(_first_words(prompt, item))[:16], 16) if talks else None
        if mark is not None and mark in turn_of:
            yield item, turn_of[mark]
            continue
        if item.cluster != cluster or length == longest:
            turn, length, cluster = turn + 1, 0, item.cluster
        length += 1
        if mark is not None:
            turn_of[mark] = turn
        yield item, turn


def _first_words(prompt: Prompt, item: Item) -> str:
    """Return what the user says first; of an item without an opening the question, with which others' may open."""
    if opening := prompt.opening(item.fields):
        return opening[0]
    request = prompt.render(item.fields, (), ChatRequest)
    assert isinstance(request, ChatRequest)
    return request.messages[-1].content
