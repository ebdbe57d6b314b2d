"""Ranking on a server with a tokenizer: the choices' own tokens are asked for, so that each value is exact."""

from __future__ import annotations

import math
import re

import pytest
from support.openai_server import Server, chat_reply, error, ranked_reply
from support.outcomes import each

from harness.models.api.families import provider_of
from harness.models.api.openai import Chat, Completions
from harness.models.api.token_ids import MOST, read_tokens
from harness.types import ChoiceRequest, Message, Response

CHOICES = ("Yes", "No")
VOCABULARY = ["ĠYes", "Yes", "Ġyes", "YES", "ĠNo", "No", "no", "N", "Not", "Ċ", "the", "ĠIt", "<0x59>"]
PROBABILITIES = dict(
    zip(VOCABULARY, (0.3, 0.05, 0.01, 1e-9, 0.02, 1e-4, 0.01, 1e-6, 0.1, 0.1, 0.1, 0.2, 0.0), strict=True)
)
YES, NO = 0.3 + 0.05 + 0.01 + 1e-9, 0.02 + 1e-4 + 0.01 + 1e-6


def tokenize(body):
    """vLLM's reply: here a token is a word of the vocabulary, or a single letter that has no number."""
    text = body["prompt"].replace(" ", "Ġ").replace("\n", "Ċ")
    words = sorted(VOCABULARY, key=len, reverse=True)
    tokens = re.findall("|".join(map(re.escape, words)) + "|.", text)
    known = [token for token in tokens if token in VOCABULARY]
    assert body["add_special_tokens"] is False and body["return_token_strs"] is True
    return {
        "count": len(known),
        "max_model_len": 2048,
        "tokens": [VOCABULARY.index(token) for token in known],
        "token_strs": known,
    }


def vllm(path, body, number, likeliest=("ĠYes", "ĠIt")):
    """vLLM's reply to a call for one token: those that are asked for and the one that was drawn, or the likeliest."""
    wanted = [VOCABULARY[number] for number in body.get("logprob_token_ids", [])] or list(likeliest)
    names = {
        token: f"token_id:{VOCABULARY.index(token)}" if body.get("return_tokens_as_token_ids") else token
        for token in VOCABULARY
    }
    top = {names[token]: math.log(PROBABILITIES[token]) for token in dict.fromkeys(("ĠYes", *wanted))}
    if path.endswith("/chat/completions"):
        entries = [{"token": token, "logprob": p, "bytes": list(token.encode())} for token, p in top.items()]
        return chat_reply("", logprobs={"content": [{**entries[0], "top_logprobs": entries}]}, finish_reason="length")
    logprobs = {"tokens": [names["ĠYes"]], "token_logprobs": [math.log(0.3)], "top_logprobs": [top], "text_offset": [0]}
    return {"model": "m", "choices": [{"text": " Yes", "finish_reason": "length", "logprobs": logprobs}]}


def asked(kind: type, server: Server, number: int = 1, choices=CHOICES, **settings) -> list[Response]:
    model = kind(name="m", model="tiny", base_url=server.url, max_wait=0.01, method="rank", **settings)
    requests = [ChoiceRequest((Message("user", f"Is it {k}?"),), choices) for k in range(number)]
    return [outcome for _, outcome in each(model.respond(requests))]


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_every_token_that_begins_one_choice_is_asked_for_and_summed(serve, key, kind):
    server = serve(vllm, tokenizer=tokenize)
    for response in asked(kind, server, number=5):
        assert math.exp(response.logprobs["Yes"]) == pytest.approx(YES, rel=1e-6)
        assert math.exp(response.logprobs["No"]) == pytest.approx(NO, rel=1e-6)
        assert (response.bounded, response.text, response.outside) == ((), "Yes", pytest.approx(1 - YES - NO, abs=1e-6))
    assert len(server.calls) == 5 and len(server.tokenized) == 1  # the tokenizer is asked once
    sent = {VOCABULARY[number] for number in server.calls[0]["logprob_token_ids"]}
    assert sent == {"ĠYes", "Yes", "Ġyes", "YES", "ĠNo", "No", "no", "N"}  # Not, the, Ċ begin no choice


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_without_a_tokenizer_the_likeliest_are_read_and_the_rest_is_bounded(serve, key, kind):
    server = serve(vllm)
    (response,) = asked(kind, server)
    assert response.bounded == ("No",) and math.exp(response.logprobs["No"]) == pytest.approx(0.2)
    assert "logprob_token_ids" not in server.calls[0]


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_a_server_that_ignores_what_it_is_asked_for_besides_is_read_as_ever(serve, key, kind):
    def ignoring(path, body, number):
        asked_for = {name: value for name, value in body.items() if "token_id" not in name}
        return vllm(path, asked_for, number)

    (response,) = asked(kind, serve(ignoring, tokenizer=tokenize))
    assert response.bounded == ("No",) and math.exp(response.logprobs["Yes"]) == pytest.approx(0.3)


def test_one_that_refuses_it_is_asked_without_from_then_on(serve, key):
    def strict(path, body, number):
        if "logprob_token_ids" in body:
            return error(400, "Unrecognized request argument supplied: logprob_token_ids")
        return vllm(path, body, number)

    server = serve(strict, tokenizer=tokenize)
    assert all(response.bounded == ("No",) for response in asked(Chat, server, number=4, max_concurrency=1))
    assert sum("logprob_token_ids" in sent for sent in server.calls) == 1 and len(server.calls) == 5


@pytest.mark.parametrize(
    "reply",
    [
        {"tokens": []},  # llama.cpp's, which reads another field
        {"tokens": [1, 2], "token_strs": None},  # vLLM before it could name them
        {"tokens": [1], "token_strs": ["Yes", "No"]},
        {"tokens": ["1", True], "token_strs": ["Yes", "No"]},
        {"tokens": [0, 1], "token_strs": ["ĠYes", "Yes"]},  # nothing begins a No
        {"detail": "Not Found"},
    ],
)
def test_what_is_no_tokenizers_reply_counts_as_none(serve, key, reply):
    server = serve(lambda *_: ranked_reply({"Yes": 0.6, "No": 0.4}), tokenizer=lambda _: reply)
    (response,) = asked(Chat, server)
    assert response.text == "Yes" and "logprob_token_ids" not in server.calls[0]


def test_no_company_is_asked_for_its_tokenizer(serve, key, monkeypatch):
    server = serve(lambda *_: ranked_reply({"Yes": 0.6, "No": 0.4}), tokenizer=tokenize)
    monkeypatch.setattr("harness.models.api.endpoint.provider_of", lambda _: provider_of("https://api.openai.com/v1"))
    asked(Chat, server)
    assert not server.tokenized


def test_more_tokens_than_the_server_takes_are_those_of_the_whole_words():
    texts = ["Yes", "No", *(f"Yes.{'!' * k}{'x' * k}" for k in range(1, MOST + 5))]
    found = read_tokens({"tokens": list(range(len(texts))), "token_strs": texts}, CHOICES)
    assert set(found.texts.values()) == {"Yes", "No"} and found.whole


def echoing(path, body, number):
    if not body.get("echo"):
        return vllm(path, body, number)
    prompt = body["prompt"]
    offsets = [0, prompt.rindex("Is it 0?") + 8]
    logprobs = {"token_logprobs": [None, -2.0 - len(prompt) / 100], "text_offset": offsets}
    return {"model": "m", "choices": [{"text": prompt + "x", "finish_reason": "length", "logprobs": logprobs}]}


def test_choices_that_the_tokenizer_has_several_tokens_for_are_echoed(serve, key):
    choices = ("Yes", "Nothing")  # N and No begin it, but are not all of it
    server = serve(echoing, tokenizer=tokenize)
    (response,) = asked(Completions, server, choices=choices)
    assert [sent["echo"] for sent in server.calls] == [True, True] and {s["max_tokens"] for s in server.calls} == {1}
    assert set(response.logprobs) == set(choices) and response.outside is None
    server = serve(echoing, tokenizer=tokenize)
    (response,) = asked(Completions, server, choices=choices, rank="next_token")
    assert len(server.calls) == 1 and response.outside is not None


def test_choices_of_several_words_are_echoed_without_asking(serve, key):
    server = serve(echoing)
    (response,) = asked(Completions, server, choices=("Yes", "Not at all"))
    assert len(server.calls) == 2 and response.text == "Yes" and not server.tokenized
