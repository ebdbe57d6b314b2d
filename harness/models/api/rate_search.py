"""The search for a server's limit of calls a second, from its replies alone.

A refusal (429) may mean two things: a limit of the server's, which goes away when calls go out more slowly, or a server
that refuses some calls whatever the rate. So the first refusals lead to trials at lower rates. If nothing is refused
there, that was a limit, and calls keep just below it from then on; if the refusals go on, only the refused calls wait,
as they do anyway.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

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


@dataclass
class Trial:
    """A rate well below one at which calls were refused, for a while."""

    rate: float
    skip: int
    """Calls that went out before: their replies say nothing."""
    halvings: int
    replies: int = 0
    refusals: int = 0

    def add(self, *, refused: bool) -> None:
        """Count a reply, unless its call went out before."""
        if self.skip > 0:
            self.skip -= 1
        else:
            self.replies += 1
            self.refusals += refused


class RateSearch:
    """A search, by successes, refusals and when they came, for the calls a second that a server takes.

    `rate` is the number of calls a second to keep to, None while no limit of the server's is known. Times are seconds
    of any clock that does not go backwards.
    """

    def __init__(self) -> None:
        """Begin with no limit known."""
        self.rate: float | None = None
        self.met_limit = False
        """Whether a trial has ever shown a limit."""
        self._trial: Trial | None = None
        self._successes: deque[float] = deque(maxlen=512)  # when they came
        self._refusals: deque[bool] = deque(maxlen=32)  # which of the latest replies were refusals
        self._stale = 0  # calls that were under way when the rate was last lowered, and have had no reply yet
        self._growth = GROWTH
        self._changed_at = 0.0
        self._calm_since = 0.0
        self._ignore_until = 0.0

    def add_success(self, at: float) -> None:
        """Learn from an answered call: the rate grows with it."""
        self._stale -= 1
        self._successes.append(at)
        self._refusals.append(False)
        if self._trial is not None:
            self._trial.add(refused=False)
            if self._trial.replies >= TRIAL:
                self._keep_limit(self._trial, at)
        elif self.rate is not None and at - self._changed_at > 0.1:
            if at - self._calm_since > QUIET:
                self._calm_since = at
                self._growth = min(2 * self._growth, GROWTH)
            self._set_rate(self.rate * (1 + self._growth), at)

    def add_refusal(self, at: float, under_way: int) -> None:
        """Learn from a refused call (429), while so many are under way: begin a trial, or lower the rate."""
        self._stale -= 1
        self._refusals.append(True)
        self._calm_since = at
        if self._trial is not None:
            self._trial.add(refused=True)
            self._judge(self._trial, at, under_way)
        elif at < self._ignore_until or len(self._successes) < ENOUGH:
            pass  # known not to depend on the rate, or too early to know a rate
        elif self.rate is None:
            self._begin_trial(self._success_rate(at) / 2, at, under_way)
        elif self._stale > 0:
            self._refusals.pop()  # it went out before the rate was lowered, and says nothing of the rate now
        elif sum(self._refusals) > MANY:
            self._begin_trial(self.rate / 2, at, under_way)
        else:
            self._lower(self.rate, at, under_way)

    def add_timeout(self, at: float) -> bool:
        """Return whether a call without an answer in time asks for fewer calls at once.

        Within a second of a change it does not: it went out before. Else the rate rests, as after a change of its own.
        """
        if at - self._changed_at <= 1.0:
            return False
        self._changed_at = at
        return True

    def _lower(self, rate: float, at: float, under_way: int) -> None:
        """Step back from a limit that was met, and come near it more slowly from then on."""
        climbing = self._growth > SLOW
        least = 0.9 if climbing else 0.95
        self._set_rate(min(0.98 * rate, max(least * rate, self._success_rate(at))), at)
        self._growth = SLOW if climbing else max(self._growth / 2, SLOWEST)
        self._stale = under_way

    def _begin_trial(self, rate: float, at: float, under_way: int, halvings: int = 1) -> None:
        self._trial = Trial(rate, under_way, halvings)
        self._refusals.clear()
        self._set_rate(rate, at)

    def _judge(self, trial: Trial, at: float, under_way: int) -> None:
        """End a trial that has shown enough: with two refusals a slower one begins, or none where there were enough."""
        if trial.refusals < 2:
            if trial.replies >= TRIAL:
                self._keep_limit(trial, at)
        elif trial.halvings < HALVINGS:
            self._begin_trial(trial.rate / 2, at, under_way, trial.halvings + 1)
        else:
            self._trial = self.rate = None
            self._ignore_until = at + TRUST

    def _keep_limit(self, trial: Trial, at: float) -> None:
        """End a trial that has shown a limit, and begin to grow towards it."""
        self._trial = None
        self.met_limit = True
        # The first estimate comes from what the server let through while slots were still few: it is rather low.
        self._set_rate(2.5 * trial.rate if trial.halvings == 1 else trial.rate, at)
        self._growth = GROWTH

    def _success_rate(self, at: float) -> float:
        """Return how many answers came a second of late: in a quarter of a second, or among the last few."""
        recent = [success for success in self._successes if at - success < 0.25]
        if len(recent) >= ENOUGH:
            return len(recent) / max(at - recent[0], 0.02)
        # A silence, in which everybody waited, is no rate of 0: at that no call would ever go out again.
        recent = list(self._successes)[-ENOUGH:]
        return len(recent) / max(recent[-1] - recent[0], 0.02)

    def _set_rate(self, rate: float, at: float) -> None:
        self.rate = rate
        self._changed_at = at
