"""What a reply holds beside its words: thoughts, who gave it, what it cost; and what of it is never read."""

from __future__ import annotations

import json

import pytest
from support.openai_server import chat_reply
from support.outcomes import each

from harness import evaluate, load_run
from harness.codec import response_from_json, response_json
from harness.models.api.openai import Chat, Completions
from harness.settings import build
from harness.tables.results import remarks
from harness.types import ChatRequest, Failure, Message
from harness.verify.run import problems_of

THOUGHTS = "Let us see.\nYes, it does."


def read(message, *, model=None, **reply):
    body = chat_reply("") | reply
    body["choices"][0] |= {"message": {"role": "assistant", **message}}
    chat = model or Chat(name="m", model="m", base_url="http://localhost/v1")
    return chat.read(body, ChatRequest((Message("user", "?"),), max_tokens=16), 0.1)


TEXT = {"type": "text", "text": "No"}
SUMMARY = {"summary": [{"type": "summary_text", "text": THOUGHTS}]}
DETAILS = [{"type": "reasoning.text", "text": THOUGHTS}, {"type": "reasoning.encrypted"}]


@pytest.mark.parametrize(
    "message",
    [
        *({"content": "No", name: THOUGHTS} for name in ("reasoning_content", "reasoning", "thinking")),
        {"content": "No", "reasoning": SUMMARY},
        {"content": "No", "reasoning_details": DETAILS},
        {"content": "No", "reasoning_details": [{"type": "reasoning.summary", "summary": THOUGHTS}]},
        {"content": "No", "reasoning": THOUGHTS, "reasoning_details": DETAILS},
        {"content": [{"type": "thinking", "thinking": THOUGHTS}, TEXT]},
        {"content": [{"type": "thinking", "thinking": [TEXT | {"text": THOUGHTS}], "closed": True}, TEXT]},
        {"content": [{"type": "reasoning", "text": THOUGHTS}, TEXT | {"type": "output_text"}]},
        {"content": [{"type": "reasoning", "reasoning": THOUGHTS}, "No"]},
    ],
)
def test_thoughts_are_kept_apart_from_the_answer(message):
    response = read(message)
    assert (response.text, response.reasoning) == ("No", THOUGHTS)
    assert response_from_json(json.loads(json.dumps(response_json(response))), cached=False) == response


@pytest.mark.parametrize("odd", [3, True, [None, 7], {"text": 1}, [[[[[[["deep"]]]]]]], "", {}])
def test_thoughts_of_another_shape_are_none_and_cost_no_answer(odd):
    response = read({"content": "No", "reasoning": odd, "reasoning_details": odd})
    assert (response.text, response.reasoning) == ("No", "")


def test_completions_and_refusals():
    completions = Completions(name="m", model="m", base_url="http://localhost/v1")
    body = {"choices": [{"text": "No", "reasoning_content": THOUGHTS, "finish_reason": "stop"}]}
    response = completions.read(body, ChatRequest((Message("user", "?"),), max_tokens=16), 0.1)
    assert (response.text, response.reasoning) == ("No", THOUGHTS)
    assert read({"content": [{"type": "refusal", "refusal": "I can't."}]}) == Failure("refusal", "I can't.")


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        ({"cost": 0.00025}, 0.00025),
        ({"cost": 0}, 0.0),
        ({"cost": 0.1, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.9}}, None),
        ({"cost": -1}, None),
        ({"cost": "0.1"}, None),
        ({"cost": True}, None),
        ({"cost": 1e300}, None),
        ({"cost": {"total_cost": 1}}, None),
        ({}, None),
    ],
)
def test_what_the_server_says_that_it_charged(usage, usd):
    response = read({"content": "No"}, usage={"prompt_tokens": 3, "completion_tokens": 1, **usage})
    assert response.usage.usd == usd
    again = response_from_json(json.loads(json.dumps(response_json(response))), cached=True)
    assert again.usage == response.usage


def routed(path, body, number):
    thinking = {"message": {"role": "assistant", "content": None, "reasoning": THOUGHTS}, "finish_reason": "length"}
    reply = chat_reply("No") if number % 2 else chat_reply("", **thinking)
    reply |= {"model": "mock-2026", "provider": f"Company {number % 2}", "system_fingerprint": f"fp_{number % 3}"}
    return reply | {"usage": {"prompt_tokens": 100, "completion_tokens": 5, "cost": 0.25}}


def test_a_run_tells_who_answered_what_was_cut_off_and_what_it_cost(serve, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = {"model.base_url": serve(routed).url, "model.model": "gpt-4", "model.max_concurrency": 1}
    run = evaluate(model="openai", limit=12, **settings)
    result = json.loads((run.folder / "result.json").read_text())
    overall = result["scores"][result["headline"]]["overall"]["all"]
    assert overall["unreadable"] == overall["cut_off"] == 6
    assert result["providers"] == {"Company 0": 6, "Company 1": 6} and sum(result["system_fingerprints"].values()) == 12
    assert (result["cost"]["usd"], result["cost"]["answers_without_cost"]) == (3.0, 0)
    lines = [json.loads(line) for line in (run.folder / "records.jsonl").read_text().splitlines()]
    assert {line["cost_usd"] for line in lines} == {0.25}
    assert [line["response"].get("reasoning") for line in lines if line["response"]["text"] == ""] == [THOUGHTS] * 6
    said = "\n".join(remarks(run.result, "gpt-4"))
    assert "gpt-4 was asked for, and the replies name mock-2026 (12)." in said
    assert "6 replies were cut off while the model was still thinking" in said and "model.reasoning_tokens" in said
    assert "Company 0 (6), Company 1 (6)" in said and "several fingerprints: fp_0 (4)" in said
    assert list(problems_of(run.folder)) == []
    # The answers come from the cache as they were, thoughts and all.
    again = evaluate(model="openai", limit=12, results="again", **settings)
    assert load_run(again.folder).result == run.result


FREE = {"model.price.input": 0, "model.price.output": 0}
"""What a server on this machine costs by its table; what its replies say wins."""


def test_a_budget_goes_by_what_the_server_charges(serve, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "cost": 0.25}
    server = serve(lambda *_: chat_reply("No") | {"usage": usage})
    settings = {"model.base_url": server.url, "model.model": "m", "model.max_concurrency": 1, "budget.usd": 1} | FREE
    with pytest.raises(Exception, match=r"budget\.usd=1 is reached"):
        evaluate(model="openai", limit=12, **settings)
    assert len(server.calls) in (4, 5)


def sent(server, **settings):
    chat = Chat(**{"name": "m", "model": "deepseek-chat", "base_url": server.url, **settings})
    list(each(chat.respond([ChatRequest((Message("user", "?"),), max_tokens=16, stop=("\n",))])))
    return server.calls[-1], chat.identity


def test_any_model_can_be_told_to_think(serve, key):
    server = serve()
    body, identity = sent(server, reasoning=True, temperature=0.6)
    assert (body["max_tokens"], body["temperature"], body["stop"]) == (16 + 8192, 0.6, ["\n"])
    assert identity["reasoning_tokens"] == 8192
    assert "reasoning_tokens" not in sent(server, model="o3", reasoning=False)[1]


@pytest.mark.parametrize(("seed", "expected"), [("auto", 0), (0, 0), (7, 7), (None, None)])
def test_a_seed_is_sent_where_it_is_understood_or_was_given(serve, key, seed, expected):
    body, identity = sent(serve(), seed=seed)
    assert body.get("seed") == identity["seed"] == expected
    settings = {"name": "m", "model": "m", "base_url": "https://api.example.com/v1", "seed": seed}
    elsewhere = build({"_target_": "harness.models.api.openai.Chat", **settings}, "model")
    assert elsewhere.identity["seed"] == (None if seed == "auto" else seed)
