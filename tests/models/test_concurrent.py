"""What the caller of the event loop has got when it is interrupted."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from harness.errors import DataError, RunStopped
from harness.models.api.calls import respond
from harness.types import ChatRequest, Message, Response, Usage


class Scripted:
    """An endpoint, and the way to it in one: what the so many-th question is answered is a function's."""

    max_concurrency, requests_per_minute, attempts, max_wait, timeout, base_url = 8, None, 1, 1.0, 600.0, "http://x/v1"

    def __init__(self, call: Callable[[int], Any], closes: BaseException | None) -> None:
        self.call, self.closes, self.closed = call, closes, False

    def check_key(self) -> None:
        """Need none."""

    async def close(self) -> None:
        self.closed = True
        if self.closes is not None:
            raise self.closes

    async def ask(self, request: ChatRequest) -> tuple[Response, Usage]:
        number = int(request.messages[0].content)
        await self.call(number)
        return Response(str(number)), Usage()


@pytest.fixture
def handed_out(monkeypatch):
    """Return the answers that a caller stored, batch by batch, and the exception that came then."""
    monkeypatch.setattr("harness.models.api.calls.Wire", lambda endpoint, learn: endpoint)

    def handed(
        source: Iterable[int], call: Callable[[int], Any], closes: BaseException | None = None
    ) -> tuple[list[str], BaseException | None]:
        scripted, stored = Scripted(call, closes), list[str]()
        try:
            for landed in respond(scripted, (ChatRequest((Message("user", str(n)),), 1) for n in source)):
                stored += [outcome.text for _, outcome in landed if isinstance(outcome, Response)]
        except BaseException as error:
            return sorted(stored), error
        finally:
            assert scripted.closed
        return sorted(stored), None

    return handed


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_has_landed_is_handed_out_when_the_loop_is_broken_off(handed_out, error):
    async def call(number):
        if number > 3:
            await asyncio.sleep(60)
        if number == 3 and error is SystemExit:
            raise SystemExit(3)
        if number == 3:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(60)

    stored, got = handed_out(range(6), call)
    assert stored == ["0", "1", "2"] and isinstance(got, error)


@pytest.mark.parametrize("error", [KeyError("bug"), RunStopped("stop"), MemoryError(), RecursionError("deep")])
def test_what_is_under_way_is_finished_and_handed_out_when_a_call_raises(handed_out, error):
    raised = asyncio.Event()

    async def call(number):
        if number == 3:
            await asyncio.sleep(0)
            raised.set()
            raise error
        if number > 3:
            await raised.wait()
            await asyncio.sleep(0.01 * number)

    assert handed_out(range(8), call) == (["0", "1", "2", "4", "5", "6", "7"], error)


@pytest.mark.parametrize("error", [DataError("a bad row"), ZeroDivisionError()])
def test_what_is_under_way_is_handed_out_when_the_source_of_requests_raises(handed_out, error):
    def source():
        yield from range(5)
        raise error

    assert handed_out(source(), lambda number: asyncio.sleep(0.01 * number)) == (["0", "1", "2", "3", "4"], error)


@pytest.mark.parametrize("first", ["bug", "stop"])
def test_a_bug_is_raised_rather_than_a_stop_before_or_after_it(handed_out, first):
    raised = asyncio.Event()

    async def call(number):
        if number != 1:
            await raised.wait()
        raised.set()
        raise TypeError("bug") if (number == 1) == (first == "bug") else RunStopped("stop")

    assert isinstance(handed_out(range(4), call)[1], TypeError)


def test_connections_that_do_not_close_take_no_answer_away(handed_out):
    assert handed_out(range(4), lambda number: asyncio.sleep(0), OSError("too late")) == (["0", "1", "2", "3"], None)
