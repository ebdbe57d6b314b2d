"""The search alone, on a clock of its own: what it makes of successes and refusals."""

from __future__ import annotations

import pytest
from support.clocks import Clock

from harness.models.api.rate_search import BACK, ENOUGH, FEW, LOWER, MEET, RateSearch
from harness.models.api.rate_trial import LONGEST, SHORTEST


def add_successes(search: RateSearch, clock: Clock, number: int, apart: float) -> None:
    for _ in range(number):
        clock.now += apart
        search.add_success(clock.now)


def at_a_hundred_a_second() -> tuple[RateSearch, Clock]:
    """Return a search that has seen nothing but successes."""
    search, clock = RateSearch(), Clock()
    add_successes(search, clock, 50, 0.01)
    return search, clock


def with_a_limit() -> tuple[RateSearch, Clock]:
    """Return a search that has just found a limit of about a hundred a second."""
    search, clock = at_a_hundred_a_second()
    search.add_refusal(clock.now, 8)
    while not search.met_limit:
        add_successes(search, clock, 1, 0.014)
    return search, clock


def test_a_trial_without_refusals_shows_a_limit():
    search, clock = at_a_hundred_a_second()
    search.add_refusal(clock.now, 8)
    assert search.rate == pytest.approx(LOWER * 100, rel=0.1)
    add_successes(search, clock, 8 + LONGEST, 0.014)
    assert search.met_limit and search.rate > 90


def test_replies_of_calls_that_went_out_before_a_trial_do_not_count_in_it():
    search, clock = at_a_hundred_a_second()
    search.add_refusal(clock.now, 12)
    trial = search.rate
    for _ in range(12):
        search.add_refusal(clock.now, 12)
    assert search.rate == trial
    # They tell how many were refused before: where that was most, few answers show that there is a limit.
    add_successes(search, clock, SHORTEST + 4, 0.014)
    assert search.met_limit


def test_a_limit_that_is_met_is_stepped_back_from_and_met_again_after_a_while():
    search, clock = with_a_limit()
    add_successes(search, clock, 200, 0.01)
    met, at = search.rate, clock.now
    search.add_refusal(clock.now, 0)
    assert search.rate <= BACK * met
    below = search.rate
    while search.rate <= below / BACK:
        add_successes(search, clock, 1, 0.01)
    assert 0.6 * MEET < clock.now - at < 2 * MEET


def test_refusals_of_calls_that_went_out_before_the_rate_was_lowered_do_not_lower_it_again():
    search, clock = with_a_limit()
    search.add_refusal(clock.now, 3)
    lowered = search.rate
    for _ in range(2):
        search.add_refusal(clock.now, 3)
    assert search.rate == lowered
    search.add_refusal(clock.now, 3)
    assert search.rate < lowered


def test_refusals_that_go_on_at_a_lower_and_at_a_higher_rate_show_that_there_is_no_limit():
    search, clock = at_a_hundred_a_second()
    search.add_refusal(clock.now, 8)
    rates = []
    for number in range(LONGEST):
        if search.rate is None:
            break
        rates.append(search.rate)
        clock.now += 1 / search.rate
        search.add_refusal(clock.now, 8) if number % 4 == 3 else search.add_success(clock.now)
    assert search.rate is None and not search.met_limit
    assert min(rates) == pytest.approx(LOWER * 100, rel=0.1) and max(rates) == 2 * min(rates)
    for _ in range(8):
        search.add_refusal(clock.now, 8)
    assert search.rate is None


def test_the_first_refusals_say_nothing_about_a_rate():
    search = RateSearch()
    for _ in range(ENOUGH - 1):
        search.add_refusal(0.0, 8)
        search.add_success(0.0)
    assert search.rate is None


def test_a_refusal_of_one_of_the_last_calls_says_nothing_either():
    search, clock = at_a_hundred_a_second()
    search.calls_left = lambda: FEW - 1
    search.add_refusal(clock.now, 2)
    assert search.rate is None


def test_a_refusal_after_a_long_silence_does_not_stop_everything():
    """Nothing was answered of late, because everybody waited: that is no rate of 0."""
    search, clock = at_a_hundred_a_second()
    clock.now += 30
    search.add_refusal(clock.now, 8)
    assert search.rate == pytest.approx(LOWER * 100, rel=0.2)


def test_the_rate_does_not_grow_where_calls_go_out_more_slowly_than_they_might():
    search, clock = with_a_limit()
    add_successes(search, clock, 400, 0.1)  # ten a second
    assert search.rate < 200


def test_timeouts_ask_for_fewer_calls_once_a_second_and_keep_the_rate_from_growing():
    search, clock = with_a_limit()
    assert not search.add_timeout(clock.now + 0.9), "the rate has only just changed"
    clock.now += 1.1
    rate = search.rate
    assert search.add_timeout(clock.now) and not search.add_timeout(clock.now + 0.9)
    search.add_success(clock.now + 0.09)
    assert search.rate == rate
    clock.now += 0.1
    add_successes(search, clock, 30, 0.01)
    assert search.rate > rate
