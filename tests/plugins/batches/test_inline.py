"""OpenRouter's and Anthropic's forms of batches: what goes out, what comes in, and who says whose a batch is."""

from __future__ import annotations

import io
import json
import urllib.request

import pytest
from batch_runs import BatchServer, batches, config, run
from batch_torture import records, undisturbed

from harness.errors import RunStopped
from harness.models.api.endpoint import BatchSettings
from harness.models.api.openai import Chat, Completions
from harness.plugins.batches import lines as nested_results
from harness.plugins.batches.inline_forms import Anthropic, OpenRouter, form_of
from harness.plugins.batches.lines import content_of, outcome_of
from harness.types import ChatRequest, Failure, Message

REQUEST = ChatRequest((Message("system", "Be brief."), Message("user", "Why?")), 16, ("\n", "END"))


def strangers(server: BatchServer, form: str, size: int) -> None:
    """Have somebody else with the same account make a batch of so many requests."""
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": "Mine."}]}
    path, headers = f"{server.address(form)}/batches", {"Authorization": "Bearer sk-theirs"}
    order = {"endpoint": "/v1/chat/completions", "model": "gpt-4"} if form == "openrouter" else {}
    name = "body" if form == "openrouter" else "params"
    if form == "anthropic":
        path, headers = f"{server.address(form)}/messages/batches", {"x-api-key": "sk-theirs", "anthropic-version": "1"}
        body["model"] = "gpt-4"
    order["requests"] = [{"custom_id": f"theirs-{k}", name: body} for k in range(size)]
    data, headers = json.dumps(order).encode(), headers | {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(path, data=data, headers=headers, method="POST")).read()


UNSURE = "keeps no mark of ours, and has one as large under way"


def asked_until_complete(settings: dict) -> None:
    """Carry out the same command until it is complete; it ends meanwhile with the question whose a batch is."""
    while said := run(settings):
        assert UNSURE in said


@pytest.mark.parametrize("form", ["openrouter", pytest.param("anthropic", marks=pytest.mark.slow)])
def test_a_strangers_batch_of_the_same_size_is_neither_taken_nor_ended(server, tmp_path, form, capsys):
    """The reply to the making is lost, and in the list stands another batch, made since, that is as large."""
    from harness.plugins.batches.commands import batches as command

    server.set(looks=4, faults={"lost before a batch": 1.0})
    settings = config(server.address(form), tmp_path, dialect=form)
    settings["model"]["attempts"] = 1
    assert "fails on its files or batches" in run(settings)
    (batch,) = batches(tmp_path)
    assert (batch.step, batch.id) == ("creating", "")
    server.set(faults={})
    strangers(server, form, 20)
    assert UNSURE in run(settings) and f"batches forget {batch.digest[:8]}" in run(settings)
    with pytest.raises(RunStopped, match=UNSURE):
        command(tmp_path / "answers.sqlite", ["cancel", "all"], None)
    assert [row.id for row in batches(tmp_path)] == [""]
    asked_until_complete(settings)
    seen = server.seen()
    assert seen["billed"] == 40 and not seen["again"] and len(seen["batches"]) == 2  # with those of the stranger
    assert records(tmp_path / "results") == undisturbed(server, 20)


def test_whoever_knows_that_a_batch_is_not_theirs_says_so(server, tmp_path):
    from harness.plugins.batches.commands import batches as command

    server.set(looks=10**6, faults={"lost before a batch": 1.0})
    settings = config(server.address("anthropic"), tmp_path, dialect="anthropic", wait=False)
    settings["model"]["attempts"] = 1
    run(settings)
    server.set(faults={})
    strangers(server, "anthropic", 20)
    assert UNSURE in run(settings)
    command(tmp_path / "answers.sqlite", ["forget", "all"], None)
    assert "1 batch of 20 requests is under way" in run(settings)
    server.set(looks=1)
    while "under way" in run(settings):
        continue
    seen = server.seen()
    assert seen["billed"] == 40 and not seen["again"] and len(seen["batches"]) == 2


def test_batches_that_were_there_before_are_not_taken_for_one(server, tmp_path):
    strangers(server, "anthropic", 20)
    server.set(faults={"lost reply to create": 1.0})
    asked_until_complete(config(server.address("anthropic"), tmp_path, dialect="anthropic"))
    seen = server.seen()
    assert seen["billed"] == 40 and not seen["again"] and len(seen["batches"]) == 2


@pytest.mark.parametrize("name", [None, "anthropic"])
def test_a_batch_of_the_own_dialect_says_what_a_live_call_says(name):
    chat = Chat(name="m", model="claude-x", base_url="https://api.anthropic.com/v1", dialect=name, temperature=1.5,
                reasoning_effort="low", batch=BatchSettings())  # fmt: skip
    params = json.loads(form_of(chat).line("k", *chat.call(REQUEST)))["params"]
    assert params.pop("output_config", None) == (None if name is None else {"effort": "low"})
    assert params == {"model": "claude-x", "system": "Be brief.", "messages": [{"role": "user", "content": "Why?"}],
                      "max_tokens": 16, "stop_sequences": ["END"], "temperature": 1}  # fmt: skip


def test_openrouter_gets_no_more_than_it_takes(server, tmp_path, monkeypatch):
    monkeypatch.setattr(OpenRouter, "most_requests", 8)
    settings = config(
        server.address("openrouter"), tmp_path, "+model.extra.provider.only=[azure]", dialect="openrouter"
    )
    assert run(settings) == ""
    counts = [batch["request_counts"]["total"] for batch in server.seen()["batches"]]
    assert counts == [8, 8, 4] and server.seen()["billed"] == 20


@pytest.mark.parametrize(
    ("model", "setting", "words"),
    [
        (Chat, {"base_url": "https://openrouter.ai/api/v1", "extra": {"provider": {"order": ["a"]}}}, "and not order"),
        (Completions, {"base_url": "https://openrouter.ai/api/v1"}, "chat completions only"),
        (Chat, {"base_url": "https://api.anthropic.com/v1", "method": "rank"}, "no log-probabilities"),
    ],
)
def test_what_a_form_cannot_ask_is_said_before_anything_is_sent(model, setting, words):
    with pytest.raises(RunStopped, match=words):
        form_of(model(name="m", model="m", batch=BatchSettings(), **setting))


def test_each_form_writes_a_request_as_its_server_wants_it():
    chat = Chat(name="m", model="claude-x", base_url="https://api.anthropic.com/v1", temperature=1.5, seed=3,
                extra={"logit_bias": {}, "thinking": {"type": "disabled"}}, batch=BatchSettings())  # fmt: skip
    claude = form_of(chat)
    assert type(claude) is Anthropic and "Authorization" not in claude.headers("sk")
    assert json.loads(claude.line("k", *chat.call(REQUEST))) == {
        "custom_id": "k",
        "params": {"model": "claude-x", "system": "Be brief.", "messages": [{"role": "user", "content": "Why?"}],
                   "max_tokens": 16, "stop_sequences": ["END"], "temperature": 1, "thinking": {"type": "disabled"}},
    }  # fmt: skip
    with pytest.raises(RunStopped, match="tools"):
        claude.line("k", "/chat/completions", {"tools": [], "messages": []})
    routed = Chat(name="m", model="a/b", base_url="https://openrouter.ai/api/v1", batch=BatchSettings(),
                  extra={"provider": {"only": ["azure"]}})  # fmt: skip
    form = form_of(routed)
    body = json.loads(form.line("k", *routed.call(REQUEST)))["body"]
    assert type(form) is OpenRouter and not {"model", "provider"} & set(body)
    order = form.order(routed, "", "digest", "/chat/completions")
    assert order["provider"] == {"only": ["azure"]} and (order["model"], order["endpoint"]) == (
        "a/b",
        "/v1/chat/completions",
    )


def outcome(result):
    line = json.dumps({"custom_id": "k", "result": result}).encode()
    chat = Chat(name="m", model="m", base_url="http://localhost/v1")
    return outcome_of(content_of(line), chat, REQUEST)


def succeeded(**message):
    return {"type": "succeeded", "message": {"model": "claude-x-1", "stop_reason": "end_turn", "content": []} | message}


def test_a_message_is_read_as_the_reply_of_a_live_call():
    blocks = [{"type": "thinking", "thinking": "Let me see.", "signature": "…"}, {"type": "text", "text": "Ye"},
              {"type": "text", "text": "s"}]  # fmt: skip
    usage = {"input_tokens": 5, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 2, "output_tokens": 7,
             "output_tokens_details": {"thinking_tokens": 4}}  # fmt: skip
    response = outcome(succeeded(content=blocks, usage=usage))
    assert (response.text, response.reasoning, response.finish_reason) == ("Yes", "Let me see.", "stop")
    assert response.served_model == "claude-x-1"
    counts = response.usage
    assert (counts.input, counts.cached_input, counts.cache_write, counts.output, counts.reasoning) == (17, 10, 2, 7, 4)
    assert outcome(succeeded(content=blocks, stop_reason="max_tokens")).finish_reason == "length"
    assert outcome(succeeded(content=blocks, stop_reason="model_context_window_exceeded")).finish_reason == "length"


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({"type": "expired"}, "batch_expired"),
        ({"type": "canceled"}, "batch_cancelled"),
        ({"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}},
         "server_error"),
        ({"type": "errored", "error": {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}},
         "rate_limit"),
        ({"type": "errored", "error": {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9"}}},
         "context_length"),
        (succeeded(stop_reason="refusal", content=[{"type": "text", "text": "As"}]), "refusal"),
        (succeeded(stop_reason="model_context_window_exceeded"), "context_length"),
        (succeeded(content=7), "invalid_reply"),
        ({"type": "errored", "error": None}, "server_error"),
        ({"type": []}, "server_error"),
        (None, "server_error"),
    ],
)  # fmt: skip
def test_each_way_to_fail_has_the_name_of_a_live_call(result, kind):
    failure = outcome(result)
    assert isinstance(failure, Failure) and failure.kind == kind, failure


def test_an_error_inside_of_a_successful_line_is_a_failure():
    body = {"choices": [{"message": {"content": ""}, "finish_reason": "error", "error": {"code": 429, "message": "x"}}]}
    content = {"custom_id": "k", "response": {"status_code": 200, "body": body}, "error": None}
    failure = outcome_of(content, Chat(name="m", model="m", base_url="http://localhost/v1"), REQUEST)
    assert isinstance(failure, Failure) and failure.kind == "rate_limit"


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_results_within_a_description_are_read_one_by_one(monkeypatch, piece):
    monkeypatch.setattr(nested_results, "_PIECE", piece)
    rows = [{"custom_id": str(k), "text": 'a"]}\\' * k, "results": [{"x": []}]} for k in range(3)]
    document = {"meta": {"results": [1]}, "id": "b", "results": rows, "error": {"message": ']"results":[{}'}}
    results = nested_results.NestedResults(io.BytesIO(json.dumps(document, indent=1).encode()))
    assert [json.loads(row) for row in results] == rows
    assert json.loads(results.head) == document | {"results": [0]}
    empty = nested_results.NestedResults(io.BytesIO(b'{"results": null, "status": "failed"}'))
    assert list(empty) == [] and json.loads(empty.head)["status"] == "failed"


def test_descriptions_of_both_forms_say_the_same():
    routed = {"id": "b", "status": "expired", "results": [{}], "created_at": 9, "model": "a/b", "error": None,
              "request_counts": {"total": 3, "completed": 1, "failed": 2}}  # fmt: skip
    batch = OpenRouter().remote(routed)
    assert (batch.state, batch.files, batch.done, batch.size, batch.created) == ("ended", ("results b",), 3, 3, 9)
    assert OpenRouter().content(batch.files[0]) == "/batches/b"
    assert OpenRouter().content(OpenRouter().remote({"id": "b", "output_file_id": "f"}).files[0]) == "/files/f/content"
    refused = OpenRouter().remote({"id": "b", "status": "failed", "error": {"message": "no batch endpoint"}})
    assert (refused.state, refused.words) == ("failed", "no batch endpoint")
    counts = {"processing": 1, "succeeded": 2, "errored": 0, "canceled": 0, "expired": 1}
    messages = {"id": "m", "processing_status": "in_progress", "request_counts": counts,
                "created_at": "2026-01-01T00:00:00Z", "results_url": None}  # fmt: skip
    batch = Anthropic().remote(messages)
    assert (batch.state, batch.done, batch.size, batch.created) == ("under way", 3, 4, 1767225600.0)
    ended = Anthropic().remote(messages | {"processing_status": "ended", "results_url": "https://evil.example/x"})
    assert ended.state == "ended" and Anthropic().content(ended.files[0]) == "/messages/batches/m/results"
    for odd in ({}, {"id": 3, "processing_status": [], "request_counts": 1, "created_at": [], "results": 7}):
        assert Anthropic().remote(odd).state == OpenRouter().remote(odd).state == "under way"
