"""Budgets against the local server, and against models that pull as they like."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from support.openai_server import Server, chat_reply, error
from support.outcomes import each
from support.scripted import Scripted
from support.thinned import few

from harness.cost.budget import Budget, Budgeted
from harness.cost.ledger import Ledger
from harness.cost.price import Price
from harness.cost.size import size
from harness.errors import ConfigError, RunStopped
from harness.models.api.openai import Chat
from harness.runtime.signals import STOP
from harness.settings import Limits
from harness.types import ChatRequest, Message, PairRequest, Response, Usage

PRICE = Price(((0, 10.0),), ((0, 100.0),))
A_DOLLAR = Price(((0, 1e6),), ((0, 1e6),))  # a token: what is spent is a number of tokens
A_CALL = PRICE.cost(Usage(11, 2, 3))  # what the server's replies say
MOST = 4 * 64  # tokens of input set aside for one of these requests, or less


def chat(server: Server, **settings) -> Chat:
    return Chat(**{"name": "m", "model": "gpt-4", "base_url": server.url, "max_wait": 0.1, **settings})


def asks(number: int) -> list[ChatRequest]:
    return [ChatRequest((Message("user", f"Is {k} a number?"),), max_tokens=16) for k in range(number)]


def spend(model, asked, price: Price = PRICE, **limits) -> tuple[list, str, Budget]:
    """Return the answers, why they stopped, and the budget."""
    budget = Budget(Limits(**limits))
    answered: list = []
    try:
        for outcome in each(Budgeted(model, budget, Ledger(price, paid=True)).respond(iter(asked))):
            answered.append(outcome)
    except RunStopped as stopped:
        return answered, str(stopped), budget
    return answered, "", budget


def test_requests_are_asked_up_to_the_limit_and_not_one_more(serve, key):
    server = serve(delay=0.02, together=5)
    answered, why, budget = spend(chat(server), asks(200), requests=37)
    assert len(server.calls) == len(answered) == budget.spent.requests == 37
    assert why.startswith("budget.requests=37 is reached (37 asked)") and "asks for the rest" in why
    assert server.most_in_flight > 4


@pytest.mark.parametrize("concurrency", few([16, 1, 64], 1))
def test_dollars_hold_whatever_is_under_way_and_are_used_to_the_last_call(serve, key, concurrency):
    server = serve(delay=0.01)
    allowed = 0.05
    answered, why, budget = spend(chat(server, max_concurrency=concurrency), asks(500), usd=allowed)
    assert len(server.calls) == len(answered)
    assert budget.spent.usd == pytest.approx(len(answered) * A_CALL) and budget.spent.usd <= allowed
    # What is left is less than one call may take, though the calls under way at a time may have taken all of it.
    assert allowed - budget.spent.usd < PRICE.most(MOST, 16)
    assert "budget.usd=0.05 is reached" in why and "the next call may cost $0.00" in why


def test_a_budget_of_nothing_asks_nothing(serve, key):
    server = serve()
    for limits in ({"requests": 0}, {"usd": 0}):
        answered, why, _ = spend(chat(server), asks(3), **limits)
        assert not answered and "is reached" in why
    assert not server.calls


def test_failed_calls_count_as_far_as_they_may_have_been_billed(serve, key):
    server = serve(lambda *_: error(400, "no", "content_filter"))
    answered, _, budget = spend(chat(server), asks(1000), usd=20 * PRICE.most(MOST, 16))
    assert 20 <= len(answered) < 60
    server = serve(lambda *_: error(400, "too long", "context_length_exceeded"))
    answered, why, budget = spend(chat(server), asks(40), usd=PRICE.most(MOST, 16))
    assert len(answered) == 40 and budget.spent.usd == 0 and budget.spent.requests == 40 and not why


class Window(Scripted):
    """Pulls as many as it gets before it answers, like a local model; answers again and again."""

    def respond(self, requests):
        waiting = []
        for request in requests:
            waiting.append(request)
            if len(waiting) == 8:
                yield from super().respond(waiting)
                waiting = []
        yield from super().respond(waiting)


def test_a_model_that_pulls_ahead_is_asked_in_rounds():
    model = Window(lambda request: Response("No", usage=Usage(10, 1)))
    answered, why, budget = spend(model, asks(500), A_DOLLAR, usd=2000)
    assert budget.spent.usd == 11 * len(answered) <= 2000
    assert 2000 - budget.spent.usd < MOST + 16 and "budget.usd" in why


def test_a_model_that_forgets_requests_does_not_hang():
    numbers = itertools.count()

    class Forgetful(Scripted):
        def respond(self, requests):
            for landed in super().respond(requests):
                if next(numbers) % 2:
                    yield landed

    answered, why, budget = spend(
        Forgetful(lambda request: Response("No", usage=Usage(1, 1))), asks(100), A_DOLLAR, usd=3000
    )
    assert answered and why and budget.spent.usd <= 3000


def test_a_stop_of_the_models_own_is_handed_on(serve, key):
    server = serve(lambda path, body, number: chat_reply("No") if number < 10 else error(401, "revoked"))
    answered, why, _ = spend(chat(server, max_concurrency=1), asks(30), requests=100)
    assert len(answered) == 9 and "refuses the key" in why


def test_the_plan_comes_before_the_first_request_and_once():
    said = []
    model = Scripted(lambda request: said.append("asked") or Response("No"))
    budgeted = Budgeted(model, before=lambda: said.append("plan"))
    assert [len(list(each(budgeted.respond(asks(2))))) for _ in range(2)] == [2, 2]
    assert said == ["plan", *["asked"] * 4]


def test_a_stop_asks_nothing_that_waits_for_room(serve, key, monkeypatch):
    def reply(path, body, number):
        monkeypatch.setattr(STOP, "requested", True)
        return chat_reply("No")

    server = serve(reply, delay=0.05)
    answered, why, _ = spend(chat(server), asks(9), usd=1.5 * PRICE.most(MOST, 16))
    assert len(answered) == len(server.calls) <= 2 and why.startswith("interrupted: ")


def test_dollars_without_a_price_are_refused():
    local = Chat(name="m", model="m", base_url="http://localhost:8000/v1")
    dollar, priced = Limits(usd=1), replace(local, price={"input": 0, "output": 0})
    with pytest.raises(ConfigError, match=r"unknown: give model\.price\.input=…"):
        Ledger.of(replace(local, base_url="http://proxy.invalid/v1"), dollar)
    with pytest.raises(ConfigError, match=r"localhost:8000/v1\) is taken to cost nothing.*judge\.price\.input=0"):
        Ledger.of(local, dollar, "judge")
    for service, limits in ((local, Limits(requests=1)), (None, dollar), (priced, dollar)):  # who says so is believed
        assert not Ledger.of(service, limits).usd
    assert str(Limits(usd=5, requests=90)) == "budget.usd=5, budget.requests=90" and not Limits()


@pytest.mark.parametrize("text", ["plain words " * 40, "0 | 1 | 0\n" * 900, "因果关系" * 50, "\ud83d half 🙂" * 9])
def test_the_most_tokens_of_a_text_are_its_bytes(text):
    one = size(ChatRequest((Message("user", text),), max_tokens=5), None)
    assert one.input_most >= len(text.encode(errors="surrogatepass")) >= 0 < one.input <= one.input_most
    assert (one.output_least, one.output_most, one.calls) == (1, 5, 1)
    pair = size(PairRequest(text, "So it is."), None)
    assert pair.output_most == 0 and pair.input_most > one.input_most - 64


@pytest.fixture
def shared(tmp_path):
    return lambda **limits: Budget(Limits(**limits), tmp_path / "budget.sqlite")


def test_two_jobs_never_pass_a_limit(shared):
    one, two = shared(requests=3, usd=4), shared(requests=3, usd=4)
    assert [each.take(1.0) for each in (one, two, one, two, one)] == [True, True, True, False, False]
    assert two.refusal(1.0) is None  # what is under way may come to nothing
    one.settle(1.0, 0.0)  # a refused try counts as one all the same
    one.settle(1.0, 0.5)
    two.settle(1.0, 1.0)
    assert two.spent == (1.5, 3, 0.0, 0)
    assert "budget.requests=3 of all jobs together is reached (3 asked)" in str(two.refusal(1.0))


def test_what_a_living_job_has_set_aside_is_waited_for_and_what_a_dead_one_has_is_not(shared, monkeypatch):
    one, two = shared(requests=2), shared(requests=2)
    assert [one.take(0.0), one.take(0.0), two.take(0.0)] == [True, True, False] and two.refusal(0.0) is None
    one.settle(0.0, 0.0, sent=False)
    assert two.take(0.0)
    monkeypatch.setattr("harness.cost.budget._SILENT", -1.0)
    assert "budget.requests=2" in str(two.refusal(0.0)) and two.spent == (0.0, 0, 0.0, 2)


def test_without_a_limit_nothing_is_written(shared, tmp_path):
    one = shared()
    assert one.take(1.0) and not any(tmp_path.iterdir())
