"""Clocks and event loops whose time is the test's: it does not depend on how fast the machine is today."""

from __future__ import annotations

import asyncio


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
