"""The calls of a run in virtual time: the real policy and gate over a wire that takes as long as a test says."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace

import httpx2

from harness.models.api import call, retry
from harness.models.api.faults import RefusedError
from harness.models.api.gate import Gate
from harness.models.api.openai import Chat
from harness.types import ChatRequest, Message
from support.clocks import Virtual
from support.outcomes import each


class InVirtualTime:
    """A server behind a wire that takes a fixed time: nothing of a run's time is the machine's."""

    def __init__(self, monkeypatch, delay: float) -> None:
        self.loop, self.delay, self.calls, self.handed_out = Virtual(), delay, [], {}
        self.now = self.loop.time
        monkeypatch.setattr(asyncio, "new_event_loop", lambda: self.loop)
        monkeypatch.setattr(call, "Wire", lambda *_: self)
        monkeypatch.setattr(retry, "time", SimpleNamespace(monotonic=self.now))
        monkeypatch.setitem(Gate.__init__.__kwdefaults__, "clock", self.now)
        random.seed(0)  # of the waits

    async def post(self, path, body):
        self.calls.append(body)
        number = len(self.calls)
        await asyncio.sleep(self.delay)
        outcome = self.reply(path, body, number)
        if isinstance(outcome, dict):
            return outcome
        if isinstance(outcome, Exception):
            raise outcome
        status, content, headers = outcome
        raise RefusedError(status, content, httpx2.Headers(headers))

    async def close(self) -> None:
        """Do nothing: no connection is open."""

    def answers(self, reply, number: int, **settings) -> dict:
        """Return the outcomes of so many requests. `reply(path, body, number of the call)` may return an exception."""
        self.reply = reply
        model = Chat(name="m", model="m", base_url="http://virtual/v1", **settings)
        requests = (ChatRequest((Message("user", f"{k}?"),), max_tokens=4) for k in range(number))
        outcomes = {}
        for request, outcome in each(model.respond(requests)):
            outcomes[request] = outcome
            self.handed_out = outcomes
        return outcomes
