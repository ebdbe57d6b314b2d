"""The search in a closed loop and in virtual time: calls go out as it says, to servers with limits and without."""

from __future__ import annotations

import random
from bisect import insort
from collections.abc import Callable

import pytest
from support.thinned import few

from harness.models.api.rate_search import RateSearch
from harness.models.api.sent_calls import Sent

UNLIMITED = 400.0
"""Calls a second where the search names no rate: as many as the slots allow."""
DELAY = 0.05
"""Seconds from a call to its reply."""


class Limit:
    """A server's limit: so many calls a second, ten at once."""

    def __init__(self, rate: Callable[[float], float]) -> None:
        self.rate, self.left, self.filled_at = rate, 10.0, 0.0

    def __call__(self, at: float) -> bool:
        self.left = min(10.0, self.left + (at - self.filled_at) * self.rate(at))
        self.filled_at = at
        allowed = self.left >= 1
        self.left -= allowed
        return allowed


class Traffic:
    """Calls without end, and the search that learns from their replies."""

    def __init__(self, allows: Callable[[float], bool], refusal_delay: float = DELAY) -> None:
        self.search = RateSearch()
        self.allows = allows
        self.refusal_delay = refusal_delay
        self.next_call = 0.0
        self.under_way: list[tuple[float, bool, int]] = []  # when each reply comes, whether it is an answer, which call
        self.sent: list[Sent] = []
        self.replies: list[tuple[float, bool]] = []

    def reply(self) -> float:
        """Let calls go out until one has its reply; return when that is."""
        while not self.under_way or self.next_call <= self.under_way[0][0]:
            allowed = self.allows(self.next_call)
            delay = DELAY if allowed else self.refusal_delay
            insort(self.under_way, (self.next_call + delay, allowed, len(self.sent)))
            self.sent.append(self.search.send(self.next_call))
            self.next_call += 1 / (self.search.rate or UNLIMITED)
        at, answered, number = self.under_way.pop(0)
        if answered:
            self.search.add_success(self.sent[number], at)
        else:
            self.search.add_refusal(self.sent[number], at)
        self.replies.append((at, answered))
        return at

    def until(self, seconds: float) -> list[tuple[float, bool]]:
        """Let time pass until then; return the replies that came meanwhile."""
        before = len(self.replies)
        while self.reply() < seconds:
            pass
        return self.replies[before:]


def steady(rate: float) -> Traffic:
    """Return the traffic to a server with one limit."""
    return Traffic(Limit(lambda at: rate))


def changing(before: float, after: float, refusal_delay: float) -> Traffic:
    """Return the traffic to a server whose limit changes at second 20, from then on."""
    traffic = Traffic(Limit(lambda at: before if at < 20 else after), refusal_delay)
    traffic.until(20)
    return traffic


def at_random(share: float, seed: int) -> Traffic:
    """Return the traffic to a server that refuses such a share of the calls, whatever the rate."""
    draw = random.Random(seed)
    return Traffic(lambda at: draw.random() >= share)


def answers(replies: list[tuple[float, bool]]) -> int:
    return sum(answered for _, answered in replies)


@pytest.mark.parametrize("limit", [20, 50, 100, 200, 350])
def test_a_limit_is_found_within_seconds_and_then_kept(limit):
    traffic = steady(limit)
    traffic.until(4)
    assert traffic.search.met_limit
    later = traffic.until(24)
    assert answers(later) >= 0.96 * 20 * limit
    assert len(later) - answers(later) <= max(0.01 * len(later), 25), "refused in 20 seconds"


@pytest.mark.parametrize("share", few([0.01, 0.02, 0.05, 0.1, 0.2, 0.35], 1))
def test_refusals_whatever_the_rate_hardly_slow_the_others(share):
    """Whatever the order in which they fall: of 40 orders the worst, too."""
    for seed in range(40):
        traffic = at_random(share, seed)
        assert answers(traffic.until(10)) >= 0.7 * 10 * UNLIMITED * (1 - share), seed


@pytest.mark.parametrize(
    ("before", "after"), few([(300, 30), (200, 50), (100, 40), (40, 200), (50, 400), (100, 300)], 3)
)
@pytest.mark.parametrize("refusal_delay", [DELAY, 0.002])
def test_a_limit_that_changes_is_followed_within_three_seconds(before, after, refusal_delay):
    """Also where calls are refused at once, so that refusals come before the answers to earlier calls."""
    traffic = changing(before, after, refusal_delay)
    traffic.until(23)
    later = traffic.until(33)
    assert answers(later) >= 0.9 * 10 * min(after, UNLIMITED)
    assert len(later) - answers(later) <= max((0.05 if refusal_delay == DELAY else 0.2) * len(later), 40)


@pytest.mark.parametrize("refusal_delay", [0.2, 0.5])
def test_few_calls_are_refused_however_late_a_server_says_so(refusal_delay):
    """Missing answers tell it before."""
    traffic = Traffic(Limit(lambda at: 100), refusal_delay)
    traffic.until(5)
    later = traffic.until(45)
    assert answers(later) >= 0.95 * 40 * 100
    assert len(later) - answers(later) <= 0.015 * len(later)


def test_near_the_end_a_limit_is_not_met_any_more():
    """A run waits for what is refused at its end, however little is left to do."""
    traffic = steady(100)
    traffic.until(10)
    traffic.search.calls_left = lambda: 100
    traffic.until(10 + DELAY)  # replies to calls that had gone out before
    later = traffic.until(20)
    assert len(later) - answers(later) <= 1 and answers(later) >= 0.93 * 10 * 100


def test_refusals_by_chance_and_a_limit_as_well():
    """A twentieth refused by chance, and whatever is beyond 100 a second."""
    limit, draw = Limit(lambda at: 100), random.Random(0)
    traffic = Traffic(lambda at: draw.random() >= 0.05 and limit(at))
    later = traffic.until(30)
    assert answers(later) >= 0.7 * 30 * 100
    assert len(later) - answers(later) <= 1.5 * answers(later)
