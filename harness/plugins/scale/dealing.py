"""A run's items dealt to shards, whole or as far as they still lack answers.

Items that follow each other within one cluster stay together, 256 of them at most: a server's prefix cache, or shared
prefixes in this process, serve a premise's questions as they would in one run. Such runs of items are dealt in turn, so
that easy and hard clusters are spread. Openings that the model answers itself are never cut: two shards would hold two
conversations, and the questions of one of them would be asked again. The deal depends on the items and on the number of
shards alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import length_hint

from harness.cache import CachedModel, Store
from harness.codec import digest, request_digest, text_digest
from harness.errors import ConfigError
from harness.prepare import Prepared
from harness.prompting import conversation
from harness.prompting.fit import fitting
from harness.prompting.prompts import Prompt
from harness.protocols import Outcomes, Task, Wrapper, remarks_of
from harness.types import JSON, ChatRequest, Failure, Item, Record, Request, Response, Result

LONGEST = 256
"""Items of a cluster that stay together at most; fewer where shards would be left without any."""


@dataclass(frozen=True)
class Shard(Task):
    """A task of which only one shard's items are asked."""

    task: Task
    prompt: Prompt
    shard: int
    shards: int
    runs: tuple[tuple[int, int], ...] | None = None
    """Half-open ranges of items, in order, if they were dealt already."""

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def headline(self) -> str:
        return self.task.headline

    @property
    def prompts(self) -> Sequence[str]:
        return self.task.prompts

    @property
    def prompt_format(self) -> str:
        return self.task.prompt_format

    @property
    def data(self) -> Mapping[str, JSON]:
        return self.task.data

    @property
    def remarks(self) -> Sequence[str]:
        return remarks_of(self.task)

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        return self.task.examples()

    def summarize(self, records: Iterable[Record]) -> Result:
        return self.task.summarize(records)

    def items(self) -> Iterable[Item]:
        """Return the items of this shard, in the task's order. Raises ConfigError where there are fewer than shards."""
        items = self.task.items()
        if self.runs is not None:
            return _ItemsOfRanges(items, self.runs)
        total = length_hint(items)
        if 0 < total < self.shards:
            raise ConfigError(
                f"shards={self.shards}, but the run has {total:,} item{'s' * (total > 1)}: choose shards={total} at "
                "most."
            )
        return _ShardItems(self, items, total)

    def __str__(self) -> str:
        return f"shard {self.shard} of {self.shards}"


class _ShardItems(Iterable[Item]):
    """The items of a shard, with a guess at how many there are."""

    def __init__(self, share: Shard, items: Iterable[Item], total: int) -> None:
        self._share, self._items, self._total = share, items, total

    def __iter__(self) -> Iterator[Item]:
        share = self._share
        longest = longest_run(self._total, share.shards)
        turns = dealt(self._items, share.prompt, longest)
        return (item for item, turn in turns if turn % share.shards == share.shard)

    def __length_hint__(self) -> int:
        return -(-self._total // self._share.shards)


class _ItemsOfRanges(Iterable[Item]):
    """The items in certain ranges."""

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


def holds_talks(prompt: Prompt) -> bool:
    return bool(prompt.words.opening) and prompt.replies != "fixed"


Ranges = list[tuple[int, int]]
Answers = Sequence[tuple[str, Request, Response]]
Seed = Callable[[int, Answers], None]
"""Stores known answers in the cache of a worker, by its number."""


@dataclass
class Dealt:
    """The work of several workers."""

    runs: list[Ranges] = field(default_factory=list)
    """Of each worker, half-open ranges in the task's order."""
    items: int = 0
    missing: int = 0
    """Missing answers, those to questions behind an unanswered opening included."""


class _Known(Wrapper):
    """A model that answers from a cache, asks nothing, and keeps the answers it has given."""

    def __init__(self, cached: CachedModel, failed: Container[str]) -> None:
        super().__init__(cached)
        self._cached, self._failed = cached, failed
        self.answers: list[tuple[str, Request, Response]] = []
        self.missing = 0

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield stored answers, and a failure for each request without one."""
        for request in requests:
            stored = self._cached.peek(request)
            if stored is not None:
                self.answers.append((self._cached.key(request), request, stored))
                yield [(request, stored)]
            else:
                self.missing += request_digest(request) not in self._failed
                yield [(request, Failure("unanswered", "nothing is stored"))]


def deal(prepared: Prepared, store: Store, parts: int, failed: Container[str], seed: Seed) -> Dealt:
    """Deal the runs of items that lack an answer to at most `parts` workers, in turn.

    `failed` holds the digests of requests that workers have asked in vain: they lack nothing. `seed` is given what is
    stored of a worker's runs, which it is not to ask again. One pass over the items.
    """
    work = Dealt()
    cached = CachedModel(prepared.model, store)
    named = store.query("SELECT 1 FROM identities WHERE digest = ?", digest(dict(prepared.model.identity)))
    anything = next(named, None) is not None or bool(failed)
    items = prepared.task.items()
    place, worker_of = 0, dict[int, int]()
    longest = longest_run(length_hint(items), parts)
    for turn, group in groupby(dealt(items, prepared.prompt, longest), key=lambda pair: pair[1]):
        run = [item for item, _ in group]
        start, place = place, place + len(run)
        known = _Known(cached, failed)
        missing = _missing(prepared, known, run) if anything else len(run) * prepared.settings.samples
        if not missing:
            continue
        worker = worker_of.setdefault(turn, len(worker_of) % parts)
        if worker == len(work.runs):
            work.runs.append([])
        if work.runs[worker] and work.runs[worker][-1][1] == start:
            work.runs[worker][-1] = work.runs[worker][-1][0], place
        else:
            work.runs[worker].append((start, place))
        if known.answers:
            seed(worker, known.answers)
        work.missing += missing
    work.items = place
    return work


def _missing(prepared: Prepared, known: _Known, run: Sequence[Item]) -> int:
    """Return how many answers a run of items lacks, those to its openings included."""
    prompt, samples = prepared.prompt, prepared.settings.samples
    kind = fitting(prompt, prepared.model)
    for draw in range(samples):
        openings = {prompt.opening(item.fields) for item in run} if prompt.words.opening else set()
        transcripts = conversation.play(known, prompt, openings, sample=draw) if openings else {}
        ready = [(item, transcripts.get(prompt.opening(item.fields), ()) if openings else ()) for item in run]
        lost = sum(isinstance(transcript, Failure) for _, transcript in ready)
        # The questions of an opening that has no reply yet cannot be put.
        if lost and known.missing:
            known.missing += lost
        requests = {
            prompt.render(item.fields, transcript, kind, draw): None
            for item, transcript in ready
            if not isinstance(transcript, Failure)
        }
        for _ in known.respond(requests):
            continue
    return known.missing
