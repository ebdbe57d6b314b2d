"""A batch on its way to the server: its file goes up, and the batch is made of it exactly once."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from typing import IO

from harness.models.api.endpoint import Endpoint
from harness.models.api.http_errors import RefusedError, status
from harness.models.api.replies import LostError
from harness.models.api.server import Server, passes, rest
from harness.plugins.batches.dialects import Files, Remote, Sought
from harness.plugins.batches.journal import ON_TRIAL, Batch, Journal
from harness.types import Request

_SETTLES = 60.0
"""Seconds for which a batch whose making was not heard of may take to show in the server's list."""


class Sending:
    """What brings batches to one server."""

    def __init__(self, journal: Journal, server: Server, dialect: Files) -> None:
        """Note each step in `journal` before the next one is taken."""
        self._journal, self._server, self._dialect = journal, server, dialect

    def send(self, batch: Batch, endpoint: Endpoint) -> None:
        """Bring a batch as far as its id, from whatever step it is at; leave it to another process that does."""
        claims = self._journal.store.claims
        if batch.digest not in claims.take([batch.digest]).own:
            return
        try:
            now = self._journal.batch(batch.digest)  # as it is since nobody else can change it
            if now is None or now.id:
                return
            if now.step == "creating":
                self._create(now, endpoint, unheard=True)
                return
            if now.step == "prepared" and self._dialect.uploads:
                with self._written(now, endpoint) as file:
                    name = self._dialect.upload(self._server, file, f"harness-{now.digest}.jsonl")
                self._journal.step(now.digest, "uploaded", file=name)
            self._create(now, endpoint, unheard=False)
        finally:
            claims.release([batch.digest])

    def adopt(self, batch: Batch) -> bool:
        """Find a batch that the server may have made unheard; return whether it did."""
        remote = self._dialect.find(self._server, self._sought(batch))
        if remote is not None:
            sure = self._dialect.uploads or remote.state == "ended"
            self._journal.step(batch.digest, "created", id=remote.id, file=None if sure else ON_TRIAL + batch.before)
        return remote is not None

    def _sought(self, batch: Batch) -> Sought:
        others = (other for other in self._journal.batches() if other.digest != batch.digest)
        known = {other.id: not other.on_trial for other in others if other.id}
        owned = frozenset(self._journal.keys(batch.digest))
        sizes = {batch.size, len(owned)}
        before = frozenset(batch.before.split())
        return Sought(batch.file, batch.digest, batch.made, sizes, known, before, owned.__contains__)

    def disown(self, batch: Batch, keys: Iterable[str]) -> None:
        """Note that a batch that was taken for this one is another's: of the same cache, or a stranger's."""
        written = filter(None, map(self._journal.notes.written, keys))
        owner = next((found for row in written if (found := self._journal.batch(row.batch)) is not None), None)
        self._journal.step(batch.digest, "creating", id="", file=batch.before)
        if owner is not None and (not owner.id or owner.on_trial):
            self._journal.step(owner.digest, "created", id=batch.id, file=owner.before)

    def _written(self, batch: Batch, endpoint: Endpoint) -> IO[bytes]:
        """Return the lines of a batch as a file without a name."""
        notes = self._journal.notes
        file = tempfile.TemporaryFile(dir=notes.store.path.parent)  # noqa: SIM115
        for key in self._journal.keys(batch.digest):
            written = notes.written(key)
            if written is not None:
                line = self._dialect.line(key, *endpoint.call(notes.request(written)))
                file.write(line.encode() + b"\n")
        return file

    def _create(self, batch: Batch, endpoint: Endpoint, *, unheard: bool) -> None:
        """Make the batch of its file, or find it made: after a try without a reply nobody knows which."""
        current = self._journal.batch(batch.digest)
        assert current is not None and endpoint.batch is not None
        path = endpoint.call(self._any_request(batch))[0]
        if not unheard and not self._dialect.uploads:
            there = self._dialect.before(self._server, self._sought(current))
            self._journal.step(batch.digest, current.step, file=" ".join(there))
            current = self._journal.batch(batch.digest) or current
        since = current.since
        for attempt in range(1, endpoint.attempts + 1):
            if unheard and self._find(current, since, endpoint):
                return
            self._journal.step(batch.digest, "creating")
            since = time.time()
            try:
                remote: Remote = self._dialect.create(
                    self._server, current.file, batch.digest, path, lambda: self._written(current, endpoint)
                )
            except (RefusedError, LostError, TimeoutError) as error:
                number = status(error)
                # Turned away it was not made; a server's own error, or no reply, says nothing.
                unheard = number is None or number >= 500 or number in (408, 409)
                # A file that is there may not be found for some seconds; without one, 404 is about the model.
                if not passes(error, fresh=self._dialect.uploads) or attempt == endpoint.attempts:
                    if not unheard:
                        self._journal.step(batch.digest, "uploaded" if self._dialect.uploads else "prepared")
                    raise self._server.stopped(error) from None
                rest(self._server.pause(error, attempt))
            else:
                self._journal.step(batch.digest, "created", id=remote.id)
                return

    def _find(self, batch: Batch, since: float, endpoint: Endpoint) -> bool:
        """Look for a batch that was to be made at a moment, until it would have shown."""
        assert endpoint.batch is not None
        settles = min(_SETTLES, endpoint.batch.poll)
        while not self.adopt(batch):
            if time.time() - since > settles:
                return False
            rest(settles / 4)
        return True

    def _any_request(self, batch: Batch) -> Request:
        notes = self._journal.notes
        written = notes.written(self._journal.keys(batch.digest)[0])
        assert written is not None
        return notes.request(written)
