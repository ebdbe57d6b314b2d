"""Money on the command line: the plan, the limits, the closing lines, and what stands in the results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.openai_server import KEY, chat_reply
from support.thinned import few

PRICED = ("model=gpt4", "model.price.input=10", "model.price.output=100", "model.price.cached_input=1")
A_CALL = (8 * 10 + 3 * 1 + 2 * 100) / 1e6  # of the server's replies: 11 in, 3 of them cached, 2 out, 1 of them thought


@pytest.fixture
def paid(harness, serve) -> Callable:
    """Return a function that runs the command with a priced model at a local server and counts its calls."""
    server = serve()

    def call(*arguments: str, **environment: str):
        done = harness(*PRICED, f"model.base_url={server.url}", *arguments, **{"OPENAI_API_KEY": KEY, **environment})
        done.calls = len(server.calls)
        return done

    return call


def result(tmp_path: Path, place: str = "corr2cause/limit=30/plain/gpt4") -> dict:
    return json.loads((tmp_path / "results" / place / "result.json").read_text())


def test_a_dry_run_asks_nothing_leaves_nothing_and_needs_no_key(paid, tmp_path):
    done = paid("task.limit=30", "dry_run=true", OPENAI_API_KEY="")
    assert done.returncode == 0 and done.calls == 0, done.stderr
    assert "Plan: 30 items; 0 answers in the cache already; 30 calls to gpt4 at http://127.0.0.1" in done.stdout
    assert "Cost: $" in done.stdout and "the model's config" in done.stdout and "Time: unknown" in done.stdout
    assert done.stdout.count("── prompt ") == 2 and done.stdout.count("Can we deduct the following") == 2
    assert list(tmp_path.iterdir()) == []


def test_the_plan_comes_before_a_paid_run_and_not_before_one_that_the_cache_answers(paid):
    first = paid("task.limit=30")
    assert first.returncode == 0 and first.stderr.startswith("Plan: 30 items; 0 answers in the cache already; 30 calls")
    again = paid("task.limit=30")
    assert "Plan" not in again.stderr and again.calls == 30
    more = paid("task.limit=40")
    planned = more.calls - 30
    assert f"Plan: 40 items; {40 - planned} answers in the cache already; {planned} calls" in more.stderr


def test_costs_are_those_of_the_apis_usage(paid, tmp_path):
    first = paid("task.limit=30")
    assert f"Cost of these answers: ${30 * A_CALL:.6f}; asked now: ${30 * A_CALL:.6f}.\n" in first.stdout
    found = result(tmp_path)
    assert found["cost"]["usd"] == pytest.approx(30 * A_CALL)
    assert found["usage"] == {"input": 330, "output": 60, "cached_input": 90, "reasoning": 30}
    folder = tmp_path / "results/corr2cause/limit=30/plain/gpt4"
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]
    assert [line["cost_usd"] for line in lines] == [pytest.approx(A_CALL)] * 30
    price = json.loads((folder / "manifest.json").read_text())["price"]
    assert (price["input"], price["output"], price["source"]) == ([[0, 10.0]], [[0, 100.0]], "the model's config")
    before = (folder / "result.json").read_bytes()
    again = paid("task.limit=30")
    assert "asked now: $0.0000, the rest came from the cache." in again.stdout
    assert (folder / "result.json").read_bytes() == before


@pytest.mark.parametrize(
    ("limit", "calls"),
    few([("budget.requests=7", 7), ("budget.usd=0.02", None)], 1),
)
def test_a_limit_ends_a_run_in_order_and_the_next_one_goes_on(paid, tmp_path, limit, calls):
    done = paid("task.limit=30", limit)
    assert done.returncode == 1 and f"error: {limit} is reached" in done.stderr
    assert done.calls == calls or (calls is None and 0 < done.calls < 30)
    if done.calls:
        assert result(tmp_path)["complete"] is False
        assert "NOT COMPLETE" in done.stdout
    assert paid("task.limit=30").calls == 30
    assert result(tmp_path)["complete"] is True
    assert paid("task.limit=30", limit).returncode == 0  # what the cache answers takes nothing


def test_dollars_need_a_price_before_anything_is_asked(harness, tmp_path):
    done = harness("model=openai", "model.model=mine", "model.base_url=http://proxy.invalid/v1", "budget.usd=1",
                   OPENAI_API_KEY=KEY)  # fmt: skip
    assert done.returncode == 1 and "budget.usd needs the model's price, which is unknown" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_known_model_at_its_own_address_has_the_price_of_the_table(harness):
    said = harness("model=gpt4", "task.limit=5", "dry_run=true").stdout
    assert "($30 in, $60 out per million tokens: genai-prices 0." in said and "openai/gpt-4)" in said


@pytest.mark.slow
def test_a_free_server_has_no_plan_and_no_cost(harness, serve, tmp_path):
    url = serve(lambda *_: chat_reply("No")).url
    done = harness("model=gpt4", f"model.base_url={url}", "task.limit=30", "budget.requests=1e6", OPENAI_API_KEY=KEY)
    assert done.returncode == 0 and "Plan" not in done.stderr and "Cost" not in done.stdout
    assert "cost" not in result(tmp_path) and "Cost" not in harness("model=always_no", "dry_run=true").stdout


@pytest.mark.parametrize(
    ("setting", "said"),
    [("budget.used=1", "did you mean 'budget.usd'"), ("budget.minutes=5", "budget.requests limit a run"),
     ("budget.usd=-1", "greater than or equal to 0"),
     ("budget.usd=much", "budget.usd=much"), ("+budget.cents=1", "no setting 'budget.cents'")],
)  # fmt: skip
def test_a_wrong_limit_is_said(harness, setting, said):
    done = harness(setting)
    assert done.returncode == 1 and said in done.stderr
