"""When a call may go out: in a slot, no faster than model.requests_per_minute, while something is left of a limit.

Nothing is searched for: how many calls a server takes at once, and how often, is the user's to say, or the server's.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Mapping

from harness.errors import Interrupted
from harness.models.api.faults import seconds_until
from harness.runtime.progress import RETRIES
from harness.runtime.signals import STOP

LONGEST_PAUSE = 60.0
"""Seconds for which a header is believed at most."""
LOW = 0.1
"""The share of a limit that is left alone, by what headers say: calls that are under way may take it yet."""
CATCH_UP = 0.025
"""Seconds of a known rate that a busy machine makes up for at once; servers have some such room."""
MOST_OPEN = 4
"""Open calls for each slot: those that wait for a retry hold none."""
_HEADERS = (
    *(f"x-ratelimit-{{}}-{kind}" for kind in ("requests", "tokens")),
    *(f"anthropic-ratelimit-{kind}-{{}}" for kind in ("requests", "tokens", "input-tokens", "output-tokens")),
)
_NUMBER = re.compile(r"\s*\d+\s*", re.ASCII)
_TICK = 0.2


class Pace:
    """The slots of one run. A call keeps its slot until its answer is stored; one that waits for a retry has none."""

    def __init__(self, slots: int, requests_per_minute: float | None = None) -> None:
        """Let at most `slots` calls go at once; the rate is a limit that the user knows of."""
        self._free, self._turn = asyncio.Semaphore(slots), asyncio.Lock()
        self._slots, self._wanted = slots, 0
        """How many there are; how many are taken or waited for."""
        self._interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._next = self._pause_until = -1e9
        self._answered: deque[bool] = deque(maxlen=16)

    def has_room(self, open_calls: int, just_begun: int) -> bool:
        """Return whether another call is of use; those just begun have not asked for a slot yet.

        A server that answers nobody is not to be asked by everybody: until it has answered once, and while it answers
        none of the latest calls, one that waits for its retry counts like one under way.
        """
        most_open = self._slots * (MOST_OPEN if any(self._answered) else 1)
        return open_calls < most_open and self._wanted + just_begun < self._slots

    async def enter(self) -> None:
        """Take a slot, and wait until a call may go out."""
        self._wanted += 1
        try:
            await self._free.acquire()
            try:
                await self._in_turn()
            except BaseException:
                self._free.release()
                raise
        except BaseException:
            self._wanted -= 1
            raise

    def leave(self) -> None:
        """Give a slot back."""
        self._wanted -= 1
        self._free.release()

    async def _in_turn(self) -> None:
        """Wait for the rate, and for a pause that the server's headers ask for."""
        if not self._interval and self._pause_until <= time.monotonic():
            return
        async with self._turn:
            while (wait := max(self._next, self._pause_until) - time.monotonic()) > 0:
                if STOP.requested:
                    raise Interrupted("interrupted before a call went out.")
                if self._pause_until - time.monotonic() > _TICK:
                    RETRIES.begin(self, "the server's headers say that its limit is nearly used up", 1, 1)
                    RETRIES.show()
                await asyncio.sleep(min(wait, _TICK))
            self._next = max(self._next, time.monotonic() - CATCH_UP) + self._interval
            RETRIES.end(self)

    def note(self, *, answered: bool) -> None:
        """Take note of whether a call was answered."""
        self._answered.append(answered)

    def learn(self, headers: Mapping[str, str]) -> None:
        """Let nothing go out while a reply's rate-limit headers say that nothing is left."""
        if (seconds := pause(headers)) > 0:
            self._pause_until = max(self._pause_until, time.monotonic() + seconds)


def pause(headers: Mapping[str, str]) -> float:
    """Return the seconds until some of a limit is left; 0 where some is, or the headers do not say.

    At 0 that is when all of it is there again, and below LOW when so much has come back, as if it came evenly.
    """
    longest = 0.0
    for name in _HEADERS:
        left, most, when = (headers.get(name.format(what), "") for what in ("remaining", "limit", "reset"))
        if not _NUMBER.fullmatch(left):
            continue
        there, seconds = float(left), seconds_until(when, headers) or 0.0
        # A day's limit may be used to its end.
        low = LOW * float(most) if _NUMBER.fullmatch(most) and seconds <= LONGEST_PAUSE else 0.0
        lacks = 1.0 if there == 0 else (low - there) / (float(most) - there) if there < low else 0.0
        longest = max(longest, min(lacks * seconds, LONGEST_PAUSE))
    return longest
