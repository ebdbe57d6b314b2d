"""The pace of a run's first calls, while no limit of the server's is known.

Calls that go out at once are refused by a server that saves up nothing, and with each answer two go out: what such a
server refuses then tells less of its limit than of the burst. Spread over the time that answers take, they find the
limit from below, as TCP does that paces its slow start. Where a call fails early, or all slots are in use, there is
nothing to wait for.
"""

from __future__ import annotations

from collections import deque

from harness.models.api.slot_search import START

FIRST = 150.0
"""Calls a second until the first answer."""
MORE = 2.0
"""How many times as many calls go out as answers have come, in as long as an answer takes."""


class Opening:
    """`rate` calls a second go out at most; None when the opening is over."""

    def __init__(self, most: int) -> None:
        """Begin, with `most` slots to be used in the end; few are all in use at once."""
        self.rate: float | None = FIRST if most > START else None
        self._most = most
        self._answers = 0
        self._latest: deque[float] = deque()  # when those of the last moments came
        self._latency = 0.0

    def add_answer(self, sent_at: float, at: float, slots: float) -> None:
        """Learn from an answer, while there are so many slots."""
        if self.rate is None:
            return
        self._answers += 1
        if slots >= self._most or self._answers >= 2 * self._most:
            self.end()
            return
        self._latency += (at - sent_at - self._latency) * (0.1 if self._latency else 1.0)
        self._latest.append(at)
        while self._latest[0] < at - 1.2 * self._latency:
            self._latest.popleft()
        self.rate = MORE * len(self._latest) / max(self._latency, 1e-3)

    def end(self) -> None:
        """Let all go that may: a call has failed, and what that means is known sooner when others are tried."""
        self.rate = None
