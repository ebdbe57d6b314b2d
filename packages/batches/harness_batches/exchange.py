"""Batches sent to a server, each created exactly once, and their answers collected."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import IO

import filelock

from harness.errors import Interrupted, RunStopped
from harness.models.api.faults import RefusedError
from harness.models.api.replies import CallError, LostError
from harness.protocols import Outcome, Outcomes
from harness.types import Failure, Request, Response
from harness_batches.forms import OpenAI, Remote
from harness_batches.journal import Batch, Journal
from harness_batches.lines import GONE, content_of, groups_of, is_done, outcome_of
from harness_batches.server import EndpointServer, passes, rest
from harness_batches.settings import Settings

_SETTLES, _LOOKS = 60.0, 5
"""Seconds until a batch, whose creation was not confirmed, must have appeared in the server's list, and looks at it."""


class Sending:
    """Sends the batches of a journal to one server."""

    def __init__(self, journal: Journal, server: EndpointServer, form: OpenAI, settings: Settings) -> None:
        self._journal, self._server, self._form, self._settings = journal, server, form, settings
        self._endpoint = server.endpoint

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
        if batch.step == "prepared" and self._form.uploads:
            with self._written(batch) as file:
                name = self._form.upload(self._server, file, f"harness-{batch.digest}.jsonl")
            self._journal.step(batch.digest, "uploaded", file=name)
        for attempt in range(1, self._endpoint.attempts + 1):
            if self._created(batch.digest, last=attempt == self._endpoint.attempts, attempt=attempt):
                return

    def _created(self, digest: str, *, last: bool, attempt: int) -> bool:
        """Create the batch; after any reply that is none, look whether the server has created it. Raises RunStopped."""
        self._journal.step(digest, "creating")
        batch = self._journal.batch(digest)
        assert batch is not None
        try:
            window, lines = self._settings.window, partial(self._written, batch)
            remote = self._form.create(self._server, batch, self._path(batch), window, lines)
            if remote.id:
                self._journal.step(digest, "created", id=remote.id)
                return True
            raise LostError("the reply to the making of a batch is none", connected=True)
        except CallError as problem:
            error = problem
        # A file that is there may not be found for some seconds; without one, 404 is about the model.
        over = last or not passes(error, fresh=self._form.uploads)
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
        rest(self._server.pause(error, attempt))
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
        owned = frozenset(self._journal.keys(batch.digest))
        if (remote := self._form.find(self._server, batch, self._journal.ids(), owned)) is None:
            return False
        self._journal.step(batch.digest, "created", id=remote.id)
        return True

    def _written(self, batch: Batch) -> IO[bytes]:
        """Return the lines of a batch as a file without a name."""
        file = tempfile.TemporaryFile(dir=self._journal.store.path.parent)  # noqa: SIM115
        for key in self._journal.keys(batch.digest):
            if (request := self._journal.request(key)) is not None:
                file.write(self._form.line(key, *self._endpoint.call(request)).encode() + b"\n")
        file.seek(0)
        return file

    def _path(self, batch: Batch) -> str:
        """Return the path of the calls that a batch stands for."""
        requests = map(self._journal.request, self._journal.keys(batch.digest))
        return next(self._endpoint.call(request)[0] for request in requests if request is not None)


Billed = Callable[[Request], None]


class Collecting:
    """Reads the answers of one endpoint's batches."""

    def __init__(
        self, journal: Journal, server: EndpointServer, form: OpenAI, awaited: dict[str, Request], billed: Billed
    ) -> None:
        """Collect for `awaited`, from which each answer that is yielded is removed; other answers are only stored.

        `billed` gets the awaited requests that were worked on and whose reply is no answer.
        """
        self._journal, self._server, self._form, self._endpoint = journal, server, form, server.endpoint
        self._awaited, self._billed = awaited, billed
        self.missing = ""
        """What the batch collected last lacks, and what is to be done: its other requests stay in the journal."""
        self.unread = ""
        """Why a file of that batch could not be had; "" if all were."""

    def collect(self, batch: Batch, remote: Remote) -> Iterator[Outcomes]:
        """Yield the outcomes of a batch, and take its requests out of the journal as their answers are stored.

        Those in none of its files stay there, unless the server counts no other as answered than those that were read.
        """
        self.missing = self.unread = ""
        reading = _Reading(set(self._journal.keys(batch.digest)))
        held: list[Outcome] = []
        for name in remote.files:
            if held:  # stored, before another file is asked for
                yield held
                held = []
            try:
                download = self._server.download(self._form.content(name), self._journal.store.path.parent)
            except Interrupted:
                raise
            except RunStopped as reason:
                self.unread = self.unread or f"the file {name} cannot be had: {reason}"
                continue
            with download as file:
                for lines in groups_of(file):
                    if outcomes := self._read(lines, reading):
                        if held:
                            yield held
                        held = outcomes
        released = reading.left & reading.failures.keys()
        if released != reading.left:
            # Counts of the whole batch that name as answered what was read, and nothing else.
            if remote.size == batch.size and remote.answered == len(reading.done):
                released = reading.left
            else:
                self.missing = self._lacks(batch, remote, reading)
        # Before the last list is yielded: a caller that has all it awaited does not resume this generator.
        self._journal.release(released)
        if held:
            yield held
        gone = f"the batch {remote.id} ended as {remote.status} without a line for it"
        missing = Failure(GONE.get(remote.status, "batch_missing"), gone)
        if mine := sorted(released & self._awaited.keys()):
            yield [(self._awaited.pop(key), reading.failures.get(key, missing)) for key in mine]

    def _lacks(self, batch: Batch, remote: Remote, reading: _Reading) -> str:
        lost, count = len(reading.left - reading.failures.keys()), remote.answered
        why = "it names no file" if not remote.files else "it does not count its answers"
        why = why if count is None or not remote.files else f"it counts {count:,} answers, {len(reading.done):,} came"
        return (
            f"the batch {batch.id} at {self._server.address} is {remote.status}, and {lost:,} of its {batch.size:,} "
            f"requests are in no file of it ({self.unread.rstrip('.') or why}). The same command reads it again; "
            f"`harness batches forget {batch.digest[:8]}` has them asked, and perhaps billed, again."
        )

    def _read(self, lines: list[bytes], reading: _Reading) -> list[Outcome]:
        """Return the awaited answers among some lines and store the others. Only the first answer of a key counts."""
        outcomes: list[Outcome] = []
        late: list[tuple[str, Request, Response]] = []
        for line in lines:
            if (content := content_of(line, self._server.loads)) is None:
                continue
            key, done = content["custom_id"], is_done(content)
            if done and (key in reading.left or key in reading.done or self._journal.store.holds(key)):
                reading.done.add(key)
            if key not in reading.left or done is None:
                continue
            request = self._awaited.get(key) or self._journal.request(key)
            if request is None:  # another process has stored its answer meanwhile
                continue
            outcome = outcome_of(content, self._endpoint, request)
            if isinstance(outcome, Failure):
                if done and key in self._awaited and key not in reading.failures:
                    self._billed(request)
                reading.failures[key] = outcome
                continue
            reading.left.remove(key)
            if self._awaited.pop(key, None) is not None:
                outcomes.append((request, outcome))
            else:
                late.append((key, request, outcome))
        if late:
            task = self._journal.task(late[0][0])
            self._journal.store.put(self._endpoint.identity, late, name=self._endpoint.name, task=task)
            self._journal.release([key for key, _, _ in late])
        return outcomes


@dataclass
class _Reading:
    """What the files of a batch have said so far."""

    left: set[str]
    """Requests without an answer."""
    failures: dict[str, Failure] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    """Requests, answered earlier ones among them, that a line says were worked on."""
