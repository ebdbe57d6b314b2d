"""The calls of both endpoints against a local server."""

from __future__ import annotations

import threading

import pytest
from support.openai_server import Server, chat_reply, error
from support.outcomes import each

from harness.errors import ConfigError, Interrupted, RunStopped
from harness.models.api.openai import Chat, Completions
from harness.runtime.signals import STOP
from harness.types import ChatRequest, ChoiceRequest, Failure, Message, Response


def chat(server: Server, api: type = Chat, **settings) -> Chat:
    return api(**{"name": "m", "model": "gpt-4", "base_url": server.url, **settings})


def ask(text: str = "?", **settings) -> ChatRequest:
    return ChatRequest((Message("system", "Be brief."), Message("user", text)), max_tokens=16, **settings)


def outcomes(model, requests) -> dict:
    return dict(each(model.respond(requests)))


def test_sends_the_conversation_and_records_what_came_back(serve, key):
    server = serve(lambda *_: chat_reply("Yes"))
    (request, response), *_ = each(chat(server).respond([ask("Well?", stop=("\n",))]))
    assert request == ask("Well?", stop=("\n",))
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Well?"}]
    assert server.calls == [{"model": "gpt-4", "messages": messages, "temperature": 0, "max_tokens": 16, "seed": 0,
                             "stop": ["\n"], "stream": False}]  # fmt: skip
    assert server.headers[0]["Authorization"] == f"Bearer {key}"
    assert (response.text, response.finish_reason, response.served_model) == ("Yes", "stop", "served-name-2024")
    usage = response.usage
    assert (usage.input, usage.output, usage.cached_input, usage.reasoning) == (11, 2, 3, 1)
    assert response.seconds > 0


@pytest.mark.parametrize("name", ["o3-mini", "gpt-5", "openai/gpt-5-mini", "gpt-5.1", "o1"])
def test_a_reasoning_model_gets_no_temperature_and_room_to_think(serve, key, name):
    server = serve()
    outcomes(chat(server, model=name, reasoning_effort="low", reasoning_tokens=1000), [ask(stop=("\n",))])
    sent = server.calls[0]
    assert not {"temperature", "max_tokens", "stop", "reasoning_tokens"} & set(sent)
    assert (sent["max_completion_tokens"], sent["reasoning_effort"]) == (1016, "low")


@pytest.mark.parametrize("name", ["gpt-4o", "gpt-5-chat-latest", "gpt-3.5-turbo", "llama-o1-style"])
def test_other_models_are_not_taken_for_reasoning_ones_and_get_the_effort_that_is_given(serve, key, name):
    server = serve()
    outcomes(chat(server, model=name, reasoning_effort="high"), [ask()])
    assert (server.calls[0]["max_tokens"], server.calls[0]["reasoning_effort"]) == (16, "high")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"base_url": "localhost:8000"}, "is no address"),
        ({"base_url": "http://me:secretpw@localhost/v1"}, "looks like a key"),
        ({"extra": {"max_tokens": 5}}, "cannot set max_tokens"),
        ({"model": "o1", "temperature": 0.7}, "takes no temperature"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(key, settings, said):
    with pytest.raises(ConfigError, match=said) as refused:
        Chat(**{"name": "m", "model": "gpt-4", "base_url": "http://localhost/v1"} | settings)
    assert "secretpw" not in str(refused.value)


@pytest.mark.parametrize(("given", "said"), [("sk-…", "holds characters that no key has"), ("", "OPENAI_API_KEY")])
def test_without_a_key_nothing_is_asked(serve, monkeypatch, given, said):
    server = serve()
    monkeypatch.setenv("OPENAI_API_KEY", given)
    with pytest.raises(ConfigError, match=said):
        outcomes(chat(server), [ask()])
    assert not server.calls
    monkeypatch.setenv("OPENAI_API_KEY", "sk-fine\n")
    outcomes(chat(server), [ask()])
    assert server.headers[0]["Authorization"] == "Bearer sk-fine"


def test_samples_of_one_request_get_different_seeds(serve, key):
    server = serve()
    outcomes(chat(server, temperature=1.0), [ask(sample=k) for k in range(5)])
    assert len({sent["seed"] for sent in server.calls}) == 5


def test_requests_are_pulled_as_they_are_needed(serve, key):
    pulled = []
    answers = each(chat(serve(), max_concurrency=4).respond(pulled.append(k) or ask(f"{k}?") for k in range(100)))
    next(answers)
    answers.close()
    assert len(pulled) <= 8


def test_what_concerns_one_item_is_that_items_failure(serve, key):
    replies = {
        "content_filter": chat_reply("", finish_reason="content_filter"),
        "context_length": error(400, "maximum context length is 8192 tokens", "context_length_exceeded"),
        "refusal": chat_reply("", message={"role": "assistant", "content": None, "refusal": "I won't."}),
        "content_filter (policy)": error(400, "flagged", "content_filter"),
        "invalid_reply": chat_reply("Yes") | {"choices": []},
        "fine": chat_reply("Yes"),
    }
    server = serve(lambda path, body, number: replies[body["messages"][-1]["content"]])
    for request, outcome in outcomes(chat(server, attempts=2), [ask(name) for name in replies]).items():
        assert request.messages[-1].content.partition(" ")[0] == getattr(outcome, "kind", "fine")


def test_answers_that_landed_before_the_run_stopped_are_handed_out(serve, key):
    server = serve(lambda path, body, number: chat_reply("Yes") if number <= 10 else error(401, "revoked"))
    found = []
    with pytest.raises(RunStopped):
        found.extend(each(chat(server, max_concurrency=4).respond([ask(f"{k}?") for k in range(50)])))
    # `extend` keeps what it got before the exception.
    assert len(found) == 10 and all(isinstance(outcome, Response) for _, outcome in found)


def test_a_server_that_turns_away_everybody_stops_the_run_after_successes_too(serve, key):
    limited = error(429, "come back tomorrow", headers={"retry-after": "86400"})
    server = serve(lambda path, body, number: chat_reply("Yes") if number <= 30 else limited)
    with pytest.raises(RunStopped, match=r"come back tomorrow \(it asks to wait 86400 s"):
        outcomes(chat(server, max_concurrency=4), [ask(f"{k}?") for k in range(300)])
    assert len(server.calls) < 40


def test_a_stop_does_not_wait_for_retries(serve, key, monkeypatch):
    def reply(path, body, number):
        if number == 4:  # a moment later, all of them wait
            threading.Timer(0.5, monkeypatch.setattr, (STOP, "requested", True)).start()
        return error(429, "slow down", headers={"retry-after": "30"})

    server = serve(reply)
    with pytest.raises(Interrupted, match="while a call waited for its retry"):
        outcomes(chat(server, max_wait=60), [ask(f"{k}?") for k in range(4)])
    assert len(server.calls) == 4


def test_identity_tells_servers_models_and_sampling_apart_but_no_transport(serve, key):
    server = serve()
    base = chat(server).identity
    assert chat(server, timeout=3, attempts=2, max_concurrency=1, name="other").identity == base
    changed = [{"model": "gpt-4o"}, {"temperature": 0.5}, {"seed": 1}, {"extra": {"min_p": 1}}]
    assert all(chat(server, **change).identity != base for change in changed)
    assert key not in str(base)


def test_completions_send_one_text_and_take_a_withheld_one_for_a_failure(serve, key):
    texts = {"Well?": (" No", "stop"), "So?": ("", "content_filter")}

    def reply(path, body, number):
        text, reason = texts[body["prompt"].split("\n\n")[1]]
        choice = {"index": 0, "text": text, "finish_reason": reason, "logprobs": None}
        return {"model": "davinci", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}

    server = serve(reply)
    answered, withheld = outcomes(chat(server, Completions, max_concurrency=1), [ask("Well?"), ask("So?")]).values()
    assert [sent["prompt"] for sent in server.calls] == ["Be brief.\n\nWell?", "Be brief.\n\nSo?"]
    assert (answered.text, answered.usage.input) == (" No", 9)
    assert withheld == Failure("content_filter", "the server withheld the reply (content_filter)")


def test_choices_of_several_words_are_not_ranked_by_the_next_token(serve, key):
    request = ChoiceRequest((Message("user", "Is it so? Answer:"),), ("Yes, it is", "No"))
    with pytest.raises(ConfigError, match="begin alike"):
        outcomes(chat(serve(), Completions, method="rank"), [request])
