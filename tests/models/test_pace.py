from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest
from clocks import Virtual
from openai_server import chat_reply, error
from virtual_wire import InVirtualTime

from harness.models.api import retry
from harness.models.api.openai import Chat
from harness.models.api.rate_limit import ENOUGH, HALVINGS, START, TRIAL, Bucket, Pace, seconds
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


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


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
    """Retries wait until something is the case, however long that takes, in place of the time they are told."""

    def until(there) -> None:
        async def sleep(policy, seconds) -> None:
            end = time.monotonic() + 60
            while not there() and time.monotonic() < end:
                await asyncio.sleep(0.005)

        monkeypatch.setattr(retry.Policy, "_sleep", sleep)

    return until


@pytest.mark.parametrize(
    ("text", "span"),
    [("1s", 1.0), ("6m0s", 360.0), ("250ms", 0.25), ("1h2m3.5s", 3723.5), ("1d", 86400.0), ("", 0.0), ("soon", 0.0)],
)
def test_spans_are_read_as_the_headers_write_them(text, span):
    assert seconds(text) == pytest.approx(span)


def test_a_bucket_lets_its_rate_through_and_saves_up_little():
    clock = Clock()
    bucket = Bucket(10, clock)
    gone = 0
    for _ in range(1000):
        while bucket.wait(1) <= 1e-9:
            bucket.take(1)
            gone += 1
        clock.now += 0.01
    assert 99 <= gone <= 102
    clock.now += 60
    assert [bucket.wait(1) <= 1e-9, bucket.take(1), bucket.wait(1) > 0] == [True, None, True]


def test_calls_begin_a_few_at_a_time_and_become_more(serve):
    server = serve(delay=0.03)
    model = chat(server, max_concurrency=20)
    first = server.most_in_flight
    assert first == 0
    outcomes = dict(model.respond(ask(f"{k}?") for k in range(200)))
    assert len(outcomes) == 200
    assert START < server.most_in_flight <= 20


def test_a_call_that_waits_for_its_retry_holds_no_slot(serve, retries_wait):
    def reply(path, body, number):
        return error(429, "later", headers={"Retry-After": "1"}) if number == 2 else chat_reply("No")

    server = serve(reply)
    retries_wait(lambda: len(server.calls) == 6)
    found = dict(chat(server, max_concurrency=1).respond(ask(f"{k}?") for k in range(6)))
    assert len(found) == 6 and not any(isinstance(outcome, Failure) for outcome in found.values())
    assert [said(call) for call in server.calls] == ["0?", "1?", "2?", "3?", "4?", "5?", "1?"]


def test_calls_that_all_wait_for_their_retries_leave_room_for_others(serve, retries_wait):
    """With nothing landed and nothing under way, the next requests must not wait for the retries."""

    def reply(path, body, number):
        late = number <= 12 and number > 4
        return error(429, "later", headers={"Retry-After": "2"}) if late else chat_reply("No")

    server, landed = serve(reply), []
    retries_wait(lambda: len(landed) >= 22)
    for request, _ in chat(server, max_concurrency=4).respond(ask(f"{k}?") for k in range(30)):
        landed.append(request.messages[0].content)
    refused = {said(call) for call in server.calls[4:12]}
    assert len(refused) == 8 and set(landed[22:]) == refused


def test_a_retry_that_is_due_goes_before_calls_that_have_not_been_tried():
    order: list[str] = []

    async def go() -> None:
        pace = Pace(1)

        async def call(name: str, again: bool) -> None:
            async with pace.turn(tokens=0, again=again):
                order.append(name)
                await asyncio.sleep(0.01)

        await asyncio.gather(call("first", False), call("second", False), call("third", False), call("retry", True))

    asyncio.run(go())
    assert order == ["first", "retry", "second", "third"]


def test_a_cancelled_call_gives_its_slot_back():
    async def go() -> int:
        pace = Pace(1)

        async def call() -> None:
            async with pace.turn(tokens=0, again=False):
                await asyncio.sleep(10)

        running, waiting = asyncio.create_task(call()), asyncio.create_task(call())
        await asyncio.sleep(0.01)
        waiting.cancel()
        running.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        done = 0
        async with pace.turn(tokens=0, again=False):
            done += 1
        return done

    assert asyncio.run(asyncio.wait_for(go(), 120)) == 1


def test_a_known_limit_of_requests_is_kept(serve):
    server = serve()
    started = time.monotonic()
    found = dict(chat(server, requests_per_minute=1200).respond(ask(f"{k}?") for k in range(30)))
    assert len(found) == 30 and time.monotonic() - started > (30 - 3) / 20


def test_a_known_limit_of_tokens_is_kept(serve):
    server = serve()
    started = time.monotonic()
    # 400 letters are about 100 tokens, and 4 may be written.
    found = dict(chat(server, tokens_per_minute=60_000).respond(ask(f"{k:400}") for k in range(12)))
    assert len(found) == 12 and time.monotonic() - started > 10 * 104 / 1000


def test_a_servers_limit_is_found_and_hardly_overstepped(monkeypatch):
    server = InVirtualTime(monkeypatch, delay=0.02)
    limit = Limited(server.now, rate=100)
    found = server.answers(limit, 300)
    assert len(found) == 300 and not any(isinstance(outcome, Failure) for outcome in found.values())
    # A client that sends 64 at once and waits half a second after a refusal is refused hundreds of times.
    assert limit.refused < 45


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
    assert len(dict(chat(server, max_concurrency=1).respond(ask(f"{k}?") for k in range(3)))) == 3
    assert at[1] - at[0] >= 0.4


def test_and_then_all_may_go():
    loop, at = Virtual(), []

    async def go() -> None:
        pace = Pace(1, clock=loop.time)
        for k in range(4):
            async with pace.turn(tokens=0, again=False):
                at.append(loop.time())
            if k == 1:
                pace.told({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400ms"})

    loop.run_until_complete(go())
    loop.close()
    assert at == pytest.approx([0, 0, 0.4, 0.4], abs=0.001)


class Replayed(Pace):
    """A pace on a clock of its own, outside a loop."""

    def _admit(self) -> None:
        """Nobody waits."""


def warmed() -> tuple[Replayed, Clock]:
    clock = Clock()
    pace = Replayed(64, clock=clock)
    for _ in range(50):
        clock.now += 0.01
        pace.succeeded()
    return pace, clock


def test_a_trial_without_refusals_shows_a_limit():
    pace, clock = warmed()
    pace.refused()
    assert pace.rate == pytest.approx(50, rel=0.1)  # half of what was accepted
    for _ in range(TRIAL):
        clock.now += 0.02
        pace.succeeded()
    assert 100 < pace.rate < 150  # meets the limit soon, however few slots there were when it was estimated
    clock.now += 0.1
    before = pace.rate
    pace.refused()
    assert 0.89 * before < pace.rate < before


def limited() -> tuple[Replayed, Clock]:
    """A pace that has found a limit and has met it once."""
    pace, clock = warmed()
    pace.refused()
    for _ in range(TRIAL):
        clock.now += 0.02
        pace.succeeded()
    pace.refused()
    return pace, clock


def test_a_limit_that_is_met_often_is_approached_more_slowly():
    pace, clock = limited()
    waits = []
    for _ in range(5):
        met, limit = clock.now, pace.rate
        pace.refused()
        while pace.rate < limit:  # back to where the limit was met
            clock.now += 0.01
            pace.succeeded()
        waits.append(clock.now - met)
    assert all(later > earlier for earlier, later in pairwise(waits)), waits


def test_refusals_of_calls_that_went_out_before_the_rate_was_lowered_do_not_lower_it_again():
    pace, _ = limited()
    pace._stale = 3
    lowered = pace.rate
    for _ in range(2):
        pace.refused()
    assert pace.rate == lowered
    pace.refused()
    assert pace.rate < lowered


def test_refusals_that_go_on_at_half_the_rate_show_that_there_is_none():
    pace, clock = warmed()
    pace.refused()
    for _ in range(HALVINGS):
        assert pace.rate is not None
        for refused in (False, False, True, False, True):
            clock.now += 0.02
            pace.refused() if refused else pace.succeeded()
    assert pace.rate is None
    for _ in range(20):
        pace.refused()
    assert pace.rate is None


def test_the_first_refusals_say_nothing_about_a_rate():
    pace = Replayed(64, clock=Clock())
    for _ in range(ENOUGH - 1):
        pace.refused()
        pace.succeeded()
    assert pace.rate is None


def test_timeouts_halve_the_calls_at_once_but_not_all_of_them_together():
    pace, clock = warmed()
    clock.now += 5
    pace.limit = 40.0
    for _ in range(10):
        pace.timed_out()
    assert pace.limit == 20
    clock.now += 2
    pace.timed_out()
    assert pace.limit == 10


def test_a_refusal_after_a_long_silence_does_not_stop_everything():
    """Nothing was answered of late, because everybody waited: that is no rate of 0."""
    pace, clock = warmed()
    clock.now += 30
    pace.refused()
    assert pace.rate == pytest.approx(50, rel=0.2)
