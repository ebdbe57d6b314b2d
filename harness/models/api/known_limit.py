"""A limit of calls a second that is known: which rate is kept to, and when and how the limit is met again.

Known of it are a rate at which calls are answered (`base`) and one at which they were refused (`met`). The rate rests
at the first. A limit that was raised is noticed in no other way than by meeting it: the rate comes close to the second
fast, passes it slowly (as in CUBIC, RFC 9438), and doubles once more came through beyond it than a server may have
saved up of what was not used. Each refusal is a debt of answered calls, to be paid before the limit is met again, so
that few calls are refused whatever the limit, however late a server says so, and however many processes share it.
"""

from __future__ import annotations

BACK, FURTHER_BACK = 0.96, 0.85
"""The rate after a refusal, as a share of the limit; the least to which a few refusals at once lower the limit."""
WORTH = 0.02
"""The share of calls that may be refused to come to know a limit."""
LONGEST_DEBT = 5.5
"""The most that is owed, in seconds."""
MEET = 0.6
"""Seconds in which the rate comes from base to where the limit was met."""
STEP, LEAST_STEP = 0.07, 4.0
"""How far it has passed that after as long again, as a share of the limit; calls a second that it is at least, so that
what several processes share does not stay with one."""
SAVED = 1.3
"""How many times as many calls as a server may have saved up show that its limit is higher."""
DOUBLED_IN = 0.15
"""Seconds in which the rate doubles where the limit must be higher, at least."""
FAR = 2.0
"""How many times as high a rate as before shows that the limit is another."""
SAME = 0.02
"""How near to each other refusals come where the limit is exactly there, because a server saves up nothing."""
SLOWEST = 0.5
"""Calls a second where nothing at all comes through."""


class KnownLimit:
    """The range in which a limit lies, and the next rate within it."""

    def __init__(self) -> None:
        """Begin with none."""
        self.base = self.met = 0.0
        self.estimated = False
        """Whether it was only estimated, and not met since: a better estimate costs no debt."""
        self._anew = False  # nor does the first look at a limit that was raised
        self._debt = 0.0  # calls to make before the limit is met again
        self._saved = 0.0  # calls that came through beyond the limit before one was refused
        self._excess = 0.0  # those of this time
        self._grows_from = self._grown_at = self._refused_at = 0.0
        self._waits_until = 0.0

    def keep(self, limit: float, at: float, *, saved: float | None = None) -> float:
        """Return the rate for a limit that was measured; `saved` calls more had been answered before."""
        self.met = max(limit, SLOWEST)
        if saved is not None:
            self._saved = saved
        return self._rest(BACK * self.met, at)

    def begin(self, *, estimated: bool) -> None:
        """Forget what is owed: another limit is to be kept to."""
        self.estimated, self._debt = estimated, 0.0

    def is_beyond(self, rate: float) -> bool:
        """Test whether refusals at a rate are those of a limit that was looked for."""
        return rate > 1.005 * self.base

    def owe(self, rate: float, at: float) -> None:
        """Count a refusal."""
        self._refused_at = at
        if not self.estimated and not self._anew:
            self._debt = min(self._debt + 1 / WORTH, LONGEST_DEBT * rate)

    def is_far(self, rate: float) -> bool:
        """Test whether calls were refused so far beyond where they were before that the limit is another."""
        return rate > FAR * self.met

    def meet(self, rate: float, through: float, at: float, *, first: bool) -> float:
        """Return the rate after a refusal beyond base, up to which so many calls a second came through.

        Where calls had been saved up the limit is nearer to base, and else where it was met. At first, and where it is
        another, base says little of it.
        """
        self._anew = self.is_far(rate)
        nearer = self.base + (BACK * rate - self.base) / 3
        if self._anew or first:
            base = max(min(FURTHER_BACK * rate, through), nearer)
        elif abs(rate - self.met) < SAME * self.met:
            base = BACK * rate
        else:
            base = min(nearer, through)
        self._saved = max(self._excess, 0.5 * self._saved)
        self.met = rate
        return self._rest(max(base, self.base), at)

    def lower(self, rate: float, through: float, at: float) -> float:
        """Return the rate after a refusal at base: the limit has fallen, or base was too high.

        Where more than that came through it was neither: a second is over, or another process took some.
        """
        return self.keep(max(min(rate / BACK, through), FURTHER_BACK * rate), at)

    def rests(self, at: float) -> bool:
        """Test whether calls are owed, or waited for, before the limit is met again."""
        return self._debt > 0 or at < self._waits_until

    def pause(self, at: float) -> None:
        """Begin to grow from here."""
        self._grown_at = self._grows_from = at

    def grown(self, rate: float, at: float, known_after: float) -> float:
        """Return the next rate, where it takes so many seconds to know of a call whether it was refused."""
        elapsed, self._grown_at = min(at - self._grown_at, max(0.5, 2 / rate)), at
        if self._debt > 0:
            self._debt -= elapsed * rate
        if self.rests(at):
            self._grows_from, self._excess = at, 0.0
            return rate
        self._excess += elapsed * max(rate - self.met, 0.0)
        refilled = (1 - BACK) * self.base * (at - self._refused_at)
        if self.estimated or self._excess > max(SAVED * self._saved, refilled) + 2 + 0.02 * self.met:
            longest = (6 if self.estimated else 3) * known_after
            return float(rate * 2 ** (elapsed / max(DOUBLED_IN, longest, 4 / rate)))
        done = (at - self._grows_from) / (MEET + known_after)
        if done < 1:
            return max(rate, self.met - (self.met - self.base) * (1 - done) ** 3)
        return max(rate, self.met + max(STEP * self.met, LEAST_STEP) * (done - 1) ** 2)

    def wait(self, at: float, delay: float) -> float:
        """Return the rate while calls have no answer although they should: those beyond the limit may be refused."""
        self._waits_until, self._grows_from = at + delay, at
        return self.base

    def grew_lately(self, at: float) -> bool:
        return at - self._grown_at < 0.02

    def _rest(self, base: float, at: float) -> float:
        self.base, self._excess = base, 0.0
        self._debt = min(self._debt, LONGEST_DEBT * base)
        self.pause(at)
        return base
