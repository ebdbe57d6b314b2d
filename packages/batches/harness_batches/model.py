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
from typing import Any

from harness.cache.store import Store
from harness.errors import ConfigError, Interrupted, RunStopped
from harness.models.api.endpoint import Endpoint
from harness.protocols import Admission, Model, Outcomes, Wrapper
from harness.runtime.signals import STOP
from harness.settings import validated
from harness.types import Failure, Request, Usage
from harness_batches.exchange import Exchange, Settings
from harness_batches.forms import OpenAI, Remote, server_of, text_of
from harness_batches.journal import Batch, Journal
from harness_batches.server import rest

AT_ONCE = 4
"""Batches under way at a time where the run waits for them: their requests are held in memory."""
READS = 6
"""Looks at a batch that has ended and lacks answers, until the run ends: thirteen minutes with a poll of one."""


class Batched(Wrapper):
    """An endpoint that is asked in batches."""

    def __init__(
        self,
        endpoint: Model,
        store: Store,
        key: Callable[[Request], str],
        *,
        task: str = "",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Wrap `endpoint`; `key` gives the key of a request's answer in `store`. Raises ConfigError for settings."""
        super().__init__(endpoint)
        self.endpoint: Any = endpoint
        self.settings, self.store = settings_of(endpoint), store
        self.key, self.task, self.say = key, task, say

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Send the requests in batches and yield the answers as batches end.

        Raises RunStopped with model.batch.wait=false once all batches are sent.
        """
        self.endpoint.check_key()
        with closing(server_of(self.endpoint)) as server:
            yield from _BatchCall(self, server, requests).outcomes()


class _BatchCall:
    """The state of one call."""

    def __init__(self, model: Batched, server: OpenAI, requests: Iterable[Request]) -> None:
        self._model, self._settings, self._server = model, model.settings, server
        self._requests = requests if isinstance(requests, Admission) else Admission(requests)
        self._source: Iterator[Request] = self._requests
        self._more, self._at_once = True, AT_ONCE
        self._journal = Journal(model.store)
        self._journal.make_tables()
        self._exchange = Exchange(
            self._journal, server, self._settings, lambda request: self._requests.failed(request, Usage())
        )
        self._awaited = self._exchange.awaited
        self._mine: dict[str, None] = {}
        """The digests of batches that hold an awaited request, in the order in which they were met."""
        self._size = min(self._settings.size, server.most_requests)
        self._lacks: dict[str, tuple[int, str]] = {}
        """How often a batch that has ended has been read, and what it lacks."""
        self._last_report, self._pause = "", self._settings.poll

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
                self._more = self._fill()
                if not self._requests.ready:
                    break
            if not self._awaited:
                if not self._more or not self._requests.ready:
                    return
                continue
            before = set(self._mine)
            yield from self._round()
            if not self._awaited and not self._more:
                return
            lacks = [self._lacks.get(digest, (0, "")) for digest in self._mine]
            stuck = bool(lacks) and all(reads >= READS for reads, _ in lacks)
            if stuck or not self._settings.wait:
                yield ()  # lets the cache hand out what it has before the run ends
                words = lacks[0][1] if lacks and all(said for _, said in lacks) else ""
                raise RunStopped(words or f"{self._under_way()}: the same command collects them.")
            poll = self._settings.poll  # more and more seconds to the next look, until one brings something
            landed = not before <= self._mine.keys()
            self._pause = poll if landed else min(1.5 * self._pause, 10 * poll, max(poll, 600.0))
            rest(self._pause * random.uniform(0.9, 1.1))

    def _fill(self) -> bool:
        """Pull as many requests as fit into a batch and send it; return whether there may be more."""
        lot: list[tuple[str, Request]] = []
        size, more, before = 0, True, len(self._awaited)
        while len(lot) < self._size and size <= 0.98e6 * self._server.most_megabytes:
            if len(self._awaited) > before and not self._requests.ready:
                break  # a budget may have to wait for what is under way
            if (request := next(self._source, None)) is None:
                more = not self._requests.ready
                break
            key = self._model.key(request)
            self._awaited[key] = request
            if mark := self._journal.batch_of(key):
                self._mine[mark] = None
            else:
                size += len(text_of(self._server.row(key, *self._model.endpoint.call(request)))) + 1
                lot.append((key, request))
        if STOP.requested:
            raise Interrupted
        if lot:
            self._send(lot)
        return more

    def _send(self, lot: list[tuple[str, Request]]) -> None:
        batch = self._journal.prepare(self._model.endpoint, self._model.task, lot)
        for key, _ in lot:  # another process may have been sooner with some
            if mark := self._journal.batch_of(key):
                self._mine[mark] = None
        if batch is not None:
            self._exchange.send(batch.digest)
        self._report()

    def _round(self) -> Iterator[Outcomes]:
        """Look at each batch once; yield what has landed."""
        for digest in list(self._mine):
            batch = self._journal.batch(digest)
            if batch is not None and not batch.id:
                self._exchange.send(digest)
                batch = self._journal.batch(digest)
            if batch is None:  # another process has collected it, or halved it
                yield from self._elsewhere(digest)
            elif batch.id:
                remote = self._server.look(batch.id)
                self._journal.note_status(digest, remote.status, remote.done)
                yield from self._ended(batch, remote)
            self._report()

    def _ended(self, batch: Batch, remote: Remote) -> Iterator[Outcomes]:
        digest = batch.digest
        if remote.state == "ended":
            if landed := self._exchange.collect(batch, remote):
                yield landed
            if self._exchange.missing:
                reads = READS if self._exchange.unread else self._lacks.get(digest, (0, ""))[0] + 1
                self._lacks[digest] = reads, self._exchange.missing
                return
            if self._exchange.unread:
                self._model.say(self._exchange.unread)
            self._mine.pop(digest, None)
        elif remote.state == "failed" and "token limit" in remote.words.replace("_", " ") and batch.size > 1:
            # Nothing of it was done or billed: its requests go out in smaller ones, one after the other.
            again = [self._awaited.pop(key) for key in self._journal.keys(digest) if key in self._awaited]
            self._journal.drop(digest)
            self._source, self._more = chain(again, self._source), True
            self._size, self._at_once = max(1, batch.size // 2), 1
            self._model.say(f"{self._server.address} takes no batch of {batch.size:,}: it is halved")
            yield from self._elsewhere(digest)
        elif remote.state == "failed":
            self._journal.drop(digest)
            raise RunStopped(
                f"{self._server.address} refuses a batch of {batch.size:,} requests: "
                f"{remote.words.rstrip('.') or 'it does not say why'}. Nothing of it was answered, or is under way."
            )

    def _elsewhere(self, digest: str) -> Iterator[Outcomes]:
        """Look in other batches, and in the cache, for the awaited requests of a batch that has left the journal."""
        self._mine.pop(digest, None)
        gone = Failure("unanswered", "another process ended its batch without an answer")
        found = []
        for key, request in list(self._awaited.items()):
            if mark := self._journal.batch_of(key):
                self._mine[mark] = None
            else:
                del self._awaited[key]
                found.append((request, self._model.store.get(key) or gone))
        if found:
            yield found

    def _batches(self) -> tuple[list[Batch], str]:
        rows = [batch for digest in self._mine if (batch := self._journal.batch(digest)) is not None]
        return rows, f"{len(rows)} batch{'es' * (len(rows) > 1)} of {sum(batch.size for batch in rows):,}"

    def _under_way(self) -> str:
        """Return how many batches there are, of how many requests, and how old the oldest is."""
        rows, count = self._batches()
        if not rows:
            return "no batch is under way"
        seconds = max(0.0, time.time() - min(batch.created for batch in rows))
        age = f"{seconds / 3600:.0f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"
        return f"{count} requests under way (the oldest for {age})"

    def _report(self) -> None:
        """Print how far the batches are, if that has changed."""
        rows, count = self._batches()
        states = ", ".join(sorted({batch.status for batch in rows} - {""}))
        done = sum(batch.done for batch in rows)
        line = f"{count} at the server, {done:,} answered" + f" ({states})" * bool(states)
        if rows and line != self._last_report:
            self._last_report = line
            self._model.say(line)


def settings_of(model: Model) -> Settings:
    """Return the settings of batches. Raises ConfigError for wrong ones, and for what is no model of an API."""
    if not isinstance(model, Endpoint):
        raise ConfigError(f"model={model.name} is asked on this machine: batches are for the server of an API model.")
    return validated(Settings, dict(model.batch or {}))
