"""The search for a server's limit of calls a second, from its replies alone.

A refusal (429) may mean two things: a limit of the server's, which goes away when calls go out more slowly, or a server
that refuses some calls whatever their rate. Where most calls are refused it is a limit, and those that are not tell it.
Where fewer are, trials tell: at a rate below what came through, a limit refuses hardly any call, and chance as many as
before. Two trials in a row, each below what came through the one before, have to agree that it is chance.

A limit that is known is met again and again, since one that was raised is noticed in no other way: the rate comes
close to it fast, passes it slowly, and then ever faster (as in CUBIC, RFC 9438). The wait in between grows with every
refusal, so that few calls are refused whatever the limit, and however late a server says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from harness.models.api.sent_calls import ENOUGH, MOSTLY, SEVERAL, STRAY, Sent, SentCalls, Stretch
from harness.protocols import MANY

FEW = 8
"""Calls at the end of a run whose refusals are not worth a trial."""
LOWER = 0.9
"""The rate of a trial, as a share of what came through before."""
BACK, FURTHER_BACK = 0.95, 0.85
"""The rate after stepping back, as a share of the limit; the least to which a single refusal lowers it."""
SUSPECT, SURE = 1.5, 6.0
"""Log odds at which refusals are no chance: near a limit that is known, and where none is."""
DECIDED, LONGEST = 5.3, 300
"""Log odds at which a trial ends, and replies after which it does by what is likelier."""
MEET, LONGEST_MEET, WORTH = 0.5, 5.0, 0.04
"""Seconds from stepping back to the limit, and the share of refusals that they are to keep to."""
PASSED, PASSED_SOON = 2.2, 1.5
"""After how many times as long the limit must be higher: where it was met before, and where it was only estimated."""
OVERSHOT = 1.25
"""How far beyond the limit a refusal tells that it was raised, and passed by far."""
DOUBLED_IN = 0.15
"""Seconds in which the rate doubles then, or one and a half times what a refusal takes."""
SLOWEST = 0.5
"""Calls a second where nothing at all comes through."""
NEAR_END = 1.5
"""Seconds before the last call in which a limit is not met any more: the run would wait for what it refuses."""


@dataclass(frozen=True)
class Trial:
    """A lower rate than the one at which calls were refused, for a while."""

    since: float
    """When the calls began to go out that it is compared with."""
    began_at: float
    limit: float
    """The limit, if there is one, in calls a second."""
    second: bool = False
    """Whether it follows one in which as many were refused."""

    def evidence(self, share: float, now: Stretch) -> float:
        """Return the log odds that calls are refused by chance as before, against by a limit that is hardly met."""
        chance = min(max(share, STRAY), MOSTLY)
        limit = chance / 10
        answers = now.calls - now.refused
        return now.refused * math.log(chance / limit) + answers * math.log((1 - chance) / (1 - limit))


class RateSearch:
    """A search, by calls and what became of them, for the calls a second that a server takes.

    `rate` is the number of calls a second to keep to, None while no limit of the server's is known. Times are seconds
    of any clock that does not go backwards.
    """

    def __init__(self) -> None:
        """Begin with no limit known."""
        self.rate: float | None = None
        self.met_limit = False
        """Whether a limit is known."""
        self.calls_left: Callable[[], int] = lambda: MANY
        """Calls without an answer that are open or will still be, where that is known."""
        self._sent = SentCalls()
        self._answers = self._refusals = 0
        self._chance = STRAY  # the share of refusals that does not depend on the rate
        self._delay = 0.0  # seconds that refusals take
        self._trial: Trial | None = None
        self._changed_at = -math.inf  # when the rate was last lowered, or given up
        self._grown_at = 0.0
        self._limit = math.inf
        self._since = 0.0  # when it was found, or grew
        self._settling = False  # it was only estimated, and not met since
        self._overshot = False  # it was passed by far
        self._nothing_through = False
        self._meetings = 0  # refusals of the last meeting
        self._patience, self._floor = MEET, SLOWEST

    def send(self, at: float) -> Sent:
        """Take note of a call that goes out; what comes of it is told with what is returned."""
        return self._sent.add(at, self.rate)

    def add_success(self, at: float) -> None:
        """Learn from an answer: the rate grows with it."""
        self._answers += 1
        if self._trial is not None:
            self._judge(self._trial, at)
        elif self.rate is not None and at - self._grown_at >= 0.02:
            self._grow(self.rate, at)

    def add_refusal(self, sent: Sent, at: float) -> None:
        """Learn from a refused call (429)."""
        sent.refused = True
        self._delay = max(at - sent.at, 0.9 * self._delay)
        self._refusals += 1
        if self._answers < ENOUGH and (self._refusals < 2 * ENOUGH or not self._answers):
            return
        fresh = sent.at >= self._changed_at + (2 / self.rate if self.rate else 0.0)
        if self._trial is not None and fresh:
            self._judge(self._trial, at)
        elif self._trial is not None or self.rate is None:
            self._look_for_limit(sent, at)
        elif fresh:
            self._meet_limit(self.rate, sent, at)
        else:  # it went out before the rate was lowered: it may only tell by how much
            self._meetings += 1
            stretch = self._sent.unlike_chance(sent, self._chance, MANY)
            if stretch.refused >= 4 and (self._settling or self._overshot or stretch.tells_limit):
                self._lower(stretch, at)

    def add_timeout(self, at: float) -> bool:
        """Return whether a call without an answer in time asks for fewer calls at once.

        Within a second of a change it does not: it went out before. Else the rate rests, as after a change of its own.
        """
        if at - self._changed_at <= 1.0:
            return False
        self._changed_at = at
        return True

    def _look_for_limit(self, sent: Sent, at: float) -> None:
        """Begin to keep to a limit, or a trial where refusals may as well be chance."""
        stretch = self._sent.unlike_chance(sent, self._chance, 4 * SEVERAL)
        if stretch.odds < (SURE if self._chance == STRAY else 2 * SURE) or self.calls_left() < FEW:
            return
        # Refused calls make room for others, so that more went out afterwards than the slots allow.
        limit = min(stretch.at_most, self._sent.rate_until(stretch.began_at, 0.25))
        if stretch.tells_limit:
            self._begin(limit, at, nothing_through=stretch.nothing_through)
        elif self._trial is None and stretch.calls >= 0.8 * SEVERAL:
            self._trial = Trial(self._changed_at, at, limit)
            self._set_rate(LOWER * stretch.through, at)

    def _judge(self, trial: Trial, at: float) -> None:
        """End a trial that has shown enough: in a limit, in refusals by chance, or in another trial."""
        now = self._sent.between(trial.began_at, self._sent.known_until(at, 1.2 * self._delay))
        before = self._sent.between(trial.since, trial.began_at)
        evidence = trial.evidence(before.share, now)
        if now.calls < LONGEST and (abs(evidence) < DECIDED or (evidence > 0 and now.calls < SEVERAL)):
            return
        if evidence < 0:
            self._begin(trial.limit, at)
        elif now.tells_limit or (self.met_limit and now.share > 1.5 * before.share + 0.05):
            self._begin(min(trial.limit, now.at_most), at)
        elif not trial.second:
            self._trial = Trial(trial.since, at, min(trial.limit, now.at_most), second=True)
            self._set_rate(LOWER * now.through, at)
        else:
            share = now.share if self.met_limit else self._sent.between(trial.since, at).share
            self._chance = min(max(share, STRAY), MOSTLY)
            if self.met_limit:  # beside which some are refused by chance
                self._begin(trial.limit, at)
            else:
                self._trial = self.rate = None
                self._changed_at = at

    def _begin(self, limit: float, at: float, *, nothing_through: bool = False) -> None:
        """Keep to a limit that was not known before."""
        self.met_limit = self._settling = True
        self._overshot = False
        self._trial = None
        self._since = at
        self._patience, self._floor = MEET, SLOWEST
        self._keep(limit, at, nothing_through=nothing_through)

    def _meet_limit(self, rate: float, sent: Sent, at: float) -> None:
        """Step back from a limit where it was met, unless that may be chance."""
        near = self._chance == STRAY and (self._settling or rate >= 0.99 * self._limit)
        since = -math.inf if self._settling else self._changed_at
        stretch = self._sent.unlike_chance(sent, self._chance, MANY, since)
        if stretch.odds < (SUSPECT if near else 2 * SUSPECT):
            return
        rate = min(rate, sent.rate or rate)
        self._meetings = 1
        self._overshot = rate > OVERSHOT * self._limit
        self._patience = MEET if self._overshot or self._settling else 1.5 * self._patience
        if self._settling and rate >= 0.9 * self._limit:
            self._settling, self._since = False, at
        if not self._settling and self._sent.refused_below(self._since):
            self._trial = Trial(self._since, at, self._limit, second=True)
            self._set_rate(LOWER * rate, at)
            return
        self._floor = SLOWEST if self._settling else FURTHER_BACK * rate
        cycle = self._sent.between(self._changed_at, at)
        if not self._overshot and not self._settling and cycle.calls >= ENOUGH:
            # From one meeting to the next comes through what the limit is: nothing is saved up at either.
            rate = min(rate, max(cycle.through, self._floor))
        self._limit = rate
        self._set_rate(BACK * rate, at)
        self._lower(stretch, at)

    def _lower(self, stretch: Stretch, at: float) -> None:
        """Lower the limit to what was let through where it was passed."""
        limit = max(stretch.at_most, SLOWEST if stretch.tells_limit else self._floor)
        if limit < self._limit:
            self._keep(limit, at, nothing_through=stretch.nothing_through)
        if stretch.tells_limit:
            self._settling, self._since = True, at

    def _keep(self, limit: float, at: float, *, nothing_through: bool) -> None:
        self._limit, self._nothing_through = max(limit, SLOWEST), nothing_through
        self._set_rate(BACK * self._limit, at)

    def _grow(self, rate: float, at: float) -> None:
        """Come near the place where the limit was met, pass it slowly, and then ever faster."""
        elapsed, self._grown_at = min(at - self._grown_at, 0.5), at
        if rate > 2 * max(self._sent.rate_until(at, 0.5, least=0), 2.0):
            return  # calls go out more slowly than they might: a higher rate would be tried by nobody
        meet = max(MEET, min(self._meetings / (WORTH * self._limit), self._patience, LONGEST_MEET))
        done = (at - self._changed_at) / meet
        passed = self._nothing_through or done >= (PASSED_SOON if self._settling else PASSED) + self._delay / meet
        step = (1 - BACK) * self._limit
        if self.calls_left() < NEAR_END * rate:
            self.rate = rate if passed else min(rate, BACK * self._limit)
        elif passed:
            self.rate = rate * 2 ** (elapsed / max(DOUBLED_IN, 1.5 * self._delay))
        else:  # by two calls a second at least, so that what several processes share does not stay with one
            self.rate = self._limit + (step if done < 1 else max(step, 2.0)) * (done - 1) ** 3

    def _set_rate(self, rate: float, at: float) -> None:
        self.rate = max(rate, BACK * SLOWEST)
        self._changed_at = self._grown_at = at
