"""Clocks and event loops whose time is the test's: it does not depend on how fast the machine is today."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Any


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Skipping(asyncio.SelectorEventLoop):
    """The machine's time, and what a test has let pass besides."""

    skipped = 0.0

    def time(self) -> float:
        return super().time() + self.skipped

    def skip(self, seconds: float) -> None:
        """From any thread."""
        self.call_soon_threadsafe(self._skip, seconds)

    def _skip(self, seconds: float) -> None:
        self.skipped += seconds


class World:
    """Virtual time that loops share: it passes where all of them wait for it, and nowhere else.

    Loops of several processes run in threads of their own, one at a time, the one whose wait ends first.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._waiting: list[tuple[float, int, threading.Event]] = []
        self._turns = count()

    def wait(self, seconds: float) -> None:
        """Return when so much time has passed; meanwhile the others go on."""
        turn = threading.Event()
        heappush(self._waiting, (self.now + seconds, next(self._turns), turn))
        self._next()
        turn.wait()

    def _next(self) -> None:
        at, _, turn = heappop(self._waiting)
        self.now = max(self.now, at)
        turn.set()

    def together(self, *processes: Callable[[], None]) -> None:
        """Run what each process does, from now on, until all have ended."""

        def run(process: Callable[[], None], turn: threading.Event) -> None:
            turn.wait()
            try:
                process()
            finally:
                if self._waiting:
                    self._next()

        threads = []
        for process in processes:
            turn = threading.Event()
            heappush(self._waiting, (self.now, next(self._turns), turn))
            threads.append(threading.Thread(target=run, args=(process, turn)))
            threads[-1].start()
        self._next()
        for thread in threads:
            thread.join()


class Jumping(selectors.DefaultSelector):
    """Instead of waiting for time to pass it lets it pass, and a microsecond with every turn of the loop."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everything waits, and for nothing"
            if timeout > 0:
                self._world.wait(timeout)
        self._world.now += 1e-6  # or a wait of less than the clock can tell would be one for ever
        return ready


class Virtual(asyncio.SelectorEventLoop):
    """Time passes where all wait for it, and nowhere else."""

    def __init__(self, world: World | None = None) -> None:
        self._world = world or World()
        super().__init__(Jumping(self._world))

    def time(self) -> float:
        return self._world.now
