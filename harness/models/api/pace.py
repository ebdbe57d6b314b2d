"""The pace that a server asks for in its rate-limit headers, and a bucket that keeps to a rate."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

LONGEST_PAUSE = 60.0
"""Seconds for which a header is believed at most."""
_HEADERS = [
    *((f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}") for kind in ("requests", "tokens")),
    *(
        (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset")
        for kind in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
]
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def pause(headers: Mapping[str, str]) -> float:
    """Return the seconds until something is left to ask for; 0 where something is, or the headers do not say."""
    longest = 0.0
    for remaining, reset in _HEADERS:
        amount, when = headers.get(remaining), headers.get(reset)
        if amount is not None and when is not None and amount.strip() == "0":
            longest = max(longest, min(seconds(when), LONGEST_PAUSE))
    return longest


def seconds(when: str) -> float:
    """Return the seconds of a span such as 1s, 6m0s, 250ms, or until a moment (RFC 3339); 0 where it is neither."""
    if "T" in when:
        try:
            return max(0.0, datetime.fromisoformat(when).timestamp() - time.time())
        except (ValueError, OverflowError):
            return 0.0
    return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(when))


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
        self._level -= units
