from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from genai_prices.types import (
    ClauseEquals,
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    StartDateConstraint,
    Tier,
    TieredPrices,
)
from support.openai_server import chat_reply
from support.outcomes import each
from support.scripted import Scripted

from harness.cost.budget import Budgeted
from harness.cost.ledger import Ledger, Metered
from harness.cost.price import FREE, Price, costs_money, dollars, from_json, price_of
from harness.errors import ConfigError
from harness.models.api.openai import Chat
from harness.models.baselines import Baseline
from harness.settings import build
from harness.types import ChatRequest, Failure, Message, Response, Usage

OPENAI = "https://api.openai.com/v1"


def service(model: str, base_url: str = OPENAI, **settings: Any) -> Chat:
    return Chat(name="m", model=model, base_url=base_url, **settings)


def per_million(input: float, output: float, **more: Any) -> Price:
    return Price(((0, input),), ((0, output),), **more)


def test_cached_input_is_a_part_of_input_and_reasoning_a_part_of_output():
    price = per_million(10, 100, cached_input=((0, 1),), cache_write=((0, 20),))
    tiers = Price(((0, 1.0), (200_000, 2.0)), ((0, 10.0), (200_000, 20.0)))  # a tier is the price of the whole call
    for one, usage, expected in (
        (price, Usage(1000, 50), 1000 * 10 + 50 * 100),
        (price, Usage(1000, 50, cached_input=600, reasoning=40), 400 * 10 + 600 * 1 + 50 * 100),
        (price, Usage(1000, 50, 600, 40, cache_write=300), 100 * 10 + 600 * 1 + 300 * 20 + 50 * 100),
        (per_million(10, 100), Usage(1000, 50, 600), 1000 * 10 + 50 * 100),
        (tiers, Usage(200_000, 10), 200_000 * 1 + 10 * 10),
        (tiers, Usage(200_001, 10), 200_001 * 2 + 10 * 20),
    ):
        assert one.cost(usage) == pytest.approx(expected / 1e6) and one.cost(usage) <= one.most(usage.input, 50)
    assert price.cost(Usage(1000)) is None and price.cost(Usage()) is None


def test_costs_agree_with_the_packages_own_arithmetic():
    import genai_prices

    for name in ("gpt-4", "gpt-4o", "gpt-3.5-turbo-1106", "o3-mini", "gpt-5", "davinci-002"):
        price = price_of(service(name))
        for input, cached, output in ((450, 0, 16), (5000, 4096, 700), (1, 0, 3)):
            theirs = genai_prices.calc_price(
                genai_prices.Usage(input_tokens=input, cache_read_tokens=cached, output_tokens=output),
                name,
                provider_id="openai",
            )
            assert price.cost(Usage(input, output, cached)) == pytest.approx(float(theirs.total_price))


def test_the_entry_that_was_taken_is_named():
    assert "openai/gpt-4-turbo" in str(price_of(service("gpt-4-1106-preview")))
    assert str(price_of(service("gpt-4"))).startswith("$30 in, $60 out per million tokens: genai-prices 0.")
    plain, flex = (price_of(service("gpt-5", extra=extra)) for extra in ({}, {"service_tier": "flex"}))
    assert flex.input[0][1] < plain.input[0][1]
    # What has no entry at its address is unknown.
    proxied = service("gpt-4", "https://proxy.example.com/v1")
    others = map(service, ("gpt-4-nonsense", "my-model", "claude-3-opus-20240229"))  # the last is not known to OpenAI
    assert all(price_of(model) is None and costs_money(model) for model in (proxied, *others))


def test_a_price_of_the_config_wins_and_this_machine_is_free():
    own = {"input": 1.0, "output": 2.0, "cached_input": None}
    assert price_of(service("gpt-4", price=own)) == per_million(1, 2, source="the model's config")
    assert price_of(service("gpt-4", price=dict.fromkeys(own))).cost(Usage(1_000_000, 0)) == pytest.approx(30)
    for url in ("http://localhost:8000/v1", "http://127.0.0.1/v1", "http://[::1]:1/v1", "http://0.0.0.0:8000/v1"):
        assert price_of(service("gpt-4", url)) == FREE and not costs_money(service("gpt-4", url))
        assert costs_money(service("gpt-4", url, price=own))
    assert costs_money(service("x", "http://192.168.0.7/v1")) and not costs_money(Baseline("b", 0.5).traits.service)


def listed(monkeypatch, prices, at: str | None = None) -> Price | None:
    model = ModelInfo(id="m", match=ClauseEquals(equals="m"), prices=prices)
    provider = SimpleNamespace(id="p", find_model=lambda name: model)
    snapshot = SimpleNamespace(find_provider=lambda *_: provider)
    monkeypatch.setattr("genai_prices.data_snapshot.get_snapshot", lambda: snapshot)
    return price_of(service("m"), at)


def test_tiers_are_read_and_what_tokens_do_not_account_for_is_unknown(monkeypatch):
    tiers = TieredPrices(Decimal("1.5"), [Tier(1000, Decimal(3))])
    assert listed(monkeypatch, ModelPrice(input_mtok=tiers, output_mtok=Decimal(6))).input == ((0, 1.5), (1000, 3.0))
    per_request = ModelPrice(input_mtok=Decimal(1), output_mtok=Decimal(1), requests_kcount=Decimal(5))
    assert listed(monkeypatch, per_request) is None
    assert listed(monkeypatch, ModelPrice(input_mtok=Decimal(1))) is None


def test_a_price_is_that_of_its_day(monkeypatch):
    now, later = (ModelPrice(input_mtok=Decimal(n), output_mtok=Decimal(n)) for n in (1, 2))
    constraint = StartDateConstraint(start_date=date(2999, 1, 1))
    prices = [ConditionalPrice(prices=now), ConditionalPrice(constraint=constraint, prices=later)]
    today, then = listed(monkeypatch, prices), listed(monkeypatch, prices, "2999-01-02T03:00:00+02:00")
    assert (today.input, then.input, listed(monkeypatch, prices, "noon")) == (((0, 1.0),), ((0, 2.0),), None)
    assert from_json(json.loads(json.dumps(today.to_json()))) == today


def test_half_a_price_and_a_wrong_name_are_refused(key):
    section = {"_target_": f"{Chat.__module__}.Chat", "name": "m", "model": "x", "base_url": "http://localhost/v1"}
    for price, said in (
        ({"input": 1}, "both input and output"),
        ({"inptu": 1, "output": 1}, r"model\.price"),
        ({"input": -1, "output": 1}, "greater than or equal to 0"),
    ):
        with pytest.raises(ConfigError, match=said):
            build({**section, "price": price}, "model")
    assert build({**section, "price": {"input": 1, "output": 2}}, "model").price == {"input": 1, "output": 2}


def test_amounts_are_shown_with_the_digits_that_matter():
    shown = map(dollars, (0, 0.0000213, 0.0123, 0.5, 9.5, 1234.567))
    assert [*shown] == ["$0.0000", "$0.000021", "$0.0123", "$0.5000", "$9.50", "$1,234.57"]


TEST_PRICE = Price(((0, 10.0),), ((0, 100.0),), source="test")


def ask(text: str) -> ChatRequest:
    return ChatRequest((Message("user", text),), max_tokens=5)


def test_a_request_is_paid_for_once_however_many_items_share_it():
    ledger = Ledger(TEST_PRICE, paid=True)
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
    ledger = Ledger(TEST_PRICE, paid=True)
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
    ledger = Ledger(TEST_PRICE, paid=True)
    model = Scripted(lambda r: Failure("timeout", "late") if "2" in r.messages[0].content else Response("No"))
    asked = [ask(f"{k}") for k in range(4)]
    assert list(each(Metered(model, ledger).respond(asked))) == list(each(model.respond(asked)))
    assert ledger.calls == 3


def test_replies_that_were_no_answer_are_told_as_spent_and_stand_in_no_result(serve, key):
    def reply(path, body, number):
        return chat_reply("No") | ({"choices": []} if number <= 2 else {})

    server = serve(reply)
    ledger = Ledger(TEST_PRICE, paid=True)
    model = Chat(name="m", model="m", base_url=server.url, max_concurrency=1, max_wait=5)
    budgeted = Budgeted(model, ledger=ledger)
    assert len(list(each(Metered(budgeted, ledger).respond([ask("one"), ask("two")])))) == 2
    cost = TEST_PRICE.cost(Usage(11, 2, 3))
    assert ledger.usd == ledger.usd_now == pytest.approx(2 * cost)
    assert ledger.usd_discarded == pytest.approx(2 * cost) and ledger.spent_now == pytest.approx(4 * cost)
    assert ledger.cost_json["cost"]["usd"] == pytest.approx(2 * cost)
    assert "asked now: $0.001240, $0.000620 of it for replies that were no answer." in ledger.lines()[0]
