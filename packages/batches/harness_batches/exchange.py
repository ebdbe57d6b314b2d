"""Batches sent to a server, each created exactly once, and their answers collected."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import filelock
from pydantic import ConfigDict, Field

from harness.errors import Interrupted, RunStopped
from harness.models.api.faults import RefusedError
from harness.models.api.replies import CallError, LostError
from harness.protocols import Outcome
from harness.types import Failure, Request, Response
from harness_batches.forms import OpenAI, Remote, Row
from harness_batches.journal import Batch, Journal
from harness_batches.lines import GONE, contents_of, is_done, outcome_of
from harness_batches.server import passes, pause, rest

_SETTLES, _LOOKS = 60.0, 5
"""Seconds until a batch, whose creation was not confirmed, must have appeared in the server's list, and looks at it."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Those of model.batch, no part of an identity: README.md explains them; plan and price read the last two."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    size: Annotated[int, Field(ge=1)] = 50_000
    wait: bool = True
    poll: Annotated[float, Field(gt=0)] = 60.0
    window: Annotated[str, Field(pattern=r"[1-9][0-9]*[hd]$")] = "24h"
    discount: Annotated[float, Field(gt=0, le=1)] = 0.5


class Exchange:
    """Sends the batches of a journal to one server, and reads their answers."""

    def __init__(self, journal: Journal, server: OpenAI, settings: Settings, billed: Callable[[Request], None]) -> None:
        """`billed` gets the awaited requests that were worked on and whose reply is no answer."""
        self._journal, self._server, self._settings, self._billed = journal, server, settings, billed
        self._endpoint = server.endpoint
        self.awaited: dict[str, Request] = {}
        """By the keys of their answers; whatever is yielded leaves it, and other answers are only stored."""
        self.missing = self.unread = ""
        """What the batch collected last lacks, whose other requests stay; why a file of it could not be had."""

    def send(self, digest: str) -> None:
        """Take a batch from the step it has reached to its id, unless another process is doing so."""
        try:
            with filelock.FileLock(f"{self._journal.store.path}.batches.lock", timeout=0):
                batch = self._journal.batch(digest)  # read again: only now can no other process change it
                if batch is not None and not batch.id:
                    self._send(batch)
        except filelock.Timeout:
            return

    def _send(self, batch: Batch) -> None:
        if batch.step == "creating" and self._appears(batch):
            return
        if batch.step == "prepared" and self._server.uploads:
            name = self._server.upload(self._rows(batch), f"harness-{batch.digest}.jsonl")
            self._journal.step(batch.digest, "uploaded", file=name)
        for attempt in range(1, self._endpoint.attempts + 1):
            if self._created(batch.digest, attempt):
                return

    def _created(self, digest: str, attempt: int) -> bool:
        """Create the batch; after any reply that is none, look whether the server has created it. Raises RunStopped."""
        self._journal.step(digest, "creating")
        batch = self._journal.batch(digest)
        assert batch is not None
        try:
            remote = self._server.create(batch, self._settings.window, self._rows(batch))
            if remote.id:
                self._journal.step(digest, "created", id=remote.id)
                return True
            raise LostError("the reply to the making of a batch is none", connected=True)
        except CallError as problem:
            error = problem
        # A file that is there may not be found for some seconds; without one, 404 is about the model.
        over = attempt == self._endpoint.attempts or not passes(error, fresh=self._server.uploads)
        try:
            # Once is no proof: the next command looks again before it has another one made.
            if self._adopt(batch) if over else self._appears(batch):
                return True
        except RunStopped as reason:
            if isinstance(reason, Interrupted) or not isinstance(error, RefusedError):
                raise
            raise RunStopped(f"{reason} (Its making was refused: {error.in_words()}.)") from None
        if over:
            raise self._server.stopped(error)
        rest(pause(error, attempt))
        return False

    def _appears(self, batch: Batch) -> bool:
        """Look for a batch whose creation was asked for, until it must have appeared in the list."""
        settles = min(_SETTLES, self._settings.poll)
        for look in range(1 if time.time() - batch.since > settles else _LOOKS):
            if look:
                rest(settles / (_LOOKS - 1))
            if self._adopt(batch):
                return True
        return False

    def _adopt(self, batch: Batch) -> bool:
        """Look for a batch that the server may have created without our knowing; return whether it did."""
        remote = self._server.find(batch, self._journal.ids(), frozenset(self._journal.keys(batch.digest)))
        if remote is not None:
            self._journal.step(batch.digest, "created", id=remote.id)
        return remote is not None

    def _rows(self, batch: Batch) -> Iterator[Row]:
        for key in self._journal.keys(batch.digest):
            if (request := self._journal.request(key)) is not None:
                yield self._server.row(key, *self._endpoint.call(request))

    def collect(self, batch: Batch, remote: Remote) -> list[Outcome]:
        """Return the awaited outcomes of a batch, and store the others; take all of them out of the journal.

        Those in none of its files stay there, unless the server counts no other as answered than those that were read.
        """
        self.missing = self.unread = ""
        reading = _Reading(set(self._journal.keys(batch.digest)))
        for name in remote.files:
            try:
                download = self._server.download(partial(self._server.pieces, name), self._journal.store.path.parent)
            except Interrupted:
                raise
            except RunStopped as reason:
                self.unread = self.unread or f"the file {name} cannot be had: {reason}"
                continue
            with download as file:
                for content in contents_of(file, self._server.loads):
                    self._read(content, reading)
        if reading.late:
            task = self._journal.task(reading.late[0][0])
            self._journal.store.put(self._endpoint.identity, reading.late, name=self._endpoint.name, task=task)
        released = reading.left & reading.failures.keys()
        if released != reading.left:
            # Counts of the whole batch that name as answered what was read, and nothing else.
            if remote.size == batch.size and remote.answered == len(reading.done):
                released = reading.left
            else:
                self.missing = self._lacks(batch, remote, reading)
        self._journal.release([*released, *(key for key, _, _ in reading.late)])
        gone = f"the batch {remote.id} ended as {remote.status} without a line for it"
        missing = Failure(GONE.get(remote.status, "batch_missing"), gone)
        mine = sorted(released & self.awaited.keys())
        return [*reading.outcomes, *((self.awaited.pop(key), reading.failures.get(key, missing)) for key in mine)]

    def _lacks(self, batch: Batch, remote: Remote, reading: _Reading) -> str:
        lost, count = len(reading.left - reading.failures.keys()), remote.answered
        why = "it does not count its answers" if count is None else f"it counts {count:,}, {len(reading.done):,} came"
        why = why if remote.files else "it names no file"
        return (
            f"the batch {batch.id} at {self._server.address} is {remote.status}, and {lost:,} of its {batch.size:,} "
            f"requests are in no file of it ({self.unread.rstrip('.') or why}). The same command reads it again; "
            f"`harness batches forget {batch.digest[:8]}` has them asked, and perhaps billed, again."
        )

    def _read(self, content: dict[str, Any], reading: _Reading) -> None:
        """Take in a line of a file. Only the first answer of a key counts."""
        key, done = content["custom_id"], is_done(content)
        if done and (key in reading.left or self._journal.store.holds(key)):
            reading.done.add(key)
        request = self.awaited.get(key) or self._journal.request(key)
        if key not in reading.left or done is None or request is None:  # its answer has been stored meanwhile
            return
        outcome = outcome_of(content, self._endpoint, request)
        if isinstance(outcome, Failure):
            if done and key in self.awaited and key not in reading.failures:
                self._billed(request)
            reading.failures[key] = outcome
            return
        reading.left.remove(key)
        if self.awaited.pop(key, None) is not None:
            reading.outcomes.append((request, outcome))
        else:
            reading.late.append((key, request, outcome))


@dataclass
class _Reading:
    """What the files of a batch have said so far."""

    left: set[str]
    """Requests without an answer."""
    failures: dict[str, Failure] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    """Requests, answered earlier ones among them, that a line says were worked on."""
    outcomes: list[Outcome] = field(default_factory=list)
    late: list[tuple[str, Request, Response]] = field(default_factory=list)
    """Answers that nobody awaits any more."""
