"""The calls of both endpoints against a local server."""

from __future__ import annotations

import pytest
from support.openai_server import Server, chat_reply, error
from support.outcomes import each

from harness.errors import ConfigError, Interrupted, RunStopped
from harness.models.api.openai import Chat, Completions
from harness.models.api.retry import Policy
from harness.runtime.signals import STOP
from harness.types import ChatRequest, ChoiceRequest, Failure, Message, Response


def chat(server: Server, **settings) -> Chat:
    return Chat(**{"name": "m", "model": "gpt-4", "base_url": server.url, **settings})


def ask(text: str, **settings) -> ChatRequest:
    return ChatRequest((Message("system", "Be brief."), Message("user", text)), max_tokens=16, **settings)


def outcomes(model, requests) -> dict:
    return dict(each(model.respond(requests)))


def test_sends_the_conversation_and_records_what_came_back(serve, key):
    server = serve(lambda *_: chat_reply("Yes"))
    (request, response), *_ = each(chat(server).respond([ask("Well?", stop=("\n",))]))
    assert request == ask("Well?", stop=("\n",))
    sent = server.calls[0]
    assert sent["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Well?"}]
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["seed"]) == ("gpt-4", 0, 16, 0)
    assert sent["stop"] == ["\n"]
    assert "max_completion_tokens" not in sent
    assert server.headers[0]["Authorization"] == f"Bearer {key}"
    assert (response.text, response.finish_reason, response.served_model) == ("Yes", "stop", "served-name-2024")
    usage = response.usage
    assert (usage.input, usage.output, usage.cached_input, usage.reasoning) == (11, 2, 3, 1)
    assert response.seconds > 0


@pytest.mark.parametrize("name", ["o3-mini", "gpt-5", "openai/gpt-5-mini", "gpt-5.1", "o1"])
def test_a_reasoning_model_gets_no_temperature_and_room_to_think(serve, key, name):
    server = serve()
    outcomes(chat(server, model=name, reasoning_effort="low", reasoning_tokens=1000), [ask("?", stop=("\n",))])
    sent = server.calls[0]
    assert not {"temperature", "max_tokens", "stop", "reasoning_tokens"} & set(sent)
    assert sent["max_completion_tokens"] == 1016
    assert sent["reasoning_effort"] == "low"


@pytest.mark.parametrize("name", ["gpt-4o", "gpt-5-chat-latest", "gpt-3.5-turbo", "llama-o1-style"])
def test_other_models_are_not_taken_for_reasoning_ones(serve, key, name):
    server = serve()
    outcomes(chat(server, model=name), [ask("?")])
    assert server.calls[0]["max_tokens"] == 16


def test_sampling_of_a_reasoning_model_is_refused_not_dropped(key):
    with pytest.raises(ConfigError, match="takes no temperature"):
        Chat(name="m", model="o1", base_url="http://localhost/v1", temperature=0.7)


def test_an_effort_that_is_given_is_sent_to_any_model(serve, key):
    server = serve()
    outcomes(chat(server, model="deepseek-reasoner", reasoning_effort="high"), [ask("?")])
    assert server.calls[0]["reasoning_effort"] == "high"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"base_url": "localhost:8000"}, "is no address"),
        ({"base_url": "http://me:secretpw@localhost/v1"}, "base_url looks like a key"),
        ({"extra": {"max_tokens": 5}}, "cannot set max_tokens"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(key, settings, said):
    with pytest.raises(ConfigError, match=said) as refused:
        Chat(**{"name": "m", "model": "gpt-4", "base_url": "http://localhost/v1"} | settings)
    assert "secretpw" not in str(refused.value)


def test_a_key_that_cannot_be_one_is_refused_and_a_newline_forgiven(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-…")
    with pytest.raises(ConfigError, match="holds characters that no key has"):
        each(Chat(name="m", model="gpt-4", base_url="http://localhost/v1").respond([ask("?")]))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-fine\n")
    server = serve()
    outcomes(chat(server), [ask("?")])
    assert server.headers[0]["Authorization"] == "Bearer sk-fine"


def test_samples_of_one_request_get_different_seeds(serve, key):
    server = serve()
    outcomes(chat(server, temperature=1.0), [ask("?", sample=k) for k in range(5)])
    assert len({sent["seed"] for sent in server.calls}) == 5


def test_requests_are_pulled_as_they_are_needed(serve, key):
    server = serve()
    pulled = []

    def source():
        for k in range(100):
            pulled.append(k)
            yield ask(f"{k}?")

    answers = each(chat(server, max_concurrency=4).respond(source()))
    next(answers)
    assert len(pulled) <= 8
    answers.close()
    assert len(pulled) <= 8


def test_a_wait_longer_than_allowed_is_a_failure_that_says_so(serve, key):
    server = serve(lambda *_: error(429, "slow down", headers={"retry-after": "6000"}))
    (outcome,) = outcomes(chat(server), [ask("?")]).values()
    assert isinstance(outcome, Failure) and outcome.kind == "rate_limit" and "6000 s" in outcome.detail
    assert len(server.calls) == 1


def test_what_concerns_one_item_is_that_items_failure(serve, key):
    replies = {
        "filter": chat_reply("", finish_reason="content_filter"),
        "length": error(400, "maximum context length is 8192 tokens", "context_length_exceeded"),
        "refusal": chat_reply("", message={"role": "assistant", "content": None, "refusal": "I won't."}),
        "policy": error(400, "flagged", "content_filter"),
        "empty": chat_reply("Yes") | {"choices": []},
        "fine": chat_reply("Yes"),
    }
    server = serve(lambda path, body, number: replies[body["messages"][-1]["content"]])
    found = {
        r.messages[-1].content: o for r, o in each(chat(server, attempts=2).respond([ask(name) for name in replies]))
    }
    kinds = {name: outcome.kind if isinstance(outcome, Failure) else "response" for name, outcome in found.items()}
    assert kinds == {
        "filter": "content_filter",
        "length": "context_length",
        "refusal": "refusal",
        "policy": "content_filter",
        "empty": "invalid_reply",
        "fine": "response",
    }


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (error(401, "Incorrect API key"), "key"),
        (error(403, "not for you"), "access"),
        (error(404, "no such model", "model_not_found"), "model.model"),
        (error(429, "You exceeded your quota", "insufficient_quota"), "quota"),
    ],
)
def test_what_no_later_request_survives_stops_the_run_at_once(serve, key, reply, said):
    server = serve(lambda *_: reply)
    with pytest.raises(RunStopped, match=said):
        outcomes(chat(server, max_concurrency=4), [ask(f"{k}?") for k in range(500)])
    assert len(server.calls) <= 4


def test_answers_that_landed_before_the_run_stopped_are_handed_out(serve, key):
    server = serve(lambda path, body, number: chat_reply("Yes") if number <= 10 else error(401, "revoked"))
    found = []
    with pytest.raises(RunStopped):
        found.extend(each(chat(server, max_concurrency=4).respond([ask(f"{k}?") for k in range(50)])))
        pytest.fail("the run went on")
    # `extend` keeps what it got before the exception.
    assert len(found) == 10 and all(isinstance(outcome, Response) for _, outcome in found)


def test_a_server_that_turns_away_everybody_stops_the_run_after_successes_too(serve, key):
    limited = error(429, "come back tomorrow", headers={"retry-after": "86400"})
    server = serve(lambda path, body, number: chat_reply("Yes") if number <= 30 else limited)
    with pytest.raises(RunStopped, match="rate_limit: come back tomorrow"):
        outcomes(chat(server, max_concurrency=4), [ask(f"{k}?") for k in range(300)])
    assert len(server.calls) < 80


def test_a_stop_does_not_wait_for_retries(serve, key, monkeypatch):
    waits = []
    sleep = Policy._sleep

    async def last_waits(policy: Policy, seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 4:
            monkeypatch.setattr(STOP, "requested", True)
        await sleep(policy, seconds)

    monkeypatch.setattr(Policy, "_sleep", last_waits)
    server = serve(lambda *_: error(429, "slow down", headers={"retry-after": "30"}))
    with pytest.raises(Interrupted, match="while a call waited for its retry"):
        outcomes(chat(server, max_wait=60), [ask(f"{k}?") for k in range(4)])
    assert len(server.calls) == len(waits) == 4


def test_without_a_key_nothing_is_asked():
    model = Chat(name="m", model="gpt-4", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        each(model.respond([ask("?")]))


def test_identity_tells_servers_models_and_sampling_apart_but_no_transport(serve, key):
    server = serve()
    base = chat(server).identity
    assert chat(server, timeout=3, attempts=2, max_concurrency=1, name="other").identity == base
    changed = [{"model": "gpt-4o"}, {"temperature": 0.5}, {"seed": 1}, {"extra": {"min_p": 1}}]
    assert all(chat(server, **change).identity != base for change in changed)
    assert key not in str(base)


def completions(server: Server, **settings) -> Completions:
    return Completions(**{"name": "m", "model": "davinci", "base_url": server.url, **settings})


def test_completions_send_one_text(serve, key):
    server = serve(
        lambda *_: {
            "id": "1",
            "object": "text_completion",
            "created": 0,
            "model": "davinci",
            "choices": [{"index": 0, "text": " No", "finish_reason": "stop", "logprobs": None}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
        }
    )
    (response,) = outcomes(completions(server), [ask("Well?")]).values()
    assert server.calls[0]["prompt"] == "Be brief.\n\nWell?"
    assert (response.text, response.usage.input) == (" No", 9)


def test_a_completion_that_the_server_withheld_is_a_failure(serve, key):
    withheld = {"choices": [{"text": "", "finish_reason": "content_filter"}], "model": "m"}
    server = serve(lambda *_: withheld)
    (outcome,) = outcomes(completions(server), [ask("?")]).values()
    assert (
        outcome == Failure("content_filter", "the server withheld the reply (content_filter)")
        and len(server.calls) == 1
    )


def test_choices_of_several_words_are_not_ranked_by_the_next_token(serve, key):
    request = ChoiceRequest((Message("user", "Is it so? Answer:"),), ("Yes, it is", "No"))
    with pytest.raises(ConfigError, match="begin alike"):
        outcomes(completions(serve(), method="rank"), [request])


def ranker(server, **settings):
    return completions(server, method="rank", **settings)
