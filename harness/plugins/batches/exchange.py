"""Batches sent to a server, each created exactly once, and their answers collected."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from typing import IO

from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import RefusedError, status
from harness.models.api.replies import LostError
from harness.models.api.server import EndpointServer, passes, rest
from harness.plugins.batches.forms import Files, Remote, Sought
from harness.plugins.batches.journal import Batch, Journal
from harness.plugins.batches.lines import GONE, content_of, groups_of, outcome_of
from harness.protocols import Outcome, Outcomes
from harness.types import Failure, Request, Response

_SETTLES = 60.0
"""Seconds until a batch, whose creation was not confirmed, must have appeared in the server's list."""
_GROUP = 500


class BatchServer(EndpointServer):
    """The server of an endpoint, asked for files and batches."""

    subject = "files or batches"
    lost = "; `python -m harness.cache batches forget DIGEST` gives up what the server has lost"


class Sending:
    """Sends the batches of a journal to one server."""

    def __init__(self, journal: Journal, server: EndpointServer, form: Files) -> None:
        self._journal, self._server, self._form = journal, server, form

    def send(self, batch: Batch, endpoint: Endpoint) -> None:
        """Take a batch from the step it has reached to its id, unless another process is doing so."""
        claims = self._journal.store.claims
        if batch.digest not in claims.take([batch.digest]).own:
            return
        try:
            now = self._journal.batch(batch.digest)  # read again: only now can no other process change it
            if now is None or now.id:
                return
            if now.step == "creating":
                self._create(now, endpoint, may_exist=True)
                return
            if now.step == "prepared" and self._form.uploads:
                with self._written(now, endpoint) as file:
                    name = self._form.upload(self._server, file, f"harness-{now.digest}.jsonl")
                self._journal.step(now.digest, "uploaded", file=name)
            self._create(now, endpoint, may_exist=False)
        finally:
            claims.release([batch.digest])

    def adopt(self, batch: Batch) -> bool:
        """Look for a batch that the server may have created without our knowing; return whether it did.

        Raises RunStopped.
        """
        known = {other.id for other in self._journal.batches() if other.id}
        owned = frozenset(self._journal.keys(batch.digest))
        sought = Sought(batch.file, batch.digest, batch.created, batch.size, known, owned.__contains__)
        if (remote := self._form.find(self._server, sought)) is None:
            return False
        self._journal.step(batch.digest, "created", id=remote.id)
        return True

    def _written(self, batch: Batch, endpoint: Endpoint) -> IO[bytes]:
        """Return the lines of a batch as a file without a name."""
        journal = self._journal
        file = tempfile.TemporaryFile(dir=journal.store.path.parent)  # noqa: SIM115
        for key in self._journal.keys(batch.digest):
            written = journal.written(key)
            if written is not None:
                line = self._form.line(key, *endpoint.call(journal.request(written)))
                file.write(line.encode() + b"\n")
        return file

    def _create(self, batch: Batch, endpoint: Endpoint, *, may_exist: bool) -> None:
        """Create the batch; after a try without a reply, look first whether the server has created it."""
        current = self._journal.batch(batch.digest)
        assert current is not None and endpoint.batch is not None
        path = endpoint.call(self._any_request(batch))[0]
        since = current.since
        for attempt in range(1, endpoint.attempts + 1):
            if may_exist and self._find(current, since, endpoint):
                return
            self._journal.step(batch.digest, "creating")
            since = time.time()
            try:
                remote: Remote = self._form.create(
                    self._server, current.file, batch.digest, path, lambda: self._written(current, endpoint)
                )
            except (RefusedError, LostError, TimeoutError) as error:
                number = status(error)
                # A refused batch does not exist; after a server error, or without a reply, it may.
                may_exist = number is None or number >= 500 or number in (408, 409)
                # A file that is there may not be found for some seconds; without one, 404 is about the model.
                if not passes(error, fresh=self._form.uploads) or attempt == endpoint.attempts:
                    if not may_exist:
                        self._journal.step(batch.digest, "uploaded" if self._form.uploads else "prepared")
                    raise self._server.stopped(error) from None
                rest(self._server.pause(error, attempt))
            else:
                self._journal.step(batch.digest, "created", id=remote.id)
                return

    def _find(self, batch: Batch, since: float, endpoint: Endpoint) -> bool:
        """Look for a batch whose creation was asked for at `since`, until it must have appeared in the list."""
        assert endpoint.batch is not None
        settles = min(_SETTLES, endpoint.batch.poll)
        while not self.adopt(batch):
            if time.time() - since > settles:
                return False
            rest(settles / 4)
        return True

    def _any_request(self, batch: Batch) -> Request:
        written = self._journal.written(self._journal.keys(batch.digest)[0])
        assert written is not None
        return self._journal.request(written)


class Collecting:
    """Reads the answers of one endpoint's batches."""

    def __init__(
        self, journal: Journal, server: EndpointServer, form: Files, endpoint: Endpoint, awaited: dict[str, Request]
    ) -> None:
        """Collect for `awaited`, from which each answer that is yielded is removed; other answers are only stored."""
        self._journal, self._server, self._form = journal, server, form
        self._endpoint, self._awaited = endpoint, awaited
        self.stored = 0
        """Answers that were not in `awaited`."""
        self.failed = 0
        """Requests without an answer."""

    def collect(self, batch: Batch, remote: Remote) -> Iterator[Outcomes]:
        """Yield the outcomes of a batch, and take its requests out of the journal as their answers are stored."""
        left = set(self._journal.keys(batch.digest))
        failures: dict[str, Failure] = {}
        held: list[Outcome] = []
        for name in remote.files:
            with self._server.download(self._form.content(name), self._journal.store.path.parent) as file:
                for lines in groups_of(self._form.rows(name, file)):
                    if outcomes := self._read(lines, left, failures):
                        if held:
                            yield held
                        held = outcomes
        # Before the last list is yielded: a caller that has all it awaited does not resume this generator.
        self._journal.release(left)
        self.failed += len(left)
        if held:
            yield held
        yield from self._failed(remote, left, failures)

    def _failed(self, remote: Remote, left: set[str], failures: dict[str, Failure]) -> Iterator[Outcomes]:
        """Yield a failure for each awaited request without an answer, with the server's reason where it gave one."""
        missing = Failure(
            GONE.get(remote.status, "batch_missing"),
            f"the batch {remote.id} ended as {remote.status} without a line for it",
        )
        group: list[Outcome] = []
        for key in sorted(left & self._awaited.keys()):
            group.append((self._awaited.pop(key), failures.get(key, missing)))
            if len(group) == _GROUP:
                yield group
                group = []
        if group:
            yield group

    def _read(self, lines: list[bytes | None], left: set[str], failures: dict[str, Failure]) -> list[Outcome]:
        """Return the awaited answers among some lines and store the others. Only the first line of a key counts."""
        outcomes: list[Outcome] = []
        late: list[tuple[str, Request, Response]] = []
        task = ""
        for line in lines:
            content = None if line is None else content_of(line, self._server.loads)
            if content is None or (key := content["custom_id"]) not in left:
                continue
            request = self._awaited.get(key)
            if request is None:
                written = self._journal.written(key)
                if written is None:
                    continue
                request, task = self._journal.request(written), written.task
            outcome = outcome_of(content, self._endpoint, request)
            if isinstance(outcome, Failure):
                failures[key] = outcome
                continue
            left.remove(key)
            if self._awaited.pop(key, None) is not None:
                outcomes.append((request, outcome))
            else:
                late.append((key, request, outcome))
        if late:
            self._journal.store.put(self._endpoint.identity, late, name=self._endpoint.name, task=task)
            self._journal.release(key for key, _, _ in late)
            self.stored += len(late)
        return outcomes
