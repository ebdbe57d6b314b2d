"""A known limit alone, on a clock of its own: when it is met again, and what is made of where it was met."""

from __future__ import annotations

import pytest

from harness.models.api.known_limit import BACK, LONGEST_DEBT, MEET, WORTH, KnownLimit


def at_a_hundred() -> KnownLimit:
    known = KnownLimit()
    known.begin(estimated=False)
    known.keep(100.0, 0.0)
    return known


def grow(known: KnownLimit, rate: float, at: float, until: float) -> tuple[float, float]:
    """Let time pass until the rate is so high; return it and when that is."""
    while rate < until and at < 100:
        at += 0.02
        rate = known.grown(rate, at, 0.05)
    return rate, at


@pytest.mark.parametrize("refused", [1, 3])
def test_each_refusal_is_paid_for_before_the_limit_is_met_again(refused):
    known = at_a_hundred()
    for _ in range(refused):
        known.owe(96.0, 0.0)
    _, rests_until = grow(known, 96.0, 0.0, 96.1)
    assert rests_until == pytest.approx(refused / WORTH / 96, abs=0.1)


def test_no_debt_lasts_for_ever():
    known = at_a_hundred()
    for _ in range(100):
        known.owe(96.0, 0.0)
    assert grow(known, 96.0, 0.0, 96.1)[1] < LONGEST_DEBT + 0.1


def test_a_limit_is_passed_slowly_and_then_ever_faster():
    known = at_a_hundred()
    rate, met_at = grow(known, 96.0, 0.0, 100.0)
    assert 0.5 * MEET < met_at < 1.5 * MEET
    rate, passed_at = grow(known, rate, met_at, 110.0)
    assert passed_at - met_at > MEET
    _, doubled_at = grow(known, rate, passed_at, 400.0)
    assert doubled_at - passed_at < 2.0


def test_what_a_server_may_have_saved_up_shows_no_higher_limit():
    quick, slow = at_a_hundred(), at_a_hundred()
    slow.keep(100.0, 0.0, saved=200.0)
    assert grow(quick, 96.0, 0.0, 200.0)[1] + 1 < grow(slow, 96.0, 0.0, 200.0)[1]


def test_refusals_at_the_same_rate_again_show_where_the_limit_is():
    """A single refusal leaves open whether calls had been saved up."""
    known = at_a_hundred()
    known.base = 80.0
    assert known.meet(120.0, 100.0, 1.0, first=False) == pytest.approx(80 + (BACK * 120 - 80) / 3)
    assert known.meet(120.5, 90.0, 2.0, first=False) == pytest.approx(BACK * 120.5)
    assert known.meet(150.0, 117.0, 3.0, first=False) == 117.0


def test_what_came_through_tells_more_of_a_limit_than_an_estimate_does():
    known = at_a_hundred()
    known.base = 20.0
    assert known.meet(100.0, 70.0, 1.0, first=True) == 70.0


def test_refusals_at_base_show_that_the_limit_has_fallen_but_not_all_at_once():
    known = at_a_hundred()
    assert known.lower(96.0, 93.0, 1.0) == pytest.approx(BACK * 93)
    assert known.lower(80.0, 8.0, 2.0) == pytest.approx(BACK * 0.85 * 80)


def test_the_rate_is_at_base_while_calls_have_no_answer_although_they_should():
    known = at_a_hundred()
    _, at = grow(known, 96.0, 0.0, 104.0)
    assert known.wait(at, 0.5) == 96.0
    assert known.rests(at + 0.4) and not known.rests(at + 0.6)
