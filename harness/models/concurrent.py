"""The one place with an event loop: many calls at once behind a plain iterator."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from typing import Any

from harness.errors import RunStopped
from harness.models.pace import Pace
from harness.models.protocol import Landing, Outcome
from harness.types import Failure, Request, Response

Call = Callable[[Request], Coroutine[Any, Any, Response | Failure]]


def answer_all(
    requests: Iterable[Request],
    call: Call,
    *,
    pace: Pace,
    stopping: asyncio.Event,
    close: Callable[[], Awaitable[None]],
) -> Landing:
    """Outcomes as they land. Requests are pulled while the pace has room for more beside those that are open.

    The loop runs only while the caller waits for the next outcome, in the caller's thread, so that requests
    are pulled there as well. When a call raises RunStopped, `stopping` is set (so that nothing waits for a
    retry any more), the calls under way are handed out as they end, and then RunStopped is raised.
    """
    at_hand: deque[Outcome] = deque()
    return Landing(_answers(requests, call, pace, stopping, close, at_hand), at_hand.__len__)


def _answers(
    requests: Iterable[Request],
    call: Call,
    pace: Pace,
    stopping: asyncio.Event,
    close: Callable[[], Awaitable[None]],
    at_hand: deque[Outcome],
) -> Generator[Outcome]:
    loop = asyncio.new_event_loop()
    tasks: dict[asyncio.Task[Response | Failure], Request] = {}
    ended: deque[asyncio.Task[Response | Failure]] = deque()
    source = iter(requests)
    stopped: RunStopped | None = None
    exhausted = False

    answering = True

    def wake() -> None:
        """Ends the wait for the next outcome; nothing may end the tidying up."""
        if answering:
            loop.stop()

    def end(task: asyncio.Task[Response | Failure]) -> None:
        ended.append(task)
        wake()

    pace.when_room = wake
    try:
        while True:
            begun = 0
            # Requests that know a `ready` (a budget's) may have to wait until a call under way has landed.
            while (
                stopped is None
                and not exhausted
                and pace.room(len(tasks), begun)
                and (not tasks or getattr(requests, "ready", True))
            ):
                request = next(source, None)
                if request is None:
                    exhausted = True
                    break
                task = loop.create_task(call(request))
                task.add_done_callback(end)
                tasks[task] = request
                begun += 1
            if not tasks:
                break
            loop.run_forever()
            while ended:
                task = ended.popleft()
                request = tasks.pop(task)
                try:
                    at_hand.append((request, task.result()))
                except RunStopped as stop:
                    stopped = stopped or stop
                    stopping.set()
            while at_hand:
                yield at_hand.popleft()
                # Called when the loop runs again, which is when all that were at hand have been taken and stored.
                loop.call_soon(pace.handed_out)
    except KeyboardInterrupt:
        # What has landed was paid for: hand it out before giving up what has not.
        yield from at_hand
        for task, request in tasks.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                yield request, task.result()
        raise
    finally:
        answering = False
        for task in tasks:
            task.remove_done_callback(end)
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(close())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    if stopped:
        raise stopped
