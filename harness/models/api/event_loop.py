"""The only event loop there is: many calls at once behind a plain iterator."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import suppress
from operator import length_hint
from typing import Any, Protocol

from harness.errors import RunStopped
from harness.protocols import MANY, Admission, Outcome, Outcomes
from harness.types import Failure, Request, Response


class Room(Protocol):
    """What limits the number of open calls."""

    when_room: Callable[[], None]
    """Called when a call has failed: while it waits for its retry there is room for another."""

    def has_room(self, open_calls: int, waiting: int = 0) -> bool:
        """Test whether another call may begin, with `open_calls` open and `waiting` of them still before their turn."""

    def look_ahead(self, calls_left: Callable[[], int]) -> None:
        """Take the function that returns how many requests are still to come."""

    def release_slot(self) -> None:
        """Free the slot of an answer that has been stored."""


Call = Callable[[Request], Coroutine[Any, Any, Response | Failure]]


def answer_all(
    requests: Iterable[Request],
    call: Call,
    *,
    gate: Room,
    stopping: asyncio.Event,
    close: Callable[[], Awaitable[None]],
) -> Generator[Outcomes]:
    """Yield the outcomes that arrived together, as they arrive.

    Requests are pulled as long as the gate has room for more. The loop runs only while the caller waits for the next
    outcomes, and in the caller's thread, where requests are pulled too. If a call raises (RunStopped, or a bug of ours)
    or the source of requests does, `stopping` is set, so that nothing waits for a retry any more; the outcomes of the
    calls under way are still yielded, then the exception is raised. So whatever was paid for can be stored.
    """
    calls = _OpenCalls(requests, call, gate, stopping)
    at_hand: list[Outcome] = []
    try:
        while calls.begin():
            at_hand.extend(calls.landed())
            outcomes, at_hand = at_hand, []
            if outcomes:
                yield outcomes
            for _ in outcomes:  # the caller has stored them by now
                calls.loop.call_soon(gate.release_slot)
    except GeneratorExit:
        raise
    except BaseException:
        # Interrupted by Ctrl-C or in the loop itself: yield what has arrived before giving up the rest.
        at_hand.extend(calls.answered())
        if at_hand:
            yield at_hand
        raise
    finally:
        calls.end(close)
    if calls.stopped:
        raise calls.stopped


class _OpenCalls:
    """The open calls, and the loop that runs them."""

    def __init__(self, requests: Iterable[Request], call: Call, gate: Room, stopping: asyncio.Event) -> None:
        self.loop = asyncio.new_event_loop()
        self.stopped: Exception | None = None
        self._requests, self._source = requests, iter(requests)
        self._exhausted = False
        self._call, self._gate, self._stopping = call, gate, stopping
        self._open: dict[asyncio.Task[Response | Failure], Request] = {}
        self._ended: deque[asyncio.Task[Response | Failure]] = deque()
        self._waiting = True
        gate.when_room = self._wake
        gate.look_ahead(self._left)

    def begin(self) -> bool:
        """Begin as many calls as there is room for; return False once none is open."""
        count = 0
        while (request := self._next(count)) is not None:
            task = self.loop.create_task(self._call(request))
            task.add_done_callback(self._end)
            self._open[task] = request
            count += 1
        return bool(self._open)

    def _next(self, just_begun: int) -> Request | None:
        """Return the next request; None at their end, or while there is no room for it."""
        try:
            if not self._has_room(just_begun):
                return None
            request = next(self._source, None)
        except Exception as error:  # from the source of requests, which leaves the calls under way alone
            self._stop(error)
            return None
        self._exhausted = request is None
        return request

    def _left(self) -> int:
        """Return how many calls are open or still to begin; MANY if that is unknown."""
        return len(self._open) + (0 if self._exhausted else length_hint(self._requests, MANY))

    def _has_room(self, just_begun: int) -> bool:
        if self.stopped is not None or self._exhausted or not self._gate.has_room(len(self._open), just_begun):
            return False
        return not self._open or not isinstance(self._requests, Admission) or self._requests.ready

    def landed(self) -> Iterator[Outcome]:
        """Wait until a call has ended or there is room for another; yield the outcomes of calls that ended."""
        self.loop.run_forever()
        while self._ended:
            task = self._ended.popleft()
            request = self._open.pop(task)
            error = task.exception()
            if error is None:
                yield request, task.result()
            elif isinstance(error, Exception):
                self._stop(error)
            else:
                raise error

    def _stop(self, error: Exception) -> None:
        """Begin no more calls, and keep the error to raise: a bug rather than another call's RunStopped."""
        if self.stopped is None or (isinstance(self.stopped, RunStopped) and not isinstance(error, RunStopped)):
            self.stopped = error
        self._stopping.set()

    def answered(self) -> Iterator[Outcome]:
        """Yield the outcomes of calls that have ended but were not collected, as the wait was interrupted."""
        for task, request in self._open.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                yield request, task.result()

    def end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Cancel what is under way, and close the loop."""
        self._waiting = False
        for task in self._open:
            task.remove_done_callback(self._end)
            task.cancel()
        if self._open:
            self.loop.run_until_complete(asyncio.gather(*self._open, return_exceptions=True))
        with suppress(Exception):  # all outcomes have been yielded: a connection that fails to close loses none
            self.loop.run_until_complete(close())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def _end(self, task: asyncio.Task[Response | Failure]) -> None:
        self._ended.append(task)
        self._wake()

    def _wake(self) -> None:
        """End the wait for the next outcome, but never the clean-up."""
        if self._waiting:
            self.loop.stop()
