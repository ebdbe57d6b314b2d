"""Clocks and event loops whose time is the test's: it does not depend on how fast the machine is today."""

from __future__ import annotations

import asyncio
import selectors
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


class Jumping(selectors.DefaultSelector):
    """Instead of waiting for time to pass it lets it pass, and a microsecond with every turn of the loop."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everything waits, and for nothing"
            self.now += max(timeout, 0.0)
        self.now += 1e-6  # or a wait of less than the clock can tell would be one for ever
        return ready


class Virtual(asyncio.SelectorEventLoop):
    """Time passes where all wait for it, and nowhere else."""

    def __init__(self) -> None:
        self._jumping = Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now
