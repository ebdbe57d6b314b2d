"""A server that speaks the OpenAI protocol badly: real HTTP, every fault that researchers have met, drawn by a seed.

`python tests/fault_server.py` runs one in a process of its own (for tests that kill processes): POST /mix sets what
goes wrong, GET /seen tells what was asked. What a prompt is answered depends on the prompt alone.
"""

from __future__ import annotations

import asyncio
import email.utils
import hashlib
import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

MODEL, OTHER_MODEL = "faulty-2026-01-01", "faulty-2026-06-30"
HTML = b"<html><body><h1>Please sign in</h1>The proxy wants to know you.</body></html>"


def refusal(status: int, message: str, code: str | None = None, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return status, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()}


def soon(seconds: float) -> str:
    """A date, in whole seconds: not before it, the server says."""
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


REFUSALS = {
    "429": lambda: refusal(429, "slow down", "rate_limit_exceeded"),
    "429 seconds": lambda: refusal(429, "slow down", "rate_limit_exceeded", Retry_After="1"),
    "429 date": lambda: refusal(429, "slow down", "rate_limit_exceeded", Retry_After=soon(1)),
    "429 milliseconds": lambda: refusal(429, "slow down", "rate_limit_exceeded", retry_after_ms="60"),
    "429 ten minutes": lambda: refusal(429, "come back later", "rate_limit_exceeded", Retry_After="600"),
    "500": lambda: refusal(500, "something broke"),
    "503": lambda: refusal(503, "overloaded"),
    "502 html": lambda: (502, HTML, {"Content-Type": "text/html"}),
    "html": lambda: (200, HTML, {"Content-Type": "text/html"}),
    "invalid json": lambda: (200, b'{"choices": [{"mess', {}),
    "no choices": lambda: (200, json.dumps({"model": MODEL, "choices": []}).encode(), {}),
    "401": lambda: refusal(401, "wrong key", "invalid_api_key"),
    "403": lambda: refusal(403, "not for you", "forbidden"),
    "404": lambda: refusal(404, "no such model", "model_not_found"),
    "quota": lambda: refusal(429, "you have spent it all", "insufficient_quota"),
}
PASSING = ("429", "429 seconds", "429 date", "429 milliseconds", "500", "503", "502 html", "html", "invalid json",
           "no choices", "reset before", "reset in the body", "slow drip", "other model")  # fmt: skip
FATAL = ("401", "403", "404", "quota")
OF_ONE_ITEM = ("content filter", "refusal", "context length")


def answer(prompt: str) -> str:
    """Yes, No, or something that cannot be read, by the prompt."""
    draw = hashlib.sha256(prompt.encode()).digest()[0]
    return "Yes" if draw < 90 else "No" if draw < 240 else "It depends."


def own(prompt: str, share: float) -> str | None:
    """The fault of an item that has one whatever happens: content filter, refusal, context length, length."""
    draw = int.from_bytes(hashlib.sha256(f"own {prompt}".encode()).digest()[:4], "big") / 2**32
    kinds = (*OF_ONE_ITEM, "length")
    return kinds[int(draw / share * len(kinds))] if draw < share else None


def completion(prompt: str, kind: str | None, model: str) -> tuple[int, bytes, dict[str, str]]:
    """A reply of the API's form, of one of the kinds that `own` names."""
    if kind == "context length":
        return refusal(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded")
    message: dict[str, Any] = {"role": "assistant", "content": answer(prompt)}
    reason = "stop"
    if kind == "content filter":
        message["content"], reason = "", "content_filter"
    elif kind == "refusal":
        message |= {"content": None, "refusal": "I cannot help with that."}
    elif kind == "length":
        message["content"], reason = "Let me think about", "length"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 2, "total_tokens": len(prompt) // 4 + 2}
    said = {"id": "1", "object": "chat.completion", "created": 0, "model": model, "choices": [choice], "usage": usage}
    return 200, json.dumps(said).encode(), {}


@dataclass
class Faults:
    """What goes wrong: shares by the fault's name; `own` is the share of items that have a fault of their own."""

    mix: Mapping[str, float] = field(default_factory=dict)
    own: float = 0.0
    in_a_row: int = 3
    seed: int = 0
    latency: float = 0.005
    hang: float = 30.0
    drip: float = 3.0
    """Seconds between two parts of an endless reply."""


class FaultServer:
    """Counts what it was asked and what it has answered, by prompt."""

    def __init__(self, faults: Faults) -> None:
        self.set(faults)
        self.requests: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.cut: Counter[str] = Counter()
        """Answers that were on their way when the connection ended."""
        self.early = 0
        self.passes: Callable[[float], None] = lambda share: None
        """Told that so much of a client's patience may pass now, for tests that have a clock of their own."""
        self.kinds: Counter[str] = Counter()
        self.keys: set[str] = set()

    def set(self, faults: Faults) -> None:
        """From now on; who was told to wait may have died since."""
        self._told: dict[str, float] = {}
        self.faults = faults
        self._random = random.Random(faults.seed)
        self._in_a_row: Counter[str] = Counter()

    def draw(self, prompt: str) -> str | None:
        """The fault of this request, None for an answer."""
        draw, fault = self._random.random(), None
        if self._in_a_row[prompt] < self.faults.in_a_row:
            for name, share in self.faults.mix.items():
                draw -= share
                if draw < 0:
                    fault = name
                    break
        self._in_a_row[prompt] = self._in_a_row[prompt] + 1 if fault else 0
        return fault

    async def reply(self, prompt: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        faults = self.faults
        self.requests[prompt] += 1
        self.early += time.time() < self._told.pop(prompt, 0.0) - 0.01
        await asyncio.sleep(self.faults.latency)
        fault = self.draw(prompt)
        self.kinds[fault or own(prompt, self.faults.own) or "answered"] += 1
        if fault == "reset before":
            return writer.transport.abort()
        if fault == "hang":
            self.passes(1.0)
            await asyncio.sleep(self.faults.hang)
            return writer.transport.abort()
        if fault in REFUSALS:
            status, body, headers = REFUSALS[fault]()
            if faults is self.faults and not reader.at_eof():  # else nobody is there any more to be told
                self._tell(prompt, headers)
            return await self._send(writer, status, body, headers)
        kind = own(prompt, self.faults.own)
        status, body, headers = completion(prompt, kind, OTHER_MODEL if fault == "other model" else MODEL)
        if fault in ("reset in the body", "endless drip", "slow drip"):
            return await self._broken(prompt, reader, writer, body, fault)
        try:
            await self._send(writer, status, body, headers)
        except ConnectionError:
            self.cut[prompt] += 1
            raise
        self.answered[prompt] += kind not in OF_ONE_ITEM
        return None

    async def _broken(
        self, prompt: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes, fault: str
    ) -> None:
        writer.write(_head(200, len(body), {}))
        if fault == "reset in the body":
            self.cut[prompt] += 1
            writer.write(body[: len(body) // 2])
            await writer.drain()
            return writer.transport.abort()
        pause = 0.02 if fault == "slow drip" else self.faults.drip
        for at in range(0, len(body), len(body) // 8):
            writer.write(body[at : at + len(body) // 8])
            await writer.drain()
            await asyncio.sleep(pause)
            if reader.at_eof():
                return writer.transport.abort()
            self.passes(0.3 if fault == "endless drip" else 0.0)
        self.answered[prompt] += own(prompt, self.faults.own) not in OF_ONE_ITEM
        return None

    def _tell(self, prompt: str, headers: Mapping[str, str]) -> None:
        if "retry-after-ms" in headers:
            self._told[prompt] = time.time() + float(headers["retry-after-ms"]) / 1000
        elif given := headers.get("Retry-After"):
            self._told[prompt] = (
                time.time() + float(given) if given.isdigit() else email.utils.parsedate_to_datetime(given).timestamp()
            )

    async def _send(self, writer: asyncio.StreamWriter, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        writer.write(_head(status, len(body), headers) + body)
        await writer.drain()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head.split("\r\n"))
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if head.startswith("GET /seen"):
                    await self._send(writer, 200, json.dumps(self.seen()).encode(), {})
                elif head.startswith("POST /mix"):
                    self.set(Faults(**json.loads(body)))
                    await self._send(writer, 200, b"{}", {})
                else:
                    self.keys.add(headers.get("authorization", ""))
                    await self.reply(json.loads(body)["messages"][-1]["content"], reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def seen(self) -> dict[str, Any]:
        names = ("requests", "answered", "cut", "early", "kinds")
        return {name: getattr(self, name) for name in names}

    async def start(self) -> int:
        """The port."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=512)
        return int(server.sockets[0].getsockname()[1])


class InThread(FaultServer):
    """For tests in this process."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.port = asyncio.run_coroutine_threadsafe(self.start(), self._loop).result(120)
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        async def end() -> None:
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(120)
        self._loop.call_soon_threadsafe(self._loop.stop)


def _head(status: int, length: int, headers: Mapping[str, str]) -> bytes:
    given = {"Content-Type": "application/json", "Content-Length": str(length), **headers}
    lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in given.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def main() -> None:
    print(await FaultServer(Faults()).start(), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit()
