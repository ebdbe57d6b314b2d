"""How many calls are under way at once, and how fast they go out: found while the run goes on.

Calls begin a few at a time and become more with every success. Timeouts halve their number. A refusal (429) may mean
two things: a limit of the server's, which goes away when calls go out more slowly, or a server that refuses some calls
whatever the rate. So the first refusals lead to trials at lower rates. If nothing is refused there, that was a limit,
and calls keep just below it from then on; if the refusals go on, only the refused calls wait, as they do anyway.
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

from harness.errors import BudgetReached
from harness.models.api.http_errors import status, timed_out

START = 8
"""Calls at once to begin with."""
ENOUGH = 8
"""Successes before a refusal is taken to say something about the rate."""
TRIAL = 22
"""Replies that a trial waits for."""
HALVINGS = 3
"""Trials, each at half the rate of the one before, after which refusals are held to be independent of it."""
MANY = 4
"""Refusals among the last 32 replies that cast doubt on a limit that was found."""
GROWTH, SLOW, SLOWEST = 0.07, 0.005, 0.0002
"""By what share the rate grows every tenth of a second: until the limit is met, once it has been, and when often.

A refusal near the end of a run costs its whole wait, so a limit that is known is met half as often each time.
"""
QUIET = 10.0
"""Seconds without a refusal after which the rate grows twice as fast: the limit may have been raised."""
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


@dataclass
class Trial:
    """A rate well below one at which calls were refused, for a while."""

    rate: float
    skip: int
    """Calls that went out before: their replies say nothing."""
    halvings: int
    replies: int = 0
    refused: int = 0


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
        self.when_room: Callable[[], None] = lambda: None
        """Called when a call has failed: it may wait for its retry now, and leave room for another."""
        self._clock = clock
        self._requests = Bucket(requests_per_minute / 60, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute / 60, clock) if tokens_per_minute else None
        self._found: Bucket | None = None
        self._queues: tuple[deque[tuple[asyncio.Future[None], float]], ...] = (deque(), deque())
        self._under_way = 0
        self._landed = 0
        self._timer: asyncio.TimerHandle | None = None
        self._pause_until = 0.0
        self._growing = True
        self._successes: deque[float] = deque(maxlen=512)
        self._replies: deque[bool] = deque(maxlen=32)  # which were refusals
        self._lately: deque[bool] = deque(maxlen=16)  # which of the latest calls were answered
        self._trial: Trial | None = None
        self._growth = GROWTH
        self._ignore_until = 0.0
        self._changed = 0.0
        self._calm_since = 0.0
        self._stale = 0  # calls under way when the rate was last lowered

    @asynccontextmanager
    async def turn(self, *, tokens: float, again: bool, within: float = math.inf) -> AsyncIterator[None]:
        """A slot: entered when a call may go out, left when its reply is there.

        Raises BudgetReached where that takes longer than `within` seconds.
        """
        if within == math.inf:
            await self._enter(tokens, again)
        else:
            try:
                async with asyncio.timeout(within):
                    await self._enter(tokens, again)
            except TimeoutError:
                raise BudgetReached("the time was over before a call's turn came") from None
        try:
            yield
        finally:
            self._under_way -= 1
            self._admit()

    async def _enter(self, tokens: float, again: bool) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue, place = self._queues[0 if again else 1], (turn, tokens)
        queue.append(place)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._under_way -= 1
                self._admit()
            elif place in queue:  # a place that nobody waits in takes the room of another
                queue.remove(place)
            raise

    def _admit(self) -> None:
        """Lets as many calls go as may."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._under_way + self._landed < int(self.limit):
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

    def room(self, open_calls: int, begun: int = 0) -> bool:
        """Whether another request is of use, where so many are open, `begun` of them not yet in their turn.

        A server that answers nobody is not to be asked by everybody: until it has answered once, and while it answers
        none of the latest calls, one that waits for its retry counts like one under way.
        """
        if not any(self._lately):
            return open_calls < int(self.limit)
        return open_calls < 8 * self.most and self._under_way + len(self._queues[1]) + begun <= int(self.limit)

    def succeeded(self) -> None:
        """A reply came."""
        now = self._clock()
        self._stale -= 1
        self._successes.append(now)
        self._lately.append(True)
        self._replies.append(False)
        if self._under_way >= int(self.limit) - 1:  # more would be of use
            self.limit = min(self.most, self.limit + (1.0 if self._growing else 1 / self.limit))
        if self._trial is not None:
            self._tried(refused=False)
        elif self.rate is not None and now - self._changed > 0.1:
            if now - self._calm_since > QUIET:
                self._calm_since = now
                self._growth = min(2 * self._growth, GROWTH)
            self._set_rate(self.rate * (1 + self._growth))
        self._admit()

    def refused(self) -> None:
        """The server refused a call for now (429)."""
        now = self._clock()
        self._stale -= 1
        self._replies.append(True)
        self._calm_since = now
        if self._trial is not None:
            self._tried(refused=True)
        elif now < self._ignore_until or len(self._successes) < ENOUGH:
            pass  # known not to depend on the rate, or too early to know a rate
        elif self.rate is None:
            self._try(self._accepted())
        elif self._stale > 0:
            self._replies.pop()  # it went out before the rate was lowered, and says nothing of the rate now
        elif sum(self._replies) > MANY:
            self._try(self.rate)
        else:
            climbing = self._growth > SLOW
            least = 0.9 if climbing else 0.95
            self._set_rate(min(0.98 * self.rate, max(least * self.rate, self._accepted())))
            self._growth = SLOW if climbing else max(self._growth / 2, SLOWEST)
            self._stale = self._under_way

    def landed(self) -> None:
        """An answer waits to be handed out. Until then its slot is not free: what is not stored yet may be lost."""
        self._landed += 1

    def handed_out(self) -> None:
        """An answer has been stored."""
        self._landed -= 1
        self._admit()

    def failed(self, error: BaseException) -> None:
        """What a failed call says about the pace."""
        self.when_room()
        self._lately.append(False)
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

    def _try(self, rate: float, halvings: int = 0) -> None:
        """Begins a trial at half the rate at which calls were refused."""
        self._trial = Trial(rate / 2, self._under_way, halvings + 1)
        self._replies.clear()
        self._set_rate(rate / 2)

    def _tried(self, *, refused: bool) -> None:
        """Ends the trial when it has shown enough."""
        trial = self._trial
        assert trial is not None
        if trial.skip > 0:  # a call that went out before the trial began
            trial.skip -= 1
            return
        trial.replies += 1
        trial.refused += refused
        if trial.refused >= 2 and trial.halvings < HALVINGS:
            self._try(trial.rate, trial.halvings)
        elif trial.refused >= 2:
            self._trial = self.rate = self._found = None
            self._ignore_until = self._clock() + TRUST
        elif trial.replies >= TRIAL:
            self._trial = None
            # The first estimate comes from what the server let through while slots were still few: it is rather low.
            self._set_rate(2.5 * trial.rate if trial.halvings == 1 else trial.rate)
            self._growing = False
            self._growth = GROWTH

    def _accepted(self) -> float:
        """Answers a second of late: in a quarter of a second, or the last few there were."""
        now = self._clock()
        late = [at for at in self._successes if now - at < 0.25]
        if len(late) >= ENOUGH:
            return len(late) / max(now - late[0], 0.02)
        # A silence, in which everybody waited, is no rate of 0: at that no call would ever go out again.
        late = list(self._successes)[-ENOUGH:]
        return len(late) / max(late[-1] - late[0], 0.02)

    def _set_rate(self, rate: float) -> None:
        self.rate = rate
        self._changed = self._clock()
        if self._found is None:
            self._found = Bucket(rate, self._clock)
        self._found.rate = rate


def seconds(span: str) -> float:
    """A span as the headers write it, such as 1s, 6m0s, 250ms; 0 where it is none."""
    return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(span))
