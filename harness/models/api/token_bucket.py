"""A token bucket: units go out at a rate, and what is not used adds up to little."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class TokenBucket:
    """`rate` units a second; what is not used adds up to at most a tenth of a second's worth, or one unit."""

    rate: float
    clock: Callable[[], float]
    _level: float = field(default=1.0, init=False)
    _filled_at: float | None = field(default=None, init=False)

    def wait(self, units: float) -> float:
        """Return the seconds until `units` may go; a call larger than the bucket goes when it is full."""
        now = self.clock()
        elapsed = 0.0 if self._filled_at is None else now - self._filled_at
        self._filled_at = now
        capacity = max(1.0, self.rate / 10, units)
        self._level = min(capacity, self._level + elapsed * self.rate)
        return max(0.0, (units - self._level) / self.rate)

    def take(self, units: float) -> None:
        """Take out the units of a call that goes."""
        self._level -= units
