"""How long a refused call waits: for what the server says, for chance to pass, for a limit to pass."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace

import pytest
from support.openai_server import chat_reply, error
from support.openai_server import plain_chat as chat
from support.outcomes import each
from support.server import RawServer, http
from support.thinned import few
from support.virtual_wire import InVirtualTime

from harness.errors import RunStopped
from harness.models.api import faults
from harness.models.api.faults import RefusedError, retry_after
from harness.models.api.openai import Chat
from harness.models.api.retry import Policy
from harness.types import ChatRequest, Failure, Message, Response


@pytest.fixture(autouse=True)
def _key(key):
    return key


def words(body) -> str:
    return body["messages"][-1]["content"]


@pytest.mark.parametrize("seed", few(range(5), 1))
def test_calls_that_are_refused_by_chance_do_not_wait_for_a_minute(monkeypatch, seed):
    server, draw = InVirtualTime(monkeypatch, delay=0.005), random.Random(seed)
    answered = server.answers(
        lambda *_: error(429, "slow down") if draw.random() < 0.4 else chat_reply("No"), 600, attempts=30
    )
    assert len(answered) == 600 and all(isinstance(outcome, Response) for outcome in answered.values())
    assert server.now() < 10


def test_an_item_that_is_refused_while_others_are_answered_waits_for_its_limit_to_pass(monkeypatch):
    """As where a limit counts tokens: long prompts are refused, short ones answered."""
    server = InVirtualTime(monkeypatch, delay=0.25)
    answered = server.answers(
        lambda path, body, number: (
            error(429, "slow down") if words(body) in ("5?", "50?") and server.now() < 15 else chat_reply("No")
        ),
        4000,
    )
    assert all(isinstance(outcome, Response) for outcome in answered.values())


def test_no_number_of_refusals_ends_an_item_while_others_are_answered(monkeypatch):
    server, refused = InVirtualTime(monkeypatch, delay=0.25), Counter()

    def reply(path, body, number):
        refused[words(body)] += words(body) == "5?"
        return error(429, "slow down") if 0 < refused[words(body)] < 5 else chat_reply("No")

    answered = server.answers(reply, 2000, attempts=3)
    assert all(isinstance(outcome, Response) for outcome in answered.values())
    assert refused["5?"] == 5


def test_a_server_that_is_far_too_busy_is_not_hammered(monkeypatch):
    """One answer a second: what a few slots ask for has to become less, or each call's tries are soon spent."""
    server, last = InVirtualTime(monkeypatch, delay=0.02), [0.0]

    def reply(*_):
        if server.now() - last[0] < 1.0:
            return error(429, "slow down")
        last[0] = server.now()
        return chat_reply("No")

    answered = server.answers(reply, 60)
    kinds = Counter(getattr(outcome, "kind", "answered") for outcome in answered.values())
    assert kinds == {"answered": 60}
    assert len(server.calls) < 8 * 60


@pytest.mark.parametrize(
    ("status", "kind"),
    [(408, "timeout"), (409, "conflict"), (425, "too_early"), (429, "rate_limit"), (500, "server_error")],
)
def test_what_may_pass_is_tried_again_and_has_a_name_in_the_end(serve, monkeypatch, status, kind):
    async def at_once(policy, seconds):
        """Make retries wait for nothing."""

    monkeypatch.setattr(Policy, "_sleep", at_once)
    server = serve(
        lambda path, body, number: chat_reply("No") if words(body) != "always" and number > 3 else error(status, "no")
    )
    model = Chat(name="m", model="m", base_url=server.url, attempts=5)
    requests = [ChatRequest((Message("user", question),), max_tokens=4) for question in ("always", "once", "twice")]
    outcomes = {request.messages[-1].content: outcome for request, outcome in each(model.respond(requests))}
    assert isinstance(outcomes["once"], Response) and isinstance(outcomes["twice"], Response)
    assert isinstance(outcomes["always"], Failure) and outcomes["always"].kind == kind
    assert Counter(map(words, server.calls))["always"] == 5


def refused(**headers: str) -> Exception:
    return RefusedError(429, "refused", {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    ("given", "wait"),
    [("7", 7.0), (" 7 ", 7.0), ("0.5", 0.5), ("007", 7.0), (".5", 0.5), ("9" * 400, float("inf"))]
    + [(text, None) for text in ("1_0", "inf", "nan", "-5", "+5", "0x10", "1e3", "٣", "", " ", "soon", "7 s", "1,5")],
)
def test_seconds_are_digits_and_nothing_else_that_python_reads(given, wait):
    assert retry_after(refused(retry_after=given)) == wait
    if wait is None or wait < 100:
        assert retry_after(refused(retry_after_ms=given)) == (None if wait is None else wait / 1000)


@pytest.mark.parametrize("ours", [-300.0, -60.0, 0.0, 60.0, 7200.0])
def test_a_date_is_read_by_the_servers_own_clock(monkeypatch, ours):
    """Whatever our clock says."""
    theirs = 1_800_000_000.0
    monkeypatch.setattr(faults, "time", SimpleNamespace(time=lambda: theirs + ours))
    until, now = "Fri, 15 Jan 2027 08:00:10 GMT", "Fri, 15 Jan 2027 08:00:00 GMT"
    assert retry_after(refused(retry_after=until, date=now)) == 10.0
    assert retry_after(refused(retry_after=until.replace("GMT", "-0000"), date=now)) == 10.0
    assert retry_after(refused(retry_after=now, date=until)) == 0.0
    assert retry_after(refused(retry_after=until)) == max(0.0, 10.0 - ours)
    assert retry_after(refused(retry_after=until, date="never")) == max(0.0, 10.0 - ours)


@pytest.mark.parametrize(
    "given",
    [
        "Fri, 99 Foo 2027",
        "Fri, 15 Jan 99999 08:00:00 GMT",
        "Fri, 15 Jan 2027 08:00:00 +99999",
        "15 Jan",
        ",",
        "\x00",
        "1 1 1 1:1:1 1",
    ],
)
def test_what_is_no_date_says_nothing(given):
    wait = retry_after(refused(retry_after=given))
    assert wait is None or wait >= 0


def test_the_date_of_a_real_reply_is_used(monkeypatch):
    """A server whose clock is an hour ahead asks for two seconds, and gets about two."""
    waits: list[float] = []

    async def noted(policy: Policy, seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(Policy, "_sleep", noted)
    dates = {"Date": "Fri, 15 Jan 2100 08:00:00 GMT", "Retry_After": "Fri, 15 Jan 2100 08:00:02 GMT"}
    server = RawServer(lambda words, times: http(b"{}", status=429, **dates) if times == 1 else http(chat()))
    try:
        model = Chat(name="m", model="m", base_url=server.url)
        (outcome,) = dict(each(model.respond([ChatRequest((Message("user", "?"),), max_tokens=4)]))).values()
    finally:
        server.close()
    assert isinstance(outcome, Response)
    assert len(waits) == 1 and 2.0 <= waits[0] <= 2.5


@pytest.mark.parametrize("status", [401, 402, 403, 404])
@pytest.mark.parametrize("refusals", [1, 2])
def test_a_refusal_inside_of_a_success_has_to_be_confirmed(serve, key, status, refusals):
    """One may be a blink of what stands behind a gateway; the second ends the run."""
    refusal = {"error": {"code": status, "message": "no access"}}
    server = serve(lambda path, body, number: (200, refusal) if number <= refusals else chat_reply("No"))
    model = Chat(name="m", model="m", base_url=server.url, max_wait=0.1, max_concurrency=1)
    asked = list(model.respond([ChatRequest((Message("user", "?"),), max_tokens=4)])) if refusals == 1 else None
    if asked is not None:
        ((_, outcome),) = asked[0]
        assert isinstance(outcome, Response) and outcome.text == "No"
    else:
        with pytest.raises(RunStopped):
            list(model.respond([ChatRequest((Message("user", "?"),), max_tokens=4)]))
    assert len(server.calls) == 2
