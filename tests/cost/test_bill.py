"""A limit against a server's own bill: dishonest and unlucky servers, real HTTP, 64 calls at once.

A limit is never passed by more than the calls under way, and by nothing at all where a server bills what it was asked.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from support.outcomes import each
from support.server import Call, LocalServer, Reply, http

from harness.cost.budget import Budget, Budgeted
from harness.cost.ledger import Ledger
from harness.cost.price import Price
from harness.errors import RunStopped
from harness.models.api.openai import Chat
from harness.settings import Limits
from harness.types import ChatRequest, Message

INPUT_USD, OUTPUT_USD = 10.0, 100.0
PRICE = Price(((0, INPUT_USD),), ((0, OUTPUT_USD),))
WORDS = "The premise says that A causes B, and that nothing else does. " * 5
AT_ONCE = 64


@dataclass
class Done:
    """One call: what the server really did, and what it says of it."""

    input: int
    output: int
    says: dict[str, Any]
    """Counts in place of the true ones."""
    usage: bool = True
    status: int = 200
    billed: bool = True
    text: str = "No"
    cut: int | None = None
    """So many bytes of the reply are sent before the connection is broken."""


Habit = Callable[[Done, random.Random], None]


def does(**changes: Any) -> Habit:
    return lambda done, _: vars(done).update(changes)


def says(**counts: Any) -> Habit:
    return lambda done, _: done.says.update(counts)


def hides(input: int = 0, output: int = 0) -> Habit:
    def hide(done: Done, draw: random.Random) -> None:
        done.input += input
        done.output += output

    return hide


def thinks_beside(done: Done, draw: random.Random) -> None:
    done.says.update(completion_tokens=done.output, completion_tokens_details={"reasoning_tokens": 900})
    done.output += 900


FAIR: dict[str, Habit] = {
    "honest": does(),
    "nothing counted": does(usage=False),
    "zero": says(prompt_tokens=0, completion_tokens=0),
    "negative": says(prompt_tokens=-5000, completion_tokens=-100),
    "cached above input": says(prompt_tokens_details={"cached_tokens": 10**6}),
    "words": says(prompt_tokens="9", completion_tokens="many"),
    "much too high": says(prompt_tokens=10**5),
    "no JSON": does(text=""),
    "cut": does(cut=120),
    "server error after the work": does(status=500),
    "refused after the work": does(status=422),
    "slow down": does(status=429, billed=False),
}
"""Habits of servers that bill no more than they were asked."""
HIDDEN: dict[str, Habit] = {
    "a proxy's own prompt": hides(input=5000),
    "by chance": lambda done, draw: hides(input=draw.randint(0, 5000))(done, draw),
    "writes on": hides(output=2000),
    "thinks beside": thinks_beside,
}


class BillingServer(LocalServer):
    """`bill` is the truth in USD; `dearest` is what one call took at most."""

    def __init__(self, habits: dict[str, tuple[Habit, float]], seed: int) -> None:
        self.bill = self.dearest = 0.0
        self.billed = 0
        self._habits, self._draw = habits, random.Random(seed)
        self.begin()

    async def answer(self, call: Call) -> Reply:
        body, draw = call.json(), self._draw
        words = sum(len(message["content"]) for message in body["messages"])
        done = Done(words // 4 + 8, draw.randint(1, body["max_tokens"]), {})
        for habit, share in self._habits.values():
            if draw.random() < share:
                habit(done, draw)
        if done.billed:
            cost = (done.input * INPUT_USD + done.output * OUTPUT_USD) / 1e6
            self.bill, self.dearest, self.billed = self.bill + cost, max(self.dearest, cost), self.billed + 1
        await asyncio.sleep(0.003)
        usage = {"prompt_tokens": done.input, "completion_tokens": done.output, **done.says} if done.usage else None
        choice = {"index": 0, "message": {"role": "assistant", "content": done.text}, "finish_reason": "stop"}
        reply: Any = {"model": "m", "choices": [choice], "usage": usage}
        if done.status != 200:
            reply = {"error": {"message": "no", "type": "error", "code": None}, "usage": usage}
        whole = http(json.dumps(reply) if done.text else "<html>Bad gateway</html>", done.status)
        if done.cut is None:
            return whole
        call.writer.write(whole[: done.cut])
        await call.writer.drain()
        return None


def bill_of(seed: int, habits: dict[str, tuple[Habit, float]], **limits: float) -> tuple[BillingServer, Budget, str]:
    """Ask a server with these habits, each in a share of its calls; return it, the budget and why it ended."""
    server, budget, why = BillingServer(habits, seed), Budget(Limits(**limits)), ""
    model = Chat(name="m", model="m", base_url=server.url, max_wait=0.02, timeout=30.0, max_concurrency=AT_ONCE)
    requests = (ChatRequest((Message("user", f"{WORDS}{k}"),), max_tokens=16) for k in range(1000))
    try:
        for _ in each(Budgeted(model, budget, Ledger(PRICE, paid=True)).respond(requests)):
            continue
    except RunStopped as stopped:
        why = str(stopped)
    finally:
        server.close()
    return server, budget, why


@pytest.mark.parametrize("seed", range(6))
def test_who_bills_what_was_asked_bills_no_more_than_the_limit(seed, key):
    draw = random.Random(seed)
    habits = {name: (FAIR[name], draw.choice((0.3, 0.5))) for name in draw.sample(list(FAIR), 3)}
    server, budget, why = bill_of(seed, habits, usd=0.3)
    assert server.bill <= min(budget.spent.usd, 0.3) * (1 + 1e-9), (list(habits), why)
    assert "budget.usd=0.3" in why or "in a row" in why
    server, _, why = bill_of(seed, habits, requests=70)
    assert server.billed <= 70, (list(habits), why)


def test_an_honest_server_is_asked_to_the_last_cent(key):
    server, budget, why = bill_of(0, {}, usd=0.3)
    assert 0.9 * 0.3 <= server.bill <= 0.3 and server.bill == pytest.approx(budget.spent.usd) and "budget.usd" in why


@pytest.mark.parametrize("name", HIDDEN)
def test_what_one_call_tells_is_expected_of_all_others(name, key):
    """64 calls at once, each of which brings much that is nowhere in its request."""
    server, _, why = bill_of(len(name), {name: (HIDDEN[name], 1.0)}, usd=20)
    assert 20 - 3 * server.dearest <= server.bill <= 20 + server.dearest and "budget.usd" in why


@pytest.mark.parametrize("seed", [*range(5), 21])
def test_what_comes_by_surprise_passes_a_limit_by_the_calls_under_way(seed, key):
    draw = random.Random(seed)
    fair, (hidden,) = draw.sample(list(FAIR), 2), draw.sample(list(HIDDEN), 1)
    habits = {name: (habit, draw.choice((0.3, 0.5))) for name in (*fair, hidden) for habit in [(FAIR | HIDDEN)[name]]}
    server, budget, why = bill_of(seed, habits, usd=0.3)
    assert server.bill <= min(0.3, budget.spent.usd) + AT_ONCE * server.dearest, (list(habits), why)
