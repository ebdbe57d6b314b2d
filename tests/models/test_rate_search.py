"""The search alone, on a clock of its own: what it makes of calls and what became of them."""

from __future__ import annotations

import pytest
from support.clocks import Clock

from harness.models.api.known_limit import BACK, MEET
from harness.models.api.rate_search import FEW, LOWER, RateSearch
from harness.models.api.sent_calls import ENOUGH


def make_calls(search: RateSearch, clock: Clock, number: int, apart: float, refused: int = 0) -> None:
    """Make calls that have their replies at once; each so manyth is refused."""
    for k in range(1, number + 1):
        clock.now += apart
        sent = search.send(clock.now)
        if refused and k % refused == 0:
            search.add_refusal(sent, clock.now)
        else:
            search.add_success(sent, clock.now)


def at_a_hundred_a_second() -> tuple[RateSearch, Clock]:
    """Return a search that has seen nothing but successes."""
    search, clock = RateSearch(), Clock()
    make_calls(search, clock, 50, 0.01)
    return search, clock


def in_a_trial() -> tuple[RateSearch, Clock]:
    """Return a search at whose hundred calls a second half are refused."""
    search, clock = at_a_hundred_a_second()
    while search.rate is None:
        make_calls(search, clock, 2, 0.01, refused=2)
    return search, clock


def with_a_limit() -> tuple[RateSearch, Clock]:
    """Return a search that has just found a limit of about a hundred a second, by a burst at two hundred."""
    search, clock = at_a_hundred_a_second()
    while search.rate is None:
        make_calls(search, clock, 2, 0.005, refused=2)
    while not search.met_limit:
        make_calls(search, clock, 1, 1 / search.rate)
    return search, clock


def grow(search: RateSearch, clock: Clock, beyond: float) -> None:
    while search.rate < beyond:
        make_calls(search, clock, 1, 1 / search.rate)


def test_a_trial_without_refusals_shows_a_limit():
    search, clock = in_a_trial()
    assert search.rate < 70 and not search.met_limit
    make_calls(search, clock, 100, 1 / search.rate)
    assert search.met_limit and search.rate > 0.9 * 50


def test_a_trial_is_at_less_than_what_comes_through():
    """Half of the hundred a second."""
    search, _ = in_a_trial()
    assert search.rate == pytest.approx(LOWER * 50, rel=0.1)


def test_replies_of_calls_that_went_out_before_a_trial_do_not_count_in_it():
    search, clock = at_a_hundred_a_second()
    earlier = [search.send(clock.now) for _ in range(6)]
    while search.rate is None:
        make_calls(search, clock, 2, 0.01, refused=2)
    trial = search.rate
    for sent in earlier:
        search.add_refusal(sent, clock.now)
    assert search.rate == trial
    make_calls(search, clock, 100, 1 / search.rate)
    assert search.met_limit


def test_nearly_only_refusals_show_a_limit_without_a_trial():
    search, clock = at_a_hundred_a_second()
    sent = [search.send(clock.now + k / 1000) for k in range(100)]
    clock.now += 0.1
    for k, call in enumerate(sent):
        if k % 10:
            search.add_refusal(call, clock.now + k / 1000)
    assert search.met_limit and search.rate == pytest.approx(100, rel=0.25)


def test_a_limit_that_is_met_is_stepped_back_from_and_met_again_after_a_while():
    search, clock = with_a_limit()
    grow(search, clock, search.rate / BACK)
    met, at = search.rate, clock.now
    search.add_refusal(search.send(clock.now), clock.now)
    assert search.rate <= BACK * met
    grow(search, clock, search.rate / BACK)
    assert 0.6 * MEET < clock.now - at < 2 * MEET


def test_refusals_of_calls_that_went_out_before_the_rate_was_lowered_do_not_lower_it_again():
    search, clock = with_a_limit()
    grow(search, clock, search.rate / BACK)
    earlier = [search.send(clock.now) for _ in range(3)]
    for sent in earlier:
        search.add_refusal(sent, clock.now)
    lowered = search.rate
    for sent in earlier:
        search.add_refusal(sent, clock.now)
    assert search.rate == lowered
    make_calls(search, clock, 4, 1 / search.rate)
    make_calls(search, clock, 3, 1 / search.rate, refused=1)
    assert search.rate < lowered


@pytest.mark.parametrize("share", [3, 4, 6, 10])
def test_refusals_that_go_on_at_lower_rates_show_that_there_is_no_limit(share):
    search, clock = at_a_hundred_a_second()
    rates = set()
    for _ in range(200):
        rates.add(search.rate)
        make_calls(search, clock, share, 1 / (search.rate or 100), refused=share)
        if len(rates) > 1 and search.rate is None:
            break
    assert search.rate is None and not search.met_limit
    assert len(rates) == 3 and min(rates - {None}) < LOWER**2 * 100
    make_calls(search, clock, 60, 0.01, refused=share)
    assert search.rate is None


def test_the_first_refusals_say_nothing_about_a_rate():
    search = RateSearch()
    for _ in range(ENOUGH - 1):
        search.add_refusal(search.send(0.0), 0.0)
        search.add_success(search.send(0.0), 0.0)
    assert search.rate is None


def test_a_refusal_of_one_of_the_last_calls_says_nothing_either():
    search, clock = at_a_hundred_a_second()
    search.calls_left = lambda: FEW - 1
    make_calls(search, clock, 60, 0.01, refused=1)
    assert search.rate is None


def test_a_refusal_after_a_long_silence_does_not_stop_everything():
    """Nothing was answered of late, because everybody waited: that is no rate of 0."""
    search, clock = with_a_limit()
    before = search.rate
    clock.now += 30
    search.add_refusal(search.send(clock.now), clock.now)
    assert search.rate > 0.8 * before


def test_the_rate_does_not_grow_where_calls_go_out_more_slowly_than_they_might():
    search, clock = with_a_limit()
    make_calls(search, clock, 400, 0.1)  # ten a second
    assert search.rate < 200


def test_timeouts_ask_for_fewer_calls_once_a_second_and_keep_the_rate_from_growing():
    search, clock = with_a_limit()
    assert not search.add_timeout(clock.now + 0.9), "the rate has only just changed"
    clock.now += 1.1
    rate = search.rate
    assert search.add_timeout(clock.now) and not search.add_timeout(clock.now + 0.9)
    search.add_success(search.send(clock.now), clock.now + 0.01)
    assert search.rate <= rate
    make_calls(search, clock, 100, 0.01)
    assert search.rate > rate
