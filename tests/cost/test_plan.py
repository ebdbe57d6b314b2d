"""What a plan says is what a run then does."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from support.scripted import Scripted

from harness.cache import CachedModel, Store
from harness.cost.ledger import Ledger
from harness.cost.plan import plan_lines, plan_of
from harness.cost.price import Price, dollars
from harness.cost.size import PIECE
from harness.models.api.openai import Chat
from harness.prompting.prompts import load
from harness.run import ask
from harness.settings import Limits, build
from harness.types import ChatRequest, Failure, Item, Message, Response, Usage

PRICE = Price(((0, 10.0),), ((0, 100.0),), source="test")


def task(name: str, **settings):
    classes = {"corr2cause": "corr2cause.Corr2Cause", "causalbench/causality": "causalbench.Causality"}
    section = {"_target_": f"harness.tasks.{classes[name]}", "name": name, "prompts": ["plain"]}
    return build(section | settings, "task")


CASES = {
    "plain": ("corr2cause", {"limit": 60}, "plain"),
    "equal requests": ("corr2cause", {"version": "v1", "num_nodes": [2, 3]}, "plain"),
    "two turns": ("corr2cause", {"limit": 40}, "cot_two_step"),
    "data": ("causalbench/causality", {"networks": ["asia"], "format": "data", "limit": 30}, "closed"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_calls_of_a_plan_are_those_of_the_run(case, tmp_path: Path):
    name, settings, words = CASES[case]
    one = task(name, **settings)
    prompt = load(name, words, one.examples(), format=one.prompt_format)
    model = Scripted(lambda request: Response("No, not at all.", usage=Usage(10, 5)))
    cached = CachedModel(model, Store(tmp_path / "answers.sqlite"))
    before = plan_of(one, prompt, ChatRequest, model, cached.peek)
    found = list(ask(one.items(), prompt, cached, ChatRequest))
    assert before.items == len(found)
    assert before.total.calls == len(model.asked) and before.answered == 0
    assert (before.turns.calls > 0) == (case in ("two turns", "data"))
    after = plan_of(one, prompt, ChatRequest, model, cached.peek)
    assert (after.total.calls, after.answered) == (0, len(model.asked))
    longest = sum(request.max_tokens for request in model.asked)
    assert (before.total.output_least, before.total.output_most) == (len(model.asked), longest)


def test_a_plan_follows_the_replies_that_the_cache_has(tmp_path: Path):
    """Check a plan where two turns are answered and the third failed: later input is known to a range."""
    one = task("causalbench/causality", networks=["asia"], format="data", limit=20)
    prompt = load(one.name, "closed", (), format="data")
    calls = []

    def says(request):
        calls.append(request)
        return Response("Noted.") if len(calls) <= 2 else Failure("timeout", "late")

    model = Scripted(says)
    cached = CachedModel(model, Store(tmp_path / "answers.sqlite"))
    list(ask(one.items(), prompt, cached, ChatRequest))
    plan = plan_of(one, prompt, ChatRequest, model, cached.peek)
    assert (plan.answered, plan.turns.calls, plan.questions.calls) == (2, 3, 20)
    most = prompt.words.opening_max_tokens
    assert plan.turns.input_more == (0 + 1 + 2) * most and plan.questions.input_more == 20 * 3 * most
    fixed = load(one.name, "closed", (), format="data", replies="fixed")
    assert plan_of(one, fixed, ChatRequest, model, cached.peek).turns.calls == 0


class Many:
    """A task of any number of items, made as they are needed."""

    name, prompt_format = "corr2cause", ""

    def __init__(self, number: int) -> None:
        self.number = number

    def items(self):
        fields = {"premise": "A correlates with B.", "hypothesis": "A causes B."}
        for k in range(self.number):
            yield Item(str(k), {**fields, "statement": f"{k} causes B"}, {"published": 1}, "c", {})


def test_a_long_pass_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr("harness.cost.plan.SAY_EVERY", 200)
    said: list[str] = []
    plan_of(Many(300), load("corr2cause", "plain", ()), ChatRequest, Scripted(lambda r: Response("")), say=said.append)
    assert len(said) == 1 and said[0].startswith("counting what is to be asked: ")


def lines(model, price, **limits) -> str:
    plan = plan_of(Many(1000), load("corr2cause", "plain", ()), ChatRequest, model)
    return "\n".join(plan_lines(plan, model, Ledger(price, paid=True), Limits(**limits)))


def test_cost_and_time_are_what_arithmetic_says():
    model = Scripted(lambda request: Response(""))
    said = lines(model, PRICE, usd=5)
    plan = plan_of(Many(1000), load("corr2cause", "plain", ()), ChatRequest, model)
    least = (plan.total.input * 10 + 1000 * 100) / 1e6
    assert (
        f"Cost: {dollars(least)} to {dollars(least + 15 * 1000 * 100 / 1e6)} ($10 in, $100 out per million tokens"
        in said
    )
    assert "1,000 to 16,000 out." in said and "Limit of this run: budget.usd=5." in said
    assert "Time: unknown." in said and "unknown" in lines(model, None).splitlines()[2]
    server = partial(Chat, name="m", model="m", base_url="http://localhost:1/v1")
    assert "Time: 10 minutes at model.requests_per_minute=100." in lines(server(requests_per_minute=100), PRICE)
    assert "Time: unknown (model.requests_per_minute is not set)." in lines(server(), PRICE)


@pytest.mark.parametrize("network", ["asia", "sachs"])
def test_a_table_of_numbers_has_a_token_for_each_sign(network):
    """A part of 100 rows of five columns is short, and is no prose."""
    one = task("causalbench/causality", networks=network, format="data")
    prompt = load(one.name, "closed", (), format="data", replies="fixed")
    plan = plan_of(one, prompt, ChatRequest, Scripted(lambda r: Response("")))
    least = 0
    for item in one.items():
        turns, reply = prompt.opening(item.fields), Message("assistant", prompt.words.opening_reply)
        told = tuple(message for turn in turns for message in (Message("user", turn), reply))
        least += sum(len(PIECE.findall(m.content)) for m in prompt.render(item.fields, told, ChatRequest).messages)
    assert least < plan.total.input < 1.1 * least


def test_the_estimate_is_near_the_lower_bound_that_is_close_for_english():
    one, prompt = task("corr2cause"), load("corr2cause", "plain", ())
    plan = plan_of(one, prompt, ChatRequest, Scripted(lambda r: Response("")))
    texts = (prompt.render(i.fields, (), ChatRequest).messages[0].content for i in one.items())
    least = sum(len(PIECE.findall(text)) for text in texts)
    assert plan.total.calls == 1162
    assert least < plan.total.input < 1.1 * least


def test_pieces_counted_by_hand():
    pieces = {"": 0, "Yes": 1, "Does A cause B?": 5, "asia,tub\nyes,no\n": 6, "It's 12345.67 kg": 7, "0.1, 0.25": 8}
    assert {text: len(PIECE.findall(text)) for text in pieces} == pieces
