"""When a call may go out: in a slot, no faster than model.requests_per_minute, while something is left of a limit.

Nothing is searched for: how many calls a server takes at once, and how often, is the user's to say, or the server's.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable, Mapping

from harness.errors import BudgetReached, Interrupted
from harness.models.api.faults import date_of, span
from harness.runtime.signals import STOP
from harness.runtime.under_way import RETRIES, Waiting

LONGEST_PAUSE = 60.0
"""Seconds for which a header is believed at most."""
LOW = 0.1
"""The share of a limit that is left alone, by what headers say: calls that are under way may take it yet."""
CATCH_UP = 0.025
"""Seconds of a known rate that a busy machine makes up for at once; servers have some such room."""
MOST_OPEN = 4
"""Open calls for each slot: those that wait for a retry hold none."""
_HEADERS = [
    *([f"x-ratelimit-{what}-{kind}" for what in ("remaining", "limit", "reset")] for kind in ("requests", "tokens")),
    *(
        [f"anthropic-ratelimit-{kind}-{what}" for what in ("remaining", "limit", "reset")]
        for kind in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
]
_NUMBER = re.compile(r"\s*\d+\s*", re.ASCII)
_TICK = 0.2


class Pace:
    """The slots of one run. A call keeps its slot until its answer is stored; one that waits for a retry has none."""

    def __init__(
        self, slots: int, requests_per_minute: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Let at most `slots` calls go at once; the rate is a limit that the user knows of."""
        self.slots, self.taken = slots, 0
        self._interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._clock = clock
        self._next = self._pause_until = -1e9
        self._turns: deque[asyncio.Future[None]] = deque()
        self._queue: deque[asyncio.Future[None]] = deque()
        self._answered: deque[bool] = deque(maxlen=16)

    def has_room(self, open_calls: int, just_begun: int) -> bool:
        """Return whether another call is of use; those just begun do not stand in the queue yet.

        A server that answers nobody is not to be asked by everybody: until it has answered once, and while it answers
        none of the latest calls, one that waits for its retry counts like one under way.
        """
        if open_calls >= self.slots * (MOST_OPEN if any(self._answered) else 1):
            return False
        return self.taken + len(self._queue) + just_begun < self.slots

    async def enter(self, within: float, *, again: bool = False) -> None:
        """Take a slot, retries first, and wait until a call may go out. Raises BudgetReached after `within` seconds."""
        try:
            async with asyncio.timeout(None if within == float("inf") else within):
                await self._slot(again)
                try:
                    await self._turn()
                except BaseException:
                    self.leave()
                    raise
        except TimeoutError:
            raise BudgetReached("the time was over before a call's turn came") from None

    async def _slot(self, again: bool) -> None:
        if self.taken < self.slots and not self._queue:
            self.taken += 1
            return
        turn = asyncio.get_running_loop().create_future()
        (self._queue.appendleft if again else self._queue.append)(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Give a slot to whoever waits for one, or back."""
        while self._queue:
            if not (turn := self._queue.popleft()).done():
                turn.set_result(None)
                return
        self.taken -= 1

    async def _turn(self) -> None:
        """Wait for the rate, and for a pause that the server's headers ask for."""
        if self._interval or self._pause_until > self._clock():
            turn = asyncio.get_running_loop().create_future()
            self._turns.append(turn)
            if len(self._turns) == 1:
                self._pump()
            await turn

    def _pump(self) -> None:
        """Let as many go as may, and come back when the next one may."""
        while self._turns:
            now = self._clock()
            if STOP.requested:
                error = Interrupted("interrupted before a call went out.")
                while self._turns:
                    if not (turn := self._turns.popleft()).cancelled():
                        turn.set_exception(error)
            elif (wait := max(self._next, self._pause_until) - now) > 0:
                if self._pause_until - now > _TICK:
                    RETRIES.begin(self, Waiting("the server's limit is used up, as its headers say", 1, 1))
                    RETRIES.show()
                asyncio.get_running_loop().call_later(min(wait, _TICK), self._pump)
                return
            elif not (turn := self._turns.popleft()).cancelled():
                self._next = max(self._next, now - CATCH_UP) + self._interval
                turn.set_result(None)
        RETRIES.end(self)

    def note(self, *, answered: bool) -> None:
        """Take note of whether a call was answered."""
        self._answered.append(answered)

    def learn(self, headers: Mapping[str, str]) -> None:
        """Let nothing go out while a reply's rate-limit headers say that nothing is left."""
        if (seconds := pause(headers)) > 0:
            self._pause_until = max(self._pause_until, self._clock() + seconds)


def pause(headers: Mapping[str, str]) -> float:
    """Return the seconds until some of a limit is left; 0 where some is, or the headers do not say.

    At 0 that is when all of it is there again, and below LOW when so much has come back, as if it came evenly.
    """
    longest = 0.0
    for names in _HEADERS:
        left, most, when = (headers.get(name, "") for name in names)
        if not when or not _NUMBER.fullmatch(left):
            continue
        lacks = 1.0 if float(left) == 0 else 0.0
        if lacks == 0 and _NUMBER.fullmatch(most) and float(left) < LOW * float(most):
            lacks = (LOW * float(most) - float(left)) / (float(most) - float(left))
        longest = max(longest, min(lacks * seconds(when), LONGEST_PAUSE))
    return longest


def seconds(when: str) -> float:
    """Return the seconds of a span such as 1s, 6m0s, 250ms, or until a moment (RFC 3339); 0 where it is neither."""
    return max(0.0, (date_of(when) or 0.0) - time.time()) if "T" in when else span(when)
