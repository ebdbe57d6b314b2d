"""A local server that speaks the OpenAI protocol: real HTTP for the real SDK."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

KEY = "sk-canary-0123456789"
"""What tests have for a key: it may be in no file and no output."""
WAIT = 120.0
"""Seconds for which anything is waited that has to come: only what hangs takes so long."""

Reply = dict[str, Any] | tuple[int, Any] | tuple[int, Any, dict[str, str]]


def chat_reply(text: str, **choice: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "served-name-2024",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", **choice}],
        "usage": {
            "prompt_tokens": 11,
            "completion_tokens": 2,
            "total_tokens": 13,
            "prompt_tokens_details": {"cached_tokens": 3},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
    }


def error(status: int, message: str, code: str | None = None, headers: dict[str, str] | None = None) -> Reply:
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return status, body, headers or {}


def wait_for(there: Callable[[], object]) -> None:
    """Wait until a condition holds, however long a busy machine takes."""
    end = time.monotonic() + WAIT
    while not there():
        assert time.monotonic() < end, "what was waited for has not come"
        time.sleep(0.005)


@dataclass
class Server:
    """`reply(path, body, number of this call)` decides; `calls` remembers what was asked."""

    reply: Callable[[str, dict[str, Any], int], Reply]
    delay: float = 0.0
    together: int = 1
    """So many calls have to be under way at once, some time, before any is answered."""
    held: float = math.inf
    """Calls beyond this number get no answer, until a test raises it: so what happens meanwhile is not a race."""
    calls: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()
        assert self._ready.wait(WAIT)

    def wait_for_calls(self, count: int) -> None:
        """Wait until so many calls have come."""
        wait_for(lambda: len(self.calls) >= count)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(WAIT)
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_post("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _until(self, ready: Callable[[], bool]) -> bool:
        end = time.monotonic() + WAIT
        while not (there := ready()) and time.monotonic() < end:
            await asyncio.sleep(0.005)
        return there

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.calls.append(body)
        self.headers.append(dict(request.headers))
        number = len(self.calls)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if not await self._until(lambda: self.most_in_flight >= self.together):
                self.together = 1  # not for each call again
            await asyncio.sleep(self.delay)
            await self._until(lambda: number <= self.held)
            reply = self.reply(request.path, body, number)
        finally:
            self.in_flight -= 1
        status, content, headers = (200, reply, {}) if isinstance(reply, dict) else (*reply, {})[:3]
        if isinstance(content, str):
            return web.Response(status=status, text=content, content_type="text/html", headers=headers)
        return web.json_response(content, status=status, headers=headers)
