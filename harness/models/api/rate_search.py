"""The search for a server's limit of calls a second, from its replies alone.

A refusal (429) may mean two things: a limit of the server's, which goes away when calls go out more slowly, or a server
that refuses some calls whatever their rate. Where most calls are refused it is a limit, and those that are not tell it.
Where fewer are, trials tell: at a rate below what came through, a limit refuses hardly any call, and chance as many as
before. Two trials in a row, each below what came through the one before, have to agree that it is chance.

A limit that is known is met again and again, since one that was raised is noticed in no other way: the rate comes
close to it fast, passes it slowly, and then ever faster (as in CUBIC, RFC 9438). Each refusal is a debt of answered
calls, to be paid before the limit is met again, so that few calls are refused whatever the limit, however late a server
says so, and however many processes share it. Where nothing at all comes through, single calls show when the server
takes some again; the limit is then what came through in the second before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from harness.models.api.sent_calls import ENOUGH, MOSTLY, SEVERAL, STRAY, Sent, SentCalls, Stretch
from harness.protocols import MANY

FEW = 8
"""Calls at the end of a run whose refusals are not worth a trial."""
LOWER, FAR_LOWER = 0.9, 0.5
"""The rate of a trial, as a share of what came through before; where a limit is known, of the rate before."""
BACK, FURTHER_BACK = 0.96, 0.85
"""The rate after a refusal, as a share of the limit; the least to which a few refusals at once lower it."""
SUSPECT, SURE = 1.5, 6.0
"""Log odds at which refusals are no chance: where a limit is known, and where none is."""
DECIDED, LONGEST = 5.3, 300
"""Log odds at which a trial ends, and replies after which it does by what is likelier."""
WORTH, LONGEST_DEBT, LATE = 0.03, 3.0, 8
"""The share of calls that may be refused to come to know a limit; the seconds for which it is not met at most, and how
many times what a refusal takes are added to them."""
MEET, LONGEST_MEET = 0.8, 2.0
"""Seconds in which the rate comes to the limit again, at least and at most."""
PASSED = 2.2
"""After how many times as long the limit must be higher."""
LEAST_STEP = 1.0
"""Calls a second by which the rate grows at least, so that what several processes share does not stay with one."""
DOUBLED_IN = 0.15
"""Seconds in which the rate doubles where the limit must be higher, or one and a half times what a refusal takes."""
HORIZON = 1.0
"""Seconds in which it is counted what comes through: many servers count by the second."""
FIRST_PROBE, LATER_PROBE = 0.1, 0.07
"""Seconds between single calls where nothing comes through, at first, and as a share of how long that has lasted."""
LONGEST_TRIAL = 4.0
"""Seconds after which a trial ends by what is likelier."""
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
        self._began_at = math.inf
        self._grown_at = 0.0
        self._limit = math.inf
        self._since = 0.0  # when it was found, or fell
        self._counts_from = -math.inf  # calls that went out earlier say nothing about it
        self._settling = False  # it was only estimated, and not met since
        self._blocked_at: float | None = None  # nothing has come through since
        self._debt = 0.0  # calls to make before the limit is met again
        self._grows_from = 0.0  # when they were made
        self._meet = MEET

    def send(self, at: float) -> Sent:
        """Take note of a call that goes out; what comes of it is told with what is returned."""
        self._began_at = min(self._began_at, at)
        return self._sent.add(at, self.rate)

    def add_success(self, sent: Sent, at: float) -> None:
        """Learn from an answer: the rate grows with it."""
        self._answers += 1
        if self._trial is not None:
            self._judge(self._trial, at)
        elif self._blocked_at is not None:
            if sent.at >= self._blocked_at:
                self._blocked_at, self._since, self._counts_from = None, at, at
                self._set_rate(BACK * self._limit, at)
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
        if self._blocked_at is not None:
            self.rate = 1 / min(max(LATER_PROBE * (at - self._blocked_at), FIRST_PROBE), 1 / SLOWEST)
        elif self._trial is not None and fresh:
            self._judge(self._trial, at)
        elif self._trial is not None or self.rate is None:
            self._look_for_limit(sent, at)
        else:
            self._step_back(self.rate, sent, at, fresh=fresh)

    def add_timeout(self, at: float) -> bool:
        """Return whether a call without an answer in time asks for fewer calls at once.

        Within a second of a change it does not: it went out before. Else the rate rests, as after a change of its own.
        """
        if at - self._changed_at <= 1.0:
            return False
        self._changed_at = self._grown_at = self._grows_from = at
        return True

    def _look_for_limit(self, sent: Sent, at: float) -> None:
        """Begin to keep to a limit, or a trial where refusals may as well be chance."""
        stretch = self._sent.unlike_chance(sent, self._chance, 4 * SEVERAL)
        if stretch.odds < (SURE if self._chance == STRAY else 2 * SURE) or self.calls_left() < FEW:
            return
        # Refused calls make room for others, so that more went out afterwards than the slots allow.
        limit = min(stretch.at_most, self._sent.rate_until(stretch.began_at, 0.25))
        if stretch.nothing_through:
            self._begin(self._sent.came_through(sent.at, HORIZON), at, blocked=True)
        elif stretch.tells_limit:
            self._begin(limit, at)
        elif self._trial is None and stretch.calls >= 0.8 * SEVERAL:
            self._trial = Trial(self._changed_at, at, limit)
            self._set_rate(LOWER * stretch.through, at)

    def _judge(self, trial: Trial, at: float) -> None:
        """End a trial that has shown enough: in a limit, in refusals by chance, or in another trial."""
        now = self._sent.between(trial.began_at, self._sent.known_until(at, 1.2 * self._delay))
        before = self._sent.between(trial.since, trial.began_at)
        evidence = trial.evidence(before.share, now)
        undecided = abs(evidence) < DECIDED or (evidence > 0 and now.calls < SEVERAL)
        if undecided and now.calls < LONGEST and at < trial.began_at + LONGEST_TRIAL:
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

    def _begin(self, limit: float, at: float, *, blocked: bool = False) -> None:
        """Keep to a limit that was not known before."""
        self.met_limit = self._settling = True
        self._trial, self._since = None, at
        self._meet, self._debt = MEET, 0.0
        self._keep(limit, at, blocked=blocked)

    def _step_back(self, rate: float, sent: Sent, at: float, *, fresh: bool) -> None:
        """Lower the rate where calls are refused at it, unless that may be chance.

        Those that went out before it was last lowered may only tell by how much.
        """
        if sent.at < self._counts_from:
            return
        since = self._changed_at if fresh and not self._settling else max(self._counts_from, sent.at - 4 * HORIZON)
        stretch = self._sent.unlike_chance(sent, self._chance, MANY, since)
        if stretch.odds < (SUSPECT if self._chance == STRAY else 2 * SUSPECT):
            return
        self._debt = min(self._debt + 1 / WORTH, self._most_debt(rate))
        horizon = max(HORIZON, 3 * ENOUGH / rate)
        came = self._sent.came_through(sent.at, horizon)
        if stretch.tells_limit or (self._settling and stretch.refused >= 4):
            if not stretch.nothing_through:
                came = stretch.at_most if stretch.seconds > HORIZON / 4 else max(came, stretch.at_most)
            self._since = at
            self._settling = self._settling and (not fresh or at < self._began_at + horizon)
            self._keep(min(came, max(rate, self._limit)), at, blocked=stretch.nothing_through)
        elif fresh and self._sent.refused_below(self._since):
            self._trial = Trial(self._since, at, self._limit, second=True)
            self._set_rate(FAR_LOWER * rate, at)
        elif fresh:
            self._meet_limit(min(rate, sent.rate or rate), came + 1 / horizon, at)

    def _meet_limit(self, rate: float, came: float, at: float) -> None:
        """Step back from a limit that was met at a rate, while so many calls a second came through."""
        if self._settling:
            self._settling, self._debt, self._counts_from = False, 0.0, at
        else:
            rate = max(min(rate, came), FURTHER_BACK * rate)
            if at > self._grows_from:
                self._meet = min(max(0.5 * (at - self._grows_from), MEET), LONGEST_MEET)
        self._keep(rate, at)

    def _keep(self, limit: float, at: float, *, blocked: bool = False) -> None:
        """Keep below a limit, or make single calls for now where it lets nothing through."""
        self._limit, self._blocked_at = max(limit, SLOWEST), at if blocked else None
        self._set_rate(1 / FIRST_PROBE if blocked else BACK * self._limit, at)

    def _grow(self, rate: float, at: float) -> None:
        """Come near the place where the limit was met once enough calls were made, and then grow ever faster."""
        elapsed, self._grown_at = min(at - self._grown_at, max(0.5, 2 / rate)), at
        if self._debt > 0 and not self._settling:
            self._debt -= elapsed * rate
            self._grows_from = at
            return
        if self._settling and at - self._changed_at < self._delay:
            return  # nothing is known yet of the calls at this rate
        if rate > 2 * max(self._sent.rate_until(at, 0.5, least=0), 2.0):
            return  # calls go out more slowly than they might: a higher rate would be tried by nobody
        if self.calls_left() < NEAR_END * rate:
            return
        done = (at - self._grows_from) / (self._meet + self._delay)
        if done >= PASSED or self._settling:
            self.rate = rate * 2 ** (elapsed / max(DOUBLED_IN, 1.5 * self._delay))
        else:
            step = max((1 - BACK) / 2 * self._limit, LEAST_STEP)
            self.rate = max(rate, BACK * self._limit + step * (done + done**3))

    def _most_debt(self, rate: float) -> float:
        return (LONGEST_DEBT + LATE * self._delay) * rate

    def _set_rate(self, rate: float, at: float) -> None:
        self.rate = max(rate, BACK * SLOWEST)
        self._debt = min(self._debt, self._most_debt(self.rate))
        self._changed_at = self._grown_at = self._grows_from = at
