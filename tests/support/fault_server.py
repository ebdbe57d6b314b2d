"""A server that speaks the OpenAI protocol badly: real HTTP, every fault that researchers have met, drawn by a seed.

As a program it is the server of tests that kill processes: it prints its port, POST /control sets what goes wrong, GET
/seen tells what was asked. What a prompt is answered depends on the prompt alone, so every wrong answer is seen.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a program of its own, too

from support.faults import KINDS, Kind, Said, refusal, sound_reply
from support.server import Call, LocalServer, as_program, http

OF_ONE_ITEM = ("content filter", "refusal", "context length")
PAUSE = 0.02


def own(prompt: str, share: float) -> str | None:
    """Return the lasting fault of an item, if it has one: content filter, refusal, context length, length."""
    draw = int.from_bytes(hashlib.sha256(f"own {prompt}".encode()).digest()[:4], "big") / 2**32
    kinds = (*OF_ONE_ITEM, "length")
    return kinds[int(draw / share * len(kinds))] if draw < share else None


def said_of(prompt: str, kind: str | None, *, completions: bool = False) -> bytes:
    """Return a reply of the API's form, of one of the kinds that `own` names."""
    if kind == "context length":
        return http(refusal("This model's maximum context length is 8192 tokens", "context_length_exceeded"), 400)
    reply = sound_reply(prompt, completions=completions)
    (choice,) = reply["choices"]
    if kind is not None:
        words = "Let me think about" if kind == "length" else None if kind == "refusal" and not completions else ""
        refused = "I cannot help with that." if words is None else None
        message = {"role": "assistant", "content": words, "refusal": refused}
        choice |= {"text": words} if completions else {"message": message}
        choice["finish_reason"] = "length" if kind == "length" else "stop" if refused else "content_filter"
    return http(reply)


@dataclass
class Faults:
    """What goes wrong: shares by the fault's name; `own` is the share of items that have a fault of their own."""

    mix: Mapping[str, float] = field(default_factory=dict)
    own: float = 0.0
    in_a_row: int = 3
    seed: int = 0
    latency: float = 0.005
    accept: str = ""
    """A kind that each fifth connection meets before a request is read."""
    away: Sequence[float] = ()
    """(after so many answers, seconds): once, connections are broken and refused for so long."""


class FaultServer(LocalServer):
    """Counts what it was asked and what it has answered, by prompt; draws are told apart by their seed."""

    def __init__(self, faults: Faults) -> None:
        self.set(faults)
        self.requests: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.early = 0
        self.passes: Callable[[float], None] = lambda share: None
        """Told that so much of a client's patience may pass now, for tests that have a clock of their own."""
        self.kinds: Counter[str] = Counter()
        self.followed = 0
        """Calls to the other host, or to a path that only a redirect names."""
        self.elsewhere = 0

    def set(self, faults: Faults) -> None:
        """From now on; who was told to wait may have died since."""
        self._not_before: dict[str, float] = {}
        self.faults = faults
        self._random = random.Random(faults.seed)
        self._in_a_row: Counter[str] = Counter()
        self._connections = self._answers = 0
        self._was_away = False

    def draw(self, prompt: str) -> Kind | None:
        """Draw the fault of this request; None for an answer."""
        draw, fault = self._random.random(), None
        if self._in_a_row[prompt] < self.faults.in_a_row:
            for name, share in self.faults.mix.items():
                draw -= share
                if draw < 0:
                    fault = name
                    break
        self._in_a_row[prompt] = self._in_a_row[prompt] + 1 if fault else 0
        return KINDS[fault] if fault else None

    async def reply(self, prompt: str, call: Call, reader: asyncio.StreamReader) -> bool:
        """Answer a call, or not; whether the connection is of use after that."""
        completions = call.path == "/v1/completions"
        self.requests[prompt] += 1
        self.early += time.time() < self._not_before.pop(prompt, 0.0) - 0.01
        await asyncio.sleep(self.faults.latency)
        kind, lasting = self.draw(prompt), own(prompt, self.faults.own)
        self.kinds[kind.name if kind else lasting or "answered"] += 1
        if kind is None:
            said = Said(said_of(prompt, lasting, completions=completions), "closed" if self.faults.accept else "kept")
            ends: tuple[str, ...] = ("item",) if lasting in OF_ONE_ITEM else ("answer",)
        else:
            said = kind.says(sound_reply(prompt, completions=completions), f"http://127.0.0.1:{self.elsewhere}")
            ends = kind.ends
        if said.retry_at and not reader.at_eof():  # noted before it is sent: a busy machine would note it late
            self._not_before[prompt] = said.retry_at
        # An answer counts before its last byte is on its way: who has it may look at the count at once.
        self.answered[prompt] += (counts := ends == ("answer",))
        try:
            kept = await self._write(said, reader, call.writer)
        except ConnectionError:
            self.answered[prompt] -= counts
            raise
        self._answers += counts
        if self.faults.away and self._answers >= self.faults.away[0] and not self._was_away:
            self._was_away = True
            self._leaving = asyncio.get_running_loop().create_task(self._leave(self.faults.away[1]))
        return kept

    async def _write(self, said: Said, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        step = -(-len(said.content) // said.pieces) or 1
        for at in range(0, len(said.content), step):
            writer.write(said.content[at : at + step])
            await writer.drain()
            if said.share:
                self.passes(said.share)
                await asyncio.sleep(PAUSE)
                if reader.at_eof():
                    return False
        if said.then == "kept":
            return True
        await asyncio.sleep(0.002)  # so that the client has read it before what follows
        if said.then == "reset":
            with suppress(OSError):  # the client was killed before
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        elif said.then == "half-closed":  # open for the client's words
            writer.write_eof()
            await self._gone(reader, writer, 20)
        elif said.then == "hangs":
            self.passes(1.05)
            await self._gone(reader, writer, 10**6)
        return False

    async def _gone(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, looks: int) -> None:
        """Wait until the client has given up, letting its patience pass."""
        while looks > 0 and not reader.at_eof() and not writer.transport.is_closing():
            await asyncio.sleep(PAUSE)
            self.passes(0.3)
            looks -= 1

    async def _leave(self, seconds: float) -> None:
        """Be away, as a server that is killed and started again."""
        self.listening.close()
        for writer in list(self.writers):
            writer.transport.abort()
        await asyncio.sleep(seconds)
        await self.listen(self.port)

    async def accepts(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self._connections += 1
        if not self.faults.accept or self._connections % 5:
            return True
        self.kinds[self.faults.accept] += 1
        await self._write(KINDS[self.faults.accept].says({}, ""), reader, writer)
        return False

    async def converse(self, call: Call, reader: asyncio.StreamReader) -> bool:
        if (call.method, call.path) == ("GET", "/seen"):
            names = ("requests", "answered", "early", "kinds", "followed")
            call.writer.write(http({name: getattr(self, name) for name in names}))
        elif (call.method, call.path) == ("POST", "/control"):
            self.set(Faults(**call.json()))
            call.writer.write(http({}))
        elif call.method == "POST" and call.path in ("/v1/chat/completions", "/v1/completions"):
            return await self.reply(name_of(call.json()), call, reader)
        else:
            await self._followed(reader, call.writer)
        await call.writer.drain()
        return True

    async def _followed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what nobody should ask, with words that are no prompt's."""
        self.followed += 1
        writer.write(http({"choices": [{"text": "STRAY", "message": {"content": "STRAY"}}]}, Connection="close"))
        await writer.drain()
        writer.close()

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
