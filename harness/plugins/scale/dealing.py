"""What is still to be asked, dealt to workers: runs of items that lack an answer, and what is known of them already."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import length_hint

from harness.cache import CachedModel, Store
from harness.codec import digest, request_digest
from harness.plugins.scale.share import dealt, longest_run
from harness.prepare import Prepared
from harness.prompting import conversation
from harness.prompting.fit import fitting
from harness.protocols import Outcomes, Wrapper
from harness.types import Failure, Item, Request, Response

Runs = list[tuple[int, int]]
Answers = Sequence[tuple[str, Request, Response]]
Seed = Callable[[int, Answers], None]
"""Stores answers in the cache of a worker, by its number."""


@dataclass
class Dealt:
    """The work of several workers."""

    runs: list[Runs] = field(default_factory=list)
    """Of each worker: from a place to before another one, in the task's order."""
    items: int = 0
    missing: int = 0
    """Answers, as far as anybody knows."""


class _Known(Wrapper):
    """A model that answers what a cache holds and asks nothing; it keeps what it has answered."""

    def __init__(self, cached: CachedModel, failed: Container[str]) -> None:
        super().__init__(cached)
        self._cached, self._failed = cached, failed
        self.answers: list[tuple[str, Request, Response]] = []
        self.missing = 0

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield what is stored; a failure for what is not, or has failed."""
        for request in requests:
            stored = self._cached.peek(request)
            if stored is not None:
                self.answers.append((self._cached.key(request), request, stored))
                yield [(request, stored)]
            else:
                self.missing += request_digest(request) not in self._failed
                yield [(request, Failure("unanswered", "nothing is stored"))]


def deal(prepared: Prepared, store: Store, parts: int, failed: Container[str], seed: Seed) -> Dealt:
    """Deal the runs of items that lack an answer to so many workers at most, in turn.

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
