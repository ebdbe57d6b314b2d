"""The one server of tests: HTTP on loopback, for real clients. What it says is plugged in.

`LocalServer` reads calls and writes what its behaviour says: subclasses override `answer`, or `converse` to write on
the connection themselves. It lives in a thread of the test; `as_program` gives one a process, and `Program` is
that process as a test sees it. The behaviours lie with the tests that need them: chat completions and raw bytes here
in support/, faults in fault_server.py, batches, fine-tuning and bills beside their tests. Of another kind is alone
models/served_program.py, which plays the program that a run starts.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
import traceback
import urllib.request
from collections import Counter, UserDict
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WAIT = 120.0
"""Seconds for which anything is waited that has to come: only what hangs takes so long."""

Reply = bytes | tuple[bytes, ...] | None
"""Bytes after which the connection is kept; a tuple of bytes after which it is closed; None: it is reset."""


def http(body: object, status: int = 200, headers: Mapping[str, str] | None = None, **more: str) -> bytes:
    """Return a whole HTTP reply; a body that is neither bytes nor text becomes JSON. Of names, _ stands for -."""
    content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}
    fields |= {name.replace("_", "-"): value for name, value in more.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    reason = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Status"
    return f"HTTP/1.1 {status} {reason}\r\n{head}\r\n".encode("latin-1") + content


class Headers(UserDict[str, str]):
    """Headers by their names, in whatever case."""

    def __getitem__(self, name: str) -> str:
        return self.data[name.lower()]

    def __contains__(self, name: object) -> bool:
        return str(name).lower() in self.data


@dataclass
class Call:
    """One call, as it came."""

    head: bytes
    body: bytes
    writer: asyncio.StreamWriter

    def __post_init__(self) -> None:
        first, *lines = self.head.decode("latin-1").rstrip("\r\n").split("\r\n")
        self.method, target, _ = first.split(" ", 2)
        self.path = urlsplit(target).path
        fields = (line.partition(":") for line in lines)
        self.headers = Headers({name.lower(): value.strip() for name, _, value in fields})

    def header(self, name: str) -> str:
        return self.headers.get(name, "")

    def json(self) -> Any:
        return json.loads(self.body)

    def abort(self) -> None:
        """Reset the connection: what is replied after this reaches nobody."""
        self.writer.transport.abort()


class LoopThread:
    """Runs a coroutine in an event loop of a thread of its own, and all that this begins until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.SelectorEventLoop()  # a test may have put another kind in the place of new_event_loop
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def result(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(WAIT)

    def close(self) -> None:
        async def end() -> None:
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)

        self.result(end())
        self._loop.call_soon_threadsafe(self._loop.stop)


class LocalServer:
    """A server without words of its own: `answer` or `converse` of a subclass has them."""

    port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def answer(self, call: Call) -> Reply:
        raise NotImplementedError

    async def converse(self, call: Call, reader: asyncio.StreamReader) -> bool:
        """Answer a call; return whether the connection is kept."""
        try:
            reply = await self.answer(call)
        except Exception:  # a test's own mistake is its server's
            traceback.print_exc()
            reply = http("LocalServer got itself in trouble", 500, Content_Type="text/plain")
        if reply is None:
            call.abort()
            return False
        call.writer.write(reply if isinstance(reply, bytes) else b"".join(reply))
        await call.writer.drain()
        return isinstance(reply, bytes)

    async def accepts(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Return whether a connection's calls are read."""
        return True

    async def listen(self, port: int = 0) -> int:
        """Listen on a port, 0 for any free one; return it."""
        self.writers: set[asyncio.StreamWriter] = set()
        """Those of the connections that are open."""
        self.listening = await asyncio.start_server(self._connected, "127.0.0.1", port, backlog=512)
        self.port = int(self.listening.sockets[0].getsockname()[1])
        return self.port

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Cancelled: the test has ended.
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            self.writers.add(writer)
            try:
                if await self.accepts(reader, writer):
                    while await self.converse(await self._call(reader, writer), reader):
                        pass
            finally:
                self.writers.discard(writer)
                writer.close()

    @staticmethod
    async def _call(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Call:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        return Call(head, await reader.readexactly(int(length[1]) if length else 0), writer)

    def begin(self) -> None:
        """Serve in a thread of this process until `close`, which ends all connections, as a killed process does."""
        self._thread = LoopThread()
        self._thread.result(self.listen())

    def close(self) -> None:
        async def deaf() -> None:
            self.listening.close()

        self._thread.result(deaf())
        self._thread.close()


class RawServer(LocalServer):
    """`reply(words of the last message, how often they were asked)` decides what bytes go out."""

    def __init__(self, reply: Callable[[str, int], Reply]) -> None:
        self.reply = reply
        self.asked: list[str] = []
        self.times: Counter[str] = Counter()
        self.heads: list[bytes] = []
        self.begin()

    async def answer(self, call: Call) -> Reply:
        body = call.json()
        words = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        self.asked.append(words)
        self.times[words] += 1
        self.heads.append(call.head)
        return self.reply(words, self.times[words])


def as_program(server: LocalServer) -> None:
    """Serve on a free port, which is printed, until whoever started this process ends, however they end."""

    async def serve() -> None:
        print(await server.listen(), flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

    with suppress(KeyboardInterrupt):
        asyncio.run(serve())


class Program:
    """A server in a process of its own, told what goes wrong and asked what it has seen."""

    def __init__(self, file: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.root = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        self.url = f"{self.root}/v1"

    def set(self, **settings: Any) -> None:
        data = json.dumps(settings).encode()
        urllib.request.urlopen(urllib.request.Request(f"{self.root}/control", data=data, method="POST")).read()

    def seen(self) -> Any:
        return json.load(urllib.request.urlopen(f"{self.root}/seen"))

    def close(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.terminate()
        self.process.wait(10)
