"""The search alone, on a clock of its own: what it makes of successes and refusals."""

from __future__ import annotations

from itertools import pairwise

import pytest
from clocks import Clock

from harness.models.api.rate_search import ENOUGH, HALVINGS, TRIAL, RateSearch


def add_successes(search: RateSearch, clock: Clock, number: int, apart: float) -> None:
    for _ in range(number):
        clock.now += apart
        search.add_success(clock.now)


def at_a_hundred_a_second() -> tuple[RateSearch, Clock]:
    """Return a search that has seen nothing but successes."""
    search, clock = RateSearch(), Clock()
    add_successes(search, clock, 50, 0.01)
    return search, clock


def with_a_limit(under_way: int = 0) -> tuple[RateSearch, Clock]:
    """Return a search that has met a limit once, while so many calls were under way."""
    search, clock = at_a_hundred_a_second()
    search.add_refusal(clock.now, 0)
    add_successes(search, clock, TRIAL, 0.02)
    search.add_refusal(clock.now, under_way)
    return search, clock


def test_a_trial_without_refusals_shows_a_limit():
    search, clock = at_a_hundred_a_second()
    search.add_refusal(clock.now, 0)
    assert search.rate == pytest.approx(50, rel=0.1)  # half of what was accepted
    add_successes(search, clock, TRIAL, 0.02)
    assert 100 < search.rate < 150  # meets the limit soon, however few slots there were when it was estimated
    assert search.met_limit
    clock.now += 0.1
    before = search.rate
    search.add_refusal(clock.now, 0)
    assert 0.89 * before < search.rate < before


def test_replies_of_calls_that_went_out_before_a_trial_do_not_count_in_it():
    search, clock = at_a_hundred_a_second()
    search.add_refusal(clock.now, 5)
    trial = search.rate
    for _ in range(5):
        search.add_refusal(clock.now, 5)
    add_successes(search, clock, TRIAL - 1, 0.02)
    assert search.rate == trial and not search.met_limit
    add_successes(search, clock, 1, 0.02)
    assert search.met_limit


def test_a_limit_that_is_met_often_is_approached_more_slowly():
    search, clock = with_a_limit()
    waits = []
    for _ in range(5):
        met, limit = clock.now, search.rate
        search.add_refusal(clock.now, 0)
        while search.rate < limit:  # back to where the limit was met
            add_successes(search, clock, 1, 0.01)
        waits.append(clock.now - met)
    assert all(later > earlier for earlier, later in pairwise(waits)), waits


def test_refusals_of_calls_that_went_out_before_the_rate_was_lowered_do_not_lower_it_again():
    search, clock = with_a_limit(under_way=3)
    lowered = search.rate
    for _ in range(2):
        search.add_refusal(clock.now, 0)
    assert search.rate == lowered
    search.add_refusal(clock.now, 0)
    assert search.rate < lowered


def test_refusals_that_go_on_at_half_the_rate_show_that_there_is_none():
    search, clock = at_a_hundred_a_second()
    search.add_refusal(clock.now, 0)
    for _ in range(HALVINGS):
        assert search.rate is not None
        for refused in (False, False, True, False, True):
            clock.now += 0.02
            search.add_refusal(clock.now, 0) if refused else search.add_success(clock.now)
    assert search.rate is None and not search.met_limit
    for _ in range(20):
        search.add_refusal(clock.now, 0)
    assert search.rate is None


def test_the_first_refusals_say_nothing_about_a_rate():
    search = RateSearch()
    for _ in range(ENOUGH - 1):
        search.add_refusal(0.0, 0)
        search.add_success(0.0)
    assert search.rate is None


def test_a_refusal_after_a_long_silence_does_not_stop_everything():
    """Nothing was answered of late, because everybody waited: that is no rate of 0."""
    search, clock = at_a_hundred_a_second()
    clock.now += 30
    search.add_refusal(clock.now, 0)
    assert search.rate == pytest.approx(50, rel=0.2)


def test_many_refusals_cast_doubt_on_a_limit_and_lead_to_a_trial_at_half_its_rate():
    search, clock = with_a_limit()
    for _ in range(20):
        clock.now += 0.001
        before = search.rate
        search.add_refusal(clock.now, 0)
        if search.rate < 0.6 * before:
            break
    else:
        pytest.fail("no trial")
    assert search.rate == before / 2


def test_timeouts_ask_for_fewer_calls_once_a_second_and_keep_the_rate_from_growing():
    search, clock = with_a_limit()
    assert not search.add_timeout(clock.now + 0.9), "the rate has only just changed"
    clock.now += 1.1
    rate = search.rate
    assert search.add_timeout(clock.now) and not search.add_timeout(clock.now + 0.9)
    search.add_success(clock.now + 0.09)
    assert search.rate == rate
    search.add_success(clock.now + 0.2)
    assert search.rate > rate
