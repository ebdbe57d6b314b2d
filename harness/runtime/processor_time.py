"""A bound on the processor time of work on what somebody else has written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TooLongError(Exception):
    """Work took more processor time than it may."""


@contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """Raise TooLongError in the body of the `with` once this process has used `seconds` of processor time.

    It ends regular expressions, too; but only the main thread, and only on systems that have such a timer.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
