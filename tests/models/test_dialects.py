"""Anthropic's Messages and Gemini's generateContent, live: what goes out, what comes back, and what goes wrong."""

from __future__ import annotations

import json

import pytest
from dialect_replies import anthropic_error, content, gemini_error, message, refuses_content, refuses_message
from support.openai_server import KEY
from support.outcomes import each

from harness.errors import ConfigError, RunStopped
from harness.models.api.anthropic import Messages
from harness.models.api.gemini import GenerateContent
from harness.models.api.openai import Chat
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


OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
CREDIT = "Your credit balance is too low to access the Anthropic API."
TOO_LONG = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
NO_KEY = gemini_error(400, "INVALID_ARGUMENT", "API key not valid.", {"reason": "API_KEY_INVALID"})
ENDS = {
    "anthropic": [
        (message("Ye", stop_reason="max_tokens"), ("Ye", "length")),
        (message(stop_reason="max_tokens"), ("", "length")),
        (message("Ye", stop_reason="model_context_window_exceeded"), ("Ye", "length")),
        (message("Ye", stop_reason="pause_turn"), ("Ye", "length")),
        (message("Ye", stop_reason="nobody_knows_this"), ("Ye", "length")),
        (message("Yes", stop_reason="stop_sequence"), ("Yes", "stop")),
        (message("As", stop_reason="refusal", stop_details={"explanation": "bio"}), "refusal"),
        (message(stop_reason="model_context_window_exceeded"), "context_length"),
        (message() | {"content": 7}, "invalid_reply"),
        ({"type": "message"}, "invalid_reply"),
        (OVERLOADED, "server_error"),
        (anthropic_error(400, "invalid_request_error", "prompt is too long: 9 > 8 maximum"), "context_length"),
        (anthropic_error(401, "authentication_error", "invalid x-api-key"), "stops: refuses the key"),
        (anthropic_error(404, "not_found_error", "model: some-model"), "stops: does not know this model"),
        (anthropic_error(400, "invalid_request_error", CREDIT), "stops: quota is used up"),
    ],
    "gemini": [
        (content("Ye", finish="MAX_TOKENS"), ("Ye", "length")),
        (content(finish="MAX_TOKENS"), ("", "length")),
        (content("Ye", finish="NOBODY_KNOWS_THIS"), ("Ye", "length")),
        (content("Ye", finish="SAFETY"), "content_filter"),
        (content(finish="RECITATION"), "content_filter"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "content_filter"),
        (content(finish="OTHER"), "server_error"),
        (content(finish=None), "server_error"),
        ({"candidates": "none"}, "invalid_reply"),
        (content({"text": 7}), "invalid_reply"),
        ({"candidates": [{"content": [], "finishReason": 3}]}, "server_error"),
        (gemini_error(400, "INVALID_ARGUMENT", TOO_LONG), "context_length"),
        (NO_KEY, "stops: refuses the key"),
        (gemini_error(404, "NOT_FOUND", "models/x is not found for API version v1beta"), "stops: does not know"),
    ],
}


@pytest.mark.parametrize(("dialect", "case"), [(name, case) for name, cases in ENDS.items() for case in cases])
def test_each_end_of_a_reply_means_what_it_means_in_a_completion(ask, dialect, case):
    reply, wanted = case
    if isinstance(wanted, str) and wanted.startswith("stops: "):
        with pytest.raises(RunStopped, match=wanted.removeprefix("stops: ")):
            ask(dialect, reply)
        return
    outcome, server = ask(dialect, reply)
    if isinstance(wanted, tuple):
        assert (outcome.text, outcome.finish_reason) == wanted
    else:
        assert isinstance(outcome, Failure) and outcome.kind == wanted, outcome
        assert wanted != "context_length" or len(server.calls) == 1


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"}


@pytest.mark.parametrize(
    ("dialect", "refusal"),
    [
        ("anthropic", anthropic_error(529, "overloaded_error", "Overloaded")),
        ("anthropic", anthropic_error(429, "rate_limit_error", "slow down", retry_after="0.01")),
        ("anthropic", anthropic_error(500, "api_error", "Internal server error")),
        ("gemini", gemini_error(429, "RESOURCE_EXHAUSTED", "quota exceeded", RETRY)),
        ("gemini", gemini_error(503, "UNAVAILABLE", "The model is overloaded.")),
    ],
)
def test_what_may_pass_is_tried_again(ask, dialect, refusal):
    good = {"anthropic": message("Yes"), "gemini": content("Yes")}[dialect]
    outcome, server = ask(dialect, lambda path, body, number: refusal if number == 1 else good)
    assert outcome.text == "Yes" and len(server.calls) == 2


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
        ({"method": "rank"}, "Anthropic gives no log-probabilities: use model.method=generate"),
        ({"seed": 3}, "Anthropic takes no seed"),
    ],
)
def test_what_a_dialect_cannot_do_is_one_sentence(key, settings, words):
    with pytest.raises(ConfigError, match=words):
        Messages(name="m", model="m", base_url="http://localhost/v1", **settings)


def test_a_dialect_has_an_identity_of_its_own_and_the_others_keep_theirs(key):
    kinds = [api(name="m", model="m", base_url="https://x/v1").identity["kind"] for api in (Chat, *APIS.values())]
    assert kinds == ["openai.chat", "anthropic.messages", "gemini.generate_content"]
