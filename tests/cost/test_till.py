"""What a till admits, believes and learns."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted import Scripted

from harness.cost.budget import Budget
from harness.cost.price import Price, countable, size
from harness.cost.till import Till
from harness.errors import BudgetReached
from harness.types import ChatRequest, ChoiceRequest, Failure, Message, Request, Response, Usage

PRICE = Price(((0, 10.0), (1000, 20.0)), ((0, 100.0),), ((0, 1.0),), ((0, 12.0),))
A_DOLLAR = Price(((0, 1e6),), ((0, 1e6),))
"""A token costs a dollar: what is spent is a number of tokens."""
MODEL = Scripted(lambda request: Response("No"))
SOME = Response("No", usage=Usage(40, 2))


def ask(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text * 10),), max_tokens=16)


A, B, C = ask("Is it A? "), ask("Is it B? "), ask("Is it C? ")
MOST = size(A, None).input_most + size(A, None).output_most


def till_of(*under_way: Request, price: Price = A_DOLLAR, **limits: float) -> Till:
    till = Till(Budget(**limits), price, MODEL)
    for request in under_way:
        till.take(request, till.size(request))
    return till


def test_a_refused_try_keeps_its_place_and_counts_as_a_request():
    till = till_of(A, B, usd=2 * MOST)
    till.failed(A, None)
    assert (till.spent.usd, till.spent.requests) == (0, 1)
    assert not till.room(till.size(C)), "no other takes what a refused try gave back"
    till.settle(B, SOME)
    assert till.again(A)
    till.settle(A, SOME)
    assert till.spent.requests == 3 and till.room(till.size(C))


def test_others_go_on_while_a_refused_try_waits():
    till = till_of(A, requests=10)
    till.failed(A, None)
    assert till.room(till.size(B)) and till.again(A)


def test_a_billed_try_waits_for_what_others_give_back_and_goes_before_new_ones():
    till = till_of(A, B, usd=2.5 * MOST)
    till.failed(A, Usage())
    assert till.spent.usd == MOST and not till.again(A)
    till.settle(B, SOME)
    assert not till.room(till.size(C)), "the try that waits goes first"
    assert till.again(A)


def test_a_try_that_nothing_can_make_room_for_ends():
    till = till_of(A, usd=1.5 * MOST)
    till.failed(A, Usage())
    with pytest.raises(BudgetReached, match=r"usd=.* is reached \(.* spent, .* of it the most of calls"):
        till.again(A)
    till.settle(A, Failure("connection_lost", "reset"))
    assert till.spent.usd == MOST, "a try is entered once"


def test_one_of_a_ranked_requests_calls_was_refused_and_the_others_may_be_billed():
    request = ChoiceRequest((Message("user", "Is it?"),), ("Yes", "No"))
    till = till_of(request, usd=1e6)
    till.failed(request, None)
    assert till.spent.requests == 2
    most = size(request, None)
    assert till.spent.usd == pytest.approx((most.input_most + most.output_most) / 2, abs=2)


def test_what_a_reply_takes_beyond_its_most_is_expected_of_every_other():
    till = till_of(A, usd=20_000)
    assert till.room(till.size(B)) is False, "as long as nothing is known, one goes alone"
    till.settle(A, Response("No", usage=Usage(5000, 2)))
    till.take(B, till.size(B))
    till.failed(B, Usage())
    assert till.spent.usd == pytest.approx(5002 + MOST + 5000 - size(A, None).input)
    till.settle(B, Failure("timeout", "late"))
    assert till.room(till.size(C)), "it fits"
    till.take(C, till.size(C))
    assert not till.room(till.size(A)), "5000 more do not"


def test_calls_that_nobody_counted_are_taken_to_be_as_long_as_the_longest():
    till = till_of(A, usd=50_000)
    till.settle(A, Response("No"))
    assert till.spent.usd == MOST
    till.take(B, till.size(B))
    till.settle(B, Response("No", usage=Usage(5000, 900)))
    assert till.spent.usd >= 2 * 5900


@pytest.mark.parametrize(
    "usage",
    [
        Usage(),
        Usage(0, 0),
        Usage(0, 2),
        Usage(1, 2),
        Usage(40, None),
        Usage(None, 2),
        Usage(-40, -2),
        Usage(40, -2),
        Usage(40, 2, -100_000),
        Usage(40, 2, 41),
        Usage(40, 2, 30, None, 11),
        Usage(40, 2, None, 3),
        Usage("40", 2),
        Usage(math.nan, 2),
        Usage(40, math.inf),
        Usage(True, True),
        Usage(10**12, 2),
    ],
)
def test_what_cannot_be_a_count_is_none(usage):
    till = till_of(A, usd=1e6)
    till.settle(A, Response("No", usage=usage))
    assert MOST <= till.spent.usd < 2 * MOST


def test_a_long_text_of_two_tokens_is_none():
    till = till_of(A, usd=1e6)
    till.settle(A, Response("No, " * 100, usage=Usage(40, 2)))
    assert till.spent.usd == MOST


COUNTS = st.one_of(st.none(), st.integers(), st.floats(), st.booleans(), st.text(max_size=3), st.integers(0, 5000))


@given(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
def test_no_cost_is_negative_or_no_number(input, output, cached, reasoning, written):
    usage = Usage(input, output, cached, reasoning, written)
    cost = PRICE.cost(usage)
    assert (cost is not None) == countable(usage)
    if cost is not None:
        assert 0 <= cost <= PRICE.most(int(input), int(output)) * (1 + 1e-9)
    till = till_of(A, price=PRICE, usd=1e9)
    till.settle(A, Response("No", usage=usage))
    assert 0 < till.spent.usd < math.inf


def test_the_time_is_over_for_tries_that_wait(monkeypatch):
    till = till_of(A, minutes=1)
    till.begin()
    assert 0 < till.left <= 60
    till.failed(A, None)
    monkeypatch.setattr("harness.cost.till.time.monotonic", lambda: math.inf)
    with pytest.raises(BudgetReached, match=r"budget.minutes=1 is reached \(the time is over\)"):
        till.again(A)
    till.settle(A, Failure("rate_limit", "slow down"))
    assert till.spent.requests == 1
