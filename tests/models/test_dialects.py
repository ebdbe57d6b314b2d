"""Anthropic's Messages and Gemini's generateContent, live: what goes out, what comes back, and what goes wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from dialect_replies import (
    anthropic_error,
    content,
    gemini_error,
    message,
    refuses_content,
    refuses_message,
)
from support.openai_server import KEY
from support.outcomes import each

from harness.errors import ConfigError, RunStopped
from harness.models.api.anthropic import Messages
from harness.models.api.gemini import GenerateContent
from harness.models.api.openai import Chat
from harness.models.api.pace import pause
from harness.types import AnswerForm, ChatRequest, ChoiceRequest, Failure, Message

ASKED = ChatRequest((Message("system", "Be brief."), Message("user", "Why?"), Message("assistant", "Well."),
                     Message("user", "So?")), 16, ("\n", "END"))  # fmt: skip
APIS = {"anthropic": Messages, "gemini": GenerateContent}
REFUSES = {"anthropic": refuses_message, "gemini": refuses_content}


@pytest.fixture
def ask(serve, key):
    """Return a function that asks one request of a strict server, and what the server has seen."""

    def asked(dialect, reply, request=ASKED, **settings):
        server = serve(lambda path, body, number: REFUSES[dialect](path, body) or answer(path, body, number))
        answer = reply if callable(reply) else lambda path, body, number: reply
        model = APIS[dialect](**{"name": "m", "model": "some-model", "base_url": server.url, "attempts": 3} | settings)
        ((_, outcome),) = each(model.respond([request]))
        return outcome, server

    return asked


def test_a_message_goes_out_and_comes_back(ask):
    thought = {"type": "thinking", "thinking": "Let me see.", "signature": "x"}
    response, server = ask("anthropic", message(thought, "Ye", "s"), reasoning_effort="low", temperature=1.5)
    assert server.calls == [
        {"model": "some-model", "system": "Be brief.", "max_tokens": 16, "stop_sequences": ["END"], "temperature": 1,
         "messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Well."},
                      {"role": "user", "content": "So?"}],
         "output_config": {"effort": "low"}, "stream": False}
    ]  # fmt: skip
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}" and server.headers[0]["anthropic-version"]
    assert (response.text, response.reasoning, response.finish_reason) == ("Yes", "Let me see.", "stop")
    counts = response.usage
    assert (counts.input, counts.cached_input, counts.cache_write, counts.output, counts.reasoning) == (11, 4, 2, 7, 3)
    assert response.served_model == "claude-served-1"


def test_a_content_goes_out_and_comes_back(ask):
    response, server = ask("gemini", content({"text": "Hm.", "thought": True}, "Yes"), seed=3, reasoning_effort="low")
    assert server.calls == [
        {"contents": [{"role": "user", "parts": [{"text": "Why?"}]}, {"role": "model", "parts": [{"text": "Well."}]},
                      {"role": "user", "parts": [{"text": "So?"}]}],
         "systemInstruction": {"parts": [{"text": "Be brief."}]},
         "generationConfig": {"temperature": 0, "maxOutputTokens": 16, "stopSequences": ["\n", "END"], "seed": 3,
                              "thinkingConfig": {"thinkingLevel": "low"}}}
    ]  # fmt: skip
    assert server.headers[0]["x-goog-api-key"] == KEY and "Authorization" not in server.headers[0]
    assert (response.text, response.reasoning, response.finish_reason) == ("Yes", "Hm.", "stop")
    counts = response.usage
    assert (counts.input, counts.cached_input, counts.output, counts.reasoning) == (9, 4, 7, 5)
    assert response.served_model == "gemini-served-1"


@pytest.mark.parametrize(
    ("dialect", "reply", "wanted"),
    [
        ("anthropic", message("Ye", stop_reason="max_tokens"), ("Ye", "length")),
        ("anthropic", message(stop_reason="max_tokens"), ("", "length")),
        ("anthropic", message("Ye", stop_reason="model_context_window_exceeded"), ("Ye", "length")),
        ("anthropic", message("Yes", stop_reason="stop_sequence"), ("Yes", "stop")),
        ("anthropic", message("As", stop_reason="refusal", stop_details={"explanation": "bio"}), "refusal"),
        ("anthropic", message(stop_reason="model_context_window_exceeded"), "context_length"),
        ("anthropic", message() | {"content": 7}, "invalid_reply"),
        ("anthropic", {"type": "message"}, "invalid_reply"),
        (
            "anthropic",
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "server_error",
        ),
        ("gemini", content("Ye", finish="MAX_TOKENS"), ("Ye", "length")),
        ("gemini", content(finish="MAX_TOKENS"), ("", "length")),
        ("gemini", content("Ye", finish="SAFETY"), "content_filter"),
        ("gemini", content(finish="RECITATION"), "content_filter"),
        ("gemini", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "content_filter"),
        ("gemini", content(finish="OTHER"), "server_error"),
        ("gemini", content(finish=None), "server_error"),
        ("gemini", {"candidates": "none"}, "invalid_reply"),
        ("gemini", content({"text": 7}), "invalid_reply"),
        ("gemini", {"candidates": [{"content": [], "finishReason": 3}]}, "server_error"),
    ],
)
def test_each_end_of_a_reply_means_what_it_means_in_a_completion(ask, dialect, reply, wanted):
    outcome, _ = ask(dialect, reply)
    if isinstance(wanted, str):
        assert isinstance(outcome, Failure) and outcome.kind == wanted, outcome
    else:
        assert (outcome.text, outcome.finish_reason) == wanted


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"}


@pytest.mark.parametrize(
    ("dialect", "refusal", "good"),
    [
        ("anthropic", anthropic_error(529, "overloaded_error", "Overloaded"), message("Yes")),
        ("anthropic", anthropic_error(429, "rate_limit_error", "slow down", retry_after="0.01"), message("Yes")),
        ("anthropic", anthropic_error(500, "api_error", "Internal server error"), message("Yes")),
        ("gemini", gemini_error(429, "RESOURCE_EXHAUSTED", "quota exceeded", RETRY), content("Yes")),
        ("gemini", gemini_error(503, "UNAVAILABLE", "The model is overloaded."), content("Yes")),
    ],
)
def test_what_may_pass_is_tried_again(ask, dialect, refusal, good):
    outcome, server = ask(dialect, lambda path, body, number: refusal if number == 1 else good)
    assert outcome.text == "Yes" and len(server.calls) == 2


@pytest.mark.parametrize(
    ("dialect", "refusal", "words"),
    [
        ("anthropic", anthropic_error(401, "authentication_error", "invalid x-api-key"), "refuses the key"),
        ("anthropic", anthropic_error(404, "not_found_error", "model: some-model"), "does not know this model"),
        ("anthropic", anthropic_error(400, "invalid_request_error", "Your credit balance is too low to access the "
                                      "Anthropic API."), "quota is used up"),
        ("gemini", gemini_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
                                {"reason": "API_KEY_INVALID"}), "refuses the key"),
        ("gemini", gemini_error(404, "NOT_FOUND", "models/x is not found for API version v1beta"), "does not know"),
    ],
)  # fmt: skip
def test_what_concerns_every_call_ends_the_run(ask, dialect, refusal, words):
    with pytest.raises(RunStopped, match=words):
        ask(dialect, refusal)


@pytest.mark.parametrize(
    ("dialect", "refusal", "kind"),
    [
        ("anthropic", anthropic_error(400, "invalid_request_error", "prompt is too long: 9 > 8 maximum"),
         "context_length"),
        ("gemini", gemini_error(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of "
                                "tokens allowed (8)."), "context_length"),
    ],
)  # fmt: skip
def test_what_concerns_one_item_is_its_failure(ask, dialect, refusal, kind):
    outcome, server = ask(dialect, refusal)
    assert outcome.kind == kind and len(server.calls) == 1


@pytest.mark.parametrize("dialect", ["anthropic", "gemini"])
def test_a_reply_is_held_to_choices(ask, dialect):
    request = ChatRequest((Message("user", "?"),), 16, form=AnswerForm(("Yes", "No"), "json_schema"))
    answer = json.dumps({"answer": "Yes"})
    outcome, server = ask(dialect, message(answer) if dialect == "anthropic" else content(answer), request)
    (sent,) = server.calls
    schema = (
        sent["output_config"]["format"]["schema"]
        if dialect == "anthropic"
        else sent["generationConfig"]["responseJsonSchema"]
    )
    assert schema["properties"]["answer"]["enum"] == ["Yes", "No"] and outcome.text == answer


def test_gemini_ranks_by_the_likeliest_first_tokens(ask):
    rows = [{"token": "Yes", "tokenId": 1, "logProbability": -0.1}, {"token": "No", "logProbability": -2.4}]
    told = {"topCandidates": [{"candidates": rows}], "chosenCandidates": [rows[0]]}
    request = ChoiceRequest((Message("user", "?"),), ("Yes", "No"))
    reply = content("Yes", finish="MAX_TOKENS", logprobsResult=told)
    reply["usageMetadata"].pop("thoughtsTokenCount")
    outcome, server = ask("gemini", reply, request, method="rank")
    assert outcome.text == "Yes" and outcome.logprobs["No"] == pytest.approx(-2.4)
    config = server.calls[0]["generationConfig"]
    assert (config["responseLogprobs"], config["logprobs"], config["maxOutputTokens"]) == (True, 20, 1)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"dialect": "anthropic", "method": "rank"}, "Anthropic gives no log-probabilities: use model.method=generate"),
        ({"dialect": "anthropic", "seed": 3}, "Anthropic takes no seed"),
    ],
)
def test_what_a_dialect_cannot_do_is_one_sentence(key, settings, words):
    with pytest.raises(ConfigError, match=words):
        APIS[settings["dialect"]](
            name="m", model="m", base_url="http://localhost/v1", **{k: v for k, v in settings.items() if k != "dialect"}
        )


def test_a_dialect_has_an_identity_of_its_own_and_the_others_keep_theirs(key):
    kinds = [api(name="m", model="m", base_url="https://x/v1").identity["kind"] for api in (Chat, *APIS.values())]
    assert kinds == ["openai.chat", "anthropic.messages", "gemini.generate_content"]


def test_a_pause_until_a_moment_is_waited_for():
    until = (datetime.now(UTC) + timedelta(seconds=30)).isoformat().replace("+00:00", "Z")
    headers = {"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": until}
    assert 20 < pause(headers) <= 30
    assert pause(headers | {"anthropic-ratelimit-requests-remaining": "7"}) == 0
    assert pause(headers | {"anthropic-ratelimit-requests-reset": "Tuesday"}) == 0
