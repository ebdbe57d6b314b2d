"""What servers say when they refuse a call: their words from any shape, what they mean, and the setting that helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.openai_server import chat_reply, error
from support.outcomes import each
from support.server import http
from support.thinned import few

from harness.errors import RunStopped
from harness.models.api.bodies import names_of, words_of
from harness.models.api.openai import Chat, Completions
from harness.types import ChatRequest, ChoiceRequest, Failure, Message, Response

SENTENCES = json.loads((Path(__file__).parents[1] / "data" / "server_sentences.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _key(key):
    return key


def asked(url: str, *questions: str, model: type = Chat, **settings):
    endpoint = model(**{"name": "m", "model": "m-1", "base_url": url, "max_wait": 0.02, **settings})
    requests = (ChatRequest((Message("user", question),), max_tokens=16, stop=("\n",)) for question in questions)
    return {request.messages[-1].content: outcome for request, outcome in each(endpoint.respond(requests))}


def stopped(url: str, number: int = 20, **settings) -> str:
    with pytest.raises(RunStopped) as reason:
        asked(url, *(f"{k}?" for k in range(number)), **settings)
    return str(reason.value)


SAYS = "seed is not known here"
SHAPES = {
    "OpenAI": {"error": {"message": SAYS, "type": "x", "param": None, "code": None}},
    "vLLM, older": {"object": "error", "message": SAYS, "type": "BadRequestError", "code": 400},
    "Ollama": {"error": SAYS},
    "Starlette": {"detail": SAYS},
    "a message beside": {"message": SAYS, "request_id": "req_1"},
    "Google": [{"error": {"code": 400, "message": SAYS, "status": "INVALID_ARGUMENT"}}],
    "words": SAYS,
    "JSON in a text": {"error": {"message": json.dumps({"error": {"message": SAYS}})}},
    "OpenRouter": {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps({"detail": SAYS})}}},
    "an HTML page": f"<html><head><title>Oops</title><style>a{{}}</style></head><body><p>{SAYS}</p></body></html>",
    "S3": f"<?xml version='1.0'?><Error><Code>X</Code><Message>{SAYS}</Message></Error>",
    "not JSON at all": "{" + SAYS,
}


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
def test_the_words_are_found_in_any_shape(body):
    assert SAYS in words_of(body, 400) and "{'" not in words_of(body, 400)


def test_a_place_stands_beside_its_words_and_a_status_for_none():
    fastapi = {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 0}]}
    assert words_of(fastapi, 422) == "seed: Extra inputs are not permitted"
    assert words_of({"seed": ["not known"]}, 400) == "seed: not known"
    assert [words_of(body, 404) for body in ("", None, {}, [], {"error": None})] == ["Not Found"] * 5
    assert words_of({"error": {"code": "model_gone"}}, 400) == "model_gone" and words_of("", 799) == "no explanation"
    assert names_of({"error": {"code": 404, "type": "x", "inner": {"code": "deep"}}}) == "404 x deep"
    deep: object = "x"
    for _ in range(10_000):
        deep = {"error": deep}
    assert words_of(deep, 400) == "Bad Request"


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, {}), (404, "404 page not found"), (400, SHAPES["OpenAI"]), (422, SHAPES["Starlette"]), (418, "")],
    ids=str,
)
def test_a_status_is_told_once(serve, status, body):
    url = serve(lambda *_: (status, body)).url
    said = stopped(url, seed=None).replace(url, "the server")  # whose port may hold the status
    assert "Error code" not in said and said.count(str(status)) == 1


@pytest.mark.parametrize(
    "sentence", few(SENTENCES, 20), ids=lambda sentence: f"{sentence['server']}: {sentence['kind']}"
)
def test_what_a_sentence_means_decides_whatever_the_status(serve, sentence):
    """Over the wire, beside items that fit: one try, the item's own failure, in the server's words."""
    server = serve(
        lambda path, body, number: (
            (sentence["status"], sentence["body"])
            if body["messages"][-1]["content"] == "too long?"
            else chat_reply("No")
        )
    )
    if sentence["status"] == 403 and sentence["kind"] is None:
        assert "refuses access" in stopped(serve(lambda *_: (403, sentence["body"])).url)
        return
    outcome = asked(server.url, "fits?", "too long?", attempts=2)["too long?"]
    assert isinstance(outcome, Failure)
    if sentence["kind"] is None:
        assert outcome.kind in ("rate_limit", "bad_request", "invalid_reply")
        return
    assert outcome.kind == sentence["kind"] and outcome.detail and len(server.calls) == 2


REFUSED = {
    "LiteLLM": (400, "litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed'], for model=x. To "
        "drop these, set `litellm.drop_params=True`", "model.seed=null"),
    "LiteLLM, several": (400, "anthropic does not support parameters: {'seed': 0, 'temperature': 0}",
        "model.temperature=null and model.seed=null"),
    "LiteLLM, as a 500": (500, "ollama does not support parameters: {'seed': 1}, for model=llama3", "model.seed=null"),
    "Google": (400, 'Invalid JSON payload received. Unknown name "seed": Cannot find field.', "model.seed=null"),
    "Mistral": (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not "
        "permitted"}]}, "model.seed=null"),
    "OpenAI, length": (400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.", "model.limit_parameter=max_completion_tokens"),
    "OpenAI, temperature": (400, "Unsupported value: 'temperature' does not support 0 with this model. Only the "
        "default (1) value is supported.", "model.temperature=null"),
    "Claude": (400, "`temperature` is deprecated for this model.", "model.temperature=null"),
    "top_p": (400, "top_p is not supported", "model.top_p=null"),
    "stop": (400, "Unsupported parameter: 'stop' is not supported with this model.", "prompt to one without stop"),
    "effort": (400, "Unrecognized request argument supplied: reasoning_effort", "model.reasoning_effort=null"),
    "extra": (400, "Unrecognized request argument supplied: top_k", "model.extra without top_k"),
    "by the field alone": (400, {"error": {"message": "Not for you.", "param": "seed", "code": "unsupported"}},
        "model.seed=null"),
    "too long an answer": (400, "max_tokens is too large: 16. This model supports at most 8 completion tokens.",
        "max_tokens in the prompt's file"),
    "inside a 200": (200, {"error": {"code": 400, "message": "Unsupported parameter: seed"}}, "model.seed=null"),
}  # fmt: skip


@pytest.mark.parametrize(("status", "body", "setting"), REFUSED.values(), ids=REFUSED)
def test_a_refused_parameter_is_told_at_once_with_its_setting(serve, status, body, setting):
    body = {"error": {"message": body}} if isinstance(body, str) else body
    server = serve(lambda *_: (status, body))
    said = stopped(server.url, top_p=0.9, reasoning_effort="low", extra={"top_k": 3})
    assert setting in said and "refuses the parameter" in said and len(server.calls) <= 8
    assert said.count(". ") <= 6 and not said.endswith("..")


@pytest.mark.parametrize(
    ("known", "other"), [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")]
)
def test_the_setting_that_is_named_for_the_length_is_the_way_out(serve, known, other):
    refusal = f"Unsupported parameter: '{other}' is not supported with this model. Use '{known}' instead."
    server = serve(lambda path, body, number: chat_reply("No") if known in body else error(400, refusal))
    assert f"model.limit_parameter={known}" in stopped(server.url, limit_parameter=other)
    answer = asked(server.url, "?", limit_parameter=known)["?"]
    assert isinstance(answer, Response) and answer.text == "No"


@pytest.mark.parametrize(
    "said",
    [
        "The stop sign in your question is not allowed.",
        "n must be a number",
        "Use 'max_completion_tokens' to write less: this is invalid",
        "the model is not supported",
        "messages: text content blocks must be non-empty",
    ],
)
def test_what_names_no_parameter_is_taken_for_none(serve, said):
    server = serve(lambda path, body, number: error(400, said) if number == 1 else chat_reply("No"))
    assert asked(server.url, "?")["?"] == Failure("bad_request", f"400: {said}")


def test_a_refused_parameter_of_a_ranking_names_the_other_way(serve):
    model = Completions(
        name="m", model="m", base_url=serve(lambda *_: error(400, "echo is not supported")).url, rank="echo"
    )
    with pytest.raises(RunStopped, match=r"model\.rank=next_token"):
        list(each(model.respond([ChoiceRequest((Message("user", "?"),), ("Yes", "No"))])))


INSIDE = {
    "no choices": {"error": {"code": 502, "message": "Provider died"}},
    "in the choice": chat_reply("partial", error={"code": 502, "message": "Provider died"}, finish_reason="error"),
    "in the choice, a reason only": chat_reply("", finish_reason="error"),
    "half an answer": chat_reply("The answer", finish_reason="error"),
    "beside an answer": chat_reply("No") | {"error": {"code": 502, "message": "Provider died"}},
    "of vLLM": {"object": "error", "message": "died", "code": 500},
    "DeepSeek": chat_reply("", finish_reason="insufficient_system_resource"),
    "nothing at all": chat_reply("", finish_reason=None),
    "a text": {"error": "died"},
    "no token": chat_reply("") | {"usage": {"prompt_tokens": 9, "completion_tokens": 0}},
}


@pytest.mark.parametrize("body", INSIDE.values(), ids=INSIDE)
def test_an_error_inside_of_a_reply_is_tried_again(serve, body):
    server = serve(lambda path, _, number: body if number in (2, 3) else chat_reply("Yes"))
    asked(server.url, "first?")
    outcomes = asked(server.url, "?")
    assert isinstance(outcomes["?"], Response) and outcomes["?"].text == "Yes" and len(server.calls) == 4


def test_an_error_inside_of_a_reply_means_what_its_code_says(serve):
    def inside(code: object, message: str = "no") -> dict:
        return {"error": {"code": code, "message": message}}

    for code, said in ((401, "refuses the key"), ("402", "quota is used up"), ("model_not_found", "does not know")):
        assert said in stopped(serve(lambda *_, code=code: inside(code)).url)
    busy = serve(lambda path, body, number: inside(429) if number < 3 else chat_reply("No"))
    assert isinstance(asked(busy.url, "?")["?"], Response)
    replies = {
        "filter?": inside(403, "Your input was flagged: this model requires moderation"),
        "long?": inside(400, "maximum context length is 10 tokens"),
        "sensitive?": chat_reply("", finish_reason="sensitive"),
        "fine?": chat_reply("No") | {"error": None},
        "well?": chat_reply("No") | {"error": {"code": 0, "message": "success"}},
    }
    found = asked(serve(lambda path, body, number: replies[body["messages"][-1]["content"]]).url, *replies)
    kinds = [getattr(found[question], "kind", "answered") for question in replies]
    assert kinds == ["content_filter", "context_length", "content_filter", "answered", "answered"]


PAGES = {
    "a login page": ("<html><title>Sign in</title><body>Please sign in</body></html>", "text/html"),
    "an empty page": ("", "text/html"),
    "words": ("Ollama is running", "text/plain"),
    "XML": ("<?xml version='1.0'?><ok/>", "application/json"),
    "a stream": ('data: {"choices": []}\n\ndata: [DONE]', "text/event-stream"),
}


@pytest.mark.parametrize(("page", "kind"), PAGES.values(), ids=PAGES)
def test_a_page_ends_the_run_at_once_with_the_advice_on_the_address(raw, page, kind):
    server = raw(lambda words, times: http(page, Content_Type=kind))
    said = stopped(server.url.removesuffix("/v1"))
    assert f"is model.base_url right? It usually ends in /v1 ({server.url})" in said and len(server.asked) <= 8
    assert "login page or proxy" in stopped(server.url)


def test_a_path_that_is_not_there_gets_the_same_advice(serve):
    server = serve(lambda *_: (404, "404 page not found"))
    assert "usually ends in /v1" in stopped(server.url.removesuffix("/v1"))
    assert "usually ends" not in stopped(server.url)


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "Model Not Exist", "invalid_request_error"),
        (400, "The model `m-1` has been decommissioned and is no longer supported.", "model_decommissioned"),
        (400, "Invalid model: m-1", None),
        (400, "m-1 is not a valid model ID", None),
        (410, "gone", None),
    ],
)
def test_a_model_that_is_not_there_is_said_whatever_the_status(serve, status, message, code):
    server = serve(lambda *_: error(status, message, code))
    told = stopped(server.url)
    assert f"does not know this model or address ({status}: {message}" in told and "check model.model" in told
    other = serve(lambda *_: error(400, "The model has no tool of that name: not allowed"))
    assert "in a row failed with bad_request" in stopped(other.url)


def test_money_that_lacks_for_a_moment_is_waited_for(serve):
    """OpenRouter counts the calls under way against the credit, and says with 402 when to come back."""
    short = error(402, "in-flight budget", headers={"Retry-After": "0.01"})
    server = serve(lambda path, body, number: short if number < 3 else chat_reply("No"))
    assert isinstance(asked(server.url, "?")["?"], Response) and len(server.calls) == 3
    never = asked(serve(lambda *_: short).url, "?", attempts=2)
    assert never["?"] == Failure("rate_limit", "in-flight budget")
    assert "quota is used up" in stopped(serve(lambda *_: error(402, "no credit")).url)


def test_one_page_among_answers_passes(raw):
    server = raw(lambda words, times: http("<html>" if words == "2?" and times < 3 else chat_reply("No")))
    outcomes = asked(server.url, *(f"{k}?" for k in range(12)))
    assert all(isinstance(outcome, Response) for outcome in outcomes.values()) and len(server.asked) == 14


def test_before_the_first_answer_errors_of_a_server_are_not_tried_ten_times(serve):
    """As transformers serve says of a model that it does not have."""
    server = serve(lambda *_: error(500, "no model m-1"))
    assert "8 calls" in stopped(server.url) and "500: no model m-1" in stopped(server.url)
    assert max(sum(call["messages"] == other["messages"] for other in server.calls) for call in server.calls) == 10
    loading = serve(lambda path, body, number: error(503, "Loading model") if number < 8 else chat_reply("No"))
    assert isinstance(asked(loading.url, "?")["?"], Response)  # a server that says so is waited for
