"""Servers with limits, queues and chance, in virtual time: the real policy, gate and search ask them.

What a server allows is known, so that each run can be measured by what nobody could do better.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush
from types import SimpleNamespace
from typing import Any, Protocol

import httpx2
import pytest

from harness.errors import RunStopped
from harness.models.api import call, retry
from harness.models.api.faults import RefusedError
from harness.models.api.gate import Gate
from harness.models.api.openai import Chat
from harness.types import ChatRequest, Message, Response
from support.clocks import Virtual, World
from support.openai_server import chat_reply
from support.outcomes import each

MOST = 0.95
"""The share of the answers by which a run is measured."""
REFUSED = {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}


class Limit(Protocol):
    def admits(self, now: float, units: float) -> bool:
        """Return whether a call is taken, and count it if so."""

    def most(self, seconds: float) -> float:
        """Return how many units are allowed from the beginning on until then."""


@dataclass
class Bucket:
    """A token bucket: `rates` are units a second and when each begins, `depth` what is saved up at most."""

    rates: Sequence[tuple[float, float]]
    depth: float
    level: float = field(init=False)
    filled_at: float = 0.0

    def __post_init__(self) -> None:
        self.level = self.depth

    def admits(self, now: float, units: float) -> bool:
        self.level = min(self.depth, self.level + self._refill(self.filled_at, now))
        self.filled_at = now
        allowed = self.level >= units - 1e-3  # a loop's turn takes a microsecond
        self.level -= units * allowed
        return allowed

    def _refill(self, start: float, end: float) -> float:
        ends = [begin for _, begin in self.rates[1:]] + [float("inf")]
        return sum(
            rate * max(0.0, min(end, until) - max(start, begin))
            for (rate, begin), until in zip(self.rates, ends, strict=True)
        )

    def most(self, seconds: float) -> float:
        return self.depth + self._refill(0.0, seconds)

    @property
    def state(self) -> tuple[float, float, float]:
        """Return limit, what is left, and the seconds until all of it is there again, as headers tell them."""
        rate = next(rate for rate, begin in reversed(self.rates) if self.filled_at >= begin)
        return self.depth, max(0.0, self.level), (self.depth - self.level) / rate


@dataclass
class Window:
    """So many calls in each so many seconds: of the clock, or of the latest where it slides."""

    number: int
    seconds: float
    slides: bool = False
    taken: deque[float] = field(default_factory=deque)

    def admits(self, now: float, units: float) -> bool:
        begin = now - self.seconds if self.slides else now - now % self.seconds
        while self.taken and self.taken[0] < begin:
            self.taken.popleft()
        if len(self.taken) >= self.number:
            return False
        self.taken.append(now)
        return True

    def most(self, seconds: float) -> float:
        return self.number * (1 + seconds // self.seconds)


@dataclass
class Server:
    """A server, and what it has seen.

    `service` gives the seconds of a call by how many are under way with it, `slots` is how many it works on at once
    (the others wait, unseen), `cap` how many it takes at once before it refuses, `chance` the share that it refuses
    whatever their rate.
    """

    limits: Sequence[Limit] = ()
    latency: float = 0.05
    jitter: float = 0.1
    service: Callable[[int], float] = lambda under_way: 1.0
    slots: int = 1_000_000
    cap: int = 1_000_000
    chance: float = 0.0
    refusal_delay: float = 0.05
    retry_after: str | None = None
    headers: bool = False
    units: Callable[[random.Random], float] = lambda draw: 1.0
    seed: int = 0
    stalls: float = 0.0
    """In every other span of so many seconds the client has no processor, and reads no reply."""

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.under_way = self.calls = self.refused = 0
        self.free: list[float] = []  # when each slot in use is free again
        self.answered_at: list[float] = []
        self.log: list[tuple[float, bool]] = []

    def arrive(self, now: float) -> tuple[float, bool, Mapping[str, str]]:
        """Return the seconds until the reply, whether it is an answer, and its headers."""
        self.calls += 1
        units = self.units(self.draw)
        by_chance = self.draw.random() < self.chance
        taken = self.under_way < self.cap and all(limit.admits(now, units) for limit in self.limits) and not by_chance
        headers = self._headers() if self.headers else {}
        self.log.append((now, taken))
        if not taken:
            self.refused += 1
            if self.retry_after is not None:
                headers["retry-after"] = self.retry_after
            return self.refusal_delay * self.draw.uniform(0.9, 1.1), False, headers
        self.under_way += 1
        seconds = self.latency * self.service(self.under_way)
        seconds *= self.draw.uniform(1 - self.jitter, 1 + self.jitter)
        while self.free and self.free[0] <= now:
            heappop(self.free)
        begin = heappop(self.free) if len(self.free) >= self.slots else now
        heappush(self.free, begin + seconds)
        return begin + seconds - now, True, headers

    def read_after(self, now: float, seconds: float) -> float:
        """Return after how long a reply is read."""
        if self.stalls and int((now + seconds) / self.stalls) % 2:
            return (int((now + seconds) / self.stalls) + 1) * self.stalls - now
        return seconds

    def leave(self, now: float) -> None:
        self.under_way -= 1
        self.answered_at.append(now)

    def _headers(self) -> dict[str, str]:
        (bucket,) = self.limits
        limit, left, reset = bucket.state
        return {
            "x-ratelimit-limit-tokens": f"{limit:.0f}",
            "x-ratelimit-remaining-tokens": f"{left:.0f}",
            "x-ratelimit-reset-tokens": f"{1000 * reset:.0f}ms",
        }

    def least(self, calls: int, at_once: int) -> float:
        """Return the seconds that so many answers take at least, asked by a client that knows the server."""
        at_once = min(at_once, self.cap)
        kept = 1 - self.chance
        held = self.refusal_delay * self.chance / kept  # by the refused tries of a call
        rate = max(
            min(n / (self.latency * self.service(n) + held), self.slots / (self.latency * self.service(n)))
            for n in range(1, at_once + 1)
        )
        probe = random.Random(0)
        unit = sum(self.units(probe) for _ in range(200)) / 200

        def possible(seconds: float) -> float:
            return min([rate * seconds, *(kept * limit.most(seconds) / unit for limit in self.limits)])

        low, high = 0.0, 1.0
        while possible(high) < calls:
            high *= 2
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if possible(middle) < calls else (low, middle)
        return high + self.latency


class _Wire:
    """In place of a connection: the calls of one process to a server."""

    def __init__(self, server: Server, world: World, gate: Gate) -> None:
        self._server, self._world, self._gate, self.memory = server, world, gate, {}

    async def post(self, path: str, body: Any) -> Any:
        seconds, answered, headers = self._server.arrive(self._world.now)
        await asyncio.sleep(self._server.read_after(self._world.now, seconds))
        replied = httpx2.Headers(headers)
        self._gate.read_rate_limit_headers(replied)
        if not answered:
            raise RefusedError(429, REFUSED, replied)
        self._server.leave(self._world.now)
        return chat_reply("No")

    async def close(self) -> None:
        """Do nothing: no connection is open."""


@dataclass(frozen=True)
class Run:
    """What became of the calls to a server, and of those of each process."""

    seconds: float
    share: float
    """The least seconds that most of the answers take, by those that they took; the last wait for their retries."""
    refused: float
    """Of all calls that went out."""
    lost: int
    ended: tuple[float, ...]
    """When each process was done."""


def ask(server: Server, calls: int, processes: int = 1, **settings: Any) -> Run:
    """Return what becomes of so many requests, dealt to processes that do not know of each other."""
    world, ended, failed = World(), [0.0] * processes, [0] * processes
    each_has = calls // processes

    def process(number: int) -> None:
        model = Chat(name="m", model="m", base_url="http://virtual/v1", **settings)
        requests = [ChatRequest((Message("user", f"{number} {k}?"),), max_tokens=4) for k in range(each_has)]
        failed[number] = each_has
        with suppress(RunStopped):
            for _, outcome in each(model.respond(requests)):
                failed[number] -= isinstance(outcome, Response)
        ended[number] = world.now

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "none")
        patch.setattr(asyncio, "new_event_loop", lambda: Virtual(world))
        patch.setattr(call, "Wire", lambda url, key, timeout, gate, dialect: _Wire(server, world, gate))
        patch.setattr(retry, "time", SimpleNamespace(monotonic=lambda: world.now))
        patch.setattr(call, "time", SimpleNamespace(perf_counter=lambda: world.now))
        patch.setitem(Gate.__init__.__kwdefaults__, "clock", lambda: world.now)
        random.seed(server.seed)
        if processes == 1:
            process(0)
        else:
            world.together(*(lambda number=number: process(number) for number in range(processes)))
    at_once = processes * settings.get("max_concurrency", 64)
    most = int(MOST * processes * each_has)
    share = server.least(most, at_once) / server.answered_at[most - 1] if len(server.answered_at) >= most else 0.0
    seconds = max(ended)
    return Run(seconds, share, server.refused / server.calls, sum(failed), tuple(ended))
