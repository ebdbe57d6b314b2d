"""How servers take batches: a file is uploaded, a batch is created from it and polled, its files are downloaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any, Literal
from urllib.parse import quote

from harness.errors import RunStopped
from harness.models.api.dialects import OPENAI
from harness.models.api.endpoint import Endpoint
from harness.models.api.replies import one_line
from harness.models.api.server import EndpointServer, object_of
from harness.plugins.batches.lines import line_of, read_lines
from harness.types import JSON

State = Literal["under way", "ended", "failed"]
_ENDED = {"completed", "success", "expired", "timeout_exceeded", "cancelled", "canceled", "ended"}
UNDER_WAY = frozenset((
    "", "validating", "queued", "pending", "created", "submitted", "scheduled", "in_progress", "running", "processing",
    "finalizing", "cancelling", "canceling", "cancellation_requested",
))  # fmt: skip
KNOWN = UNDER_WAY | _ENDED | {"failed"}
"""The words for states. Of a batch in any other, only its files tell that it has ended."""
_PAGES = 1000
"""Pages of a server's list of batches that are looked through, at most."""
_EARLIER, _UNDATED = 3600.0, 48 * 3600.0
"""Seconds by which a server's times may lie before its own clock's, and before this machine's if it tells no Date."""
_OLDER = 1000
"""Listed batches in a row that are too old, after which no later one is looked for: lists may be in disorder."""


@dataclass(frozen=True)
class Remote:
    """A batch as its server describes it."""

    id: str
    status: str
    state: State
    files: tuple[str, ...]
    """The files with its answers and its errors."""
    done: int
    """Worked on so far by the server's count."""
    words: str
    """The server's reason for its failure."""
    mark: str
    """The digest in its metadata; "" where the server keeps no metadata."""
    input: str
    """The file it was created from."""
    created: float | None
    """When it was created, in seconds since 1970 by the server's clock; None if the server does not say."""
    size: int = 0
    """Requests; 0 if the server does not say."""
    answered: int | None = None
    """Answered so far by the server's count; None if it does not count."""


@dataclass(frozen=True)
class Sought:
    """What identifies a batch that a server may have created without our getting the reply."""

    file: str
    mark: str
    since: float
    """Seconds since 1970 by this machine's clock: the batch is not older."""
    size: int
    known: Collection[str]
    """The server's names for other batches of the same cache."""
    owns: Callable[[str], bool]
    """Return whether the batch has a request with this key."""

    @property
    def way_out(self) -> str:
        return f"`harness cache batches forget {self.mark[:8]}` has the requests sent again"


class Files:
    """OpenAI's form, which Azure, Groq and others have, too."""

    purpose = "batch"
    batches = "/batches"
    uploads = True
    """Whether the lines are uploaded as a file first."""
    most_requests, most_megabytes = 50_000, 190.0
    """Limits of one batch; OpenAI's is 200 MB."""

    headers = staticmethod(OPENAI.headers)
    """Return the headers that carry the key."""

    def check(self, endpoint: Endpoint) -> None:
        """Refuse a model that this form cannot ask. Raises RunStopped."""

    def line(self, key: str, path: str, body: Mapping[str, JSON]) -> str:
        return line_of(key, path, body)

    def upload(self, server: EndpointServer, file: IO[bytes], name: str) -> str:
        """Return the server's name for a file of lines. Raises RunStopped."""
        reply = object_of(server.upload("/files", file, name, self.fields(name)))
        return id_of(reply)

    def fields(self, name: str) -> dict[str, str]:
        return {"purpose": self.purpose}

    def create(self, server: EndpointServer, file: str, mark: str, path: str, lines: Callable[[], IO[bytes]]) -> Remote:
        """Create a batch from an uploaded file, or from lines, in a single try. Raises as EndpointServer.once does."""
        return self.made(server.once("POST", self.batches, self.order(server.endpoint, file, mark, path)))

    def made(self, reply: Any) -> Remote:
        """Return the batch in the reply to its making; one without an id if it is none."""
        reply = reply if isinstance(reply, dict) else {}
        remote = self.remote(reply)
        return replace(remote, id="") if words_of(reply) and not remote.status else remote

    def order(self, endpoint: Endpoint, file: str, mark: str, path: str) -> dict[str, JSON]:
        """Return the body of the call that creates a batch."""
        assert endpoint.batch is not None
        window = endpoint.batch.window
        return {
            "input_file_id": file,
            "endpoint": f"/v1{path}",
            "completion_window": window,
            "metadata": {"harness": mark},
        }

    def look(self, server: EndpointServer, id: str, *, fresh: bool = False) -> Remote:
        """Return a batch. Raises RunStopped."""
        return self.remote(object_of(server.json("GET", f"{self.batches}/{quote(id, safe='')}", fresh=fresh)))

    def cancel(self, server: EndpointServer, id: str) -> Remote:
        """Ask the server to end a batch; answers it already has can be collected. Raises RunStopped."""
        return self.remote(object_of(server.json("POST", f"{self.batches}/{quote(id, safe='')}/cancel")))

    def find(self, server: EndpointServer, sought: Sought) -> Remote | None:
        """Return the batch with the sought mark or file; None if the server lists no such batch.

        Raises RunStopped where the list cannot tell, as it is unreadable or says of a batch neither.
        """
        unsure: list[str] = []
        for remote in self.recent(server, sought):
            if (sought.mark and remote.mark == sought.mark) or (sought.file and remote.input == sought.file):
                if remote.id:
                    return remote
                unsure = ["ours, without an id"]
                break
            if not (remote.mark or remote.input or remote.id in sought.known):
                unsure.append(remote.id or "one without an id")
        if not unsure:
            return None
        raise RunStopped(
            f"{server.endpoint.base_url} did not confirm a batch of {sought.size:,} requests, and its list does not "
            f"say whose these are or how they are called: {', '.join(unsure[:3])}. The same command looks again; if "
            f"you know that none is yours, {sought.way_out}."
        )

    def recent(self, server: EndpointServer, sought: Sought) -> Iterator[Remote]:
        """Yield the listed batches that are not older than the sought one, by the server's own clock."""
        older = 0
        for remote in self.all(server):
            ahead, slack = (0.0, _UNDATED) if server.ahead is None else (server.ahead, _EARLIER)
            if remote.created is None or remote.created >= sought.since + ahead - slack:
                older = 0
                yield remote
            elif (older := older + 1) >= _OLDER:
                return

    def all(self, server: EndpointServer) -> Iterator[Remote]:
        """Yield the batches of the account, the latest first."""
        return self.pages(server, "after")

    def pages(self, server: EndpointServer, cursor: str) -> Iterator[Remote]:
        """Yield the batches of a paged list, where `cursor` names the parameter for the last id of the page before."""
        after = last = ""
        for _ in range(_PAGES):
            reply = server.json("GET", f"{self.batches}?limit=100{after}")
            remotes = self.listed(server, reply)
            yield from remotes
            more = isinstance(reply, dict) and reply.get("has_more")
            if not more or not remotes or remotes[-1].id in ("", last):
                return
            last = remotes[-1].id
            after = f"&{cursor}={quote(last, safe='')}"

    def listed(self, server: EndpointServer, reply: Any) -> list[Remote]:
        """Return the batches on a page of the list. Raises RunStopped if it is no list, so that any may be missing."""
        rows = reply.get("data", reply) if isinstance(reply, dict) else reply
        if rows is not None and not isinstance(rows, list):
            raise RunStopped(
                f"{server.address} answers {one_line(json.dumps(reply))[:80]} where its list of batches was asked "
                "for: the same command looks again whether a batch is there."
            )
        # A number may be an id where the list says so, too.
        return [self.remote(row | _id_as_text(row)) for row in rows or () if isinstance(row, dict)]

    def content(self, file: str) -> str:
        return f"/files/{quote(file, safe='')}/content"

    def rows(self, name: str, file: IO[bytes]) -> Iterator[bytes | None]:
        """Yield the lines of a file with answers; None for one that is too long."""
        return read_lines(file)

    def remote(self, reply: Mapping[str, Any]) -> Remote:
        """Return the batch that a reply describes, with OpenAI's names of fields and states, in upper or lower case."""
        reply = reply["job"] if isinstance(reply.get("job"), dict) else reply
        status = str(reply.get("status") or "").lower()
        names = ("output_file_id", "error_file_id", "output_file", "error_file")
        files = tuple(name for part in names for name in _names_of(reply.get(part)))
        counts = reply.get("request_counts")
        counts = counts if isinstance(counts, dict) else reply
        done = sum(n for part in ("completed", "failed", "completed_requests") if type(n := counts.get(part)) is int)
        # Mistral's completed_requests may hold those that failed.
        answered = _first_count(counts, "completed", "succeeded_requests", "completed_requests")
        metadata = reply.get("metadata")
        mark = metadata.get("harness") if isinstance(metadata, dict) else None
        inputs = reply.get("input_files")
        source = reply.get("input_file_id") or (inputs[0] if isinstance(inputs, list) and inputs else "")
        created = reply.get("created_at")
        state: State = "ended" if status in _ENDED or (files and status not in UNDER_WAY) else "under way"
        if status == "failed":  # as a whole, unless there is something to collect, or will be
            state = "ended" if files or answered else "failed"
        return Remote(
            id_of(reply),
            status,
            state,
            files,
            done,
            words_of(reply),
            mark if isinstance(mark, str) else "",
            source if isinstance(source, str) else "",
            float(created) if isinstance(created, int | float) and not isinstance(created, bool) else None,
            _first_count(counts, "total", "total_requests") or 0,
            answered,
        )


class Together(Files):
    """Together's form: another purpose, and batches without metadata, so that they are known by their file."""

    purpose = "batch-api"
    most_megabytes = 100.0

    def fields(self, name: str) -> dict[str, str]:
        return {"purpose": self.purpose, "file_name": name, "file_type": "jsonl"}

    def upload(self, server: EndpointServer, file: IO[bytes], name: str) -> str:
        return id_of(object_of(server.upload("/files/upload", file, name, self.fields(name))))

    def order(self, endpoint: Endpoint, file: str, mark: str, path: str) -> dict[str, JSON]:
        order = super().order(endpoint, file, mark, path)
        del order["metadata"]
        return order


class Mistral(Files):
    """Mistral's form: jobs of several files, the model beside them, and pages by number."""

    batches = "/batch/jobs"
    most_requests = 1_000_000

    def line(self, key: str, path: str, body: Mapping[str, JSON]) -> str:
        body = {name: value for name, value in body.items() if name != "model"}
        return json.dumps({"custom_id": key, "body": body}, separators=(",", ":"), allow_nan=False)

    def order(self, endpoint: Endpoint, file: str, mark: str, path: str) -> dict[str, JSON]:
        assert endpoint.batch is not None
        order = {"input_files": [file], "model": endpoint.model, "endpoint": f"/v1{path}"}
        return order | {"metadata": {"harness": mark}, "timeout_hours": hours(endpoint.batch.window)}

    def all(self, server: EndpointServer) -> Iterator[Remote]:
        for page in range(_PAGES):
            remotes = self.listed(server, server.json("GET", f"{self.batches}?page={page}&page_size=100"))
            yield from remotes
            if len(remotes) < 100:
                return


def hours(window: str) -> int:
    return int(window[:-1]) * (24 if window.endswith("d") else 1)


def id_of(reply: Mapping[str, Any]) -> str:
    """Return the id in a reply; "" if it has none."""
    name = reply.get("id")
    return name if isinstance(name, str) and len(name) <= 1000 else ""


def _id_as_text(row: Mapping[str, Any]) -> dict[str, str]:
    return {"id": str(row["id"])} if type(row.get("id")) is int else {}


def _names_of(files: Any) -> Iterator[str]:
    """Yield the names of files: one, or an object or a list of them."""
    for file in files if isinstance(files, list) else [files]:
        name = file.get("id") if isinstance(file, dict) else file
        if isinstance(name, str) and name:
            yield name


def _first_count(counts: Mapping[str, Any], *names: str) -> int | None:
    return next((counts[name] for name in names if type(counts.get(name)) is int), None)


def words_of(reply: Mapping[str, Any]) -> str:
    """Return the codes and messages of a batch that failed as a whole."""
    errors = reply.get("errors") or reply.get("error")
    rows = errors.get("data") if isinstance(errors, dict) else errors
    if not isinstance(rows, list):
        rows = [errors] if errors else []
    parts = []
    for row in rows[:3]:
        texts = (
            [row] if isinstance(row, str) else [row.get("code"), row.get("message")] if isinstance(row, dict) else []
        )
        parts.append(": ".join(text for text in texts if isinstance(text, str)))
    return one_line("; ".join(filter(None, parts)))
