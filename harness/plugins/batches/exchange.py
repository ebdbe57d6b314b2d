"""Batches sent to a server, each created exactly once, and their answers collected."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO

from harness.errors import Interrupted, RunStopped
from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import RefusedError, in_words
from harness.models.api.replies import LostError
from harness.models.api.server import EndpointServer, passes, rest
from harness.plugins.batches.forms import Files, Remote, Sought
from harness.plugins.batches.journal import Batch, Journal, Proof
from harness.plugins.batches.lines import GONE, content_of, groups_of, is_done, outcome_of
from harness.protocols import Outcome, Outcomes
from harness.types import Failure, Request, Response

_SETTLES, _LOOKS = 60.0, 5
"""Seconds until a batch, whose creation was not confirmed, must have appeared in the server's list, and looks at it."""
_GROUP = 500


class BatchServer(EndpointServer):
    """The server of an endpoint, asked for files and batches."""

    subject = "files or batches"
    lost = "; `harness cache batches forget DIGEST` gives up what the server has lost"


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
            if now.step == "creating" and self.appears(now, endpoint):
                return
            if now.step == "prepared" and self._form.uploads:
                with self._written(now, endpoint) as file:
                    name = self._form.upload(self._server, file, f"harness-{now.digest}.jsonl")
                self._journal.step(now.digest, "uploaded", file=name)
            self._create(now.digest, endpoint)
        finally:
            claims.release([batch.digest])

    def adopt(self, batch: Batch) -> bool:
        """Look for a batch that the server may have created without our knowing; return whether it did.

        Raises RunStopped.
        """
        owned = frozenset(self._journal.keys(batch.digest))
        sought = Sought(batch.file, batch.digest, batch.created, batch.size, self._journal.ids(), owned.__contains__)
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

    def _create(self, digest: str, endpoint: Endpoint) -> None:
        """Create the batch; after any reply that is none, look first whether the server has created it."""
        batch = self._journal.batch(digest)
        assert batch is not None
        path = endpoint.call(self._any_request(batch))[0]
        for attempt in range(1, endpoint.attempts + 1):
            self._journal.step(digest, "creating")
            try:
                remote: Remote = self._form.create(
                    self._server, batch.file, digest, path, lambda: self._written(batch, endpoint)
                )
                if remote.id:
                    self._journal.step(digest, "created", id=remote.id)
                    return
                raise LostError("the reply to the making of a batch is none", connected=True)
            except (RefusedError, LostError, TimeoutError) as problem:
                error = problem
            # A file that is there may not be found for some seconds; without one, 404 is about the model.
            over = not passes(error, fresh=self._form.uploads) or attempt == endpoint.attempts
            try:
                # Once is no proof: the next command looks again before it has another one made.
                if self.adopt(batch) if over else self.appears(batch, endpoint):
                    return
            except Interrupted:
                raise
            except RunStopped as reason:
                refusal = f" (Its making was refused: {in_words(error)}.)" * isinstance(error, RefusedError)
                raise RunStopped(f"{reason}{refusal}") from None
            if over:
                raise self._server.stopped(error)
            rest(self._server.pause(error, attempt))

    def appears(self, batch: Batch, endpoint: Endpoint) -> bool:
        """Look for a batch whose creation was asked for, until it must have appeared in the list."""
        assert endpoint.batch is not None
        now = self._journal.batch(batch.digest)
        settles = min(_SETTLES, endpoint.batch.poll)
        looks = 1 if now is None or time.time() - now.since > settles else _LOOKS
        for look in range(looks):
            if look:
                rest(settles / (_LOOKS - 1))
            if self.adopt(batch):
                return True
        return False

    def _any_request(self, batch: Batch) -> Request:
        written = self._journal.written(self._journal.keys(batch.digest)[0])
        assert written is not None
        return self._journal.request(written)


class Collecting:
    """Reads the answers of one endpoint's batches."""

    def __init__(
        self,
        journal: Journal,
        server: EndpointServer,
        form: Files,
        endpoint: Endpoint,
        awaited: dict[str, Request],
        billed: Callable[[Request], None] = lambda _: None,
    ) -> None:
        """Collect for `awaited`, from which each answer that is yielded is removed; other answers are only stored.

        `billed` gets the awaited requests that were worked on and whose reply is no answer.
        """
        self._journal, self._server, self._form = journal, server, form
        self._endpoint, self._awaited, self._billed = endpoint, awaited, billed
        self.stored = 0
        """Answers that were not in `awaited`."""
        self.failed = 0
        """Requests without an answer."""
        self.missing = ""
        """What the batch collected last lacks, and what is to be done: its other requests stay in the journal."""
        self.unread = ""
        """Why a file of that batch could not be had; "" if all were."""

    def collect(self, batch: Batch, remote: Remote) -> Iterator[Outcomes]:
        """Yield the outcomes of a batch, and take its requests out of the journal as their answers are stored.

        Those in none of its files stay there, unless the server counts no other as answered than those that were read.
        """
        self.missing = self.unread = ""
        reading = _Reading(batch.digest, set(self._journal.keys(batch.digest)))
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
                for lines in groups_of(self._form.rows(name, file)):
                    if outcomes := self._read(lines, reading):
                        if held:
                            yield held
                        held = outcomes
        proof: Proof = "failed line"
        released = reading.left & reading.failures.keys()
        if released != reading.left:
            # Counts of the whole batch that name as answered what was read, and nothing else.
            if remote.size == batch.size and remote.answered == len(reading.done):
                released, proof = reading.left, "server's count"
            else:
                self.missing = self._lacks(batch, remote, reading)
        # Before the last list is yielded: a caller that has all it awaited does not resume this generator.
        self._journal.release(batch.digest, released, proof)
        self.failed += len(released)
        if held:
            yield held
        yield from self._failed(remote, released, reading.failures)

    def _lacks(self, batch: Batch, remote: Remote, reading: _Reading) -> str:
        lost, count = len(reading.left - reading.failures.keys()), remote.answered
        why = "it names no file" if not remote.files else "it does not count its answers"
        why = why if count is None or not remote.files else f"it counts {count:,} answers, {len(reading.done):,} came"
        return (
            f"the batch {batch.id} at {self._server.address} is {remote.status}, and {lost:,} of its {batch.size:,} "
            f"requests are in no file of it ({self.unread.rstrip('.') or why}). The same command reads it again; "
            f"`harness cache batches forget {batch.digest[:8]}` has them asked, and perhaps billed, again."
        )

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

    def _read(self, lines: list[bytes | None], reading: _Reading) -> list[Outcome]:
        """Return the awaited answers among some lines and store the others. Only the first answer of a key counts."""
        outcomes: list[Outcome] = []
        late: list[tuple[str, Request, Response]] = []
        task = ""
        for line in lines:
            content = None if line is None else content_of(line, self._server.loads)
            if content is None:
                continue
            key, done = content["custom_id"], is_done(content)
            if done and (key in reading.left or key in reading.done or self._journal.stored(key)):
                reading.done.add(key)
            if key not in reading.left or done is None:
                continue
            request = self._awaited.get(key)
            if request is None:
                written = self._journal.written(key)
                if written is None:
                    continue
                request, task = self._journal.request(written), written.task
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
            self._journal.store.put(self._endpoint.identity, late, name=self._endpoint.name, task=task)
            self._journal.release(reading.digest, [key for key, _, _ in late], "answered")
            self.stored += len(late)
        return outcomes


@dataclass
class _Reading:
    """What the files of a batch have said so far."""

    digest: str
    left: set[str]
    """Requests without an answer."""
    failures: dict[str, Failure] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    """Requests, answered earlier ones among them, that a line says were worked on."""
