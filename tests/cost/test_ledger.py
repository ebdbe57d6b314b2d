from __future__ import annotations

import pytest
from support.openai_server import chat_reply
from support.outcomes import each
from support.scripted import Scripted

from harness.cost.budgeted import Budgeted
from harness.cost.ledger import Ledger, Metered
from harness.cost.price import Price
from harness.models.api.openai import Chat
from harness.types import ChatRequest, Failure, Message, Response, Usage

PRICE = Price(((0, 10.0),), ((0, 100.0),), source="test")


def ask(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),), max_tokens=5)


def test_a_request_is_paid_for_once_however_many_items_share_it():
    ledger = Ledger(PRICE, paid=True)
    ledger.add(ask("one"), Response("No", usage=Usage(100, 2, 40, 1)))
    ledger.add(ask("one"), Response("No", usage=Usage(100, 2, 40, 1), cached=True))
    ledger.add(ask("two"), Response("No", usage=Usage(200, 2), cached=True))
    assert ledger.usage == Usage(300, 4, 40, 1)
    assert (ledger.calls, ledger.calls_now) == (2, 1)
    assert ledger.usd == pytest.approx((300 * 10 + 4 * 100) / 1e6)
    assert ledger.usd_now == pytest.approx((100 * 10 + 2 * 100) / 1e6)
    assert ledger.lines() == [
        "Cost of these answers: $0.003400; asked now: $0.001200, the rest came from the cache.",
        "Prices: $10 in, $100 out per million tokens: test.",
    ]


def test_what_was_not_counted_is_said_and_what_is_unknown_is_unknown():
    ledger = Ledger(PRICE, paid=True)
    ledger.add(ask("one"), Response("No"))
    assert "1 answers came without a count of tokens" in ledger.lines()[0]
    unknown = Ledger(None, paid=True)
    unknown.add(ask("one"), Response("No", usage=Usage(100, 2)))
    assert unknown.lines() == ["Cost of these answers: unknown, as the model's price is (model.price tells it)."]
    assert unknown.cost_json["cost"]["usd"] is None and unknown.usage == Usage(100, 2)
    free = Ledger(None, paid=False)
    free.add(ask("one"), Response("No", usage=Usage(100, 2)))
    assert free.lines() == [] and free.cost_json == {} and free.usage == Usage(100, 2)


def test_outcomes_pass_as_they_are_and_failures_cost_nothing():
    ledger = Ledger(PRICE, paid=True)
    model = Scripted(lambda r: Failure("timeout", "late") if "2" in r.messages[0].content else Response("No"))
    asked = [ask(f"{k}") for k in range(4)]
    assert list(each(Metered(model, ledger).respond(asked))) == list(each(model.respond(asked)))
    assert ledger.calls == 3


def test_replies_that_were_no_answer_are_told_as_spent_and_stand_in_no_result(serve, key):
    def reply(path, body, number):
        return chat_reply("No") | ({"choices": []} if number <= 2 else {})

    server = serve(reply)
    ledger = Ledger(PRICE, paid=True)
    model = Chat(name="m", model="m", base_url=server.url, max_concurrency=1, max_wait=5)
    budgeted = Budgeted(model, discard=ledger.discard)
    assert len(list(each(Metered(budgeted, ledger).respond([ask("one"), ask("two")])))) == 2
    cost = PRICE.cost(Usage(11, 2, 3))
    assert ledger.usd == ledger.usd_now == pytest.approx(2 * cost)
    assert ledger.usd_discarded == pytest.approx(2 * cost) and ledger.spent_now == pytest.approx(4 * cost)
    assert ledger.cost_json["cost"]["usd"] == pytest.approx(2 * cost)
    assert "asked now: $0.001240, $0.000620 of it for replies that were no answer." in ledger.lines()[0]
