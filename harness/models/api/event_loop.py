"""The one place with an event loop: many calls at once behind a plain iterator."""

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
    """Says how many calls are of use at once: the gate of one address, or what stands before those of several."""

    when_room: Callable[[], None]
    """Called when a call has failed: it may wait for its retry now, and leave room for another."""

    def has_room(self, open_calls: int, waiting: int = 0) -> bool:
        """Return whether another request is of use: `open_calls` are open, `waiting` of them not yet in their turn."""

    def look_ahead(self, calls_left: Callable[[], int]) -> None:
        """Take note of what tells how many requests are still to come."""

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
    """Yield the outcomes that landed together, as they land.

    Requests are pulled while the gate has room for more beside those that are open. The loop runs only while the
    caller waits for what lands next, in the caller's thread, so that requests are pulled there as well. When a call
    raises, RunStopped or a bug of ours, or the source of requests does, `stopping` is set (so that nothing waits for a
    retry any more), the calls under way are handed out as they end, and then the exception is raised: what has been
    paid for can be stored, whatever went wrong.
    """
    calls = _OpenCalls(requests, call, gate, stopping)
    at_hand: list[Outcome] = []
    try:
        while calls.begin():
            at_hand.extend(calls.landed())
            outcomes, at_hand = at_hand, []
            if outcomes:
                yield outcomes
            for _ in outcomes:  # which have been stored by now
                calls.loop.call_soon(gate.release_slot)
    except GeneratorExit:
        raise
    except BaseException:
        # Broken off, by Ctrl-C or in the loop itself: what has landed is handed out before what has not is given up.
        at_hand.extend(calls.answered())
        if at_hand:
            yield at_hand
        raise
    finally:
        calls.end(close)
    if calls.stopped:
        raise calls.stopped


class _OpenCalls:
    """The calls that are open, and the loop in which they are under way."""

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
        """Begin as many calls as there is room for; return whether any is open."""
        count = 0
        while (request := self._next(count)) is not None:
            task = self.loop.create_task(self._call(request))
            task.add_done_callback(self._end)
            self._open[task] = request
            count += 1
        return bool(self._open)

    def _next(self, just_begun: int) -> Request | None:
        """Return the next request, if there is one and room for it."""
        try:
            if not self._has_room(just_begun):
                return None
            request = next(self._source, None)
        except Exception as error:  # of whoever makes the requests: the calls under way have nothing to do with it
            self._stop(error)
            return None
        self._exhausted = request is None
        return request

    def _left(self) -> int:
        """Return how many calls are open or have still to be begun; MANY where nobody knows."""
        return len(self._open) + (0 if self._exhausted else length_hint(self._requests, MANY))

    def _has_room(self, just_begun: int) -> bool:
        if self.stopped is not None or self._exhausted or not self._gate.has_room(len(self._open), just_begun):
            return False
        return not self._open or not isinstance(self._requests, Admission) or self._requests.ready

    def landed(self) -> Iterator[Outcome]:
        """Wait until a call has ended, or there is room for another; yield the outcomes of those that have."""
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
        """Begin no more calls; a bug is raised rather than the RunStopped of another call."""
        if self.stopped is None or (isinstance(self.stopped, RunStopped) and not isinstance(error, RunStopped)):
            self.stopped = error
        self._stopping.set()

    def answered(self) -> Iterator[Outcome]:
        """Yield the outcomes of calls that have one and are open all the same: the wait for them was broken off."""
        for task, request in self._open.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                yield request, task.result()

    def end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Give up what is under way, and the loop."""
        self._waiting = False
        for task in self._open:
            task.remove_done_callback(self._end)
            task.cancel()
        if self._open:
            self.loop.run_until_complete(asyncio.gather(*self._open, return_exceptions=True))
        with suppress(Exception):  # all outcomes are handed out: a connection that does not close takes none away
            self.loop.run_until_complete(close())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()

    def _end(self, task: asyncio.Task[Response | Failure]) -> None:
        self._ended.append(task)
        self._wake()

    def _wake(self) -> None:
        """End the wait for the next outcome; nothing may end the tidying up."""
        if self._waiting:
            self.loop.stop()
