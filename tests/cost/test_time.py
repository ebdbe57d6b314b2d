"""budget.minutes: what waits ends when the time is over, what is under way is finished, what hangs is given up."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter

import pytest
from support.openai_server import chat_reply, error
from support.outcomes import each

from harness.cost import budget as budget_module
from harness.cost.budget import Budget
from harness.cost.budgeted import Budgeted
from harness.errors import BudgetReached, RunStopped
from harness.models.api import calls
from harness.models.api.openai import Chat
from harness.models.api.pace import Pace
from harness.settings import Limits
from harness.types import ChatRequest, Failure, Message, Response


class Clock:
    """A clock of the budget alone, which a test sets."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(budget_module, "time", clock)
    return clock


def ask(server, *, minutes: float, **settings) -> tuple[list[Response | Failure], str]:
    model = Chat(**{"name": "m", "model": "m", "base_url": server.url, **settings})
    requests = [ChatRequest((Message("user", f"Is {k} a number?"),), max_tokens=16) for k in range(100)]
    outcomes = []
    try:
        for _, outcome in each(Budgeted(model, Budget(Limits(minutes=minutes))).respond(iter(requests))):
            outcomes.append(outcome)
    except RunStopped as stopped:
        return outcomes, str(stopped)
    return outcomes, ""


def test_calls_that_wait_for_their_retry_end_with_the_failure_that_they_have(serve, key, clock):
    def reply(path, body, number):
        if number <= 20:
            return chat_reply("No")
        clock.now += 3.0 * (number == 24)
        return error(429, "slow down", headers={"Retry-After": "6000"})

    server = serve(reply)
    outcomes, why = ask(server, minutes=0.05, max_wait=70_000, attempts=60)
    assert "budget.minutes=0.05 is reached (the time is over)" in why
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    kinds = Counter(failure.kind for failure in failures)
    assert len(failures) == len(outcomes) - 20 and kinds.keys() <= {"rate_limit", "unanswered"}
    # Those that waited for their turn when the time was over were never sent.
    assert len(server.calls) == 20 + kinds["rate_limit"] >= 24


def test_a_call_whose_turn_comes_after_the_time_is_not_sent(serve, key):
    server = serve()
    outcomes, why = ask(server, minutes=0.01, requests_per_minute=0.01)
    assert "budget.minutes=0.01 is reached" in why and len(server.calls) <= 1
    # None at all where the machine is so slow that the first call came too late as well.
    assert {outcome.kind for outcome in outcomes if isinstance(outcome, Failure)} <= {"unanswered"}


def test_a_place_in_the_queue_is_given_up_when_the_time_is_over():
    async def wait_in_vain() -> None:
        pace = Pace(1)
        pace.note(answered=True)
        await pace.enter(math.inf)
        for _ in range(2):
            with pytest.raises(BudgetReached):
                await pace.enter(0.01)
        pace.leave()
        assert pace.has_room(1, 0), "it takes no other's room"

    asyncio.run(wait_in_vain())


def test_calls_under_way_are_finished(serve, key, clock):
    def reply(path, body, number):
        clock.now += 100.0
        return chat_reply("No")

    server = serve(reply, together=8)  # so all eight are under way when the time is over
    outcomes, why = ask(server, minutes=1)
    assert len(outcomes) == len(server.calls) >= 8 and "budget.minutes=1 " in why
    assert all(isinstance(outcome, Response) for outcome in outcomes)


def test_a_call_that_hangs_is_given_up_soon_after_the_time(serve, key, monkeypatch):
    monkeypatch.setattr(calls, "GRACE", 0.3)
    server = serve()
    server.held = 0  # nobody is answered
    began = time.monotonic()
    try:
        outcomes, why = ask(server, minutes=0.005, timeout=3000)
    finally:
        server.held = 1000
    assert "budget.minutes=0.005 is reached" in why
    assert outcomes and set(outcomes) == {Failure("timeout", "no answer came, and the run's time is over")}
    assert time.monotonic() - began < 100
