"""The forms in which servers write log-probabilities: each becomes the same numbers, or a sentence."""

from __future__ import annotations

import math

import pytest
from support.openai_server import chat_reply
from support.outcomes import each

from harness.errors import RunStopped
from harness.models.api.openai import Chat, Completions
from harness.types import ChoiceRequest, Failure, Message

REQUEST = ChoiceRequest((Message("user", "Is it so?"),), ("Yes", "No"))
TOLD = {" Yes": 0.5, "No": 0.3, "It": 0.1}
LOGS = {token: math.log(p) for token, p in TOLD.items()}
ENTRIES = [{"id": 7, "token": token, "logprob": p, "bytes": list(token.encode())} for token, p in LOGS.items()]
FIRST, *REST = ENTRIES
BYTE = {"token": "<0x59>", "logprob": math.log(0.5)}
LETTERS = FIRST | {"token": "ĠYes"}
SAME = [{"token": "Yes", "logprob": math.log(p), "bytes": None} for p in (0.3, 0.2)]
UNBYTED = [entry | {"bytes": None} for entry in ENTRIES]


def told(first: dict, top: object) -> dict:
    return {"content": [first | {"top_logprobs": top}]}


SHAPES = {
    "chat": told(FIRST, ENTRIES),
    "chat, without bytes": told({"token": " Yes", "logprob": LOGS[" Yes"]}, UNBYTED),
    "chat, a dictionary": told(FIRST, LOGS),
    "completions": {"tokens": [" Yes"], "token_logprobs": [LOGS[" Yes"]], "top_logprobs": [LOGS], "text_offset": [9]},
    "completions, only the likeliest": {"top_logprobs": [LOGS]},
    "completions, entries": {"tokens": [" Yes"], "top_logprobs": [ENTRIES]},
    "completions, the one drawn is not among them": {
        "tokens": ["No"], "token_logprobs": [LOGS["No"]], "top_logprobs": [{k: LOGS[k] for k in (" Yes", "It")}]},
    "a bare list of places": [FIRST | {"top_logprobs": ENTRIES}],
    "in the vocabulary's own letters": told(LETTERS, [LETTERS, *REST]),
    "the one drawn rounded otherwise": told(FIRST | {"logprob": LOGS[" Yes"] - 0.001}, ENTRIES),
    "the one drawn written in another way": {"tokens": ["Yes"], "token_logprobs": [-0.7], "top_logprobs": [LOGS]},
    "told twice": told(FIRST, [*ENTRIES, *ENTRIES]),
    "two tokens that read the same": told({"token": "Yes", "logprob": math.log(0.3)}, [*SAME, *REST]),
    "a byte": told(BYTE, [BYTE, *REST]),
    "minus infinity beside": told(FIRST, [*ENTRIES, {"token": "yes", "logprob": -math.inf}]),
}  # fmt: skip
NONE = [None, {}, [], {"content": []}, {"content": [None]}, {"top_logprobs": [None]}, {"top_logprobs": None}, "yes", 5]
NONE += [{"content": [{"token": "Yes", "logprob": -0.1}]}, {"content": [{**ENTRIES[0], "top_logprobs": []}]}]
INVALID = {
    "null": told(FIRST, [{"token": "Yes", "logprob": None}]),
    "NaN": {"top_logprobs": [{"Yes": math.nan, "No": -1.0}]},
    "a list for a token": told(FIRST, [{"token": ["Yes"], "logprob": [1]}]),
    "no object": told(FIRST, ["Yes", None]),
    "more than one": {"top_logprobs": [{"Yes": -0.1, "No": -0.1}]},
    "nothing at all": {"top_logprobs": [{"Yes": -math.inf, "No": -9999.0}]},
}


def ask(kind: type, server, **settings):
    model = kind(name="m", model="tiny", base_url=server.url, attempts=1, method="rank", **settings)
    ((_, outcome),) = each(model.respond([REQUEST]))
    return outcome


def reply_of(kind: type, logprobs, text="Yes"):
    if kind is Chat:
        return chat_reply(text, logprobs=logprobs)
    return {"model": "m", "choices": [{"text": text, "finish_reason": "length", "logprobs": logprobs}]}


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_each_form_gives_the_same_numbers_or_a_sentence_at_both_endpoints(serve, key, kind):
    current = []
    server = serve(lambda *_: reply_of(kind, current[-1]))
    for name, logprobs in SHAPES.items():
        current.append(logprobs)
        outcome = ask(kind, server)
        assert not isinstance(outcome, Failure), (name, outcome)
        found = {choice: math.exp(p) for choice, p in outcome.logprobs.items()}
        assert found == pytest.approx({"Yes": 0.5, "No": 0.3}, rel=1e-6), name
        assert outcome.outside == pytest.approx(0.2), name
    for name, logprobs in INVALID.items():
        current.append(logprobs)
        outcome = ask(kind, server)
        assert isinstance(outcome, Failure) and outcome.kind == "invalid_reply", name
        assert "log-probabilities are" in outcome.detail, name
    for logprobs in NONE:
        current.append(logprobs)
        with pytest.raises(RunStopped, match=r"gives no log-probabilities .*model\.method=generate"):
            ask(kind, server)


@pytest.mark.parametrize("kind", [Chat, Completions])
def test_thoughts_are_seen_in_the_first_token_also_where_the_text_hides_them(serve, key, kind):
    thought = {"token": "<think>", "logprob": -0.01}
    thinking = told(thought, [thought])
    for text in ("", "<think>"):
        with pytest.raises(RunStopped, match="thinks before it answers"):
            ask(kind, serve(lambda *_, text=text: reply_of(kind, thinking, text)))


def test_the_identity_tells_writing_and_ranking_apart():
    def identity(**settings):
        return Completions(name="m", model="m", base_url="http://localhost/v1", **settings).identity

    written, ranked = identity(), identity(method="rank")
    assert written == identity(top_logprobs=9) and "rank" not in written
    assert ranked == written | {"rank": "next token", "top_logprobs": 5, "several_tokens": "echo"}
