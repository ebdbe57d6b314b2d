"""A model that is asked in batches: its requests are sent as files, and the answers arrive hours later.

It wraps the endpoint directly, inside the budget and below the cache. Each step is in the cache's file (journal.py)
before it is taken, so that the same command continues after the process was killed at any moment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain

from harness.cache.store import Store
from harness.errors import ConfigError, Interrupted, RunStopped
from harness.models.api.endpoint import Endpoint
from harness.protocols import Admission, Model, Outcomes, Wrapper
from harness.runtime.signals import STOP
from harness.types import Failure, Request, Usage
from harness_batches.exchange import Collecting, Sending
from harness_batches.forms import OpenAI, Remote, form_of
from harness_batches.journal import Batch, Journal
from harness_batches.server import EndpointServer, rest
from harness_batches.settings import Settings

AT_ONCE = 4
"""Batches under way at a time where the run waits for them: their requests are held in memory."""
LONGEST_POLL, MOST_POLLS = 600.0, 10
"""Seconds between two looks at a batch, at most, and the same in times of model.batch.poll, if that is less."""
READS = 6
"""Looks at a batch that has ended and lacks answers, until the run ends: thirteen minutes with a poll of one."""
_TICK = 512
"""Requests pulled between two yields, at which the cache around this model can hand out its answers."""


class Batched(Wrapper):
    """An endpoint that is asked in batches."""

    def __init__(
        self,
        endpoint: Endpoint,
        settings: Settings,
        store: Store,
        key: Callable[[Request], str],
        *,
        task: str = "",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Wrap `endpoint`; `key` gives the key of a request's answer in `store`."""
        super().__init__(endpoint)
        self.endpoint, self.settings, self.store = endpoint, settings, store
        self.key, self.task, self.say = key, task, say

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Send the requests in batches and yield the answers as batches end.

        Raises RunStopped with model.batch.wait=false once all batches are sent.
        """
        self.endpoint.check_key()
        form = form_of(self.endpoint)
        with closing(EndpointServer(self.endpoint)) as server:
            yield from _BatchCall(self, form, server, requests).outcomes()


class _BatchCall:
    """The state of one call."""

    def __init__(self, model: Batched, form: OpenAI, server: EndpointServer, requests: Iterable[Request]) -> None:
        self._model, self._settings, self._requests = model, model.settings, requests
        self._source: Iterator[Request] = iter(requests)
        self._more, self._at_once = True, AT_ONCE
        self._journal = Journal(model.store)
        self._journal.make_tables()
        self._awaited: dict[str, Request] = {}
        self._mine: dict[str, None] = {}
        """The digests of batches that hold an awaited request, in the order in which they were met."""
        self._form = form
        self._sending = Sending(self._journal, server, form, model.settings)
        self._collecting = Collecting(self._journal, server, form, self._awaited, self._billed)
        self._server = server
        self._size = min(self._settings.size, form.most_requests)
        self._lacks: dict[str, tuple[int, str]] = {}
        """How often a batch that has ended has been read, and what it lacks."""
        self._last_report = ""
        self._pause = self._settings.poll

    def outcomes(self) -> Iterator[Outcomes]:
        """Yield what lands. Raises RunStopped if the rest is to be collected later."""
        try:
            yield from self._outcomes()
        except Interrupted:
            if not self._mine:
                return  # nothing is at the server: the wrapper outside reports the interruption
            raise Interrupted(f"interrupted: {self._under_way()}; the same command collects them.") from None

    def _outcomes(self) -> Iterator[Outcomes]:
        while True:
            while self._more and (not self._settings.wait or len(self._mine) < self._at_once):
                self._more = yield from self._fill()
                if not self._ready:
                    break
            if not self._awaited:
                if not self._more or not self._ready:
                    return
                continue
            landed = yield from self._round()
            if not self._awaited and not self._more:
                return
            stuck = bool(self._mine) and all(self._lacks.get(digest, (0, ""))[0] >= READS for digest in self._mine)
            if stuck or not self._settings.wait:
                yield ()  # lets the cache hand out what it has before the run ends
                raise RunStopped(self._lacking() or f"{self._under_way()}: the same command collects them.")
            rest(self._wait(landed=landed) * random.uniform(0.9, 1.1))

    def _wait(self, *, landed: bool) -> float:
        """Return the seconds to the next look: more after each that brought nothing."""
        poll = self._settings.poll
        self._pause = poll if landed else min(1.5 * self._pause, max(poll, min(LONGEST_POLL, MOST_POLLS * poll)))
        return self._pause

    @property
    def _ready(self) -> bool:
        """Whether another request may be pulled now: a budget may have to wait for what is under way."""
        return not isinstance(self._requests, Admission) or self._requests.ready

    def _fill(self) -> Generator[Outcomes, None, bool]:
        """Pull as many requests as fit into a batch and send it; return whether there may be more."""
        lot: list[tuple[str, Request]] = []
        size, count, more = 0, 0, True
        while more and len(lot) < self._size:
            if count and not self._ready:
                break
            request = next(self._source, None)
            if request is None:
                more = isinstance(self._requests, Admission) and not self._ready
                break
            count += 1
            key = self._model.key(request)
            self._awaited[key] = request
            if mark := self._journal.batch_of(key):
                self._mine[mark] = None
            else:
                size += len(self._form.line(key, *self._model.endpoint.call(request))) + 1
                lot.append((key, request))
            if count % _TICK == 0:
                yield ()  # lets the cache hand out what it has
            if size > 0.98e6 * self._form.most_megabytes:
                break
        if STOP.requested:
            raise Interrupted
        if lot:
            self._prepare(lot)
        return more

    def _billed(self, request: Request) -> None:
        if isinstance(self._requests, Admission):
            self._requests.failed(request, Usage())

    def _prepare(self, lot: list[tuple[str, Request]]) -> None:
        batch = self._journal.prepare(self._model.endpoint, self._model.task, lot)
        for key, _ in lot:  # another process may have been sooner with some
            if mark := self._journal.batch_of(key):
                self._mine[mark] = None
        if batch is not None:
            self._sending.send(batch.digest)
        self._report()

    def _round(self) -> Generator[Outcomes, None, bool]:
        """Look at each batch once; yield what has landed, and return whether anything has."""
        landed = False
        for digest in list(self._mine):
            batch = self._journal.batch(digest)
            if batch is not None and not batch.id:
                self._sending.send(digest)
                batch = self._journal.batch(digest)
            if batch is None:  # another process has collected it, or halved it
                landed = True
                yield from self._elsewhere(digest)
            elif batch.id:
                remote = self._form.look(self._server, batch.id)
                self._journal.note_status(digest, remote.status, remote.done)
                yield from self._ended(batch, remote)
                landed |= digest not in self._mine
            self._report()
        return landed

    def _ended(self, batch: Batch, remote: Remote) -> Iterator[Outcomes]:
        digest = batch.digest
        if remote.state == "ended":
            yield from self._collecting.collect(batch, remote)
            if self._collecting.missing:
                reads = READS if self._collecting.unread else self._lacks.get(digest, (0, ""))[0] + 1
                self._lacks[digest] = reads, self._collecting.missing
                return
            if self._collecting.unread:
                self._model.say(self._collecting.unread)
            self._mine.pop(digest, None)
        elif remote.state == "failed" and "token limit" in remote.words.replace("_", " ") and batch.size > 1:
            # Nothing of it was done or billed: its requests go out in smaller ones, one after the other.
            again = [self._awaited.pop(key) for key in self._journal.keys(digest) if key in self._awaited]
            self._journal.drop(digest)
            self._source, self._more = chain(again, self._source), True
            self._size, self._at_once = max(1, batch.size // 2), 1
            self._model.say(f"{self._server.endpoint.base_url} takes no batch of {batch.size:,}: it is halved")
            yield from self._elsewhere(digest)
        elif remote.state == "failed":
            self._journal.drop(batch.digest)
            raise RunStopped(
                f"{self._model.endpoint.base_url} refuses a batch of {batch.size:,} requests: "
                f"{remote.words.rstrip('.') or 'it does not say why'}. Nothing of it was answered, or is under way."
            )

    def _elsewhere(self, digest: str) -> Iterator[Outcomes]:
        """Look in other batches, and in the cache, for the awaited requests of a batch that has left the journal."""
        self._mine.pop(digest, None)
        gone: list[tuple[Request, Failure]] = []
        found = []
        for key, request in list(self._awaited.items()):
            if mark := self._journal.batch_of(key):
                self._mine[mark] = None
            elif (response := self._model.store.get(key)) is not None:
                found.append((self._awaited.pop(key), response))
            else:
                del self._awaited[key]
                gone.append((request, Failure("unanswered", "another process ended its batch without an answer")))
        if found or gone:
            yield [*found, *gone]

    def _under_way(self) -> str:
        """Return how many batches there are, of how many requests, and how old the oldest is."""
        rows = self._batches()
        if not rows:
            return "no batch is under way"
        seconds = max(0.0, time.time() - min(batch.created for batch in rows))
        age = f"{seconds / 3600:.0f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"
        several, size = f"{len(rows)} batches" if len(rows) > 1 else "1 batch", sum(batch.size for batch in rows)
        return f"{several} of {size:,} requests under way (the oldest for {age})"

    def _batches(self) -> list[Batch]:
        return [batch for digest in self._mine if (batch := self._journal.batch(digest)) is not None]

    def _lacking(self) -> str:
        """Return what is waited for in vain, if nothing else is under way; "" otherwise."""
        lacks = [self._lacks[digest][1] for digest in self._mine if digest in self._lacks]
        return lacks[0] if lacks and len(lacks) == len(self._mine) else ""

    def _report(self) -> None:
        """Print how far the batches are, if that has changed."""
        if not (batches := self._batches()):
            return
        size, done = sum(batch.size for batch in batches), sum(batch.done for batch in batches)
        count = f"{len(batches)} batches" if len(batches) > 1 else "1 batch"
        states = ", ".join(sorted({batch.status for batch in batches} - {""}))
        line = f"{count} of {size:,} at the server, {done:,} answered" + f" ({states})" * bool(states)
        if line != self._last_report:
            self._last_report = line
            self._model.say(line)


def endpoint_of(model: Model) -> Endpoint:
    """Return a model as an endpoint. Raises ConfigError where it is no model of an API."""
    if not isinstance(model, Endpoint):
        raise ConfigError(f"model={model.name} is asked on this machine: batches are for the server of an API model.")
    return model
