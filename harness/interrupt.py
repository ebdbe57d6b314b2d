"""Ctrl-C that loses nothing: the first one ends a run in order, the second one at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from types import FrameType

from harness.errors import Interrupted
from harness.models.protocol import Model, Outcome
from harness.progress import Progress
from harness.types import Request


@dataclass
class Stop:
    """Whether the user has asked the run to end."""

    requested: bool = False


@contextmanager
def interruptible(progress: Progress) -> Iterator[Stop]:
    """The first Ctrl-C (or SIGTERM) requests a stop; the second one raises KeyboardInterrupt."""
    stop = Stop()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.requested:
            raise KeyboardInterrupt
        stop.requested = True
        progress.say("stopping: the calls under way are being finished and kept (Ctrl-C again drops them)")

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = [(number, signal.signal(number, on_signal)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield stop
    finally:
        for number, handler in before:
            signal.signal(number, handler)


class Stoppable:
    """A model that is asked nothing more once a stop is requested. It goes between the cache and the model."""

    def __init__(self, model: Model, stop: Stop) -> None:
        """Wraps `model`."""
        self._model = model
        self._stop = stop
        self.name = model.name
        self.identity = model.identity
        self.accepts = model.accepts

    def respond(self, requests: Iterable[Request]) -> Iterator[Outcome]:
        """The model's outcomes; what was under way at the stop still comes. Raises Interrupted after it."""
        yield from self._model.respond(takewhile(lambda _: not self._stop.requested, requests))
        if self._stop.requested:
            raise Interrupted("interrupted: every answer so far is stored; the same command goes on from there.")
