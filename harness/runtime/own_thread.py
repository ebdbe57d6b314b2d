"""Work that has its own event loop, for callers whose thread runs one already: a notebook, an async program.

asyncio runs one loop a thread. Where one is running the work goes to a thread of its own, and the caller waits for it,
in reach of Ctrl-C.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from harness.runtime.interrupt import interruptible
from harness.runtime.progress import Progress
from harness.runtime.signals import STOP

T = TypeVar("T")
_abandoned: list[Future[Any]] = []
"""Work that a second Ctrl-C has left behind: it asks nothing more, and stores what was under way."""


def call(work: Callable[[], T], progress: Progress) -> T:
    """Return what `work` returns, or raise what it raises; in a thread of its own where this one runs an event loop."""
    return _call_in_thread(work, progress) if loop_is_running() else work()


def loop_is_running() -> bool:
    """Test whether an event loop is running in this thread."""
    asyncio = sys.modules.get("asyncio")  # where nobody has imported it, none is
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def await_abandoned() -> None:
    """Wait for work that was left behind: it and another run would not both know whom a stop is meant for."""
    while _abandoned:
        _abandoned[-1].exception()  # waits for it; whatever it is, its run has been given up
        _abandoned.pop()
        STOP.requested = False


def _call_in_thread(work: Callable[[], T], progress: Progress) -> T:
    outcome: Future[T] = Future()
    context = contextvars.copy_context()  # a notebook finds the cell that is printing by it

    def fulfil() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:
            outcome.set_exception(error)

    # The future is waited for, not the thread: join() takes a thread for ended when Ctrl-C breaks it off (Python 3.11).
    with interruptible(progress, ended=outcome.done):
        threading.Thread(target=fulfil, name="run", daemon=True).start()
        try:
            return outcome.result()
        finally:
            if not outcome.done():
                STOP.requested = True  # whatever it was that ended the wait
                _abandoned.append(outcome)
