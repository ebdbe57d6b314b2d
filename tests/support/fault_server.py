"""A server that speaks the OpenAI protocol badly: real HTTP, every fault that researchers have met, drawn by a seed.

As a program it is the server of tests that kill processes: it prints its port, POST /control sets what goes wrong, GET
/seen tells what was asked. What a prompt is answered depends on the prompt alone, so every wrong answer is seen.
"""

from __future__ import annotations

import asyncio
import email.utils
import hashlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a program of its own, too

from support.server import Call, LocalServer, as_program
from support.wire_faults import KINDS
from support.wire_faults.bodies import HTML
from support.wire_faults.kind import MODEL, OTHER_MODEL, Exchange, Kind, answer, head, refusal_body, sound_reply

__all__ = [
    "FATAL",
    "MODEL",
    "OF_ONE_ITEM",
    "OTHER_MODEL",
    "PASSING",
    "FaultServer",
    "Faults",
    "InThread",
    "answer",
    "own",
]


def refusal(status: int, message: str, code: str | None = None, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    return status, refusal_body(message, code), headers


def soon(seconds: float) -> str:
    """Return a date in whole seconds, before which the server wants no retry."""
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


REFUSALS = {
    "429": lambda: refusal(429, "slow down", "rate_limit_exceeded"),
    "429 seconds": lambda: refusal(429, "slow down", "rate_limit_exceeded", Retry_After="1"),
    "429 date": lambda: refusal(429, "slow down", "rate_limit_exceeded", Retry_After=soon(1)),
    "429 milliseconds": lambda: refusal(429, "slow down", "rate_limit_exceeded", retry_after_ms="60"),
    "429 ten minutes": lambda: refusal(429, "come back later", "rate_limit_exceeded", Retry_After="600"),
    "500": lambda: refusal(500, "something broke"),
    "503": lambda: refusal(503, "overloaded"),
    "502 html": lambda: (502, HTML, {"Content_Type": "text/html"}),
    "html": lambda: (200, HTML, {"Content_Type": "text/html"}),
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


def own(prompt: str, share: float) -> str | None:
    """Return the lasting fault of an item, if it has one: content filter, refusal, context length, length."""
    draw = int.from_bytes(hashlib.sha256(f"own {prompt}".encode()).digest()[:4], "big") / 2**32
    kinds = (*OF_ONE_ITEM, "length")
    return kinds[int(draw / share * len(kinds))] if draw < share else None


def completion(
    prompt: str, kind: str | None, model: str, *, completions: bool = False
) -> tuple[int, bytes, dict[str, str]]:
    """Return a reply of the API's form, of one of the kinds that `own` names."""
    if kind == "context length":
        return refusal(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded")
    reply = sound_reply(prompt, completions=completions, model=model)
    choice = reply["choices"][0]
    words, reason, refused = choice.get("text") or answer(prompt), "stop", None
    if kind == "content filter" or (kind == "refusal" and completions):  # completions know no refusal
        words, reason = "", "content_filter"
    elif kind == "refusal":
        words, refused = None, "I cannot help with that."
    elif kind == "length":
        words, reason = "Let me think about", "length"
    choice["finish_reason"] = reason
    choice |= (
        {"text": words} if completions else {"message": {"role": "assistant", "content": words, "refusal": refused}}
    )
    return 200, json.dumps(reply).encode(), {}


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
    kind: str = ""
    """A kind of wire_faults that exactly these calls meet:"""
    first: Mapping[str, int] = field(default_factory=dict)
    """the first ones of a prompt, so many,"""
    every: int = 0
    """or each so many-th call, or connection where the kind comes at accept."""
    away: Sequence[float] = ()
    """(after so many answers, seconds): once, connections are broken and refused for so long."""


class FaultServer(LocalServer):
    """Counts what it was asked and what it has answered, by prompt; draws are told apart by their seed."""

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
        self.followed = 0
        """Calls to the other host, or to a path that only a redirect names."""
        self.elsewhere = 0

    def set(self, faults: Faults) -> None:
        """From now on; who was told to wait may have died since."""
        self._not_before: dict[str, float] = {}
        self.faults = faults
        self._random = random.Random(faults.seed)
        self._in_a_row: Counter[str] = Counter()
        self._calls = self._connections = self._answers = 0
        self._faults_given: Counter[str] = Counter()
        self._was_away = False

    def draw(self, prompt: str) -> str | None:
        """Draw the fault of this request; None for an answer."""
        faults = self.faults
        self._calls += 1
        if faults.kind and not KINDS[faults.kind].accept:
            self._faults_given[prompt] += 1
            faulty = self._faults_given[prompt] <= faults.first.get(prompt, 0)
            return faults.kind if faulty or (faults.every and self._calls % faults.every == 0) else None
        draw, fault = self._random.random(), None
        if self._in_a_row[prompt] < faults.in_a_row:
            for name, share in faults.mix.items():
                draw -= share
                if draw < 0:
                    fault = name
                    break
        self._in_a_row[prompt] = self._in_a_row[prompt] + 1 if fault else 0
        return fault

    async def reply(
        self, prompt: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, completions: bool = False
    ) -> bool:
        """Answer a call, or not; whether the connection is of use after that."""
        faults = self.faults
        self.requests[prompt] += 1
        self.early += time.time() < self._not_before.pop(prompt, 0.0) - 0.01
        await asyncio.sleep(faults.latency)
        fault = self.draw(prompt)
        self.kinds[fault or own(prompt, faults.own) or "answered"] += 1
        if fault in KINDS and fault not in REFUSALS:
            return await self._meet(KINDS[fault], prompt, reader, writer, completions)
        return await self._old(fault, prompt, reader, writer, completions)

    async def _meet(
        self, kind: Kind, prompt: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, completions: bool
    ) -> bool:
        exchange = Exchange(
            prompt,
            reader,
            writer,
            completions=completions,
            elsewhere=f"http://127.0.0.1:{self.elsewhere}",
            passes=self.passes,
            retry_at=lambda at: self._not_before.__setitem__(prompt, at),
        )
        with self._counted(prompt, answer=kind.ends == ("answer",), cut="answer" in kind.ends):
            await kind.write(exchange)
        return exchange.keep

    @contextmanager
    def _counted(self, prompt: str, *, answer: bool, cut: bool = True) -> Iterator[None]:
        """Count an answer before its last byte is on its way: who has it may look at the count at once."""
        if answer:
            self.answered[prompt] += 1
        try:
            yield
        except ConnectionError:
            if answer:
                self.answered[prompt] -= 1
            self.cut[prompt] += cut
            raise

    async def _old(
        self,
        fault: str | None,
        prompt: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        completions: bool,
    ) -> bool:
        faults = self.faults
        if fault == "reset before":
            writer.transport.abort()
            return False
        if fault == "hang":
            self.passes(1.0)
            await asyncio.sleep(faults.hang)
            writer.transport.abort()
            return False
        if fault in REFUSALS:
            status, body, headers = REFUSALS[fault]()
            if not reader.at_eof():  # else nobody is there any more to be told
                self._tell(prompt, headers)
            await self._send(writer, status, body, headers)
            return True
        kind = own(prompt, faults.own)
        model = OTHER_MODEL if fault == "other model" else MODEL
        status, body, headers = completion(prompt, kind, model, completions=completions)
        if fault in ("reset in the body", "endless drip", "slow drip"):
            return await self._broken(prompt, reader, writer, body, fault)
        closes = bool(faults.kind) and KINDS[faults.kind].accept  # so that there are connections to be accepted
        with self._counted(prompt, answer=kind not in OF_ONE_ITEM):
            await self._send(writer, status, body, headers | ({"Connection": "close"} if closes else {}))
        self._answers += 1
        if faults.away and self._answers >= faults.away[0] and not self._was_away:
            self._was_away = True
            self._leaving = asyncio.get_running_loop().create_task(self._leave(faults.away[1]))
        return not closes

    async def _broken(
        self, prompt: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes, fault: str
    ) -> bool:
        writer.write(head(200, len(body), {}))
        if fault == "reset in the body":
            self.cut[prompt] += 1
            writer.write(body[: len(body) // 2])
            await writer.drain()
            writer.transport.abort()
            return False
        pause = 0.02 if fault == "slow drip" else self.faults.drip
        step = len(body) // 8
        last = (len(body) - 1) // step * step
        for at in range(0, last, step):
            writer.write(body[at : at + step])
            await writer.drain()
            await asyncio.sleep(pause)
            if reader.at_eof():
                writer.transport.abort()
                return False
            self.passes(0.3 if fault == "endless drip" else 0.0)
        with self._counted(prompt, answer=own(prompt, self.faults.own) not in OF_ONE_ITEM):
            writer.write(body[last:])
            await writer.drain()
        return True

    async def _leave(self, seconds: float) -> None:
        """Be away, as a server that is killed and started again."""
        self.listening.close()
        for writer in list(self.writers):
            writer.transport.abort()
        await asyncio.sleep(seconds)
        await self.listen(self.port)

    def _tell(self, prompt: str, headers: Mapping[str, str]) -> None:
        if "retry_after_ms" in headers:
            self._not_before[prompt] = time.time() + float(headers["retry_after_ms"]) / 1000
        elif retry_after := headers.get("Retry_After"):
            self._not_before[prompt] = (
                time.time() + float(retry_after)
                if retry_after.isdigit()
                else email.utils.parsedate_to_datetime(retry_after).timestamp()
            )

    async def _send(self, writer: asyncio.StreamWriter, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        writer.write(head(status, len(body), headers) + body)
        await writer.drain()

    async def accepts(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self._connections += 1
        faults = self.faults
        if not faults.kind or not KINDS[faults.kind].accept or not faults.every or self._connections % faults.every:
            return True
        self.kinds[faults.kind] += 1
        await KINDS[faults.kind].write(Exchange("", reader, writer))
        return False

    async def converse(self, call: Call, reader: asyncio.StreamReader) -> bool:
        writer = call.writer
        if (call.method, call.path) == ("GET", "/seen"):
            await self._send(writer, 200, json.dumps(self.seen()).encode(), {})
        elif (call.method, call.path) == ("POST", "/control"):
            self.set(Faults(**call.json()))
            await self._send(writer, 200, b"{}", {})
        elif call.method == "POST" and call.path in ("/v1/chat/completions", "/v1/completions"):
            self.keys.add(call.header("authorization"))
            completions = call.path == "/v1/completions"
            return await self.reply(name_of(call.json()), reader, writer, completions=completions)
        else:
            await self._followed(reader, writer)
        return True

    async def _followed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what nobody should ask, with words that are no prompt's."""
        self.followed += 1
        reply = sound_reply("")
        reply["choices"][0] |= {"text": "STRAY", "message": {"content": "STRAY"}}
        with_close = {"Connection": "close"}
        await self._send(writer, 200, json.dumps(reply).encode(), with_close)
        writer.close()

    def seen(self) -> dict[str, Any]:
        names = ("requests", "answered", "cut", "early", "kinds", "followed")
        return {name: getattr(self, name) for name in names}

    async def listen(self, port: int = 0) -> int:
        await super().listen(port)
        if not self.elsewhere:  # else it comes back from being away
            other = await asyncio.start_server(self._followed, "127.0.0.1", 0)
            self.elsewhere = int(other.sockets[0].getsockname()[1])
        return self.port


def name_of(call: Mapping[str, Any]) -> str:
    """Return the name of a call: its last message or its prompt, and its seed where that is not 0."""
    words = call["messages"][-1]["content"] if "messages" in call else call["prompt"]
    return f"{words} #seed {call['seed']}" if call.get("seed") else words


class InThread(FaultServer):
    """For tests in this process."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults)
        self.begin()


if __name__ == "__main__":
    as_program(FaultServer(Faults()))
