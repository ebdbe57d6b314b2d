"""How fast the calls of a run go out: the real gate, search and policy against servers with limits and without."""

from __future__ import annotations

import asyncio
import time

import pytest
from support.openai_server import chat_reply, error
from support.outcomes import each
from support.virtual_wire import InVirtualTime

from harness.models.api import retry
from harness.models.api.openai import Chat
from harness.models.api.slot_search import START
from harness.types import ChatRequest, Failure, Message


@pytest.fixture(autouse=True)
def _key(key):
    return key


def ask(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),), max_tokens=4)


def chat(server, **settings) -> Chat:
    return Chat(name="m", model="m", base_url=server.url, **settings)


def said(call: dict) -> str:
    return call["messages"][-1]["content"]


class Limited:
    """A server's limit: so many calls a second, `burst` at once."""

    def __init__(self, clock, rate: float, burst: float = 10) -> None:
        self.clock, self.rate, self.burst, self.left, self.filled = clock, rate, burst, burst, clock()
        self.refused = 0

    def __call__(self, path, body, number):
        now = self.clock()
        self.left = min(self.burst, self.left + (now - self.filled) * self.rate)
        self.filled = now
        if self.left < 1:
            self.refused += 1
            return error(429, "slow down", "rate_limit_exceeded")
        self.left -= 1
        return chat_reply("No")


@pytest.fixture
def retries_wait(monkeypatch):
    """Make retries wait until a condition holds, in place of the time that the server asks for."""

    def until(there) -> None:
        async def sleep(policy, seconds) -> None:
            end = time.monotonic() + 60
            while not there() and time.monotonic() < end:
                await asyncio.sleep(0.005)

        monkeypatch.setattr(retry.Policy, "_sleep", sleep)

    return until


def test_calls_begin_a_few_at_a_time_and_become_more(serve):
    server = serve(delay=0.03)
    model = chat(server, max_concurrency=20)
    first = server.most_in_flight
    assert first == 0
    outcomes = dict(each(model.respond(ask(f"{k}?") for k in range(200))))
    assert len(outcomes) == 200
    assert START < server.most_in_flight <= 20


def test_a_call_that_waits_for_its_retry_holds_no_slot(serve, retries_wait):
    def reply(path, body, number):
        return error(429, "later", headers={"Retry-After": "1"}) if number == 2 else chat_reply("No")

    server = serve(reply)
    retries_wait(lambda: len(server.calls) == 6)
    found = dict(each(chat(server, max_concurrency=1).respond(ask(f"{k}?") for k in range(6))))
    assert len(found) == 6 and not any(isinstance(outcome, Failure) for outcome in found.values())
    assert [said(call) for call in server.calls] == ["0?", "1?", "2?", "3?", "4?", "5?", "1?"]


def test_calls_that_all_wait_for_their_retries_leave_room_for_others(serve, retries_wait):
    """With nothing landed and nothing under way, the next requests must not wait for the retries."""

    def reply(path, body, number):
        late = number <= 12 and number > 4
        return error(429, "later", headers={"Retry-After": "2"}) if late else chat_reply("No")

    server, landed = serve(reply), []
    retries_wait(lambda: len(landed) >= 22)
    for request, _ in each(chat(server, max_concurrency=4).respond(ask(f"{k}?") for k in range(30))):
        landed.append(request.messages[0].content)
    refused = {said(call) for call in server.calls[4:12]}
    assert len(refused) == 8 and set(landed[22:]) == refused


def test_a_known_limit_of_requests_is_kept(serve):
    server = serve()
    started = time.monotonic()
    found = dict(each(chat(server, requests_per_minute=1200).respond(ask(f"{k}?") for k in range(30))))
    assert len(found) == 30 and time.monotonic() - started > (30 - 3) / 20


def test_a_servers_limit_is_found_and_hardly_overstepped(monkeypatch):
    server = InVirtualTime(monkeypatch, delay=0.02)
    limit = Limited(server.now, rate=100)
    found = server.answers(limit, 300)
    assert len(found) == 300 and not any(isinstance(outcome, Failure) for outcome in found.values())
    # A client that sends 64 at once and waits half a second after a refusal is refused hundreds of times.
    assert limit.refused < 60


def test_refusals_that_do_not_depend_on_the_rate_do_not_slow_the_others(monkeypatch):
    server = InVirtualTime(monkeypatch, delay=0.02)
    told: dict[str, float] = {}
    early: list[str] = []

    def reply(path, body, number):
        name = said(body)
        if name in told:
            early.extend([name] * (server.now() < told[name]))
            return chat_reply("No")
        if int(name[:-1]) % 5 == 4:
            told[name] = server.now() + 1
            return error(429, "not you", headers={"Retry-After": "1"})
        return chat_reply("No")

    found = server.answers(reply, 400)
    assert not any(isinstance(outcome, Failure) for outcome in found.values())
    assert len(found) == 400 and len(server.calls) == 480 and not early
    assert server.now() < 4  # seconds of its own time: 1.9 here, and 9 if it tried ever lower rates


def test_nothing_goes_out_while_the_headers_say_that_nothing_is_left(serve):
    at: list[float] = []

    def reply(path, body, number):
        at.append(time.monotonic())
        headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400ms"}
        return 200, chat_reply("No"), headers if number == 1 else {}

    server = serve(reply)
    assert len(dict(each(chat(server, max_concurrency=1).respond(ask(f"{k}?") for k in range(3))))) == 3
    assert at[1] - at[0] >= 0.4
