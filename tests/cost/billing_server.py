"""A server that bills what it has really done, and reports it as honestly, luckily and completely as a test wants."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.server import Call, LocalServer, Reply, http

from harness.cost.price import Price

INPUT_USD, OUTPUT_USD = 10.0, 100.0
PRICE = Price(((0, INPUT_USD),), ((0, OUTPUT_USD),))
"""Per million tokens; what the server charges, whatever it reports."""


@dataclass
class Done:
    """One call: what the server really did, what it says of it, and how."""

    number: int
    input: int
    output: int
    random: random.Random
    usage: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    choices: list[Any] = field(default_factory=list)
    billed: bool = True
    cut: int | None = None
    """So many bytes of the reply are sent before the connection is broken."""
    hangs: bool = False
    text: str | None = None
    """A body that is no JSON."""

    def counted(self, **change: Any) -> None:
        """Reports what was done, but for some changes."""
        usage = {"prompt_tokens": self.input, "completion_tokens": self.output, **change}
        self.usage = {name: value for name, value in usage.items() if value != "left out"}


Habit = Callable[[Done], None]
"""Changes what the server does, and what it says of it."""


class BillingServer(LocalServer):
    """`bill` is the truth: usd and requests of all calls; `most` is what the dearest call took of each."""

    def __init__(self, *habits: Habit, seed: int = 0) -> None:
        self.bill = {"usd": 0.0, "requests": 0.0}
        self.most = {"usd": 0.0, "requests": 1.0}
        self.under_way = self.most_under_way = self.number = 0
        self._habits = habits
        self._random = random.Random(seed)
        self.begin()

    async def answer(self, call: Call) -> Reply:
        body = call.json()
        self.number += 1
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        words = sum(len(message["content"]) for message in body["messages"])
        room = body.get("max_tokens") or body["max_completion_tokens"]
        served = Done(self.number, words // 4 + 8, self._random.randint(1, min(room, 16)), self._random)
        served.choices = [{"index": 0, "message": {"role": "assistant", "content": "No"}, "finish_reason": "stop"}]
        served.counted()
        for habit in self._habits:
            habit(served)
        if served.billed:
            self._charge(served)
        await asyncio.sleep(0.003)
        self.under_way -= 1
        if served.hangs:
            await asyncio.sleep(600)
        reply = json.dumps({"model": "m", "choices": served.choices, "usage": served.usage})
        if served.status != 200:
            reply = json.dumps({"error": {"message": "no", "type": "error", "code": None}, "usage": served.usage})
        whole = http(reply if served.text is None else served.text, served.status, served.headers)
        if served.cut is None:
            return whole
        call.writer.write(whole[: served.cut])
        await call.writer.drain()
        return None

    def _charge(self, served: Done) -> None:
        cost = {
            "usd": (served.input * INPUT_USD + served.output * OUTPUT_USD) / 1e6,
            "requests": 1,
        }
        for unit, amount in cost.items():
            self.bill[unit] += amount
            self.most[unit] = max(self.most[unit], amount)
