"""What the caller of the event loop has got when it is interrupted."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator

import pytest

from harness.errors import DataError, RunStopped
from harness.models.api.calls import respond
from harness.protocols import Outcomes
from harness.types import ChatRequest, Message, Response


class Scripted:
    """An endpoint, and the way to it in one: what a call is answered is a function's."""

    max_concurrency, requests_per_minute, attempts, max_wait, timeout, base_url = 8, None, 1, 1.0, 600.0, "http://x/v1"

    def __init__(self, call, close=None) -> None:
        self.call, self.closes = call, close

    def check_key(self) -> None:
        """Need none."""

    async def close(self) -> None:
        if self.closes is not None:
            await self.closes()

    async def ask(self, request):
        return await self.call(request)

    def read(self, reply, request, seconds):
        return reply


@pytest.fixture(autouse=True)
def scripted(monkeypatch):
    monkeypatch.setattr("harness.models.api.calls.Wire", lambda endpoint, pace: endpoint)


def answer_all(requests, call, close=None) -> Iterator[Outcomes]:
    return respond(Scripted(call, close), requests)


def test_what_has_landed_is_handed_out_before_a_keyboard_interrupt():
    requests = [ChatRequest((Message("user", str(number)),), 1) for number in range(6)]
    closed = []

    async def call(request):
        number = int(request.messages[0].content)
        if number > 3:
            await asyncio.sleep(60)
        if number == 3:
            signal.raise_signal(signal.SIGINT)
        return Response(str(number))

    async def close():
        closed.append(True)

    landing = answer_all(requests, call, close)
    found = [outcome.text for _, outcome in next(landing)]
    with pytest.raises(KeyboardInterrupt):
        next(landing)
    assert sorted(found) == ["0", "1", "2"] and closed


def numbered(count: int) -> list[ChatRequest]:
    return [ChatRequest((Message("user", str(number)),), 1) for number in range(count)]


def handed_out(landing: Iterator[Outcomes]) -> tuple[list[str], BaseException | None]:
    """Return the outcomes that a caller stored, batch by batch, and the exception that came then."""
    stored: list[str] = []
    try:
        while True:
            stored += [outcome.text for _, outcome in next(landing) if isinstance(outcome, Response)]
    except StopIteration:
        return stored, None
    except BaseException as error:
        return stored, error


@pytest.mark.parametrize("error", [KeyError("bug"), RunStopped("stop"), MemoryError(), RecursionError("deep")])
def test_what_is_under_way_is_finished_and_handed_out_when_a_call_raises(error):
    raised = asyncio.Event()

    async def call(request):
        number = int(request.messages[0].content)
        if number == 3:
            await asyncio.sleep(0)
            raised.set()
            raise error
        if number > 3:
            await raised.wait()
            await asyncio.sleep(0.01 * number)
        return Response(str(number))

    stored, got = handed_out(answer_all(numbered(8), call))
    assert sorted(stored) == ["0", "1", "2", "4", "5", "6", "7"]
    assert got is error


def test_what_has_landed_is_handed_out_when_the_loop_is_broken_off_in_any_way():
    async def call(request):
        number = int(request.messages[0].content)
        if number > 3:
            await asyncio.sleep(60)
        if number == 3:
            raise SystemExit(3)
        return Response(str(number))

    stored, got = handed_out(answer_all(numbered(6), call))
    assert sorted(stored) == ["0", "1", "2"] and isinstance(got, SystemExit)


@pytest.mark.parametrize("error", [DataError("a bad row"), ZeroDivisionError()])
def test_what_is_under_way_is_handed_out_when_the_source_of_requests_raises(error):
    def source():
        yield from numbered(5)
        raise error

    async def call(request):
        await asyncio.sleep(0.01 * int(request.messages[0].content))
        return Response(request.messages[0].content)

    stored, got = handed_out(answer_all(source(), call))
    assert sorted(stored) == ["0", "1", "2", "3", "4"] and got is error


@pytest.mark.parametrize("first", ["bug", "stop"])
def test_a_bug_is_raised_rather_than_a_stop_before_or_after_it(first):
    raised = asyncio.Event()

    async def call(request):
        if request.messages[0].content != "1":
            await raised.wait()
        raised.set()
        if (request.messages[0].content == "1") == (first == "bug"):
            raise TypeError("bug")
        raise RunStopped("stop")

    _, got = handed_out(answer_all(numbered(4), call))
    assert isinstance(got, TypeError)


def test_connections_that_do_not_close_take_no_answer_away():
    async def call(request):
        return Response(request.messages[0].content)

    async def close():
        raise OSError("too late")

    stored, got = handed_out(answer_all(numbered(4), call, close))
    assert sorted(stored) == ["0", "1", "2", "3"] and got is None
