"""What calls wait at before they go out: for a slot, for their turn in the queue, for the limits of the server.

How many slots there are is found by one search, and what refusals mean for the rate by another; calls then go out no
faster than it says, nor than the rate-limit headers ask.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

from harness.errors import BudgetReached
from harness.models.api.faults import RefusedError, status, timed_out
from harness.models.api.opening import Opening
from harness.models.api.rate_search import RateSearch
from harness.models.api.sent_calls import Sent
from harness.models.api.slot_search import SlotSearch

LONGEST_PAUSE = 60.0
"""Seconds for which a header is believed at most."""
_HEADERS = [
    *(
        tuple(f"x-ratelimit-{what}-{kind}" for what in ("remaining", "limit", "reset"))
        for kind in ("requests", "tokens")
    ),
    *(
        tuple(f"anthropic-ratelimit-{kind}-{what}" for what in ("remaining", "limit", "reset"))
        for kind in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
]
CROWDED, OVERDUE = 7, 0.3
"""Of the latest 16 calls, those that were refused for which a slot less is used while no limit is known; the share of
calls without an answer although they should have one, for which no slot more is."""
LOW = 0.1
"""The share of a limit that is left alone, by what headers say: calls that are under way may take it yet."""
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_NUMBER = re.compile(r"\s*\d+\s*", re.ASCII)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Gate:
    """A gate that admits calls one by one. Retries that are due go before calls that have not been tried yet."""

    def __init__(
        self,
        most: int,
        *,
        requests_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Let at most `most` calls go at once; the rate is a limit that the user knows of."""
        self.most = most
        self._slot_search = SlotSearch(most)
        self.when_room: Callable[[], None] = lambda: None
        """Called when a call has failed: it may wait for its retry now, and leave room for another."""
        self._clock = clock
        self._requests = TokenBucket(requests_per_minute / 60, clock) if requests_per_minute else None
        self._search = RateSearch()
        self._opening = Opening(most)
        self._search_bucket: TokenBucket | None = None
        self._retries: deque[asyncio.Future[Sent]] = deque()
        self._first_tries: deque[asyncio.Future[Sent]] = deque()
        self._under_way = 0
        self._answers_waiting = 0
        self._timer: asyncio.TimerHandle | None = None
        self._pause_until = 0.0
        self._answers: deque[bool] = deque(maxlen=16)  # which of the latest calls were answered
        self._keep_rate()

    def look_ahead(self, calls_left: Callable[[], int]) -> None:
        """Let the search know how many calls there will still be: near the end it takes no risk."""
        self._search.calls_left = calls_left

    @asynccontextmanager
    async def turn(self, *, again: bool, within: float = math.inf) -> AsyncIterator[Sent]:
        """Hold a slot: entered when a call may go out, left when its reply is there, of which it is to be told.

        Raises BudgetReached where that takes longer than `within` seconds.
        """
        if within == math.inf:
            sent = await self._enter(again)
        else:
            try:
                async with asyncio.timeout(within):
                    sent = await self._enter(again)
            except TimeoutError:
                raise BudgetReached("the time was over before a call's turn came") from None
        try:
            yield sent
        finally:
            self._under_way -= 1
            self._admit()

    async def _enter(self, again: bool) -> Sent:
        turn: asyncio.Future[Sent] = asyncio.get_running_loop().create_future()
        queue = self._retries if again else self._first_tries
        queue.append(turn)
        self._admit()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._under_way -= 1
                self._admit()
            elif turn in queue:  # a place that nobody waits in takes the room of another
                queue.remove(turn)
            raise

    def _admit(self) -> None:
        """Let as many calls go as may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._under_way + self._answers_waiting < int(self.slots):
            queue = self._retries or self._first_tries
            if not queue:
                return
            turn = queue[0]
            if turn.cancelled():
                queue.popleft()
                continue
            buckets = [bucket for bucket in (self._requests, self._search_bucket) if bucket is not None]
            wait = max([self._pause_until - self._clock(), *(bucket.wait(1.0) for bucket in buckets)])
            if wait > 0:
                self._timer = asyncio.get_running_loop().call_later(wait, self._admit)
                return
            for bucket in buckets:
                bucket.take(1.0)
            queue.popleft()
            self._under_way += 1
            turn.set_result(self._search.send(self._clock()))

    def has_room(self, open_calls: int, waiting: int = 0) -> bool:
        """Return whether another request is of use: `open_calls` are open, `waiting` of them not yet in their turn.

        A server that answers nobody is not to be asked by everybody: until it has answered once, and while it answers
        none of the latest calls, one that waits for its retry counts like one under way.
        """
        if not any(self._answers):
            return open_calls < int(self.slots)
        return open_calls < 8 * self.most and self._under_way + len(self._first_tries) + waiting <= int(self.slots)

    @property
    def slots(self) -> float:
        """Return how many calls go at once."""
        return self._slot_search.slots

    @property
    def rate(self) -> float | None:
        """Return the calls a second that it keeps to; None where no limit of the server's is known."""
        return self._search.rate

    @property
    def queued(self) -> int:
        """Return how many calls wait for their first turn."""
        return len(self._first_tries)

    def hold_slot(self) -> None:
        """Keep a slot for an answer until it is handed out: what is not stored yet may be lost."""
        self._answers_waiting += 1

    def release_slot(self) -> None:
        """Free the slot of an answer that has been stored."""
        self._answers_waiting -= 1
        self._admit()

    def note_success(self, sent: Sent) -> None:
        """Learn from a reply: more slots, and a higher rate where one is kept to."""
        self._answers.append(True)
        self._search.add_success(sent, self._clock())
        grow = self.slots < self.most and self._search.overdue(self._clock()) < OVERDUE
        self._slot_search.add_answer(sent, self._clock(), self._under_way, grow=grow)
        self._opening.add_answer(sent.at, self._clock(), self.slots)
        self._keep_rate()
        self._admit()

    def note_failure(self, error: BaseException, sent: Sent) -> None:
        """Learn from a call that failed: what its headers ask for, and whether it was refused or took too long."""
        self.when_room()
        sent.replied = True
        self._answers.append(False)
        if isinstance(error, RefusedError):
            self.read_rate_limit_headers(error.headers)
        if self._opening.rate is not None:
            self._opening.end()
            self._keep_rate()
        if status(error) == 429:
            self._search.add_refusal(sent, self._clock())
            if self._search.rate is None and self._answers.count(False) >= CROWDED:
                self._slot_search.add_refusal()
            self._keep_rate()
        elif timed_out(error):
            self.note_timeout()

    def note_timeout(self) -> None:
        """Halve the slots where the server took a call and did not answer in time, once for those of a second."""
        if self._search.add_timeout(self._clock()):
            self._slot_search.add_timeout()

    def read_rate_limit_headers(self, headers: Mapping[str, str]) -> None:
        """Let nothing go out while a reply's x-ratelimit headers say that nothing is left."""
        seconds = pause(headers)
        if seconds > 0:
            self._pause_until = max(self._pause_until, self._clock() + seconds)

    def _keep_rate(self) -> None:
        """Make calls wait for the rate that the search has come to, for that of the opening, or for none."""
        rate = self._search.rate or self._opening.rate
        if rate is None:
            self._search_bucket = None
        elif self._search_bucket is None:
            self._search_bucket = TokenBucket(rate, self._clock, 0.002)
        else:
            self._search_bucket.rate = rate


@dataclass
class TokenBucket:
    """`rate` units a second; what is not used adds up to those of `saves` seconds at most, or to one unit."""

    rate: float
    clock: Callable[[], float]
    saves: float = 0.1
    _level: float = field(default=1.0, init=False)
    _filled_at: float | None = field(default=None, init=False)

    def wait(self, units: float) -> float:
        """Return the seconds until `units` may go; a call larger than the bucket goes when it is full."""
        now = self.clock()
        elapsed = 0.0 if self._filled_at is None else now - self._filled_at
        self._filled_at = now
        capacity = max(1.0, self.rate * self.saves, units)
        self._level = min(capacity, self._level + elapsed * self.rate)
        return max(0.0, (units - self._level) / self.rate)

    def take(self, units: float) -> None:
        self._level -= units


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
    if "T" in when:
        try:
            return max(0.0, datetime.fromisoformat(when).timestamp() - time.time())
        except (ValueError, OverflowError):
            return 0.0
    return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(when))
