"""Replies in which any field may be anything: each is an answer or a named failure, and the next run goes on."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.openai_server import chat_reply
from support.outcomes import each
from support.server import RawServer, http
from support.thinned import few

from harness.codec import canonical, response_json
from harness.errors import RunStopped
from harness.models.api.openai import Chat, Completions
from harness.protocols import Admission
from harness.types import ChatRequest, ChoiceRequest, Failure, Message, Request, Response, Usage

MISSING, HUGE = "<<missing>>", "<<1e400>>"
VALUES: list[Any] = [
    None, True, 0, -1, 1.5, math.nan, math.inf, -math.inf, HUGE, 10**30, "", "9", "x" * 10_000, [], {}, [1], [None],
    {"a": 1}, [[["x"]]], {"a": {"b": [{}]}}, "\x1b[2J\u202e\u0085", "\ud800", MISSING,
]  # fmt: skip
USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 2,
    "total_tokens": 11,
    "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 1},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
CHAT = chat_reply("No", logprobs=None) | {"usage": USAGE}
CHAT["choices"][0]["message"]["refusal"] = None
COMPLETION = CHAT | {"choices": [{"index": 0, "text": "No", "finish_reason": "stop", "logprobs": None}]}
TOLD = {"tokens": [" Yes"], "token_logprobs": [-0.1], "text_offset": [0], "top_logprobs": [{" Yes": -0.1, " No": -2.5}]}
RANKED = CHAT | {"choices": [{"index": 0, "text": " Yes", "finish_reason": "length", "logprobs": TOLD}]}
KINDS = {"invalid_reply", "invalid_logprobs", "content_filter", "refusal"}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place in a reply, the whole first."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in parts:
        yield from places(below, (*path, name))


def mutated(reply: Any, path: tuple[Any, ...], value: Any) -> bytes:
    """Return the reply with another value in one place."""
    reply = copy.deepcopy(reply)
    if path:
        where = reply
        for name in path[:-1]:
            where = where[name]
        where[path[-1]] = value
        if value == MISSING:
            del where[path[-1]]
    else:
        reply = value
    return json.dumps(reply).replace(f'"{HUGE}"', "1e400").encode()


def mutations(reply: Any, good: bytes) -> list[bytes]:
    """Yield every value in every place; good replies are among them, so that nothing looks like a dead server."""
    bad = [mutated(reply, path, value) for path in places(reply) for value in VALUES]
    parts = [[good, *bad[start : start + 5]] for start in range(0, len(bad), 5)]
    return [good] * 16 + [body for part in parts for body in part]


def check(outcome: Response | Failure) -> None:
    """Check that a store, a ledger and a result can take an outcome."""
    if isinstance(outcome, Failure):
        assert outcome.kind in KINDS and outcome.detail.isprintable() and len(outcome.detail) < 500
        return
    canonical(response_json(outcome))
    usage = outcome.usage
    counts = (usage.input, usage.output, usage.cached_input, usage.reasoning, usage.cache_write)
    assert all(count is None or (type(count) is int and 0 <= count <= 10**9) for count in counts)
    assert usage.input is None or usage.input >= (usage.cached_input or 0) + (usage.cache_write or 0)
    assert isinstance(outcome.text, str) and outcome.text.encode() is not None
    for name in (outcome.finish_reason, outcome.served_model):
        assert isinstance(name, str) and name.isprintable() and len(name) <= 200
    assert outcome.logprobs is None or all(map(math.isfinite, outcome.logprobs.values()))


def asked(server: RawServer, requests: list[Request], kind: Callable[..., Any] = Chat, **settings) -> dict:
    model = kind(**{"name": "m", "model": "m", "base_url": server.url, "attempts": 1, **settings})
    return dict(each(model.respond(requests)))


def chat_request(words: str) -> ChatRequest:
    return ChatRequest((Message("user", words),), max_tokens=4)


@pytest.mark.parametrize(("kind", "good"), [(Chat, CHAT), (Completions, COMPLETION)])
def test_any_field_may_be_anything(raw, key, kind, good):
    fine = json.dumps(good).encode()
    bodies = mutations(good, fine)
    server = raw(lambda words, times: http(bodies[int(words)]))
    outcomes = asked(server, [chat_request(str(number)) for number in range(len(bodies))], kind)
    assert len(outcomes) == len(bodies) > 500
    for number, body in enumerate(bodies):
        outcome = outcomes[chat_request(str(number))]
        check(outcome)
        assert body is not fine or isinstance(outcome, Response)


def test_a_server_that_cannot_rank_stops_the_run_and_one_reply_that_does_not_is_a_failure(raw, key):
    none = mutated(RANKED, ("choices", 0, "logprobs"), None)
    server = raw(lambda prompt, times: http(none if "0003" in prompt else json.dumps(RANKED).encode()))
    requests = [ChoiceRequest((Message("user", f"So {k:04}?"),), ("Yes", "No")) for k in range(6)]
    outcomes = asked(server, requests, Completions, method="rank", max_concurrency=1)
    assert [getattr(outcomes[request], "kind", "answered") for request in requests].count("answered") == 5
    assert outcomes[requests[3]].kind == "invalid_reply" and "no log-probabilities" in outcomes[requests[3]].detail
    server = raw(lambda prompt, times: http(none))
    with pytest.raises(RunStopped, match=r"use model\.method=generate"):
        asked(server, requests, Completions, method="rank", attempts=10)
    assert len(server.asked) <= 2 * len(requests)


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Yes?"}]}
PARTS = [{"type": "text", "text": "N"}, {"type": "text", "text": "o"}]
OUTPUT = {"type": "output_text", "text": "No"}


TEXTS = ["No", ["N", "o"], PARTS, [OUTPUT], [{"text": "No"}], [THOUGHT, *PARTS], [], None]
OTHERS = [True, 0, 1.5, {"type": "text", "text": "No"}, [1], [None], [{"type": "text"}]]


@pytest.mark.parametrize("content", TEXTS + OTHERS)
def test_content_is_a_text_or_a_list_of_parts_or_the_reply_is_invalid(raw, key, content):
    server = raw(lambda words, times: http(mutated(CHAT, ("choices", 0, "message", "content"), content)))
    (outcome,) = asked(server, [chat_request("?")]).values()
    if any(content is text for text in TEXTS):
        assert isinstance(outcome, Response) and outcome.text == ("No" if content else "")
    else:
        assert isinstance(outcome, Failure) and outcome.kind == "invalid_reply" and "content" in outcome.detail


class Noted(Admission):
    """Requests, and the tokens of their tries without an answer."""

    def __init__(self, source: list[Request]) -> None:
        super().__init__(source)
        self.usages: list[Usage | None] = []

    def failed(self, request: Request, usage: Usage | None) -> None:
        self.usages.append(usage)


@pytest.mark.parametrize(
    "broken", [{"choices": []}, {"choices": [{"message": 5}]}, {"choices": [{"message": {"content": 5}}]}]
)
def test_an_invalid_reply_carries_the_tokens_that_the_server_counted(raw, key, broken):
    noted = Noted([chat_request("?")])
    model = Chat(name="m", model="m", base_url=raw(lambda *_: http(CHAT | broken)).url, attempts=1)
    ((_, outcome),) = each(model.respond(noted))
    assert outcome.kind == "invalid_reply"
    assert noted.usages == [Usage(input=9, output=2, cached_input=3, reasoning=1, cache_write=1)]


def test_a_bug_in_reading_is_not_taken_for_silence(raw, key, monkeypatch):
    """Each reply breaks our own code: the run stops, and says with which error."""
    monkeypatch.setattr(Chat, "read", lambda *_: [][0])
    server = raw(lambda words, times: http(CHAT))
    with pytest.raises(
        RunStopped, match=r"8 calls .* failed with invalid_reply: .*IndexError: list index out of range"
    ):
        asked(server, [chat_request(f"{k}") for k in range(100)])


def test_a_bug_in_sending_ends_the_run_as_what_it_is(raw, key, monkeypatch):
    monkeypatch.setattr(Chat, "sent", lambda *_: {}["what"])
    with pytest.raises(KeyError, match="what"):
        asked(raw(lambda words, times: http(CHAT)), [chat_request("?")])


SLOW = ["\x1b[2J\x1b]0;title\x07 slow\n\ndown\u202e \x9b31m", "slow down " * 1000, ["slow"], {"a": 1}, 5, None,
        "\u2066\ud800"]  # fmt: skip


@pytest.mark.parametrize("message", SLOW)
@pytest.mark.parametrize("status", few([400, 401, 404, 418, 429, 500], 2))
def test_what_a_server_says_is_one_short_printable_line(raw, key, message, status):
    server = raw(lambda words, times: http({"error": {"message": message}}, status=status))
    try:
        (outcome,) = asked(server, [chat_request("?")]).values()
    except RunStopped as stopped:
        assert status in (401, 404) and str(stopped).isprintable() and len(str(stopped)) < 600
    else:
        assert outcome.detail.isprintable() and len(outcome.detail) < 400
