"""The search for a server's limit of calls a second, from its replies alone.

A refusal (429) may mean two things: a limit of the server's, which goes away when calls go out more slowly, or a server
that refuses some calls whatever their rate. Where most calls are refused it is a limit, and those that are not tell it.
Where fewer are, trials tell: at a rate below what came through, a limit refuses hardly any call, and chance as many as
before. Two trials in a row, each below what came through the one before, have to agree that it is chance.

A limit that is known is kept to and met again (known_limit.py). Growth goes by answers: calls that have none in the
time that answers take are likely to be refused, long before a slow server says so. Where nothing at all comes through,
single calls show when the server takes some again; the limit is then what came through in the second before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from harness.models.api.known_limit import BACK, SLOWEST, KnownLimit
from harness.models.api.sent_calls import ENOUGH, MOSTLY, SEVERAL, STRAY, Sent, SentCalls, Stretch
from harness.protocols import MANY

FEW = 8
"""Calls at the end of a run whose refusals are not worth a trial."""
LOWER, FAR_LOWER = 0.9, 0.5
"""The rate of a trial, as a share of what came through before; where a limit is known, of the rate before."""
SUSPECT, SURE = 1.5, 6.0
"""Log odds at which refusals are no chance: where a limit is known, and where none is."""
DECIDED, LONGEST = 5.3, 300
"""Log odds at which a trial ends, and replies after which it does by what is likelier."""
HORIZON = 1.0
"""Seconds in which it is counted what comes through: many servers count by the second."""
FIRST_PROBE, LATER_PROBE = 0.1, 0.07
"""Seconds between single calls where nothing comes through, at first, and as a share of how long that has lasted."""
LONGEST_TRIAL = 4.0
"""Seconds after which a trial ends by what is likelier."""
OVERDUE, AGE, LEAST_AGE = 0.2, 2.0, 0.05
"""The share of calls without an answer for which the rate does not grow, after how many times as long as answers take,
and after how many seconds at least: a loop that is busy reads answers late."""
CLEAN = 5.0
"""How many refusals by chance must have failed to come for it to be forgotten beside a limit, whose come in crowds."""
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
        self._known = KnownLimit()
        self._since = 0.0  # when the limit was found, or became another
        self._counts_from = -math.inf  # calls that went out earlier say nothing about it
        self._blocked_at: float | None = None  # nothing has come through since
        self._latency = 0.0  # seconds that answers take
        self._in_a_row = 0  # answers since the last refusal

    def send(self, at: float) -> Sent:
        """Take note of a call that goes out; what comes of it is told with what is returned."""
        self._began_at = min(self._began_at, at)
        return self._sent.add(at, self.rate)

    def add_success(self, sent: Sent, at: float) -> None:
        """Learn from an answer: the rate grows with it."""
        self._answers += 1
        self._in_a_row += 1
        sent.replied = True
        self._latency += (at - sent.at - self._latency) * (0.1 if self._latency else 1.0)
        if self.met_limit and self._in_a_row * self._chance > CLEAN:
            self._chance = STRAY
        if self._trial is not None:
            self._judge(self._trial, at)
        elif self._blocked_at is not None:
            if sent.at >= self._blocked_at:
                self._blocked_at, self._since, self._counts_from = None, at, at
                self._set_rate(self._known.base, at)
        elif self.rate is not None and not self._known.grew_lately(at):
            self._grow(self.rate, at)

    def add_refusal(self, sent: Sent, at: float) -> None:
        """Learn from a refused call (429)."""
        sent.refused = sent.replied = True
        self._delay = max(at - sent.at, 0.9 * self._delay)
        self._sent.refused_late = self._delay > 1.2 * self._latency > 0
        self._refusals += 1
        self._in_a_row = 0
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

    def overdue(self, at: float) -> float:
        """Return the share of calls that have no answer although they should, where refusals come later than that."""
        age = self._age
        return 0.0 if 0 < 1.2 * self._delay <= age else self._sent.unanswered(at, age)

    @property
    def _age(self) -> float:
        """Seconds in which calls have their answers."""
        return max(AGE * self._latency, LEAST_AGE)

    def add_timeout(self, at: float) -> bool:
        """Return whether a call without an answer in time asks for fewer calls at once.

        Within a second of a change it does not: it went out before. Else the rate rests, as after a change of its own.
        """
        if at - self._changed_at <= 1.0:
            return False
        self._changed_at = at
        self._known.pause(at)
        return True

    def _look_for_limit(self, sent: Sent, at: float) -> None:
        """Begin to keep to a limit, or a trial where refusals may as well be chance."""
        stretch = self._sent.unlike_chance(sent, self._chance, 4 * SEVERAL)
        if stretch.odds < (SURE if self._chance == STRAY else 2 * SURE) or self.calls_left() < FEW:
            return
        # Refused calls make room for others, so that more went out afterwards than the slots allow.
        limit = min(stretch.at_most, self._sent.rate_until(stretch.began_at, 0.25))
        if stretch.nothing_through:
            came = self._sent.came_through(sent.at, HORIZON)
            self._begin(came, at, blocked=True, estimated=self._answers < ENOUGH)
        elif stretch.tells_limit:
            few = stretch.calls - stretch.refused < ENOUGH or stretch.seconds <= HORIZON / 4
            self._begin(limit, at, estimated=few)
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
            self._begin(trial.limit, at, estimated=not self.met_limit)
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

    def _begin(self, limit: float, at: float, *, blocked: bool = False, estimated: bool = True) -> None:
        """Keep to a limit that was not known before."""
        saved = None if self.met_limit else max(0.0, self._answers - limit * (at - self._began_at))
        self.met_limit, self._trial, self._since = True, None, at
        self._known.begin(estimated=estimated)
        self._keep(limit, at, blocked=blocked, saved=saved)

    def _keep(self, limit: float, at: float, *, blocked: bool = False, saved: float | None = None) -> None:
        """Keep below a limit, or make single calls for now where it lets nothing through."""
        base = self._known.keep(limit, at, saved=saved)
        self._blocked_at = at if blocked else None
        self._set_rate(1 / FIRST_PROBE if blocked else base, at)

    def _step_back(self, rate: float, sent: Sent, at: float, *, fresh: bool) -> None:
        """Lower the rate where calls are refused at it, unless that may be chance.

        Those that went out before it was last lowered may only tell by how much.
        """
        known = self._known
        if sent.at < self._counts_from:
            return
        since = self._changed_at if fresh and not known.estimated else max(self._counts_from, sent.at - 4 * HORIZON)
        stretch = self._sent.unlike_chance(sent, self._chance, MANY, since)
        if stretch.odds < (SUSPECT if self._chance == STRAY else 2 * SUSPECT):
            return
        known.owe(rate, at)
        refused_at = sent.rate or rate
        if stretch.tells_limit or (known.estimated and stretch.refused >= 4):
            self._fall(stretch, max(rate, known.met), sent, at)
            known.estimated = known.estimated and (not fresh or at < self._began_at + HORIZON)
        elif fresh and not known.is_beyond(refused_at) and self._sent.refused_below(self._since):
            limit = min(known.met, self._sent.came_through(sent.at, HORIZON))
            self._trial = Trial(max(self._since, at - HORIZON), at, limit, second=True)
            self._set_rate(FAR_LOWER * rate, at)
        elif fresh:
            self._meet_limit(refused_at, sent, at)

    def _fall(self, stretch: Stretch, most: float, sent: Sent, at: float) -> None:
        """Keep to what comes through where most calls are refused."""
        came = self._sent.came_through(sent.at, HORIZON)
        if not stretch.nothing_through:
            came = stretch.at_most if stretch.seconds > HORIZON / 4 else max(came, stretch.at_most)
        self._since = at
        self._keep(min(came, most), at, blocked=stretch.nothing_through)

    def _meet_limit(self, rate: float, sent: Sent, at: float) -> None:
        """Step back from a limit that was met at a rate."""
        known = self._known
        first = known.estimated
        if first:
            known.begin(estimated=False)
            self._counts_from = at
        if not known.is_beyond(rate):
            horizon = max(HORIZON, 3 * ENOUGH / rate)
            self._set_rate(known.lower(rate, self._sent.came_through(sent.at, horizon) + 1 / horizon, at), at)
            return
        if known.is_far(rate):
            self._since = at
        # Far beyond what was known, what came through until a refusal was known may have been saved up by the server.
        shortest = max(HORIZON / 4, self._delay) if known.is_far(rate) else HORIZON / 4
        few, several = (self._sent.came_through(sent.at, max(shortest, n / rate)) for n in (ENOUGH, 3 * ENOUGH))
        self._set_rate(known.meet(rate, few if first or known.is_far(rate) else several, at, first=first), at)

    def _grow(self, rate: float, at: float) -> None:
        """Come near the limit again and pass it, as long as calls are answered and there are calls to make."""
        known_after = min(self._age, 1.2 * self._delay) if self._delay else self._age
        if not self._known.rests(at):
            if at - self._changed_at < known_after:
                return
            if self.overdue(at) > OVERDUE:
                self.rate = self._known.wait(at, self._delay)
                return
            if rate > 2 * max(self._sent.rate_until(at, 0.5, least=0), 2.0):
                return  # calls go out more slowly than they might: a higher rate would be tried by nobody
            if self.calls_left() < NEAR_END * rate:
                self.rate = self._known.base
                return
        self.rate = self._known.grown(rate, at, known_after)

    def _set_rate(self, rate: float, at: float) -> None:
        self.rate = max(rate, BACK * SLOWEST)
        self._changed_at = at
        self._known.pause(at)
