"""The calls that went out of late and which of them were refused: what the search for a rate learns from.

Each refusal is laid to the moment at which its call went out. A burst counts once then, however long its replies take,
and while some calls are refused the others tell what the server lets through: nothing that was saved up is left.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter

ENOUGH, SEVERAL = 8, 48
"""Calls that tell something about a rate, and those that tell it well."""
MOSTLY = 0.7
"""The share of refusals from which on they are held to be a limit's."""
STRAY, MORE = 0.03, 0.1
"""The share that is refused at any rate, at least, and how much more is asked about."""
_AT = attrgetter("at")


@dataclass(eq=False, slots=True)
class Sent:
    """A call that went out: when, at what rate, whether it was refused, and whether it is over."""

    at: float
    rate: float | None
    refused: bool = False
    replied: bool = False


@dataclass(frozen=True)
class Stretch:
    """Calls in a row."""

    calls: int
    refused: int
    began_at: float
    seconds: float
    odds: float = 0.0
    """The log odds that more of them were refused than by chance."""

    @property
    def share(self) -> float:
        return self.refused / max(self.calls, 1)

    @property
    def through(self) -> float:
        """Return how many calls a second came through."""
        return (self.calls - self.refused) / max(self.seconds, 1e-3)

    @property
    def at_most(self) -> float:
        """Return the highest limit that lets no more through than were."""
        return (self.calls - self.refused + 1) / max(self.seconds, 1e-3)

    @property
    def tells_limit(self) -> bool:
        """Whether the share of refused calls shows that they met a limit."""
        return self.calls >= 2 * ENOUGH and self.share > MOSTLY

    @property
    def nothing_through(self) -> bool:
        return self.tells_limit and self.calls == self.refused


class SentCalls:
    """The latest calls, in the order in which they went out."""

    def __init__(self) -> None:
        """Begin with none."""
        self._calls: deque[Sent] = deque(maxlen=2048)
        self.refused_late = False
        """Whether refusals take longer than answers: a call without a reply is then neither, else an answer."""

    def add(self, at: float, rate: float | None) -> Sent:
        sent = Sent(at, rate)
        self._calls.append(sent)
        return sent

    def unlike_chance(self, last: Sent, chance: float, most: int, since: float = -math.inf) -> Stretch:
        """Return the calls up to a refused one, `most` and since then at most, whose refusals are most unlike chance.

        What became of calls after it need not be known yet.
        """
        more = min(1.5 * chance + MORE, 0.9)
        refused, answered = math.log(more / chance), math.log((1 - more) / (1 - chance))
        odds, calls, refusals = 0.0, 0, 0
        best, best_odds = (1, 1, last), -math.inf
        for sent in reversed(self._calls):
            if sent.at > last.at or self._is_unknown(sent):
                continue
            calls += 1
            refusals += sent.refused
            odds += refused if sent.refused else answered
            if odds > best_odds:
                best, best_odds = (calls, refusals, sent), odds
            if calls >= most or sent.at < since or odds < best_odds - 6.0:
                break
        return Stretch(best[0], best[1], best[2].at, last.at - best[2].at, best_odds)

    def between(self, begin: float, end: float) -> Stretch:
        """Return the calls that went out from one moment to another."""
        calls = [sent for sent in self._from(begin) if sent.at <= end and not self._is_unknown(sent)]
        if not calls:
            return Stretch(0, 0, end, 0.0)
        refused = sum(sent.refused for sent in calls)
        return Stretch(len(calls), refused, calls[0].at, calls[-1].at - calls[0].at)

    def came_through(self, end: float, seconds: float) -> float:
        """Return how many calls a second were not refused in the seconds up to a moment."""
        sent = [sent for sent in self._from(end - seconds) if sent.at <= end]
        return sum(not (call.refused or self._is_unknown(call)) for call in sent) / seconds

    def known_until(self, at: float, delay: float) -> float:
        """Return up to which moment it is known which calls were refused, where a refusal takes as long as `delay`."""
        return next((sent.at for sent in reversed(self._calls) if sent.refused or sent.at < at - delay), at - delay)

    def unanswered(self, at: float, age: float) -> float:
        """Return what share of the latest calls that are older than that have no reply yet."""
        calls = waiting = 0
        for sent in reversed(self._calls):
            if sent.at >= at - age:
                continue
            if calls >= 2 * ENOUGH or (calls >= ENOUGH and sent.at < at - 2 * age):
                break
            calls += 1
            waiting += not sent.replied
        return waiting / max(calls, ENOUGH)

    def rate_until(self, end: float, seconds: float, least: int = ENOUGH) -> float:
        """Return how many calls a second went out in the seconds up to a moment, or among the last few."""
        earlier = [sent.at for sent in self._calls if sent.at <= end]
        recent = earlier[min(bisect_left(earlier, end - seconds), max(len(earlier) - least, 0)) :]
        return len(recent) / max(end - recent[0], 0.02) if recent else 0.0

    def refused_below(self, begin: float) -> bool:
        """Test whether calls since then were refused at rates well below what had come through at first."""
        calls = [sent for sent in self._from(begin) if sent.rate is not None]
        first = calls[: len(calls) // 2]
        if len(first) < SEVERAL:
            return False
        through = sum(not sent.refused for sent in first) / max(first[-1].at - first[0].at, 1e-3)
        below = [sent.refused for sent in calls if (sent.rate or 0.0) < 0.8 * through]
        return sum(below) >= 5 and STRAY < sum(below) / len(below) < MOSTLY

    def _is_unknown(self, sent: Sent) -> bool:
        return self.refused_late and not sent.replied

    def _from(self, begin: float) -> list[Sent]:
        return list(islice(self._calls, bisect_left(self._calls, begin, key=_AT), None))
