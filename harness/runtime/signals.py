"""How a process ends: whether Ctrl-C has asked for it, how to end at once, and what is done before that.

A command imports this first, and little is imported here: Ctrl-C may come while the rest is being imported.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
INTERRUPTED = 130
"""The exit code of what Ctrl-C has ended, as shells have it."""


class Stop:
    """A request to end, the only one there is.

    Set by the first Ctrl-C; read before another request is asked, another batch run, another retry awaited.
    """

    requested = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have it set within the context, and as it was after that."""
        before, self.requested = self.requested, True
        try:
            yield
        finally:
            self.requested = before


STOP = Stop()
_HANDLERS: list[Callable[[int, FrameType | None], None]] = []
"""Those that `at_once` has set."""
LAST: list[Callable[[], object]] = []
"""Called before the process ends at once: erase a bar, remove an incomplete file, end a server."""


def sentence(state: str = "every stored answer is kept") -> str:
    return f"interrupted: {state}; the same command goes on from there."


def at_once(message: str, code: int = INTERRUPTED) -> None:
    """Make Ctrl-C end the process wherever it is, with this exit code and, if it is not empty, this message.

    SIGTERM ends it with the same message, as whoever has sent it expects: by that signal.

    No exception is raised: one that comes in the middle of an import, a destructor or the interpreter's own exit would
    be shown with its traceback, turned into another, or ignored. Cache and results folder survive kill -9, and this.
    A process that was started to ignore Ctrl-C goes on ignoring it.
    """
    process = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            signal.signal(number, signal.SIG_DFL)
            if os.getpid() != process:  # one that was forked says nothing for this one
                os.kill(os.getpid(), number)
        for do in (*LAST, sys.stdout.flush):
            try:
                do()
            except Exception:  # the reader of our output has gone, or the signal came in the middle of a flush
                continue
        if message:
            with suppress(OSError):  # the terminal has gone
                os.write(2, f"{message}\n".encode())
        if number == signal.SIGTERM:
            os.kill(os.getpid(), number)
        os._exit(code)

    _HANDLERS.append(end)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, end)
    if signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, *_HANDLERS):
        signal.signal(signal.SIGTERM, end)


def as_exception() -> None:
    """Make Ctrl-C raise KeyboardInterrupt again, if `at_once` has changed that, so that cleanup runs."""
    if signal.getsignal(signal.SIGINT) in _HANDLERS:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) in _HANDLERS:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def interruptible(
    say: Callable[[str], object],
    ended: Callable[[], bool] = lambda: True,
    *,
    numbers: Sequence[signal.Signals] = SIGNALS,
) -> Iterator[None]:
    """Make the first Ctrl-C (SIGTERM, SIGQUIT, SIGHUP) request a stop, and the second one end everything at once.

    A terminal that goes away sends SIGHUP, more than once where a shell passes it on: it is never the second one.
    `say` prints that it stops; `ended` says whether all work has ended with the block, else the stop stays requested.
    `numbers`: the signals that request it.
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
            say("stopping: the calls under way are being finished and kept (Ctrl-C again drops them)")

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
    from harness.errors import HarnessError

    with STOP.held(), suppress(HarnessError):
        for _ in outcomes:
            continue


def leave(code: int) -> NoReturn:
    """End a command that has printed everything; Ctrl-C only makes it end sooner."""
    at_once("", code)
    # Python restores the system's handler after its exit functions, which would give another exit code.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    atexit.register(gc.freeze)  # a process that ends needs no look for circles in all that it holds
    sys.exit(code)
