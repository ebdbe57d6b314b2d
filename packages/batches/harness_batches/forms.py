"""How the two providers take batches: OpenAI from an uploaded file, Anthropic in the call that makes one.

sources: https://platform.openai.com/docs/guides/batch, https://platform.claude.com/docs/en/build-with-claude/batch-processing
(2026-11-22)
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Container, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from harness.errors import RunStopped
from harness.models.api.anthropic import Messages
from harness.models.api.endpoint import Endpoint
from harness.models.api.faults import date_of
from harness.models.api.gemini import GenerateContent
from harness.models.api.replies import one_line
from harness.types import JSON
from harness_batches.journal import Batch
from harness_batches.lines import contents_of
from harness_batches.server import EndpointServer

_PAGES, _PIECE, _EARLIER = 1000, 1 << 20, 48 * 3600.0
"""Pages of a list that are looked through, bytes that are read at once, seconds by which servers' clocks may differ."""
Row = Mapping[str, JSON]
"""A request as it stands in a batch."""


@dataclass(frozen=True)
class Remote:
    """A batch as its server describes it; "", 0 and None where it does not say.

    `files` have its answers and errors, `words` the reason for a failure; `mark` is the digest in its metadata, `input`
    the file it was created from; `size`, `done` and `answered` are the server's counts, `created` its clock's.
    """

    id: str
    status: str
    state: Literal["under way", "ended", "failed"]
    files: tuple[str, ...]
    done: int
    words: str = ""
    mark: str = ""
    input: str = ""
    created: float | None = None
    size: int = 0
    answered: int | None = None


class OpenAI(EndpointServer):
    """OpenAI's form, which Azure, Groq and others have, too."""

    cursor = "after"
    uploads = True
    """Whether the requests are uploaded as a file first."""
    most_requests, most_megabytes = 50_000, 190.0
    """Limits of one batch; OpenAI's is 200 MB."""

    def row(self, key: str, path: str, body: Mapping[str, JSON]) -> Row:
        return {"custom_id": key, "method": "POST", "url": f"/v1{path}", "body": body}

    def upload(self, rows: Iterator[Row], name: str) -> str:
        """Return the server's name for a file of requests. Raises RunStopped."""
        part = (name, "".join(f"{text_of(row)}\n" for row in rows).encode(), "application/jsonl")
        return _id_of(self.json(lambda sdk: sdk.files.with_raw_response.create(file=part, purpose="batch")))

    def batches(self, sdk: Any) -> Any:
        """Return the SDK's calls for batches."""
        return sdk.batches.with_raw_response

    def create(self, batch: Batch, window: str, rows: Iterator[Row]) -> Remote:
        """Create a batch in a single try; return one without an id for a reply that is none. Raises as `once` does."""
        order = {"input_file_id": batch.file, "endpoint": next(rows)["url"], "completion_window": window}
        return self._made(metadata={"harness": batch.digest}, **order)

    def _made(self, **order: Any) -> Remote:
        reply = self.once(lambda sdk: self.batches(sdk).create(**order))
        reply = reply if isinstance(reply, dict) else {}
        remote = self.remote(reply)
        return replace(remote, id="") if _words_of(reply) and not remote.status else remote

    def look(self, id: str) -> Remote:
        """Return a batch. Raises RunStopped."""
        return self.remote(self.json(lambda sdk: self.batches(sdk).retrieve(id)))

    def find(self, batch: Batch, known: Container[str], owns: Container[str]) -> Remote | None:
        """Return what a server may have created without our getting the reply; None if it lists no such batch.

        `known` holds the names of other batches of the same cache, `owns` the keys of the batch's requests. Raises
        RunStopped where the list cannot tell, as it is unreadable or says of a batch neither mark nor file.
        """
        unsure: list[str] = []
        for remote in self.all():
            ours = remote.mark == batch.digest or (batch.file and remote.input == batch.file)
            if ours and remote.id:
                return remote
            if ours or not (remote.mark or remote.input or remote.id in known):
                unsure.append(remote.id or "one without an id")
        return self._unsure(batch, "its list does not say whose these are: {}", unsure)

    def _unsure(self, batch: Batch, why: str, unsure: list[str]) -> Remote | None:
        """Raise RunStopped for batches that may be ours."""
        if unsure:
            raise RunStopped(
                f"{self.address} did not confirm a batch of {batch.size:,} requests, and "
                f"{why.format(', '.join(unsure[:3]))}. The same command looks again; if you know that none is yours, "
                f"`harness batches forget {batch.digest[:8]}` has the requests sent again."
            )
        return None

    def all(self) -> Iterator[Remote]:
        """Yield the batches of the account, the latest first. Raises RunStopped for what is no list."""
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            reply = self.json(lambda sdk, after=after: self.batches(sdk).list(limit=100, **after))  # type: ignore[misc]
            if not isinstance(rows := reply.get("data"), list):
                raise self.odd(reply)
            remotes = [self.remote(row) for row in rows if isinstance(row, dict)]
            yield from remotes
            if not reply.get("has_more") or not remotes or remotes[-1].id in ("", after.get(self.cursor)):
                return
            after = {self.cursor: remotes[-1].id}

    async def pieces(self, file: str, sdk: Any) -> AsyncIterator[bytes]:
        """Yield the content of a file."""
        async with sdk.files.with_streaming_response.content(file) as response:
            async for piece in response.iter_bytes(_PIECE):
                yield piece

    def remote(self, reply: Mapping[str, Any]) -> Remote:
        """Return the batch that a reply describes."""
        status, counts, metadata = _text(reply.get("status")), _counts(reply), reply.get("metadata")
        files = tuple(filter(None, (_text(reply.get(name)) for name in ("output_file_id", "error_file_id"))))
        ended = status in ("completed", "expired", "cancelled")
        # As a whole, unless there is something to collect, or will be.
        failed = status == "failed" and not (files or counts.get("completed"))
        return Remote(
            _id_of(reply),
            status,
            "failed" if failed else "ended" if ended or status == "failed" else "under way",
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

    cursor = "after_id"
    uploads = False
    most_requests = 100_000

    def row(self, key: str, path: str, body: Mapping[str, JSON]) -> Row:
        return {"custom_id": key, "params": body}

    def batches(self, sdk: Any) -> Any:
        return sdk.messages.batches.with_raw_response

    def create(self, batch: Batch, window: str, rows: Iterator[Row]) -> Remote:
        """Create a batch of its requests, in a single try."""
        return self._made(requests=list(rows))

    def find(self, batch: Batch, known: Container[str], owns: Container[str]) -> Remote | None:
        """Return the batch whose results name the sought requests; None if no batch may be the sought one.

        Raises RunStopped while a batch of the same size, not older, is under way or has no results yet: only the user
        can tell whose it is.
        """
        unsure: list[str] = []
        for listed in self.all():
            old = listed.created is not None and listed.created < batch.created - _EARLIER
            if old or listed.id in known or listed.size not in (0, batch.size):
                continue
            if not listed.id:
                unsure.append("one without an id")
                continue
            remote = self.look(listed.id)
            if (first := next(names := self._names(remote), None)) is None:
                unsure.append(listed.id)
            elif any(name in owns for name in chain([first], names)):
                return replace(remote, id=listed.id)
        why = "keeps no mark of ours, and has one as large under way ({}), whose results will say whose it is"
        return self._unsure(batch, why, unsure)

    def _names(self, remote: Remote) -> Iterator[str]:
        for file in remote.files:
            with self.download(partial(self.pieces, file)) as results:
                for content in contents_of(results, self.loads):
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
            created=date_of(_text(reply.get("created_at"))),
            size=sum(counts.values()),
            answered=counts.get("succeeded"),
        )

    async def pieces(self, file: str, sdk: Any) -> AsyncIterator[bytes]:
        """Yield a batch's results, from the documented path: results_url might lead the key elsewhere."""
        import httpx2
        from anthropic import AsyncStream

        path = f"/v1/messages/batches/{quote(file, safe='')}/results"
        response = await sdk.get(path, cast_to=httpx2.Response, stream=True, stream_cls=AsyncStream)
        async with aclosing(response):
            async for piece in response.aiter_bytes(_PIECE):
                yield piece


def server_of(endpoint: Endpoint) -> OpenAI:
    """Return the server of an endpoint, in the form of its batches. Raises RunStopped where it has another one."""
    host = urlsplit(endpoint.base_url).hostname or ""
    others = ("googleapis.com", "mistral.ai", "together.xyz", "openrouter.ai", "anthropic.com")
    if isinstance(endpoint, Messages):
        return Anthropic(endpoint)
    if isinstance(endpoint, GenerateContent) or host.endswith(others):
        raise RunStopped(f"{host} takes no batches in OpenAI's form: ask it without (Claude is model=anthropic).")
    return OpenAI(endpoint)


def text_of(row: Row) -> str:
    """Return a request as a line of a file."""
    return json.dumps(row, separators=(",", ":"), allow_nan=False)


def _id_of(reply: Mapping[str, Any]) -> str:
    """Return the id in a reply; "" if it has none, or none that may be true."""
    name = _text(reply.get("id"))
    return name if len(name) <= 1000 else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _counts(reply: Mapping[str, Any]) -> dict[str, int]:
    counts = reply.get("request_counts")
    return {name: n for name, n in counts.items() if type(n) is int} if isinstance(counts, dict) else {}


def _words_of(reply: Mapping[str, Any]) -> str:
    """Return the codes and messages of a batch that failed as a whole."""
    errors: Any = reply.get("errors") or reply.get("error")
    rows = errors.get("data") if isinstance(errors, dict) and "data" in errors else [errors]
    rows = [row for row in rows[:3] if isinstance(row, dict)] if isinstance(rows, list) else []
    words = (filter(None, (_text(row.get("code")), _text(row.get("message")))) for row in rows)
    return one_line("; ".join(map(": ".join, words)))
