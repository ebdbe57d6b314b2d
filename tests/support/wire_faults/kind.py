"""What a fault is: a function that writes bytes to one connection, and what is allowed to come of it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

MODEL, OTHER_MODEL = "faulty-2026-01-01", "faulty-2026-06-30"

ENDS = ("passes", "item", "stops", "answer", "reply")
"""What may come of a call that meets a fault.

passes: it is tried again, and answered once the fault is over; the item's named failure where the fault stays.
item:   the item's named failure, also where the fault would pass.
stops:  the run stops with one sentence.
answer: the fault does no harm: the item has its answer at the first try.
reply:  an answer at the first try, whose words are not those that a sound server would have sent.
"""


def answer(prompt: str) -> str:
    """Yes, No, or something that cannot be read, by the prompt."""
    draw = hashlib.sha256(prompt.encode()).digest()[0]
    return "Yes" if draw < 90 else "No" if draw < 240 else "It depends."


class Exchange:
    """One call, and the connection on which a fault answers it."""

    def __init__(
        self,
        prompt: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        completions: bool = False,
        elsewhere: str = "http://127.0.0.1:9",
        passes: Callable[[float], None] = lambda share: None,
        pause: float = 0.02,
        retry_at: Callable[[float], None] = lambda at: None,
    ) -> None:
        """`elsewhere` is another host; `passes` lets a share of the client's patience pass in a test's virtual time;
        `retry_at` notes that the client was told to come back no earlier than so many seconds after 1970."""
        self.prompt = prompt
        self.reader, self.writer = reader, writer
        self.completions = completions
        self.elsewhere = elsewhere
        self.passes = passes
        self.pause = pause
        self.retry_at = retry_at
        self.keep = False
        """Whether the connection is of use after this reply."""

    def reply(self) -> dict[str, Any]:
        """A sound reply, every optional field included."""
        return sound_reply(self.prompt, completions=self.completions)

    @property
    def body(self) -> bytes:
        """The sound reply as JSON."""
        return json.dumps(self.reply()).encode()

    async def raw(self, content: bytes) -> None:
        """Write bytes as they are."""
        self.writer.write(content)
        await self.writer.drain()

    async def send(
        self, body: bytes | None = None, *, status: int | str = 200, length: bool = True, **headers: str
    ) -> None:
        """Write a well-formed HTTP reply; header names are given with _ for -. The connection is kept."""
        body = self.body if body is None else body
        await self.raw(head(status, len(body) if length else None, headers) + body)
        self.keep = length

    async def send_json(self, value: object, *, status: int = 200, **headers: str) -> None:
        """Write a value as JSON; NaN and Infinity as Python's json writes them."""
        await self.send(json.dumps(value).encode(), status=status, **headers)

    def reset(self) -> None:
        """End the connection with a TCP reset."""
        sock = self.writer.get_extra_info("socket")
        with suppress(OSError):  # the client was killed before
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def gone(self) -> None:
        """Wait until the client has given up, letting its patience pass."""
        self.passes(1.05)
        while not self.reader.at_eof() and not self.writer.transport.is_closing():
            await asyncio.sleep(self.pause)
            self.passes(0.3)

    async def drip(self, content: bytes, pieces: int, share: float) -> None:
        """Write in pieces, letting a share of the client's patience pass with each."""
        step = max(1, len(content) // pieces)
        for at in range(0, len(content), step):
            await self.raw(content[at : at + step])
            self.passes(share)
            await asyncio.sleep(self.pause)
            if self.reader.at_eof():
                return


Writes = Callable[[Exchange], Awaitable[None]]


@dataclass(frozen=True)
class Kind:
    """One fault. Several `ends` are allowed where the standards or the report leave it open."""

    name: str
    family: str
    ends: tuple[str, ...]
    write: Writes
    in_a_row: int = 2
    """How often one call may meet it and still be answered."""
    timed: bool = False
    """Needs the client's patience to pass: for one call at a time, in virtual time."""
    accept: bool = False
    """Comes before a request is read, so it cannot know the item."""
    heavy: bool = False
    """Takes memory or seconds."""


class Family:
    """Collects the kinds of one module, in the order in which they are written."""

    def __init__(self, name: str) -> None:
        """`name` is what --kinds takes."""
        self.name = name
        self.kinds: list[Kind] = []

    def __call__(self, name: str, *ends: str, **settings: Any) -> Callable[[Writes], Writes]:
        """Return a decorator that enters a function as a kind."""
        assert ends and set(ends) <= set(ENDS), (name, ends)

        def enter(write: Writes) -> Writes:
            self.kinds.append(Kind(name, self.name, ends, write, **settings))
            return write

        return enter

    def each(self, form: str, values: Mapping[str, Any], *ends: str, **settings: Any) -> Callable[..., Any]:
        """Return a decorator that enters a function of (exchange, value) once for each value."""

        def enter(write: Callable[[Exchange, Any], Awaitable[None]]) -> Callable[[Exchange, Any], Awaitable[None]]:
            for name, value in values.items():
                self(form.format(name), *ends, **settings)(_bound(write, value))
            return write

        return enter


def _bound(write: Callable[[Exchange, Any], Awaitable[None]], value: Any) -> Writes:
    return lambda exchange: write(exchange, value)


def sound_reply(prompt: str, *, completions: bool = False, model: str = MODEL) -> dict[str, Any]:
    """A reply as the API documents it, every optional field included."""
    tokens = len(prompt) // 4
    choice: dict[str, Any] = {"index": 0, "logprobs": None, "finish_reason": "stop"}
    if completions:
        choice["text"] = f" {answer(prompt)}"
    else:
        choice["message"] = {
            "role": "assistant",
            "content": answer(prompt),
            "refusal": None,
            "annotations": [],
            "tool_calls": None,
        }
    return {
        "id": "chatcmpl-1",
        "object": "text_completion" if completions else "chat.completion",
        "created": 1_767_225_600,
        "model": model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": 2,
            "total_tokens": tokens + 2,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0, "cache_write_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "accepted_prediction_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }


def refusal_body(message: str, code: str | None = None) -> bytes:
    """An error as the API documents it."""
    return json.dumps({"error": {"message": message, "type": "error", "param": None, "code": code}}).encode()


def head(status: int | str, length: int | None, headers: Mapping[str, str]) -> bytes:
    """A status line and headers, names with _ for -."""
    given = {"Content-Type": "application/json"} | {n.replace("_", "-"): v for n, v in headers.items()}
    if length is not None:
        given = {"Content-Length": str(length)} | given
    line = status if isinstance(status, str) else f"HTTP/1.1 {status} Status"
    return ("\r\n".join([line, *(f"{name}: {value}" for name, value in given.items())]) + "\r\n\r\n").encode("latin-1")
