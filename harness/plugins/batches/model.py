"""A model that is asked in batches: its requests are sent as files, and the answers arrive hours later.

It wraps the endpoint directly, inside the budget and below the cache. Each step is in the cache's file (journal.py)
before it is taken, so that the same command continues after the process was killed at any moment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing

from harness.cache.store import Store
from harness.errors import ConfigError, Interrupted, RunStopped
from harness.models.api.endpoint import Endpoint
from harness.models.api.server import BusyError, EndpointServer, rest
from harness.plugins.batches.exchange import BatchServer, Collecting, Sending
from harness.plugins.batches.forms import KNOWN, Files, Remote, hours
from harness.plugins.batches.inline_forms import form_of
from harness.plugins.batches.journal import Batch, Journal, settings_of
from harness.protocols import Admission, Model, Outcomes, Wrapper
from harness.runtime.signals import STOP
from harness.types import Failure, Request, Usage

AT_ONCE = 4
"""Batches under way at a time where the run waits for them: their requests are held in memory."""
LONGEST_POLL, MOST_POLLS = 600.0, 10
"""Seconds between two looks at a batch, at most, and the same in times of model.batch.poll, if that is less."""
READS = 6
"""Looks at a batch that has ended and lacks answers, until the run ends: thirteen minutes with a poll of one."""
OVERDUE = 2.0
"""Windows after which a batch that is still under way is waited for no longer."""
_TICK = 512
"""Requests pulled between two yields, at which the cache around this model can hand out its answers."""


class Batched(Wrapper):
    """An endpoint that is asked in batches."""

    def __init__(
        self,
        endpoint: Endpoint,
        store: Store,
        key: Callable[[Request], str],
        *,
        task: str = "",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Wrap `endpoint`; `key` gives the key of a request's answer in `store`. `say` prints a line on stderr."""
        super().__init__(endpoint)
        self.endpoint, self.store, self.key, self.task, self.say = endpoint, store, key, task, say

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Send the requests in batches and yield the answers as batches end.

        Raises RunStopped with model.batch.wait=false once all batches are sent.
        """
        self.endpoint.check_key()
        form = form_of(self.endpoint)
        with closing(BatchServer(self.endpoint, form.headers(self.endpoint.key))) as server:
            yield from _BatchCall(self, form, server, requests).outcomes()


class _BatchCall:
    """The state of one call."""

    def __init__(self, model: Batched, form: Files, server: EndpointServer, requests: Iterable[Request]) -> None:
        assert model.endpoint.batch is not None
        self._model, self._settings = model, model.endpoint.batch
        self._requests, self._source = requests, iter(requests)
        self._journal = Journal(model.store)
        self._journal.make_tables()
        self._awaited: dict[str, Request] = {}
        self._mine: dict[str, None] = {}
        """The digests of batches that hold an awaited request, in the order in which they were met."""
        self._form = form
        self._sending = Sending(self._journal, server, self._form)
        self._collecting = Collecting(self._journal, server, self._form, model.endpoint, self._awaited, self._billed)
        self._server = server
        self._size = min(self._settings.size, form.most_requests)
        self._megabytes = form.most_megabytes
        self._lacks: dict[str, tuple[int, str]] = {}
        """How often a batch that has ended has been read, and what it lacks."""
        self._last_report = ""
        self._refused: list[float | None] = []
        """What the server asked to wait after each of the latest looks that it refused in a row."""
        self._pause = self._settings.poll
        """Seconds to the next look, while none is refused."""
        self._digest, self._endpoint_settings = settings_of(model.endpoint)

    def outcomes(self) -> Iterator[Outcomes]:
        """Yield what lands. Raises RunStopped if the rest is to be collected later."""
        try:
            yield from self._outcomes()
        except Interrupted:
            if not self._mine:
                return  # nothing is at the server: the wrapper outside reports the interruption
            raise Interrupted(f"interrupted: {self._under_way()}; the same command collects them.") from None

    def _outcomes(self) -> Iterator[Outcomes]:
        more = True
        while True:
            while more and (not self._settings.wait or len(self._mine) < AT_ONCE):
                more = yield from self._fill()
                if not self._ready:
                    break
            if not self._awaited:
                if not more or not self._ready:
                    return
                continue
            landed = yield from self._round()
            if not self._awaited and not more:
                return
            stuck = bool(self._mine) and all(self._lacks.get(digest, (0, ""))[0] >= READS for digest in self._mine)
            if stuck or not self._settings.wait:
                yield ()  # lets the cache hand out what it has before the run ends
                raise RunStopped(self._lacking() or f"{self._under_way()}: the same command collects them.")
            rest(self._wait(landed=landed) * random.uniform(0.9, 1.1))

    def _wait(self, *, landed: bool) -> float:
        """Return the seconds to the next look: more after each that brought nothing, or that was refused.

        A refused look says nothing about the batch, so it leaves the wait after the next one as it was.
        """
        poll = self._settings.poll
        longest = max(poll, min(LONGEST_POLL, MOST_POLLS * poll))
        if landed or not self._refused:
            self._pause = poll if landed else min(1.5 * self._pause, longest)
        if not self._refused:
            return self._pause
        asked = self._refused[-1]
        return min(asked, LONGEST_POLL) if asked else min(poll * 1.5 ** min(len(self._refused), 30), longest)

    @property
    def _ready(self) -> bool:
        """Whether another request may be pulled now: a budget may have to wait for what is under way."""
        return not isinstance(self._requests, Admission) or self._requests.ready

    def _fill(self) -> Generator[Outcomes, None, bool]:
        """Pull as many requests as fit into a batch and send it; return whether there may be more."""
        lot: list[tuple[str, Request]] = []
        size, tokens, count, more = 0, 0, 0, True
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
            written = self._journal.written(key)
            if written is not None and written.batch:
                self._mine[written.batch] = None
            else:
                size += self._bytes(key, request)
                tokens += self._tokens(request)
                lot.append((key, request))
            if count % _TICK == 0:
                yield []
            if size > 0.98e6 * self._megabytes or tokens >= (self._settings.tokens or tokens + 1):
                break
        if STOP.requested:
            raise Interrupted
        if lot:
            self._prepare(lot)
        return more

    def _bytes(self, key: str, request: Request) -> int:
        size = len(self._form.line(key, *self._model.endpoint.call(request))) + 1
        if size > 1e6 * self._megabytes:
            raise RunStopped(
                f"a request takes {size / 1e6:,.1f} MB, more than a batch's file ({self._megabytes:g} MB): "
                "choose a prompt with less data."
            )
        return size

    def _tokens(self, request: Request) -> int:
        """Return an estimate of a request's input tokens, which servers' queues limit."""
        return sum(len(message.content) for message in getattr(request, "messages", ())) // 4 + 1

    def _billed(self, request: Request) -> None:
        if isinstance(self._requests, Admission):
            self._requests.failed(request, Usage())

    def _prepare(self, lot: list[tuple[str, Request]]) -> None:
        self._journal.add_model(self._digest, self._model.name, self._endpoint_settings)
        batch = self._journal.prepare(self._digest, self._model.task, lot)
        for key, _ in lot:  # another process may have been sooner with some
            written = self._journal.written(key)
            if written is not None:
                self._mine[written.batch] = None
        if batch is not None:
            self._send(batch)
        self._report()

    def _send(self, batch: Batch) -> None:
        """Send a batch, unless another process does or it has to wait for others."""
        others = (self._journal.batch(digest) for digest in self._mine.keys() - {batch.digest, *self._lacks})
        if batch.waits and any(other is not None and other.id for other in others):
            return
        self._sending.send(batch, self._model.endpoint)

    def _round(self) -> Generator[Outcomes, None, bool]:
        """Look at each batch once; yield what has landed, and return whether anything has."""
        landed = False
        for digest in list(self._mine):
            batch = self._journal.batch(digest)
            if batch is not None and not batch.id:
                self._send(batch)
                batch = self._journal.batch(digest)
            if batch is None:  # another process has collected it, or halved it
                landed = True
                yield from self._elsewhere(digest)
            elif batch.id:
                try:
                    remote = self._form.look(self._server, batch.id)
                except BusyError as busy:
                    if not self._settings.wait or self._overdue(batch):
                        raise
                    self._say(f"{self._server.address} is asked for its batches too often (429): waiting")
                    self._refused.append(busy.pause)
                    return landed
                self._refused.clear()
                self._journal.note_status(digest, remote.status, remote.done)
                yield from self._ended(batch, remote)
                landed |= digest not in self._mine
            self._report()
        return landed

    def _overdue(self, batch: Batch) -> bool:
        return time.time() - batch.since > OVERDUE * 3600 * hours(self._settings.window)

    def _ended(self, batch: Batch, remote: Remote) -> Iterator[Outcomes]:
        digest = batch.digest
        if remote.state == "under way":
            if self._overdue(batch):
                self._lacks[digest] = (
                    READS,
                    (
                        f"the batch {batch.id} at {self._server.address} is {remote.status} still, after "
                        f"{OVERDUE:g} times its {self._settings.window}: the same command looks again, "
                        f"`harness cache batches cancel {digest[:8]}` ends it and `forget` gives it up."
                    ),
                )
        elif remote.state == "ended":
            yield from self._collecting.collect(batch, remote)
            if self._collecting.missing:
                reads = READS if self._collecting.unread else self._lacks.get(digest, (0, ""))[0] + 1
                self._lacks[digest] = reads, self._collecting.missing
                return
            if self._collecting.unread:
                self._model.say(self._collecting.unread)
            self._mine.pop(digest, None)
        elif remote.state == "failed" and "token limit" in remote.words.replace("_", " ") and batch.size > 1:
            self._journal.halve(batch)
            self._size = max(1, batch.size // 2)
            self._model.say(f"{self._server.endpoint.base_url} takes no batch of {batch.size:,}: it is halved")
            yield from self._elsewhere(batch.digest)
        elif remote.state == "failed":
            self._journal.drop(batch.digest, "failed whole")
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
            written = self._journal.written(key)
            if written is not None and written.batch:
                self._mine[written.batch] = None
            elif (response := self._model.store.get(key)) is not None:
                found.append((self._awaited.pop(key), response))
            else:
                del self._awaited[key]
                gone.append((request, Failure("unanswered", "another process ended its batch without an answer")))
        if found or gone:
            yield [*found, *gone]

    def _under_way(self) -> str:
        batches = [batch for digest in self._mine if (batch := self._journal.batch(digest)) is not None]
        return in_words(batches, time.time())

    def _lacking(self) -> str:
        """Return what is waited for in vain, if nothing else is under way; "" otherwise."""
        lacks = [self._lacks[digest][1] for digest in self._mine if digest in self._lacks]
        if not lacks or len(lacks) < len(self._mine):
            return ""
        return lacks[0] + f" ({len(lacks) - 1:,} more batches likewise.)" * (len(lacks) > 1)

    def _report(self) -> None:
        """Print how far the batches are, if that has changed."""
        batches = [batch for digest in self._mine if (batch := self._journal.batch(digest)) is not None]
        if not batches:
            return
        size, done = sum(batch.size for batch in batches), sum(batch.done for batch in batches)
        count = f"{len(batches)} batches" if len(batches) > 1 else "1 batch"
        odd = sorted({batch.status for batch in batches} - KNOWN)
        state = f" (it says: {', '.join(odd)})" * bool(odd)
        self._say(f"{count} of {size:,} at the server, {done:,} answered{state}")

    def _say(self, line: str) -> None:
        """Print a line, unless it is the one that was printed last."""
        if line != self._last_report:
            self._last_report = line
            self._model.say(line)


def in_words(batches: Iterable[Batch], now: float) -> str:
    """Return how many batches there are, of how many requests, and how old the oldest is."""
    rows = list(batches)
    if not rows:
        return "no batch is under way"
    seconds = max(0.0, now - min(batch.created for batch in rows))
    age = f"{seconds / 3600:.0f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"
    size = sum(batch.size for batch in rows)
    if len(rows) == 1:
        return f"1 batch of {size:,} requests is under way ({age} old)"
    return f"{len(rows)} batches of {size:,} requests are under way (oldest {age})"


def endpoint_of(model: Model) -> Endpoint:
    """Return a model as an endpoint. Raises ConfigError where it is no model of an API."""
    if not isinstance(model, Endpoint):
        raise ConfigError(
            f"model={model.name} is asked on this machine: batches are lines for the server of an API model "
            "(model=openai model.model=…, gpt4, …)."
        )
    return model
