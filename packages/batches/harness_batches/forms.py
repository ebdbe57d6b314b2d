"""How the two providers take batches: OpenAI from an uploaded file, Anthropic in the call that makes one.

sources: https://platform.openai.com/docs/guides/batch, https://platform.claude.com/docs/en/build-with-claude/batch-processing
(2026-11-22)
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import IO, Any, Literal
from urllib.parse import quote, urlsplit

from harness.errors import RunStopped
from harness.models.api.anthropic import Messages
from harness.models.api.endpoint import Endpoint
from harness.models.api.gemini import GenerateContent
from harness.models.api.replies import one_line
from harness.types import JSON
from harness_batches.journal import Batch
from harness_batches.lines import content_of, groups_of
from harness_batches.server import EndpointServer, object_of

State = Literal["under way", "ended", "failed"]
_PAGES = 1000
"""Pages of a server's list of batches that are looked through, at most."""
_EARLIER = 48 * 3600.0
"""Seconds by which a server's times may lie before this machine's clock."""


@dataclass(frozen=True)
class Remote:
    """A batch as its server describes it."""

    id: str
    """ "" if the reply has none."""
    status: str
    state: State
    files: tuple[str, ...]
    """The files with its answers and its errors."""
    done: int
    """Worked on so far by the server's count."""
    words: str = ""
    """The server's reason for its failure."""
    mark: str = ""
    """The digest in its metadata; "" where the server keeps no metadata."""
    input: str = ""
    """The file it was created from."""
    created: float | None = None
    """When it was created, in seconds since 1970 by the server's clock; None where nobody needs to know."""
    size: int = 0
    """Requests; 0 if the server does not say."""
    answered: int | None = None
    """Answered so far by the server's count; None if it does not count."""


Lines = Callable[[], IO[bytes]]


class OpenAI:
    """OpenAI's form, which Azure, Groq and others have, too."""

    batches = "/batches"
    cursor = "after"
    uploads = True
    """Whether the lines are uploaded as a file first."""
    most_requests, most_megabytes = 50_000, 190.0
    """Limits of one batch; OpenAI's is 200 MB."""

    def line(self, key: str, path: str, body: Mapping[str, JSON]) -> str:
        content = {"custom_id": key, "method": "POST", "url": f"/v1{path}", "body": body}
        return json.dumps(content, separators=(",", ":"), allow_nan=False)

    def upload(self, server: EndpointServer, file: IO[bytes], name: str) -> str:
        """Return the server's name for a file of lines. Raises RunStopped."""
        return _id_of(object_of(server.upload("/files", file, name, {"purpose": "batch"})))

    def create(self, server: EndpointServer, batch: Batch, path: str, window: str, lines: Lines) -> Remote:
        """Create a batch in a single try; return one without an id for a reply that is none.

        Raises as EndpointServer.once does.
        """
        order = {"input_file_id": batch.file, "endpoint": f"/v1{path}", "completion_window": window}
        return self.made(server.once("POST", self.batches, {**order, "metadata": {"harness": batch.digest}}))

    def made(self, reply: Any) -> Remote:
        reply = reply if isinstance(reply, dict) else {}
        remote = self.remote(reply)
        return replace(remote, id="") if _words_of(reply) and not remote.status else remote

    def look(self, server: EndpointServer, id: str) -> Remote:
        """Return a batch. Raises RunStopped."""
        return self.remote(object_of(server.json("GET", f"{self.batches}/{quote(id, safe='')}")))

    def find(self, server: EndpointServer, batch: Batch, known: Container[str], owns: Container[str]) -> Remote | None:
        """Return what a server may have created without our getting the reply; None if it lists no such batch.

        `known` holds the names of other batches of the same cache, `owns` the keys of the batch's requests. Raises
        RunStopped where the list cannot tell, as it is unreadable or says of a batch neither mark nor file.
        """
        unsure: list[str] = []
        for remote in self.all(server):
            if remote.mark == batch.digest or (batch.file and remote.input == batch.file):
                if remote.id:
                    return remote
                unsure = ["ours, without an id"]
                break
            if not (remote.mark or remote.input or remote.id in known):
                unsure.append(remote.id or "one without an id")
        if not unsure:
            return None
        raise self._unsure(server, batch, f"its list does not say whose these are: {', '.join(unsure[:3])}")

    def _unsure(self, server: EndpointServer, batch: Batch, why: str) -> RunStopped:
        return RunStopped(
            f"{server.endpoint.base_url} did not confirm a batch of {batch.size:,} requests, and {why}. The same "
            f"command looks again; if you know that none is yours, `harness batches forget {batch.digest[:8]}` has the "
            "requests sent again."
        )

    def all(self, server: EndpointServer) -> Iterator[Remote]:
        """Yield the batches of the account, the latest first. Raises RunStopped for what is no list."""
        after = last = ""
        for _ in range(_PAGES):
            reply = server.json("GET", f"{self.batches}?limit=100{after}")
            rows = reply.get("data") if isinstance(reply, dict) else None
            if not isinstance(rows, list):
                raise RunStopped(
                    f"{server.address} answers {one_line(json.dumps(reply))[:80]} where its list of batches was asked "
                    "for: the same command looks again whether a batch is there."
                )
            remotes = [self.remote(row) for row in rows if isinstance(row, dict)]
            yield from remotes
            if not reply.get("has_more") or not remotes or remotes[-1].id in ("", last):
                return
            last = remotes[-1].id
            after = f"&{self.cursor}={quote(last, safe='')}"

    def content(self, file: str) -> str:
        return f"/files/{quote(file, safe='')}/content"

    def remote(self, reply: Mapping[str, Any]) -> Remote:
        """Return the batch that a reply describes."""
        status, counts = _text(reply.get("status")), _counts(reply)
        files = tuple(filter(None, (_text(reply.get(name)) for name in ("output_file_id", "error_file_id"))))
        state: State = "ended" if status in ("completed", "expired", "cancelled") else "under way"
        if status == "failed":  # as a whole, unless there is something to collect, or will be
            state = "ended" if files or counts.get("completed") else "failed"
        metadata = reply.get("metadata")
        return Remote(
            _id_of(reply),
            status,
            state,
            files,
            done=counts.get("completed", 0) + counts.get("failed", 0),
            words=_words_of(reply),
            mark=_text(metadata.get("harness")) if isinstance(metadata, dict) else "",
            input=_text(reply.get("input_file_id")),
            size=counts.get("total", 0),
            answered=counts.get("completed"),
        )


class Anthropic(OpenAI):
    """Anthropic's Message Batches, without a mark of ours: only the results name the requests, and so whose a batch is.

    So if the reply to a creation was lost and a batch of the same size is under way, the user is asked.
    """

    batches = "/messages/batches"
    cursor = "after_id"
    uploads = False
    most_requests = 100_000

    def line(self, key: str, path: str, body: Mapping[str, JSON]) -> str:
        """Return the line of a request, as a message."""
        return json.dumps({"custom_id": key, "params": body}, separators=(",", ":"), allow_nan=False)

    def create(self, server: EndpointServer, batch: Batch, path: str, window: str, lines: Lines) -> Remote:
        """Create a batch from its lines, in a single try."""
        with lines() as source, tempfile.TemporaryFile() as body:
            body.write(b'{"requests":[')
            for place, line in enumerate(source):
                body.write(b"," * bool(place) + line.rstrip(b"\n"))
            body.write(b"]}")
            body.seek(0)
            return self.made(server.once("POST", self.batches, content=body, kind="application/json"))

    def find(self, server: EndpointServer, batch: Batch, known: Container[str], owns: Container[str]) -> Remote | None:
        """Return the batch whose results name the sought requests; None if no batch may be the sought one.

        Raises RunStopped while a batch of the same size, not older, is under way or has no results yet: only the user
        can tell whose it is.
        """
        unsure: list[str] = []
        for listed in self.all(server):
            old = listed.created is not None and listed.created < batch.created - _EARLIER
            if old or listed.id in known or listed.size not in (0, batch.size):
                continue
            if not listed.id:
                unsure.append("one without an id")
                continue
            remote = self.look(server, listed.id)
            if (first := next(names := self._names(server, remote), None)) is None:
                unsure.append(listed.id)
            elif any(name in owns for name in chain([first], names)):
                return replace(remote, id=listed.id)
        if not unsure:
            return None
        why = f"keeps no mark of ours, and has one as large under way ({', '.join(unsure[:3])})"
        raise self._unsure(server, batch, f"{why}, whose results will say whose it is")

    def _names(self, server: EndpointServer, remote: Remote) -> Iterator[str]:
        for file in remote.files:
            with server.download(self.content(file)) as results:
                for line in chain.from_iterable(groups_of(results)):
                    if (content := content_of(line, server.loads)) is not None:
                        yield content["custom_id"]

    def remote(self, reply: Mapping[str, Any]) -> Remote:
        """Return the batch that a reply describes."""
        status, counts, name = _text(reply.get("processing_status")), _counts(reply), _id_of(reply)
        ended = status == "ended"
        return Remote(
            name,
            status,
            "ended" if ended else "under way",
            (name,) if ended and reply.get("results_url") else (),
            done=sum(counts.values()) - counts.get("processing", 0),
            created=_seconds(reply.get("created_at")),
            size=sum(counts.values()),
            answered=counts.get("succeeded"),
        )

    def content(self, file: str) -> str:
        """Return the path of a batch's results: the documented one, for results_url might lead the key elsewhere."""
        return f"{self.batches}/{quote(file, safe='')}/results"


_OTHERS = ("googleapis.com", "mistral.ai", "together.xyz", "openrouter.ai")
"""Hosts whose batches have another form."""


def form_of(endpoint: Endpoint) -> OpenAI:
    """Return the form of an endpoint's batches. Raises RunStopped for a server that has another one."""
    host = urlsplit(endpoint.base_url).hostname or ""
    if isinstance(endpoint, Messages):
        return Anthropic()
    if isinstance(endpoint, GenerateContent) or host.endswith(_OTHERS):
        raise RunStopped(f"{host} takes batches in a form of its own, which is not spoken here: ask it without.")
    if host.endswith("anthropic.com"):
        raise RunStopped(f"{host} takes batches in its own Messages form: model=anthropic.")
    return OpenAI()


def _id_of(reply: Mapping[str, Any]) -> str:
    """Return the id in a reply; "" if it has none."""
    name = _text(reply.get("id"))
    return name if len(name) <= 1000 else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _counts(reply: Mapping[str, Any]) -> dict[str, int]:
    counts = reply.get("request_counts")
    return {name: n for name, n in counts.items() if type(n) is int} if isinstance(counts, dict) else {}


def _seconds(moment: Any) -> float | None:
    """Return seconds since 1970 for a moment in RFC 3339; None for anything else."""
    try:
        return datetime.fromisoformat(moment).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _words_of(reply: Mapping[str, Any]) -> str:
    """Return the codes and messages of a batch that failed as a whole."""
    errors: Any = reply.get("errors") or reply.get("error")
    rows = errors.get("data") if isinstance(errors, dict) and "data" in errors else [errors]
    rows = [row for row in rows[:3] if isinstance(row, dict)] if isinstance(rows, list) else []
    words = (filter(None, (_text(row.get("code")), _text(row.get("message")))) for row in rows)
    return one_line("; ".join(map(": ".join, words)))
