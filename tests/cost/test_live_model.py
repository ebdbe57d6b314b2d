"""Money as an invariant, live: what a run believes it has spent is never less than what a drawn server has billed.

A try is unsent, possibly billed, counted by the server, or answered. Each try draws what the server does with it, and
whether it is billed for it; the run sees what such a server says, through the client it has. A server may bill far more
than it was asked, too: then the limit is passed by the calls under way at the most.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from typing import Any

import aiohttp
import httpx2
import pytest
from support.outcomes import each

from harness.cost.budget import Budget, Budgeted
from harness.cost.ledger import Ledger
from harness.cost.price import Price
from harness.errors import RunStopped
from harness.models.api import retry
from harness.models.api.client import HttpClient, lost
from harness.models.api.openai import Chat
from harness.settings import Limits
from harness.types import ChatRequest, Message, Response

INPUT_USD, OUTPUT_USD = 10.0, 100.0
PRICE = Price(((0, INPUT_USD),), ((0, OUTPUT_USD),))
WORDS = "The premise says that A causes B, and that nothing else does. "
LIMITS: tuple[dict[str, float], ...] = ({"usd": 0.05}, {"requests": 25}, {"usd": 5.0})
HIDDEN = {
    "a proxy's own prompt": lambda draw, number: (5000, 0),
    "by chance": lambda draw, number: (draw.randint(0, 5000), 0),
    "more and more": lambda draw, number: (40 * number, 0),
    "writes on": lambda draw, number: (0, 2000),
    "both": lambda draw, number: (5000, 2000),
}
"""Tokens (in, out) of a call that are nowhere in the request."""
SENT = ("lost", "late", "page", "cut", "empty", "no choices", "half and 429", "half and no quota of context",
        "window full", "withheld", "wordless", "finish error", "500", "502", "400", "408", "409",
        "redirect")  # fmt: skip
"""What is said of a try that was billed, beside answers."""
UNBILLED = ("unconnected", "429", "too long", "busy inside", "503")
COUNTS = ("counted", "uncounted", "zero", "half counted", "null")


def Reply(status: int, content: Any, **headers: str) -> httpx2.Response:  # noqa: N802
    return httpx2.Response(
        status, headers=headers, content=content if isinstance(content, bytes) else json.dumps(content).encode()
    )


class DrawnServer:
    """What happens to each try, and the bill."""

    def __init__(self, seed: int, draw: random.Random, hidden: str = "") -> None:
        """Let odd seeds draw one kind of trouble among answers that are counted: nothing else can make up for it."""
        self.draw, self.alone, self.hidden = draw, seed % 2 == 1, hidden
        self.bill = {"usd": 0.0, "requests": 0.0}
        self.most = dict(self.bill)
        self.happened: Counter[str] = Counter()
        kinds = [*SENT, *UNBILLED]
        self.kinds = [kinds[seed // 2 % len(kinds)]] if self.alone else draw.sample(kinds, draw.randint(1, len(kinds)))
        self.trouble = draw.choice((0.1, 0.3, 0.6))
        self.counts = draw.sample(COUNTS, draw.randint(1, len(COUNTS)))

    def handle(self, body: dict[str, Any]) -> httpx2.Response:
        # A run can know in time what is hidden where the first call is counted.
        trouble = self.draw.random() < self.trouble and (self.happened or not self.hidden)
        kind = self.draw.choice(self.kinds) if trouble else "answer"
        self.happened[kind] += 1
        input = sum(len(message["content"]) for message in body["messages"]) // 4 + 8
        output = self.draw.randint(1, 16)
        if self.hidden:
            more = HIDDEN[self.hidden](self.draw, self.happened.total())
            input, output = input + more[0], output + more[1]
        if kind != "unconnected":
            self._bill("requests", 1)
        if kind not in UNBILLED:
            self._bill("usd", (input * INPUT_USD + output * OUTPUT_USD) / 1e6)
        return self.said(kind, self.usage(input, output, exact=self.alone and kind == "answer"))

    def _bill(self, unit: str, amount: float) -> None:
        self.bill[unit] += amount
        self.most[unit] = max(self.most[unit], amount)

    def usage(self, input: int, output: int, *, exact: bool) -> dict[str, Any]:
        how = "counted" if exact else self.draw.choice(self.counts)
        true = {"prompt_tokens": input, "completion_tokens": output}
        said = {"counted": true, "zero": dict.fromkeys(true, 0), "half counted": {"prompt_tokens": input}, "null": None}
        return {"usage": said[how]} if how in said else {}

    def said(self, kind: str, usage: dict[str, Any]) -> httpx2.Response:
        def choice(content: str, reason: str | None = "stop", **more: Any) -> httpx2.Response:
            message = {"role": "assistant", "content": content}
            choices = [{"index": 0, "message": message, "finish_reason": reason, **more}]
            return Reply(200, {"model": "m", "choices": choices, **usage})

        def refused(status: int, message: str = "it is refused", **headers: str) -> httpx2.Response:
            return Reply(status, {"error": {"message": message}}, **headers)

        if kind == "unconnected":
            raise aiohttp.ConnectionTimeoutError("refused")
        if kind == "lost":
            raise aiohttp.ServerDisconnectedError("reset")
        if kind == "late":
            raise aiohttp.SocketTimeoutError("late")
        if kind == "redirect":
            return Reply(302, b"", Location="http://elsewhere/")
        if kind.isdigit():
            return refused(int(kind))
        error = {"code": 429, "message": "Rate limit exceeded"}
        full = {"code": "context_length_exceeded", "message": "maximum context length is 9"}
        return {
            "answer": lambda: choice("No"),
            "page": lambda: Reply(200, b"<html>", **{"Content-Type": "text/html"}),
            "cut": lambda: Reply(200, b'{"choices": [{"mess'),
            "empty": lambda: Reply(200, b""),
            "no choices": lambda: Reply(200, {"choices": [], **usage}),
            "half and 429": lambda: choice("N", "error", error=error),
            "half and no quota of context": lambda: choice("N", "error", error=full),
            "window full": lambda: choice("", "model_context_window_exceeded"),
            "withheld": lambda: choice("", "content_filter"),
            "wordless": lambda: choice("", None),
            "finish error": lambda: choice("", "error"),
            "too long": lambda: refused(400, "maximum context length is 9 tokens"),
            "busy inside": lambda: Reply(200, {"error": error}),
        }[kind]()


def story(seed: int, monkeypatch: pytest.MonkeyPatch, hidden: str = "") -> Counter[str]:
    draw = random.Random(seed)
    server = DrawnServer(seed, draw, hidden)

    async def send(client: HttpClient, request: httpx2.Request, **options: Any) -> httpx2.Response:
        await asyncio.sleep(0)  # so many are under way as may be
        try:
            response = server.handle(json.loads(request.content))
        except aiohttp.ClientError as error:
            raise lost(error) from None
        response.request = request
        return response

    monkeypatch.setattr(HttpClient, "send", send)
    monkeypatch.setattr(retry, "FIRST", 0.0)
    model = Chat(name="m", model="m", base_url="http://127.0.0.1:9/v1", api_key_env=None, max_wait=0.0,
                 attempts=draw.choice((1, 3, 5)), max_concurrency=draw.choice((1, 4, 64)))  # fmt: skip
    limits = {"usd": 0.3} if hidden else draw.choice(LIMITS)
    budget = Budget(Limits(**limits))
    texts = [f"{WORDS * draw.randint(1, 3)}{k}" for k in range(150 if hidden else 80)]
    requests = [ChatRequest((Message("user", text),), max_tokens=16) for text in texts]
    answers, why = 0, ""
    try:
        for _, outcome in each(Budgeted(model, budget, Ledger(PRICE, paid=True)).respond(requests)):
            answers += isinstance(outcome, Response)
    except RunStopped as stopped:
        why = str(stopped)
    about = f"{seed}: {server.happened}, {server.counts}, {limits}; {why}"
    for unit, billed in server.bill.items():
        assert hidden or getattr(budget.spent, unit) >= billed * (1 - 1e-9), (unit, billed, budget.spent, about)
    # Of several at once a try that has failed is repeated here before the replies beside it are read.
    failed = server.happened.total() - server.happened["answer"] if model.max_concurrency > 1 else 0
    beyond = model.max_concurrency + failed if hidden else 0
    for unit, limit in limits.items():
        assert server.bill[unit] <= limit * (1 + 1e-9) + beyond * server.most[unit], about
    assert answers <= server.happened["answer"], about
    return server.happened


def test_what_may_be_billed_is_never_given_back_without_proof(monkeypatch):
    happened = sum((story(seed, monkeypatch) for seed in range(2 * len(SENT + UNBILLED) + 20)), Counter())
    assert set(happened) == {"answer", *SENT, *UNBILLED}


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_is_billed_beyond_the_request_passes_the_limit_by_the_calls_under_way_at_most(hidden, monkeypatch):
    for seed in range(1, 25, 2):
        story(seed, monkeypatch, hidden)
