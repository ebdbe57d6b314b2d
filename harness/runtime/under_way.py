"""What a run is waiting for: entered where that happens, shown by the progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class Waiting:
    """Why a call waits, which try comes next, and how many there are at most."""

    why: str
    next_try: int
    most: int


class Retries:
    """The calls of this process that wait for a retry."""

    def __init__(self) -> None:
        self._calls: dict[Hashable, Waiting] = {}
        self.show: Callable[[], None] = lambda: None
        """Called now and then while calls wait: without a bar, progress is only shown at such moments."""
        self.say: Callable[[str], None] = lambda _: None
        """Prints a line."""

    def begin(self, call: Hashable, waiting: Waiting) -> None:
        self._calls[call] = waiting

    def end(self, call: Hashable) -> None:
        """Remove a call; it need not have waited."""
        self._calls.pop(call, None)

    @property
    def sentence(self) -> str:
        """How many wait and why, such as "7 calls wait: 500: overloaded, try 4 of 10"; else ""."""
        calls = list(self._calls.values())  # a bar reads this in a thread of its own
        if not calls:
            return ""
        ((why, number),) = Counter(waiting.why for waiting in calls).most_common(1)
        latest = max((waiting for waiting in calls if waiting.why == why), key=lambda waiting: waiting.next_try)
        others = f"; {len(calls) - number:,} more for other reasons" * (number < len(calls))
        subject = "1 call waits" if number == 1 else f"{number:,} calls wait"
        return f"{subject}: {why}, try {latest.next_try} of {latest.most}{others}"


RETRIES = Retries()
