"""How many calls are under way at once, and how fast they go out: found while the run goes on.

Calls begin a few at a time and become more with every success. Timeouts halve their number. A refusal (429) may mean
two things: a limit of the server's, which goes away when calls go out more slowly, or a server that refuses some calls
whatever the rate. So the first refusals lead to a trial at a lower rate. If nothing is refused there, that was a limit,
and calls keep just below it from then on; if the refusals go on, only the refused calls wait, as they do anyway.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from harness.models.retry import status, timed_out

START = 8
"""Calls at once to begin with."""
TRIAL = 16
"""Replies that a trial waits for."""
TRUST = 10.0
"""Seconds for which refusals are ignored once they have turned out not to depend on the rate."""
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass
class Bucket:
    """`rate` units a second; what is not used adds up to at most a tenth of a second's worth, or one unit."""

    rate: float
    clock: Callable[[], float]
    _left: float = 1.0
    _filled: float = field(default=-1.0)

    def wait(self, units: float) -> float:
        """Seconds until `units` may go; a call larger than the bucket goes when it is full."""
        now = self.clock()
        if self._filled < 0:
            self._filled = now
        most = max(1.0, self.rate / 10, units)
        self._left = min(most, self._left + (now - self._filled) * self.rate)
        self._filled = now
        return max(0.0, (units - self._left) / self.rate)

    def take(self, units: float) -> None:
        """Lets them go."""
        self._left -= units


class Pace:
    """Admits calls one by one. Retries that are due go before calls that have not been tried yet."""

    def __init__(
        self,
        most: int,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """At most `most` calls at once; the rates are limits that the user knows of."""
        self.most = most
        self.limit = float(min(START, most))
        self.rate: float | None = None  # calls a second, once a limit of the server's has been found
        self.waiting = 0
        self._clock = clock
        self._requests = Bucket(requests_per_minute / 60, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute / 60, clock) if tokens_per_minute else None
        self._found: Bucket | None = None
        self._queues: tuple[deque[tuple[asyncio.Future[None], float]], ...] = (deque(), deque())
        self._under_way = 0
        self._timer: asyncio.TimerHandle | None = None
        self._pause_until = 0.0
        self._growing = True
        self._successes: deque[float] = deque(maxlen=512)
        self._trial: list[bool] | None = None  # whether each reply of the trial was a refusal
        self._trial_rate = 0.0
        self._ignore_until = 0.0
        self._changed = 0.0

    @asynccontextmanager
    async def turn(self, *, tokens: float, again: bool) -> AsyncIterator[None]:
        """A slot: entered when a call may go out, left when its reply is there."""
        await self._enter(tokens, again)
        try:
            yield
        finally:
            self._under_way -= 1
            self._admit()

    async def _enter(self, tokens: float, again: bool) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues[0 if again else 1].append((turn, tokens))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._under_way -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        """Lets as many calls go as may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._under_way < int(self.limit):
            queue = next((queue for queue in self._queues if queue), None)
            if queue is None:
                return
            turn, tokens = queue[0]
            if turn.cancelled():
                queue.popleft()
                continue
            wanted = ((self._requests, 1.0), (self._found, 1.0), (self._tokens, tokens))
            buckets = [(bucket, units) for bucket, units in wanted if bucket is not None]
            wait = max([self._pause_until - self._clock(), *(bucket.wait(units) for bucket, units in buckets)])
            if wait > 0:
                self._timer = asyncio.get_running_loop().call_later(wait, self._admit)
                return
            for bucket, units in buckets:
                bucket.take(units)
            queue.popleft()
            self._under_way += 1
            turn.set_result(None)

    @property
    def room(self) -> bool:
        """Whether another request is of use: enough wait already for what may go next."""
        return len(self._queues[1]) < max(4, int(self.limit) // 2)

    def succeeded(self) -> None:
        """A reply came."""
        now = self._clock()
        self._successes.append(now)
        if self._under_way >= int(self.limit) - 1:  # more would be of use
            self.limit = min(self.most, self.limit + (1.0 if self._growing else 1 / self.limit))
        if self._trial is not None:
            self._tried(refused=False)
        elif self.rate is not None and now - self._changed > 0.25:
            self._set_rate(self.rate * 1.005)
        self._admit()

    def refused(self) -> None:
        """The server refused a call for now (429)."""
        now = self._clock()
        if self._trial is not None:
            self._tried(refused=True)
        elif now < self._ignore_until:
            pass
        elif self.rate is not None and now - self._changed > 0.02:
            self._set_rate(self.rate * 0.98)
        elif self.rate is None:
            self._trial = []
            self._trial_rate = max(self._accepted(), 1.0)
            self._set_rate(0.9 * self._trial_rate)

    def failed(self, error: BaseException) -> None:
        """What a failed call says about the pace."""
        headers = getattr(getattr(error, "response", None), "headers", None)
        if headers is not None:
            self.told(headers)
        if status(error) == 429:
            self.refused()
        elif timed_out(error):
            self.timed_out()

    def timed_out(self) -> None:
        """The server took a call and did not answer in time."""
        now = self._clock()
        if now - self._changed > 1.0:
            self._changed = now
            self._growing = False
            self.limit = max(1.0, self.limit / 2)

    def told(self, headers: Mapping[str, str]) -> None:
        """What a reply's x-ratelimit headers say: nothing goes out while nothing is left."""
        for what in ("requests", "tokens"):
            left, reset = headers.get(f"x-ratelimit-remaining-{what}"), headers.get(f"x-ratelimit-reset-{what}")
            if left is not None and reset is not None and left.strip() == "0":
                self._pause_until = max(self._pause_until, self._clock() + min(seconds(reset), 60.0))

    def _tried(self, *, refused: bool) -> None:
        """Ends the trial when it has shown enough."""
        assert self._trial is not None
        self._trial.append(refused)
        # Calls that went out before the trial reply in it: its first replies say little.
        counted = self._trial[TRIAL // 2 :]
        if len(self._trial) < TRIAL and sum(counted) < 2:
            return
        if sum(counted) <= 1:
            self._set_rate(self._trial_rate)
            self._growing = False
        else:
            self.rate = self._found = None
            self._ignore_until = self._clock() + TRUST
        self._trial = None

    def _accepted(self) -> float:
        """Replies a second of late."""
        now = self._clock()
        late = [at for at in self._successes if now - at < 0.25]
        span = now - min(late, default=now)
        return len(late) / span if span > 0.02 else float(len(late)) * 20

    def _set_rate(self, rate: float) -> None:
        self.rate = rate
        self._changed = self._clock()
        if self._found is None:
            self._found = Bucket(rate, self._clock)
        self._found.rate = rate


def seconds(span: str) -> float:
    """A span as the headers write it, such as 1s, 6m0s, 250ms; 0 where it is none."""
    return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(span))
