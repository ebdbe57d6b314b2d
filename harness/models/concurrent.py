"""The one place with an event loop: many calls at once behind a plain iterator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator

from harness.errors import RunStopped
from harness.models.protocol import Outcome
from harness.types import Failure, Request, Response

Call = Callable[[Request], Awaitable[Response | Failure]]


def answer_all(
    requests: Iterable[Request],
    call: Call,
    *,
    room: Callable[[int], bool],
    handed_out: Callable[[], None],
    stopping: asyncio.Event,
    close: Callable[[], Awaitable[None]],
) -> Iterator[Outcome]:
    """Outcomes as they land. Requests are pulled while there is `room` for more beside those that are open.

    The loop runs only while the caller waits for the next outcome, in the caller's thread, so that requests
    are pulled there as well. When a call raises RunStopped, `stopping` is set (so that nothing waits for a
    retry any more), the calls under way are handed out as they end, and then RunStopped is raised.
    """
    loop = asyncio.new_event_loop()
    tasks: dict[asyncio.Task[Response | Failure], Request] = {}
    source = iter(requests)
    stopped: RunStopped | None = None
    exhausted = False
    try:
        while True:
            while stopped is None and not exhausted and room(len(tasks)):
                request = next(source, None)
                if request is None:
                    exhausted = True
                    break
                tasks[loop.create_task(_await(call(request)))] = request
                loop.run_until_complete(_begun())
            if not tasks:
                break
            done, _ = loop.run_until_complete(asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED))
            for task in done:
                request = tasks.pop(task)
                try:
                    outcome = task.result()
                except RunStopped as stop:
                    stopped = stopped or stop
                    stopping.set()
                    continue
                yield request, outcome
                loop.call_soon(handed_out)
    except KeyboardInterrupt:
        # What has landed was paid for: hand it out before giving up what has not.
        for task, request in tasks.items():
            if task.done() and not task.cancelled() and task.exception() is None:
                yield request, task.result()
        raise
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(close())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    if stopped:
        raise stopped


async def _begun() -> None:
    """One round of the loop: a new task asks for its slot."""


async def _await(call: Awaitable[Response | Failure]) -> Response | Failure:
    return await call
