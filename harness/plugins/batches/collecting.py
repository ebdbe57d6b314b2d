"""The files of a batch that has ended: each line read as a live reply, and what is in no line a failure that passes."""

from __future__ import annotations

from collections.abc import Iterator

from harness.models.api.endpoint import Endpoint
from harness.models.api.server import Server
from harness.plugins.batches.dialects import Files, Remote
from harness.plugins.batches.journal import Batch, Journal
from harness.plugins.batches.lines import GONE, content_of, groups_of, names_of, outcome_of
from harness.protocols import Outcome, Outcomes
from harness.types import Failure, Request, Response

_GROUP = 500


class StrangerError(Exception):
    """The results of a batch are those of other requests than its own."""

    def __init__(self, keys: list[str]) -> None:
        """Say of which."""
        super().__init__("another's batch")
        self.keys = keys


class Collecting:
    """What reads the answers of one endpoint's batches."""

    def __init__(
        self, journal: Journal, server: Server, dialect: Files, endpoint: Endpoint, awaited: dict[str, Request]
    ) -> None:
        """`awaited` holds what is handed out, and loses it; answers that nobody awaits are stored all the same."""
        self._journal, self._server, self._dialect = journal, server, dialect
        self._endpoint, self._awaited = endpoint, awaited
        self.stored = 0
        """Answers that nobody awaited."""
        self.failed = 0
        """Requests without an answer."""

    def collect(self, batch: Batch, remote: Remote) -> Iterator[Outcomes]:
        """Yield what a batch has come to, request by request. What has its answer stored is in no batch any more.

        Raises StrangerError, with nothing taken, where a batch on trial is another's.
        """
        left = set(self._journal.keys(batch.digest))
        failures: dict[str, Failure] = {}
        held: list[Outcome] = []
        if batch.on_trial:
            self._check(batch, remote, left)
        for name in remote.files:
            with self._server.download(self._dialect.content(name), self._journal.store.path.parent) as file:
                for lines in groups_of(self._dialect.rows(name, file)):
                    if outcomes := self._read(lines, left, failures):
                        if held:
                            yield held
                        held = outcomes
        # Before the last list is handed out: who has got all that was awaited does not come back.
        self._journal.release(left)
        self.failed += len(left)
        if held:
            yield held
        yield from self._failed(remote, left, failures)

    def _check(self, batch: Batch, remote: Remote, own: set[str]) -> None:
        """Note that a batch on trial is the one that it was taken for. Raises StrangerError where nothing shows it."""
        others: list[str] = []
        for name in remote.files:
            with self._server.download(self._dialect.content(name), self._journal.store.path.parent) as file:
                for key in names_of(self._dialect.rows(name, file), self._server.loads):
                    if key in own:
                        self._journal.step(batch.digest, "created", file=batch.before)
                        return
                    if len(others) < _GROUP:
                        others.append(key)
        raise StrangerError(others)

    def _failed(self, remote: Remote, left: set[str], failures: dict[str, Failure]) -> Iterator[Outcomes]:
        """Yield what has no answer and is awaited: for what reason, as far as the server says."""
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
        """Return the answers of some lines that are awaited; store the others. A key counts once."""
        outcomes: list[Outcome] = []
        late: list[tuple[str, Request, Response]] = []
        task = ""
        for line in lines:
            content = None if line is None else content_of(line, self._server.loads)
            if content is None or (key := content["custom_id"]) not in left:
                continue
            request = self._awaited.get(key)
            if request is None:
                written = self._journal.notes.written(key)
                if written is None:
                    continue
                request, task = self._journal.notes.request(written), written.task
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
