"""One budget for several jobs: what one has spent or set aside leaves less for the others."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.cost.budget import Budget
from harness.cost.price import Price
from harness.cost.shared_budget import Book, SharedTill, till_of
from harness.cost.till import UNSEEN, Till
from harness.errors import BudgetReached
from harness.models.api.openai import Chat
from harness.types import ChatRequest, Message, Response, Usage

MODEL = Chat(name="m", model="m", base_url="http://localhost:1/v1")
PRICE = Price(((0, 10.0),), ((0, 10.0),))


def ask(number: int) -> ChatRequest:
    return ChatRequest((Message("user", f"Is {number} a number?"),), max_tokens=16)


@pytest.fixture
def till(tmp_path):
    def make(name: str, **limits: float) -> SharedTill:
        made = till_of(Budget(**limits), PRICE, MODEL, lambda _: None, Book(tmp_path / "budget.sqlite", name))
        assert isinstance(made, SharedTill)
        return made

    return make


def take(till: Till, number: int) -> bool:
    size = till.size(ask(number))
    if till.room(size):
        till.take(ask(number), size)
        return True
    return False


def test_two_jobs_never_pass_a_limit_on_calls(till):
    one, two = till("one", requests=3), till("two", requests=3)
    assert [take(one, 0), take(two, 1), take(one, 2), take(two, 3), take(one, 4)] == [True, True, True, False, False]
    assert two.stopped(two.size(ask(3))) is None  # what is under way may come to nothing
    one.failed(ask(0), None)  # a refused try counts as one all the same
    one.settle(ask(2), Response("No", usage=Usage(9, 1)))
    two.settle(ask(1), Response("No", usage=Usage(9, 1)))
    stopped = two.stopped(two.size(ask(3)))
    assert isinstance(stopped, BudgetReached) and "budget.requests=3 of all jobs together" in str(stopped)


def test_room_that_was_found_is_kept_until_it_is_taken(till):
    one, two = till("one", requests=1), till("two", requests=1)
    size = one.size(ask(0))
    assert one.room(size) and one.room(size) and not two.room(size)
    one.forfeit()  # it was never taken
    assert two.room(size) and two.spent.requests == 0


def test_what_nobody_knows_of_anothers_first_call_is_waited_for(till):
    unseen = UNSEEN * 10 / 1e6
    one, two = till("one", usd=unseen / 2), till("two", usd=unseen / 2)
    assert take(one, 0) and not take(two, 1)  # it may be billed UNSEEN tokens that are nowhere in the request
    one.settle(ask(0), Response("No", usage=Usage(9, 1)))
    assert take(two, 1)


def test_what_a_killed_job_had_set_aside_is_spent(till, tmp_path):
    script = (
        "import os, sys; sys.path[:0] = ['tests/cost']\n"
        "from pathlib import Path; from test_shared_budget import *\n"
        "till = till_of(Budget(requests=3), PRICE, MODEL, print, Book(Path(sys.argv[1]), 'killed'))\n"
        "assert take(till, 0); print('taken', flush=True); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "budget.sqlite")], check=False, stdout=subprocess.PIPE)
    one = till("one", requests=3)
    assert [take(one, 1), take(one, 2), take(one, 3)] == [True, True, False]
    assert one.spent.requests == 1


def test_a_job_that_is_begun_again_has_not_forgotten_what_it_spent(till):
    first = till("job 0", requests=2)
    assert take(first, 0)
    first.settle(ask(0), Response("No", usage=Usage(9, 1)))
    again = till("job 0", requests=2)
    assert [take(again, 1), take(again, 2)] == [True, False] and again.spent.requests == 1


def test_the_clock_is_that_of_the_first_job(till, tmp_path):
    one, two = till("one", minutes=5), till("two", minutes=5)
    one.begin()
    one._began -= 60
    two.begin()
    assert 0 <= two.left - 300 + 0.5 <= 1 and one.left < 241
    book = Book(tmp_path / "budget.sqlite", "three")
    assert book.began() == book.began()


def test_without_a_limit_nothing_is_written(tmp_path):
    till = till_of(Budget(), PRICE, MODEL, lambda _: None, Book(tmp_path / "budget.sqlite", "one"))
    assert not isinstance(till, SharedTill) and take(till, 0) and not (tmp_path / "budget.sqlite").exists()
