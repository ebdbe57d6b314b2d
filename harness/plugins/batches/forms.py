"""How servers take batches: a file is uploaded, a batch is created from it and polled, its files are downloaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Literal
from urllib.parse import quote

from harness.models.api.dialects import OPENAI
from harness.models.api.endpoint import Endpoint
from harness.models.api.replies import one_line
from harness.models.api.server import EndpointServer, object_of
from harness.plugins.batches.lines import line_of, read_lines
from harness.types import JSON

State = Literal["under way", "ended", "failed"]
_ENDED = {"completed", "success", "expired", "timeout_exceeded", "cancelled", "canceled", "ended"}
_PAGES = 1000
"""Pages of a server's list of batches that are looked through, at most."""
EARLIER = 3600.0
"""Seconds by which the clocks of a server and of this machine may differ."""


@dataclass(frozen=True)
class Remote:
    """A batch as its server describes it."""

    id: str
    status: str
    state: State
    files: tuple[str, ...]
    """The files with its answers and its errors."""
    done: int
    """Answered so far by the server's count: only displayed."""
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


@dataclass(frozen=True)
class Sought:
    """What identifies a batch that a server may have created without our getting the reply."""

    file: str
    mark: str
    since: float
    """Seconds since 1970: the batch is not older."""
    size: int
    known: Collection[str]
    """The server's names for other batches of the same cache."""
    owns: Callable[[str], bool]
    """Return whether the batch has a request with this key."""


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
        return self.remote(object_of(server.once("POST", self.batches, self.order(server.endpoint, file, mark, path))))

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
        """Return the batch with the sought mark or file; None if the server lists no such batch."""
        for remote in self.all(server):
            if (sought.mark and remote.mark == sought.mark) or (sought.file and remote.input == sought.file):
                return remote
            if remote.created is not None and remote.created < sought.since - EARLIER:
                return None
        return None

    def all(self, server: EndpointServer) -> Iterator[Remote]:
        """Yield the batches of the account, the latest first."""
        return self.pages(server, "after")

    def pages(self, server: EndpointServer, cursor: str) -> Iterator[Remote]:
        """Yield the batches of a paged list, where `cursor` names the parameter for the last id of the page before."""
        after = ""
        for _ in range(_PAGES):
            reply = server.json("GET", f"{self.batches}?limit=100{after}")
            rows = reply if isinstance(reply, list) else object_of(reply).get("data")
            remotes = [self.remote(row) for row in rows or () if isinstance(row, dict) and id_of(row)]
            yield from remotes
            if not remotes or not isinstance(reply, dict) or not reply.get("has_more"):
                return
            after = f"&{cursor}={quote(remotes[-1].id, safe='')}"

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
        files = tuple(name for part in names if isinstance(name := reply.get(part), str) and name)
        counts = reply.get("request_counts")
        counts = counts if isinstance(counts, dict) else reply
        done = sum(n for part in ("completed", "failed", "completed_requests") if type(n := counts.get(part)) is int)
        metadata = reply.get("metadata")
        mark = metadata.get("harness") if isinstance(metadata, dict) else None
        inputs = reply.get("input_files")
        source = reply.get("input_file_id") or (inputs[0] if isinstance(inputs, list) and inputs else "")
        created = reply.get("created_at")
        state: State = "ended" if status in _ENDED else "under way"
        if status == "failed":  # as a whole, unless there is something to collect
            state = "ended" if files else "failed"
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
        window = endpoint.batch.window
        hours = int(window[:-1]) * (24 if window.endswith("d") else 1)
        order = {"input_files": [file], "model": endpoint.model, "endpoint": f"/v1{path}"}
        return order | {"metadata": {"harness": mark}, "timeout_hours": hours}

    def all(self, server: EndpointServer) -> Iterator[Remote]:
        for page in range(_PAGES):
            rows = object_of(server.json("GET", f"{self.batches}?page={page}&page_size=100")).get("data")
            remotes = [self.remote(row) for row in rows or () if isinstance(row, dict) and id_of(row)]
            yield from remotes
            if len(remotes) < 100:
                return


def id_of(reply: Mapping[str, Any]) -> str:
    """Return the id in a reply; "" if it has none."""
    name = reply.get("id")
    return name if isinstance(name, str) and len(name) <= 1000 else ""


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
