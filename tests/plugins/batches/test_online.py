"""Runs in batches, against a server in its own process that keeps to the providers' documentation."""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import closing

import pytest
from batch_runs import FORMS, STEPS, batches, config, forked, run
from batch_torture import records, torture, undisturbed
from support.cache_help import command, count
from support.thinned import few

from harness.cache import Store
from harness.cli.hydra_app import run_settings
from harness.errors import ConfigError
from harness.models.api.endpoint import BatchSettings
from harness.models.api.openai import Chat
from harness.plugins.batches.forms import Files, Mistral, Together
from harness.plugins.batches.inline_forms import form_of
from harness.prepare import prepare, rehearse
from harness.runtime.signals import STOP
from harness.tasks.check import parts_of


def test_a_run_in_batches_is_a_live_run_for_half_the_price(server, tmp_path, capsys):
    priced = ("model.price.input=10", "model.price.output=100")
    assert run(config(server.url, tmp_path, *priced, size=8)) == ""
    seen = server.seen()
    assert seen["billed"] == 20 and not seen["again"] and len(seen["batches"]) == 3 and batches(tmp_path) == []
    assert "3 batches of 20 at the server" in capsys.readouterr().err
    (result,) = (tmp_path / "results").rglob("result.json")
    cost = json.loads(result.read_text())["cost"]
    usage = json.loads(result.read_text())["usage"]
    assert cost["usd"] == pytest.approx((usage["input"] * 10 + usage["output"] * 100) / 2e6)
    assert "in batches at 50%" in cost["price"]
    assert records(tmp_path / "results") == undisturbed(server, 20)
    # `batch` is no part of the identity: what came in batches serves a run without them.
    live = config(server.url, tmp_path, limit=20)
    live["model"]["batch"] = None
    calls = server.seen()["live"]
    assert run(live) == "" and server.seen()["live"] == calls


def test_the_plan_says_batch_and_the_budget_sets_aside_half(server, tmp_path, capsys):
    priced = ("model.price.input=10", "model.price.output=100", "prompt=cot_two_step")
    plan = "\n".join(rehearse(prepare(config(server.url, tmp_path, *priced))))
    assert "40 calls in batches to gpt4" in plan and "in batches at 50%" in plan and "within 24h" in plan
    whole = config(server.url, tmp_path, *priced)
    whole["model"]["batch"] = None
    assert "$" in (full := "\n".join(rehearse(prepare(whole))))

    def most(text):
        return float(text.split("Cost: ")[1].split(" (")[0].split("to $")[1].replace(",", ""))

    assert most(plan) == pytest.approx(most(full) / 2, rel=0.01)
    # Half of the calls fit a budget of half their most; nothing beyond it is sent.
    budgeted = config(server.url, tmp_path, "budget.requests=12", "budget.minutes=0")
    assert "budget.requests=12 is reached" in run(budgeted)
    assert server.seen()["billed"] == 12 and count(tmp_path / "answers.sqlite") == 12


def test_each_fault_costs_another_command_and_nothing_else(server, tmp_path):
    faults = ("duplicate lines", "missing lines", "status 0", "lines that failed", "expired batches", "502 on files",
              "404 on fresh files", "lost reply to create", "500 after a batch", "cut files")  # fmt: skip
    server.set(faults=dict.fromkeys(faults, 0.3), seed=3)
    said = run(config(server.url, tmp_path, size=7))
    assert "calls failed in a way that may pass" in said
    assert "batch_missing" in said and "server_error" in said
    server.set(faults={})
    assert run(config(server.url, tmp_path, size=7)) == ""
    seen = server.seen()
    assert seen["billed"] == 20 and not seen["again"], seen
    assert records(tmp_path / "results") == undisturbed(server, 20)


def test_a_queue_that_is_full_halves_the_batches_and_waits(server, tmp_path, capsys):
    server.set(tokens=6)
    assert run(config(server.url, tmp_path)) == ""
    seen = server.seen()
    assert seen["billed"] == 20 and not seen["again"] and seen["faults"]["token_limit_exceeded"] >= 2
    assert "it is halved" in capsys.readouterr().err and batches(tmp_path) == []


def test_a_run_that_does_not_wait_is_collected_by_the_same_command(server, tmp_path):
    server.set(looks=3)
    settings = config(server.url, tmp_path, "prompt=cot_two_step", wait=False, size=10)
    assert "2 batches of 20 requests are under way (oldest 0 min): the same command collects them." in run(settings)
    assert [batch.size for batch in batches(tmp_path)] == [10, 10]
    said = ""
    for _ in range(8):
        if (said := run(settings)) == "":
            break
        assert "under way" in said
    seen = server.seen()
    assert said == "" and seen["billed"] == 40 and not seen["again"] and len(seen["batches"]) == 4


def test_a_live_run_beside_an_open_batch_says_so(server, tmp_path, capsys):
    assert "under way" in run(config(server.url, tmp_path, wait=False))
    live = config(server.url, tmp_path)
    live["model"]["batch"] = None
    capsys.readouterr()
    run(live)
    assert "is paid for twice. model.batch=true collects them" in capsys.readouterr().err


@pytest.mark.parametrize("asked", ["40", None])
def test_looks_that_come_too_often_are_waited_out_and_end_no_run(server, tmp_path, capsys, monkeypatch, asked):
    """A refused look says nothing of the batch: it waits as asked, or ten polls at most, and slows no later look."""
    waits: list[float] = []
    monkeypatch.setattr("harness.plugins.batches.model.rest", waits.append)
    refused = [False, *9 * [True], False, True, False, False]
    server.set(looks=5, pause=asked, faults={"429 on a look": refused})
    settings = config(server.url, tmp_path, poll=60)
    settings["model"]["attempts"] = 1
    assert run(settings) == "" and server.seen()["billed"] == 20
    assert "is asked for its batches too often (429): waiting" in capsys.readouterr().err
    others = [wait for wait, again in zip(waits, refused, strict=True) if not again]
    assert others == pytest.approx([60 * 1.5**number for number in range(1, 5)], rel=0.11)
    after = [wait for wait, again in zip(waits, refused, strict=True) if again]
    # The tenth comes after a success: it begins anew.
    growing = [*(min(60 * 1.5**number, 600) for number in range(1, 10)), 90]
    assert after == pytest.approx(growing, rel=0.11) if asked is None else all(36 <= wait <= 46 for wait in after)


def test_a_refused_look_ends_a_run_that_does_not_wait(server, tmp_path):
    server.set(faults={"429 on a look": 1.0})
    at_once = config(server.url, tmp_path, wait=False)
    at_once["model"]["attempts"] = 1
    assert "(429" in run(at_once) and server.seen()["billed"] == 20


def test_ctrl_c_leaves_the_batches_and_the_same_command_collects_them(server, tmp_path):
    server.set(looks=10**6)
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    said = run(config(server.url, tmp_path))
    assert "1 batch of 20 requests is under way" in said and "the same command collects" in said and not STOP.requested
    server.set(looks=1)
    assert run(config(server.url, tmp_path)) == "" and len(server.seen()["batches"]) == 1


def test_batches_are_shown_collected_and_cancelled_without_a_run(server, tmp_path, capfd):
    server.set(looks=3)
    run(config(server.url, tmp_path, wait=False, size=8))
    cache = f"cache={tmp_path / 'answers.sqlite'}"
    shown = command("batches", cache).stdout
    assert shown.count("in_progress") == 3 and "gpt4" in shown
    digest = batches(tmp_path)[0].digest
    assert "cancelling" in command("batches", "cancel", digest[:8], cache).stdout
    server.set(looks=1)
    out = command("batches", "collect", cache).stdout
    assert out.count("answers stored") == 3 and "cancelled" in out
    assert "no batch is under way" in command("batches", cache).stdout and count(tmp_path / "answers.sqlite") == 20
    assert run(config(server.url, tmp_path)) == "" and server.seen()["again"] == {}
    assert "there is no batch" in command("batches", "cancel", "abc", cache).stderr


def test_a_key_goes_nowhere_that_a_cache_alone_names(server, tmp_path):
    run(config(server.url, tmp_path, wait=False))
    with closing(Store(tmp_path / "answers.sqlite")) as store, store.transaction() as db:
        db.execute("UPDATE batch_models SET settings = replace(settings, '127.0.0.1', 'evil.example.com')")
    done = command("batches", "collect", f"cache={tmp_path / 'answers.sqlite'}")
    assert done.returncode == 1 and "if that is so, add base_url=http://evil.example.com" in done.stderr


def test_what_the_server_refuses_as_a_whole_stops_the_run_with_its_words(server, tmp_path, monkeypatch):
    real = Files.line
    monkeypatch.setattr(Files, "line", lambda *arguments: real(*arguments).replace('"POST"', '"GET"'))
    said = run(config(server.url, tmp_path))
    assert "refuses a batch of 20 requests: invalid_method" in said and "Nothing of it was answered" in said
    monkeypatch.undo()
    os.environ["OPENAI_API_KEY"] = "sk-canary-0123456789"
    assert run(config(server.url, tmp_path)) == "" and server.seen()["billed"] == 20


def test_settings_that_cannot_be_are_sentences(server, tmp_path):
    uncached = config(server.url, tmp_path)
    uncached["cache"]["mode"] = "off"
    with pytest.raises(ConfigError, match="use cache=on"):
        prepare(uncached)
    for setting, sentence in ({"size": 0}, "batch"), ({"window": "a day"}, "batch"), ({"wiat": True}, "wiat"):
        with pytest.raises(ConfigError, match=sentence):
            prepare(config(server.url, tmp_path, **setting))


@pytest.mark.parametrize(
    ("arguments", "poll", "wait"),
    few(
        [
            (("model.batch=true",), 60, True),
            (("model.batch.poll=3",), 3, True),
            (("model.batch=true", "model.batch.poll=3", "model.batch.wait=false"), 3, False),
            (("model.batch.wait=false", "model.batch=True"), 60, False),
            (("model.batch={poll: 3, wait: false}",), 3, False),
            (("model.batch=false",), None, None),
            ((), None, None),
        ],
        4,
    ),
)
def test_batches_are_asked_for_in_a_word_or_by_a_setting(arguments, poll, wait):
    batch = parts_of(run_settings(["model=gpt4", *arguments]))[1].batch
    assert (batch and batch.poll, batch and batch.wait) == (poll, wait)


@pytest.mark.slow
def test_a_process_that_finds_the_batch_of_another_waits_for_it(server, tmp_path):
    server.set(looks=4)
    run(config(server.url, tmp_path, wait=False))
    other = config(server.url, tmp_path, limit=30)
    other["results"] = str(tmp_path / "other")
    assert forked(other, tmp_path) == ""
    seen = server.seen()
    assert [batch["request_counts"]["total"] for batch in seen["batches"]][:1] == [20] and seen["again"] == {}
    assert run(config(server.url, tmp_path)) == "" and seen["billed"] == server.seen()["billed"]


@pytest.mark.parametrize(
    ("form", "kills", "steps"),
    [
        ("openai", 1, ("created", "collecting")),
        pytest.param("openai", 1, STEPS, marks=pytest.mark.slow),
        *(pytest.param(form, 1, ("created", "collecting"), marks=pytest.mark.slow) for form in FORMS[1:]),
    ],
)
def test_a_kill_after_any_step_loses_nothing_and_pays_nothing_twice(form, kills, steps):
    tally = torture(kills, 11, steps, brief=True, form=form)
    assert all(tally[f"killed at {step}"] for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_fifty_kills_after_each_step(form):
    torture(kills=50, seed=0, form=form)


@pytest.mark.parametrize("dialect", few(["together", "mistral", "openrouter", "anthropic"], 2))
def test_other_forms_of_the_protocol_come_to_the_same(server, tmp_path, dialect):
    server.set(faults={"lost reply to create": 1.0, "missing lines": 0.1})
    url = server.url if dialect == "mistral" else server.address(dialect)
    settings = config(url, tmp_path, size=8, dialect=dialect)
    while (said := run(settings)) != "":
        if "it does not count its answers" in said:  # so nothing proves that a line is missing for good
            assert dialect == "together"
            assert "forgotten" in command("batches", "forget", "all", f"cache={tmp_path / 'answers.sqlite'}").stdout
            server.set(faults={})
            continue
        assert "may pass" in said or (dialect in ("openrouter", "anthropic") and "has one as large under way" in said)
        if "may pass" in said:
            server.set(faults={})
    seen = server.seen()
    assert seen["billed"] == 20 and not seen["again"] and seen["faults"]["lost reply to create"] == 3
    assert records(tmp_path / "results") == undisturbed(server, 20)


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        ("https://api.openai.com/v1", Files),
        ("https://name.openai.azure.com/openai/v1", Files),
        ("https://api.groq.com/openai/v1", Files),
        ("https://api.together.xyz/v1", Together),
        ("https://api.mistral.ai/v1", Mistral),
    ],
)
def test_the_form_of_a_server_is_known_by_its_address(url, dialect):
    endpoint = Chat(name="m", model="m", base_url=url, batch=BatchSettings(window="2d"))
    form = form_of(endpoint)
    assert type(form) is dialect
    order, line = form.order(endpoint, "file-1", "digest", "/chat/completions"), json.loads(form.line("k", "/x", {}))
    if dialect is Mistral:
        assert (
            order["timeout_hours"] == 48
            and order["input_files"] == ["file-1"]
            and line == {"custom_id": "k", "body": {}}
        )
    else:
        assert order["input_file_id"] == "file-1" and order["completion_window"] == "2d" and line["url"] == "/v1/x"
        assert ("metadata" in order) == (dialect is Files)


def test_replies_of_other_forms_say_the_same():
    job = {"id": "j", "status": "TIMEOUT_EXCEEDED", "input_files": ["in"], "output_file": "out", "error_file": None,
           "metadata": {"harness": "d"}, "completed_requests": 3, "created_at": 5}  # fmt: skip
    batch = Mistral().remote(job)
    assert (batch.state, batch.files, batch.mark, batch.input, batch.done) == ("ended", ("out",), "d", "in", 3)
    made = Together().remote(
        {"job": {"id": "t", "status": "IN_PROGRESS", "input_file_id": "f", "created_at": "2026-01-01"}}
    )
    assert (made.id, made.state, made.input, made.created) == ("t", "under way", "f", None)
    failed = Files().remote({"id": "b", "status": "failed", "errors": {"data": [{"code": "token_limit_exceeded"}]}})
    assert failed.state == "failed" and "token_limit" in failed.words
    for odd in ({}, {"id": 3, "status": [], "errors": "no", "metadata": 1, "request_counts": []}):
        assert Files().remote(odd).state == "under way"
