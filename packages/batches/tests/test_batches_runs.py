"""Runs in batches against a server at an address: price and budget, turns, kills, and what a user is told."""

from __future__ import annotations

import copy
import io
import itertools
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from harness_batches import command, forms, journal, lines
from harness_batches.server import EndpointServer
from support_batches import OverHTTP

from harness import plugin
from harness.cache import Store
from harness.cli import hydra_app
from harness.errors import ConfigError, RunStopped
from harness.models.api.anthropic import Messages
from harness.models.api.gemini import GenerateContent
from harness.models.api.openai import Chat
from harness.prepare import carry_out, prepare, rehearse
from harness.runtime.signals import STOP
from harness.types import ChatRequest, Message


@pytest.fixture
def server(key, monkeypatch, tmp_path) -> Iterator[OverHTTP]:
    monkeypatch.chdir(tmp_path)
    server = OverHTTP(size=5)
    yield server
    server.close()


@cache
def composed(*arguments: str) -> dict[str, Any]:
    return hydra_app.run_config(arguments)


def config(server: OverHTTP, *settings: str, results: str = "results", **batch: Any) -> dict[str, Any]:
    """Return the config of a run of twenty items in batches with these settings of model.batch."""
    config = copy.deepcopy(composed("model=gpt4", "task=corr2cause", "task.limit=20", *settings))
    config["model"] |= {"base_url": server.url, "max_wait": 0.05, "batch": {"poll": 0.02} | batch}
    return config | {"results": results}


def live(server: OverHTTP, *settings: str, results: str = "results") -> dict[str, Any]:
    config_ = config(server, *settings, results=results)
    config_["model"]["batch"] = None
    return config_


def run(composed: dict[str, Any]) -> str:
    """Carry out a run in this process; return what stopped it, "" for a complete one."""
    return str(carry_out(prepare(composed)).stopped or "")


def records(results: str) -> dict[str, Any]:
    """Return what a run has recorded of each item, but for times, cost and where shared words stand."""
    (file,) = Path(results).rglob("records.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line.pop("cost_usd", None)
        line["response"] |= {"seconds": None, "cached": None}
        line["request"].pop("messages")
    return {line["item"]: line for line in lines}


def batches() -> list[journal.Batch]:
    with closing(Store(Path(".cache/answers.sqlite"), readonly=True)) as store:
        return journal.Journal(store).batches()


def test_a_run_in_batches_is_a_live_run_for_half_the_price(server, capsys):
    priced = ("model.price.input=10", "model.price.output=100")
    assert run(config(server, *priced, size=8)) == ""
    assert len(server.drawn.billed) == 20 and [len(b.names) for b in server.drawn.batches] == [8, 8, 4]
    assert batches() == [] and "3 batches of 20 at the server" in capsys.readouterr().err
    (result,) = Path("results").rglob("result.json")
    found = json.loads(result.read_text())
    usage = found["usage"]
    assert found["cost"]["usd"] == pytest.approx((usage["input"] * 10 + usage["output"] * 100) / 2e6)
    assert "in batches at 50%" in found["cost"]["price"]
    # `batch` is no part of the identity: what came in batches serves a run without them.
    assert run(live(server)) == "" and not server.drawn.live
    alone = live(server, results="alone")
    alone["cache"] = alone["cache"] | {"path": "alone.sqlite"}
    assert run(alone) == "" and server.drawn.live == 20 and records("results") == records("alone")


def test_the_plan_says_batch_and_the_budget_sets_aside_half(server):
    priced = ("model.price.input=10", "model.price.output=100")
    plan, full = ("\n".join(rehearse(prepare(each))) for each in (config(server, *priced), live(server, *priced)))
    assert "20 calls in batches to gpt4" in plan and "in batches at 50%" in plan and "within 24h" in plan

    def most(text: str) -> float:
        return float(text.split("Cost: ")[1].split(" (")[0].split("to $")[1].replace(",", ""))

    assert most(plan) == pytest.approx(most(full) / 2, rel=0.01)
    assert "budget.requests=12 is reached" in run(config(server, "budget.requests=12"))
    assert len(server.drawn.billed) == 12


def test_a_full_queue_halves_the_batches_and_what_is_refused_as_a_whole_stops_the_run_with_its_words(server, capsys):
    server.drawn.choice["states"] = "failed"
    assert "refuses a batch of 20 requests" in run(config(server))
    server.drawn.choice["states"], server.drawn.queue = "completed", 6
    assert run(config(server)) == ""
    assert server.drawn.billed.total() == 20 and "it is halved" in capsys.readouterr().err and batches() == []
    assert max(len(batch.answered) for batch in server.drawn.batches) <= 6


def test_a_run_that_does_not_wait_is_collected_by_the_same_command_turn_by_turn(server):
    settings = config(server, "prompt=cot_two_step", wait=False, size=10)
    assert "2 batches of 20 requests under way" in run(settings)
    said = ""
    for _ in range(12):
        if (said := run(settings)) == "":
            break
        assert "the same command collects them" in said
    assert said == "" and server.drawn.billed.total() == len(server.drawn.billed) == 40


def test_a_live_run_beside_an_open_batch_says_so_and_batches_are_shown_and_forgotten(server, capsys, monkeypatch):
    assert "under way" in run(config(server, wait=False, size=8))
    capsys.readouterr()
    run(live(server, "task.limit=1"))
    assert "is paid for twice. model.batch=true collects them" in capsys.readouterr().err
    assert command.job([]) == 0
    assert capsys.readouterr().out.count("gpt4") == 3
    with pytest.raises(ConfigError, match="there is no batch 'abc'"):
        command.job(["forget", "abc"])
    command.job(["forget", "all"])
    assert capsys.readouterr().out.count("forgotten") == 3 and batches() == []


def test_ctrl_c_leaves_a_batch_which_a_smaller_run_collects_for_the_same_command_too(server):
    server.drawn.choice["states"] = "in_progress"
    threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    said = run(config(server))
    assert "1 batch of 20 requests under way" in said and "the same command collects" in said and not STOP.requested
    server.drawn.choice["states"] = "completed"
    assert run(config(server, "task.limit=5", results="fewer")) == "" and batches() == []
    assert run(config(server)) == "" and server.drawn.billed.total() == 20 and len(server.drawn.batches) == 1


def killed_at(call: int, moment: str) -> None:
    """Have this process killed with SIGKILL just before or just after its so many-th call of files and batches."""
    real, count = EndpointServer.run, itertools.count(1)

    def killing(*arguments: Any, **named: Any) -> Any:
        dies = next(count) == call
        if dies and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*arguments, **named)
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    EndpointServer.run = killing


@pytest.mark.parametrize(("call", "moment"), [(1, "after"), (2, "before"), (2, "after"), (3, "after"), (5, "after")])
def test_a_kill_loses_nothing_and_pays_nothing_twice(server, call, moment):
    pid = os.fork()
    if pid == 0:
        try:
            killed_at(call, moment)
            run(config(server))
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    assert run(config(server)) == ""
    assert server.drawn.billed.total() == len(server.drawn.billed) == 20 and len(server.drawn.batches) == 1


def test_settings_that_cannot_be_are_sentences(server, monkeypatch):
    uncached = config(server)
    uncached["cache"]["mode"] = "off"
    with pytest.raises(ConfigError, match="use cache=on"):
        prepare(uncached)
    for setting, sentence in ({"size": 0}, "size"), ({"window": "a day"}, "window"), ({"wiat": True}, "wiat"):
        with pytest.raises(ConfigError, match=sentence):
            prepare(config(server, **setting))
    monkeypatch.setattr(plugin, "wrappers", list)
    with pytest.raises(ConfigError, match="needs the package causal-harness-batches"):
        prepare(config(server))


@pytest.mark.parametrize(
    ("argument", "batch"),
    [("model.batch=true", {}), ("+model.batch.wait=false", {"wait": False}), ("model.batch=false", None)],
)
def test_batches_are_asked_for_in_a_word_or_by_a_setting(argument, batch):
    from harness.tasks.check import parts_of

    assert parts_of(hydra_app.run_settings(["model=gpt4", argument]))[1].batch == batch


@pytest.mark.parametrize(
    ("url", "api", "form"),
    [
        ("https://api.openai.com/v1", Chat, "OpenAI"),
        ("https://name.openai.azure.com/openai/v1", Chat, "OpenAI"),
        ("https://api.anthropic.com/v1", Messages, "Anthropic"),
        ("https://api.anthropic.com/v1", Chat, "model=anthropic"),
        ("https://api.mistral.ai/v1", Chat, "no batches in"),
        ("https://generativelanguage.googleapis.com/v1beta", GenerateContent, "no batches in"),
    ],
)
def test_the_form_of_a_server_is_known_by_its_address(url, api, form):
    endpoint = api(name="m", model="m", base_url=url, seed=None)
    if form[0].isupper():
        assert type(forms.server_of(endpoint)).__name__ == form
    else:
        with pytest.raises(RunStopped, match=form):
            forms.server_of(endpoint)


def test_a_key_in_a_line_is_hidden(key):
    secret = os.environ["OPENAI_API_KEY"]
    choice = {"message": {"role": "assistant", "content": f"It is {secret}"}, "finish_reason": "stop"}
    body = {"model": "m", "choices": [choice]}
    line = json.dumps({"custom_id": "a", "response": {"status_code": 200, "body": body}}).encode()
    endpoint = Chat(name="m", model="m", base_url="http://localhost/v1")
    request = ChatRequest((Message("user", "?"),), max_tokens=8)
    (content,) = lines.contents_of(io.BytesIO(line), EndpointServer(endpoint).loads)
    outcome = lines.outcome_of(content, endpoint, request)
    assert secret not in repr(outcome) and "[the key]" in repr(outcome)
