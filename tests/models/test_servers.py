"""Servers as they are: what is drawn of faults and bytes, what a fourth check found, and what servers say.

One property holds whatever a server does: nothing crashes; each item has one outcome, its own answer or a named
failure; what was answered in full is not asked again; nothing is asked earlier than told, or anywhere else.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import ssl
import subprocess
import sys
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.clocks import Skipping
from support.fault_server import Faults, InThread
from support.faults import KINDS, Kind, Said, answer, bomb
from support.openai_server import chat_reply, error
from support.outcomes import asked, each
from support.server import RawServer, http

from harness.errors import ConfigError, Interrupted, RunStopped
from harness.models.api import retry
from harness.models.api.anthropic import Messages
from harness.models.api.client import certificates
from harness.models.api.faults import RefusedError, error_in
from harness.models.api.gemini import GenerateContent
from harness.models.api.openai import Azure, Chat, Completions
from harness.models.api.pace import pause
from harness.runtime.progress import RETRIES
from harness.runtime.signals import STOP
from harness.types import ChatRequest, Failure, Message, Response, ended

ATTEMPTS = 4
LONG = 30.0
"""model.max_wait and model.timeout of the property: nothing that is drawn takes so long."""
REFUSALS = [json.loads(line) for line in (Path(__file__).parents[1] / "data" / "server_refusals.jsonl").open()]
SENTENCES = json.loads((Path(__file__).parents[1] / "data" / "server_sentences.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _key(key):
    return key


def stopped(url: str, number: int = 20, **settings: Any) -> str:
    began = time.monotonic()
    with pytest.raises(RunStopped) as reason:
        asked(url, *(f"{k}?" for k in range(number)), **settings)
    assert time.monotonic() - began < 15, "what cannot succeed ends in seconds"
    return str(reason.value)


# The property over drawn servers: known faults, what servers were seen to say, and any bytes.

QUICK = [kind for kind in KINDS.values() if not (kind.timed or kind.heavy or kind.accept)]
PROMPTS = [f"Does {k} cause {k + 1}?" for k in range(10)]
ANY_END = ("passes", "item", "stops", "reply")


def kind_of(name: str, sent: bytes) -> Kind:
    """Return bytes as a fault of which nobody knows beforehand what it means."""
    stops = b"HTTP/1.1 40" in sent or b"HTTP/1.1 41" in sent or name != "bytes"
    return Kind(name, "drawn", ANY_END if stops else ("passes", "item", "reply"), lambda *_: Said(sent))


RECORDED = [
    kind_of(row["server"], http(row["body"], row["status"], row.get("headers")))
    for row in REFUSALS + SENTENCES
    if row["kind"] != "rate_limit"  # whose waits are as long as they say
]
drawn_bytes = st.one_of(
    st.binary(max_size=300),
    st.binary(max_size=200).map(lambda tail: b"HTTP/1.1 200 OK\r\n" + tail),
    st.lists(st.tuples(st.integers(-1, 99), st.binary(max_size=60)), max_size=4).map(
        lambda parts: (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            + b"".join(b"%x\r\n%b\r\n" % part for part in parts)
        )
    ),
    st.tuples(st.integers(0, 400), st.binary(max_size=300)).map(
        lambda body: b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % body
    ),
    st.tuples(st.sampled_from([b"gzip", b"deflate", b"br", b"zstd", b"x"]), st.binary(max_size=300)).map(
        lambda body: b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nConnection: close\r\n\r\n%b" % body
    ),
    st.tuples(st.integers(100, 999), st.text(max_size=50)).map(lambda body: http(body[1], status=body[0])),
).map(lambda sent: kind_of("bytes", sent))


@pytest.fixture
def short_waits(monkeypatch):
    """Have waits that nobody asks for be short; those that a server asks for stay."""
    waits = SimpleNamespace(random=random.random, uniform=lambda low, high: min(0.02, high))
    monkeypatch.setattr(retry, "random", waits)


class Mixed(InThread):
    """Each question meets a fault of its own, so many times."""

    def __init__(self, plan: dict[str, tuple[Kind, int]]) -> None:
        self.plan = plan
        super().__init__(Faults(latency=0.0))

    def draw(self, prompt: str) -> Kind | None:
        kind, times = self.plan.get(prompt, (None, 0))
        return kind if self.requests[prompt] <= times else None


def problems(server: Mixed, found: dict[str, Response | Failure], prompts: list[str]) -> list[str]:
    """Return all that is wrong with the outcomes of a server's questions."""
    wrong = [] if set(found) == set(prompts) else [f"without an outcome: {set(prompts) - set(found)}"]
    for prompt, outcome in found.items():
        kind, times = server.plan.get(prompt, (None, 0))
        about = f"{prompt}: {kind.name if kind else 'sound'} {times} times: {str(outcome)[:200]}"
        ends = set(kind.ends) if kind else set()
        if isinstance(outcome, Failure):
            may_fail = ends & {"item", "stops"} or ("passes" in ends and times >= min(ATTEMPTS, 2))
            wrong += [] if may_fail and outcome.kind.isidentifier() else [f"failed: {about}"]
        elif outcome.text.strip() != answer(prompt) and "reply" not in ends:
            wrong.append(f"not its answer: {about}")
        if server.answered[prompt] > 1:
            wrong.append(f"asked again though answered: {about}")
        if server.answered[prompt] and isinstance(outcome, Failure):
            wrong.append(f"answered, and lost: {about}")
        if server.requests[prompt] > ATTEMPTS + times:
            wrong.append(f"asked {server.requests[prompt]} times: {about}")
    if server.early or server.followed:
        wrong.append(f"{server.early} retries earlier than told, {server.followed} requests to another place")
    return wrong


@pytest.mark.usefixtures("short_waits")
@settings(max_examples=80, deadline=None)
@example({PROMPTS[1]: (kind_of("bytes", b"HTTP/1.1 300 Multiple Choices\r\n\r\n"), 1)}, Chat, 1)
@given(
    st.dictionaries(
        st.sampled_from(PROMPTS[1:]),
        st.tuples(st.one_of(st.sampled_from(QUICK), st.sampled_from(RECORDED), drawn_bytes), st.integers(1, ATTEMPTS)),
        min_size=1,
        max_size=7,
    ),
    st.sampled_from([Chat, Completions]),
    st.sampled_from([1, 3, 16]),
)
def test_whatever_servers_do(plan, model, at_once):
    server = Mixed(plan)
    patience: dict[str, Any] = {"attempts": ATTEMPTS, "max_wait": LONG, "timeout": LONG, "max_concurrency": at_once}
    try:
        assert not problems(server, asked(server.url, *PROMPTS, model=model, **patience), PROMPTS)
    except RunStopped as stopped:
        assert any("stops" in kind.ends for kind, _ in plan.values()), stopped
    finally:
        server.close()


@pytest.mark.usefixtures("short_waits")
def test_each_fault_once():
    """All that the property draws from, in one run beside sound ones; but for those that stop it."""
    kinds = [kind for kind in QUICK if "stops" not in kind.ends]
    assert len(kinds) > 160 and len({kind.family for kind in kinds}) == 4
    faulty = {f"Is it {n}?": (kind, 1) for n, kind in enumerate(random.Random(1).sample(kinds, len(kinds)))}
    prompts = [prompt for pair in zip(faulty, (f"Was it {n}?" for n in range(999)), strict=False) for prompt in pair]
    server = Mixed(faulty)
    try:
        found = asked(server.url, *prompts, attempts=ATTEMPTS, max_wait=LONG, timeout=LONG)
        assert not problems(server, found, prompts)
    finally:
        server.close()


# Time: what hangs, what drips, and a server that is away.


@pytest.mark.parametrize("name", [kind.name for kind in KINDS.values() if kind.timed][::3])
def test_what_takes_for_ever_is_ended_and_asked_once_more(monkeypatch, name):
    loop, patience = Skipping(), 600.0
    server = Mixed({PROMPTS[2]: (KINDS[name], 1), PROMPTS[4]: (KINDS[name], 9)})
    monkeypatch.setattr(asyncio, "new_event_loop", lambda: loop)
    server.passes = lambda share: loop.skip(share * patience)
    try:
        found = asked(server.url, *PROMPTS[:6], timeout=patience, max_concurrency=1)
    finally:
        server.close()
    kinds = {prompt: getattr(outcome, "kind", "answered") for prompt, outcome in found.items()}
    assert kinds[PROMPTS[2]] == "answered" and server.requests[PROMPTS[4]] <= 10
    if kinds[PROMPTS[4]] == "timeout":
        assert server.requests[PROMPTS[4]] == 2
    assert {kind for prompt, kind in kinds.items() if prompt not in (PROMPTS[2], PROMPTS[4])} == {"answered"}


def test_a_server_that_is_started_anew_is_waited_for(serve):
    server = InThread(Faults(away=(5, 1.5)))
    try:
        found = asked(server.url, *PROMPTS, max_concurrency=2)
    finally:
        server.close()
    assert {prompt: outcome.text for prompt, outcome in found.items()} == {p: answer(p) for p in PROMPTS}
    assert set(server.answered.values()) == {1}


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("name", [kind.name for kind in KINDS.values() if kind.accept])
def test_connections_that_end_before_a_request_is_read_lose_nothing(name):
    server = InThread(Faults(accept=name))
    try:
        found = asked(server.url, *PROMPTS, max_concurrency=2)
    finally:
        server.close()
    assert {prompt: outcome.text for prompt, outcome in found.items()} == {p: answer(p) for p in PROMPTS}
    assert server.kinds[name] and set(server.answered.values()) == {1}


def test_a_server_that_was_never_there_is_said_in_seconds(monkeypatch):
    monkeypatch.setattr(retry, "_REACHED", set())
    assert "cannot be reached (" in stopped("http://127.0.0.1:9/v1")


# What cannot succeed ends the run in seconds, in the server's words. Each kind with others of it.

PATH, USED_UP, UNSENT = "It usually ends in /v1 ({url})", "the quota is used up", "model.temperature=null"
EVENTS, LINES = (f"a stream of {parts}, though none was asked for" for parts in ("events", "JSON lines"))
PLACE = "redirects to 307: "
DATA = 'data: {"choices": []}\n\ndata: [DONE]'
SOON = time.time() + 5 * 3600
UNKNOWN = "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"
BUDGET = "Budget has been exceeded! Current cost: 5.0, Max budget: 5.0"
FORM = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more at …"
DAY = "Rate limit exceeded: free-models-per-day"
RESET = {"headers": {"X-RateLimit-Limit": "50", "X-RateLimit-Reset": str(int(SOON * 1000))}}
STOPS: dict[str, tuple[Any, ...]] = {
    "events": ((200, DATA, {"Content-Type": "text/event-stream"}), EVENTS),
    "events as text": ((200, DATA, {"Content-Type": "text/plain"}), EVENTS),
    "events as JSON": ((200, DATA, {"Content-Type": "application/json"}), EVENTS),
    "events with names": ((200, f"event: message\n{DATA}", {"Content-Type": "application/json"}), EVENTS),
    "lines of Ollama's": ((200, '{"done": false}\n{"done": true}\n', {"Content-Type": "application/x-ndjson"}), LINES),
    "lines as JSON": ((200, '{"done": false}\n{"done": true}\n', {"Content-Type": "application/json"}), LINES),
    "a path in a 200": ((200, {"detail": "Not Found"}), PATH, "(200: Not Found)", "/chat/completions"),
    "a path in an error": ((200, {"error": "404 page not found"}), PATH, "(200: 404 page", "/chat/completions"),
    "a path at LM Studio": ((200, {"error": UNKNOWN}), PATH),
    "a path at Go": ((404, "404 page not found"), PATH),
    "a path at Express": ((404, "<!DOCTYPE html><pre>Cannot POST /chat/completions</pre>"), PATH),
    "a path at FastAPI": ((404, {"detail": "Not Found"}), PATH),
    "a path at a gateway": ((200, {"error": {"message": "Unknown request URL: POST /chat/completions."}}), PATH),
    "a path at Kong": ((200, {"message": "no Route matched with those values"}), PATH),
    "OpenAI's quota": (error(429, "You exceeded your current quota.", "insufficient_quota"), USED_UP, "You exceeded"),
    "in a wrapper": (error(500, 'litellm: {"error": {"code": "insufficient_quota", "message": "none"}}'), USED_UP),
    "LiteLLM": ((429, {"error": {"message": BUDGET, "type": "budget_exceeded", "code": "429"}}), USED_UP, BUDGET),
    "LiteLLM, older": (error(400, "ExceededBudget: User=x over budget. Spend=5.1, Budget=5.0"), USED_UP, "Spend=5.1"),
    "LiteLLM, a team": (error(400, "Crossed budget for team x"), USED_UP, "for team x"),
    "OpenRouter's day": ((429, {"error": {"message": DAY, "code": 429, "metadata": RESET}}), USED_UP, DAY,
                         time.strftime("%Y-%m-%d %H:", time.localtime(SOON))),
    "a day inside a 200": ((200, {"error": {"message": DAY, "code": 429}}), USED_UP, DAY),
    "DeepSeek": (error(402, "Insufficient Balance"), USED_UP, "Insufficient Balance"),
    "Anthropic": (error(400, "Your credit balance is too low to access the Anthropic API."), USED_UP, "credit balance"),
    "Groq's day": (error(429, "Rate limit reached on tokens per day (TPD): Limit 5", "rate_limit_exceeded"), USED_UP),
    "Gemini's day": (error(429, "Quota exceeded for metric: requests per day, limit 20"), USED_UP, "limit 20"),
    "a key": (error(401, "Incorrect API key"), "refuses the key", "Incorrect API key"),
    "no access": (error(403, "not for you"), "access", "not for you"),
    "a model": (error(404, "no such model", "model_not_found"), "model.model", "no such model"),
    "a redirect": ((307, "", {"Location": "https://elsewhere.example/v1/chat/completions"}), PLACE,
                   "https://elsewhere.example/v1, which is not followed"),
    "a redirect here": ((307, "", {"Location": "/v2/chat/completions"}), PLACE, "/v2, which is not followed"),
    "a redirect with a key": ((307, "", {"Location": "https://me:se-cret@elsewhere.example/login?token=se-cret"}),
                              PLACE, "https://elsewhere.example/login, which is not followed"),
    "a login page": ((200, "<html>Log in"), "a page (Log in): is model.base_url right"),
    "a parameter": (error(400, "UnsupportedParamsError: x does not support parameters: ['seed']"), "['seed']", UNSENT),
    "a limit": (error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."), UNSENT, "Use 'max"),
    "a proxy": ((407, "Proxy Authentication Required"), "http://user:password@HOST:PORT"),
    "a day's wait": (error(429, "later", headers={"retry-after": "86400"}), "(it asks to wait 86400 s"),
    "a parameter, 500": (error(500, "ollama does not support parameters: {'seed': 1}, for model=x"), "{'seed': 1}"),
    "a parameter, 403": (error(403, "You are not allowed to request logprobs from this model"), "request logprobs"),
    "a parameter, 200": ((200, {"error": {"message": "Unsupported parameter: seed", "code": 400}}), "parameter: seed"),
    "a form, OpenAI": (error(400, FORM), FORM[:90]),
    "a form of vLLM's": (error(400, "Unrecognized request argument supplied: guided_choice"), "guided_choice"),
    "a form, vLLM": (error(400, "You can only use one kind of structured outputs constraint"), "structured outputs"),
    "a form, SGLang": (error(400, "Grammar-based generation (json_schema) is not supported when the server is launched "
                                  "with --grammar-backend none"), "launched with --grammar-backend none"),
    "a form, llama.cpp": (error(500, 'response_format type must be one of "text"'), 'must be one of "text"'),
    "a form, llama.cpp today": (error(400, "Failed to initialize samplers: failed to parse grammar"), "parse grammar"),
    "a form, DeepSeek": (error(400, "This response_format type is unavailable now"), "type is unavailable now"),
    "a form, OpenRouter": (error(404, "No endpoints found that can handle the requested parameters."), "No endpoints"),
}  # fmt: skip


@pytest.mark.parametrize("case", STOPS.values(), ids=STOPS)
def test_what_cannot_succeed_ends_the_run_in_seconds_with_the_servers_words(serve, case):
    reply, *phrases = case
    server = serve(lambda *_: reply)
    url = server.url.removesuffix("/v1") if PATH in phrases else server.url
    said = stopped(url, max_concurrency=4)
    assert all(phrase.format(url=server.url) if phrase == PATH else phrase in said for phrase in phrases), said
    assert "se-cret" not in said and said.isprintable()
    at_once = reply[0] in (401, 403, 404, 407, 307) or {EVENTS, LINES, PATH, UNSENT} & set(phrases)
    assert len(server.calls) <= (4 if at_once else 60)


def test_no_stream_is_asked_for(serve):
    server = serve()
    asked(server.url, "?")
    assert server.calls[0]["stream"] is False


def test_a_limit_of_a_minute_is_no_limit_of_a_day(serve):
    limit = error(429, "Rate limit reached on requests per min. Try again in 20ms. See the daily limits.")
    server = serve(lambda path, body, number: limit if number < 3 else chat_reply("No"))
    assert isinstance(asked(server.url, "?")["?"], Response)


REASONS = {
    "complete": ("stop", "end_turn", "stop_sequence", "eos", None, ""),
    "cut off": ("length", "max_tokens", "MAX_TOKENS", "model_length", "pause_turn", "model_context_window_exceeded",
                "nobody_knows_this", "LANGUAGE"),
    "refused": ("content_filter", "safety", "SAFETY", "refusal", "RECITATION", "guardrail_intervened"),
    "tool call": ("tool_calls", "tool_use", "function_call"),
}  # fmt: skip


@pytest.mark.parametrize(("meaning", "reason"), [(m, reason) for m, some in REASONS.items() for reason in some])
def test_a_reply_is_complete_or_it_is_not(meaning, reason):
    assert ended(reason) == meaning


@pytest.mark.parametrize("reason", ["pause_turn", "nobody_knows_this"])
def test_what_is_no_end_is_counted_as_cut_off(serve, reason):
    reply = chat_reply("Yes, bec", finish_reason=reason) | {"usage": {"prompt_tokens": 9, "completion_tokens": 3}}
    (outcome,) = asked(serve(lambda *_: reply).url, "?").values()
    assert (outcome.text, outcome.finish_reason) == ("Yes, bec", "length")


def refused(row: dict[str, Any]) -> RefusedError | None:
    headers = {name.lower(): value for name, value in row.get("headers", {}).items()}
    inside = row["status"] == 200
    return error_in(row["body"], headers) if inside else RefusedError(row["status"], row["body"], headers)


def test_what_servers_say_is_known_whatever_the_status():
    """In their own words, in a wrapper's, as a text within a text, and as bytes that somebody has printed."""
    wrappers: list[Callable[[Any], Any]] = [
        lambda body: body,
        lambda body: {"error": {"message": f"litellm.APIError: {json.dumps(body, ensure_ascii=False)}", "code": None}},
        lambda body: {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps(body)}}},
        lambda body: {"detail": [{"msg": body}]},
    ]
    for row in (row for row in REFUSALS + SENTENCES if row["kind"]):
        for wrap in wrappers if row["status"] != 200 else wrappers[:1]:
            error = refused(row | {"body": wrap(row["body"])})
            assert error and error.kind == row["kind"], (row, error and error.told)
            assert error.wait == row.get("wait", error.wait) or wrap is not wrappers[0], row


@pytest.mark.parametrize("row", [row for row in SENTENCES if not row["kind"]], ids=lambda row: row["server"])
def test_what_only_sounds_like_it_is_none(serve, row):
    if row["status"] == 403:
        assert "refuses access" in stopped(serve(lambda *_: (403, row["body"])).url)
        return
    refused = (row["status"], row["body"])
    server = serve(lambda path, body, number: refused if number > 1 else chat_reply("No"))
    assert asked(server.url, "fits?", "?", attempts=2, max_concurrency=1)["?"].kind in (
        "rate_limit",
        "bad_request",
        "invalid_reply",
    )


def test_before_the_first_answer_errors_of_a_server_are_not_tried_ten_times(serve):
    server = serve(lambda *_: error(500, "no model m-1"))
    assert "8 calls" in stopped(server.url) and "500: no model m-1" in stopped(server.url)
    asks: Callable[[dict[str, Any]], str] = lambda call: call["messages"][-1]["content"]  # noqa: E731
    assert max(Counter(map(asks, server.calls)).values()) == 10  # of two runs
    loading = serve(lambda path, body, number: error(503, "Loading model") if number < 8 else chat_reply("No"))
    assert isinstance(asked(loading.url, "?")["?"], Response)  # a server that says so is waited for


def test_what_the_sdk_does_of_its_own_is_known(serve, raw):
    """It calls a lost connection a time-out, would try again by itself, and says to every server what it runs on."""
    half = http(chat_reply("No"))[:-20]
    for sent in (None, (b"",), (half,)):
        assert "cannot be reached" in stopped(raw(lambda *_, sent=sent: sent).url)
    late = asked(serve(delay=1.0).url, "?", attempts=1, timeout=0.3)["?"]
    assert isinstance(late, Failure) and late.kind == "timeout"
    server = serve(lambda *_: error(500, "no"))
    asked(server.url, "?", attempts=1)
    assert len(server.calls) == 1
    page = (Path(__file__).parents[2] / "docs" / "servers.md").read_text(encoding="utf-8")
    assert any(name.startswith("x-stainless-") for name in server.headers[0]) and "x-stainless-" in page


# Pages and sizes.


@pytest.mark.parametrize("status", [200, 500])
def test_a_reply_that_unpacks_to_much_more_takes_no_memory(raw, status):
    server = raw(lambda words, times: http(bomb(256 << 20), status=status, Content_Encoding="gzip"))
    bomb(256 << 20)
    tracemalloc.start()
    try:
        (outcome,) = asked(server.url, "?", attempts=1).values()
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    assert outcome.kind == ("invalid_reply" if status == 200 else "server_error")


# How a reply ended, by its counts.


@pytest.mark.parametrize(
    ("text", "reason", "counts", "wanted"),
    [
        ("Yes, because it", "stop", (9, 16), "length"),  # as many tokens as it may have
        ("Yes", "stop", (9, 2), "stop"),
        ("", "length", (4095, 1), "context_length"),  # Ollama, whose context is full
        ("", "length", (4096, 0), "context_length"),
        ("Ye", "length", (4090, 6), "length"),
        ("", "length", (9, 16), "length"),
    ],
)
def test_an_end_is_told_from_the_tokens_that_were_written(serve, text, reason, counts, wanted):
    usage = dict(zip(("prompt_tokens", "completion_tokens"), counts, strict=True))
    server = serve(lambda *_: chat_reply(text, finish_reason=reason) | {"usage": usage})
    outcome = asked(server.url, "?")["?"]
    assert (outcome.kind if isinstance(outcome, Failure) else outcome.finish_reason) == wanted
    assert not isinstance(outcome, Failure) or "num_ctx" in outcome.detail


@pytest.mark.parametrize(("tokens", "said"), [(lambda words: 300, True), (len, False)])
def test_a_server_that_cuts_prompts_is_told_once(serve, monkeypatch, tokens, said):
    lines: list[str] = []
    monkeypatch.setattr(RETRIES, "say", lines.append)
    counted = lambda words: {"prompt_tokens": tokens(words), "completion_tokens": 1}  # noqa: E731
    server = serve(lambda path, body, number: chat_reply("No") | {"usage": counted(body["messages"][-1]["content"])})
    asked(server.url, *("?" * 100 * k for k in range(1, 12)))
    assert ["num_ctx" in line for line in lines] == [True] * said


# Waits in any form.


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after": "0.5"}, None, 0.5),
        ({"retry-after": "3s"}, None, 3.0),
        ({"retry-after": "3, 3"}, None, 3.0),
        ({"retry-after": "3;q=1"}, None, 3.0),
        ({"retry-after": "PT1M30S"}, None, 90.0),
        ({"retry-after": "500ms"}, None, 0.5),
        ({"retry-after": '"2 minutes"'}, None, 120.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, None, 0.25),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:10 GMT", "date": "Fri, 15 Jan 2027 08:00:00 GMT"}, None, 10.0),
        ({"retry-after": "2027-01-15T08:00:10Z", "date": "Fri, 15 Jan 2027 08:00:00 GMT"}, None, 10.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None, 0.0),
        ({}, {"error": {"details": [{"retryDelay": "36s"}]}}, 36.0),
        ({}, {"error": {"message": "Rate limit reached. Please try again in 20s."}}, 20.0),
        ({}, {"error": {"message": "Please try again in 6m0s. Visit …"}}, 360.0),
        ({}, {"error": {"message": "retry after 1 minute"}}, 60.0),
        ({}, {"error": {"message": "Please wait 500 ms, and no longer"}}, 0.5),
        ({"x-ratelimit-reset": "12"}, None, 12.0),
        ({"retry-after": "00:01:03"}, None, 63.0),
        *(
            ({"retry-after": odd}, None, None)
            for odd in ("soon", "-3", "5 apples", "3/4", "PT", "٣٠", "+3_0", "Fri, 99 Foo 2027", ",", "\x00", "")
        ),
        ({}, {"error": {"message": "wait for it: try again"}}, None),
    ],
)
def test_a_wait_is_read_in_every_form(headers, body, seconds):
    assert RefusedError(429, body, headers).wait == seconds


@pytest.mark.parametrize("scale", [1, 1000])
def test_a_reset_in_seconds_or_milliseconds_of_the_epoch_is_a_moment(scale):
    wait = RefusedError(429, None, {"x-ratelimit-reset": str(int((time.time() + 100) * scale))}).wait
    assert wait is not None and 95 < wait <= 100


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"remaining-requests": "0", "limit-requests": "60", "reset-requests": "6m0s"}, 60.0),  # believed for a minute
        ({"remaining-requests": "0", "limit-requests": "60", "reset-requests": "250ms"}, 0.25),
        ({"remaining-requests": "0", "limit-requests": "60", "reset-requests": "2"}, 2.0),
        ({"remaining-tokens": "5", "limit-tokens": "100", "reset-tokens": "9.5s"}, 0.5),
        ({"remaining-requests": "50", "limit-requests": "60", "reset-requests": "10s"}, 0.0),
        ({"remaining-requests": "-1", "limit-requests": "60", "reset-requests": "10s"}, 0.0),
        ({"remaining-requests": "0", "limit-requests": "60"}, 0.0),
        ({"remaining-requests": "5", "limit-requests": "1000", "reset-requests": "9h"}, 0.0),  # a day's
    ],
)
def test_nothing_goes_out_while_the_headers_say_that_nothing_is_left(headers, seconds):
    assert pause({f"x-ratelimit-{name}": value for name, value in headers.items()}) == pytest.approx(seconds)


def test_a_pause_until_a_moment_is_waited_for():
    until = (datetime.now(UTC) + timedelta(seconds=30)).isoformat().replace("+00:00", "Z")
    headers = {"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": until}
    assert 20 < pause(headers) <= 30
    assert pause(headers | {"anthropic-ratelimit-requests-reset": "Tuesday"}) == 0


def test_calls_keep_to_the_rate_and_to_the_slots_that_they_are_given(serve):
    began = time.monotonic()
    server = serve()
    asked(server.url, *map(str, range(12)), requests_per_minute=1200)
    assert time.monotonic() - began > 10 * 0.05
    crowd = serve(delay=0.02)
    asked(crowd.url, *map(str, range(20)), max_concurrency=3)
    assert crowd.most_in_flight == 3


def test_a_call_that_waits_for_its_retry_holds_no_slot(serve):
    def reply(path, body, number):
        late = body["messages"][-1]["content"] == "5?" and number <= 7
        return error(429, "slow down", headers={"Retry-After": "0.5"}) if late else chat_reply("No")

    server = serve(reply)
    asked(server.url, "first?")
    asked(server.url, *(f"{k}?" for k in range(20)), max_concurrency=1)
    order = [call["messages"][-1]["content"] for call in server.calls]
    assert order.index("5?") == 6 and len(order) - 1 - order[::-1].index("5?") > 8


# Certificates and proxies.


@pytest.fixture
def encrypted(tmp_path):
    """A server on localhost with a certificate that nobody knows: its port, and the certificate's file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not there")
    certificate, secret = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", secret, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, secret)
    loop = asyncio.new_event_loop()

    async def reply(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(http(chat_reply("encrypted"), Connection="close"))
        writer.close()

    server = loop.run_until_complete(asyncio.start_server(reply, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield server.sockets[0].getsockname()[1], certificate
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    server.close()
    loop.close()
    certificates.cache_clear()


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_an_encrypted_server_is_asked_where_its_certificate_is_known(encrypted, monkeypatch, variable):
    port, certificate = encrypted
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    certificates.cache_clear()
    monkeypatch.setattr(retry, "_REACHED", set())
    assert "SSL_CERT_FILE or REQUESTS_CA_BUNDLE" in stopped(f"https://localhost:{port}/v1")
    certificates.cache_clear()
    monkeypatch.setenv(variable, str(certificate))
    assert asked(f"https://localhost:{port}/v1", "?")["?"].text == "encrypted"
    certificates.cache_clear()
    monkeypatch.setenv(variable, "/not/there.pem")
    with pytest.raises(ConfigError, match=f"certificates in {variable}=/not/there.pem cannot be read"):
        asked(f"https://localhost:{port}/v1", "?")


@pytest.mark.parametrize(
    ("proxy", "said"), [("http://127.0.0.1:9", "the proxy is that of ALL_PROXY"), ("socks5://x:1", "")]
)
def test_a_proxy_that_cannot_be_used_is_named(monkeypatch, proxy, said):
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(RunStopped if said else ConfigError, match=said or "the proxy in ALL_PROXY .a SOCKS"):
        asked("http://somewhere.invalid/v1", "?")


def test_a_password_reaches_the_proxy_and_not_the_server(monkeypatch):
    proxy = RawServer(lambda *_: http(chat_reply("by proxy")))
    monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{proxy.port}")
    try:
        assert asked("http://somewhere.invalid/v1", "?")["?"].text == "by proxy"
    finally:
        proxy.close()
    assert b"POST http://somewhere.invalid/v1/chat/completions HTTP/1.1\r\n" in proxy.heads[0]
    assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in proxy.heads[0]


# The other SDKs.


def test_half_a_character_in_a_question_is_sent(serve):
    server = serve()
    asked(server.url, "H\u00e4h? \ud83d")
    assert server.calls[0]["messages"][-1]["content"].startswith("H\u00e4h? ")


ENTRA = "the credential of Entra"
IDENTITY = """
class DefaultAzureCredential: pass
def get_bearer_token_provider(credential, scope):
    async def token():
        return "a-credential-0123456789"
    return token
"""


@pytest.fixture
def no_azure():
    """Have nothing of azure's imported, before and after."""
    mine = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "azure"}
    for name in mine:
        del sys.modules[name]
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "azure"]:
        del sys.modules[name]
    sys.modules.update(mine)


@pytest.mark.parametrize(("version", "path"), [(None, "/v1"), ("2025-01-01", "/openai/deployments/m-1")])
@pytest.mark.parametrize("credential", ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", ENTRA])
def test_azure_takes_a_key_or_a_token_and_both_apis(serve, no_azure, monkeypatch, tmp_path, version, path, credential):
    """A token of Entra's goes as a bearer's, and no key beside it."""
    if credential == ENTRA:
        (tmp_path / "azure" / "identity").mkdir(parents=True)
        for name in ("__init__.py", "identity/__init__.py", "identity/aio.py"):
            (tmp_path / "azure" / name).write_text(IDENTITY)
        monkeypatch.syspath_prepend(tmp_path)
    else:
        monkeypatch.setenv(credential, "a-credential-0123456789")
    paths = []
    server = serve(lambda path, body, number: (paths.append(path), chat_reply("No"))[1])
    outcome = asked(server.url, "?", model=Azure, api_key_env="AZURE_OPENAI_API_KEY", api_version=version)["?"]
    assert outcome.text == "No" and paths == [f"{path}/chat/completions"]
    sent = {name: server.headers[0].get(name, "") for name in ("authorization", "api-key")}
    key = bool(version) and credential.endswith("KEY")
    assert sent == {"authorization": "" if key else "Bearer a-credential-0123456789",
                    "api-key": "a-credential-0123456789" if key else ""}  # fmt: skip


SDK = r"needs .* SDK: pip install -e '\.\["


@pytest.mark.parametrize(
    ("model", "package", "said"),
    [(Messages, "anthropic", SDK), (GenerateContent, "google", SDK), (Azure, "none", "no API key .* AZURE_KEY")],
)
def test_what_is_missing_is_one_sentence_with_the_command(monkeypatch, model, package, said):
    monkeypatch.setitem(sys.modules, package, None)
    key = {"api_key_env": "AZURE_KEY"} if model is Azure else {}
    with pytest.raises(ConfigError, match=said):
        asked("http://localhost/v1", "?", model=model, **key)


def test_ctrl_c_does_not_wait_for_a_rate(serve, monkeypatch):
    """What is under way is finished and handed out; what waits for its turn does not go out any more."""

    def reply(path, body, number):
        monkeypatch.setattr(STOP, "requested", True)
        return chat_reply("No")

    server, began, found = serve(reply), time.monotonic(), []
    requests = [ChatRequest((Message("user", f"{k}?"),), max_tokens=16) for k in range(5)]
    model = Chat(name="m", model="m", base_url=server.url, requests_per_minute=1)
    with pytest.raises(Interrupted, match="before a call went out"):
        found.extend(each(model.respond(requests)))
    assert len(server.calls) == len(found) == 1 and time.monotonic() - began < 20
