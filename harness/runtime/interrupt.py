"""Signals that lose nothing: the first one ends a run in order, the second one at once."""

from __future__ import annotations

import contextvars
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

from harness.errors import HarnessError
from harness.runtime.progress import Progress
from harness.runtime.signals import STOP

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
T = TypeVar("T")
_abandoned: list[Future[Any]] = []
"""Runs in threads that a second Ctrl-C has left behind: they ask nothing more, and store what was under way."""


@contextmanager
def interruptible(
    progress: Progress, ended: Callable[[], bool] = lambda: True, *, numbers: Sequence[signal.Signals] = SIGNALS
) -> Iterator[None]:
    """Make the first Ctrl-C (SIGTERM, SIGQUIT, SIGHUP) request a stop, and the second one end everything at once.

    A terminal that goes away sends SIGHUP, more than once where a shell passes it on: it is never the second one.
    `ended` says whether all work has ended with the block; if not, the stop stays requested. `numbers`: the signals
    that request it.
    """

    def on_signal(number: int, frame: FrameType | None) -> None:
        if STOP.requested and number == signal.SIGHUP:
            return
        if STOP.requested:
            if callable(at_once := before[signal.SIGINT]):
                at_once(number, frame)
            raise KeyboardInterrupt
        STOP.requested = True
        with suppress(RuntimeError):  # in the middle of another line: nothing more can be printed before it ends
            progress.say("stopping: the calls under way are being finished and kept (Ctrl-C again drops them)")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}
    if before.get(signal.SIGHUP) is signal.SIG_IGN:  # nohup
        del before[signal.SIGHUP]
    try:
        for number in before:
            signal.signal(number, on_signal)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if ended():
            STOP.requested = False


def finish_calls(outcomes: Iterable[object]) -> None:
    """Let the calls under way end and be stored, ignore their outcomes and ask nothing more."""
    with STOP.held(), suppress(HarnessError):
        for _ in outcomes:
            continue


def call(work: Callable[[], T], progress: Progress) -> T:
    """Return what `work` returns, or raise what it raises; in a thread of its own where this one runs an event loop."""
    asyncio = sys.modules.get("asyncio")  # where nobody has imported it, no loop is running
    if asyncio is None or asyncio._get_running_loop() is None:
        return work()
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
                STOP.requested = True  # whatever has ended the wait
                _abandoned.append(outcome)


def await_abandoned() -> None:
    """Wait for runs that were left behind: a stop is one flag for the whole process, so two runs cannot share it."""
    while _abandoned:
        _abandoned[-1].exception()  # waits; the error itself is of a run that was given up
        _abandoned.pop()
        STOP.requested = False
