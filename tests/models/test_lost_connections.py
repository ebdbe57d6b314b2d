"""A server that is away for a while, an item whose connection always breaks, and a server that was never there."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from support.openai_server import chat_reply, wait_for
from support.openai_server import plain_chat as chat
from support.outcomes import each
from support.server import RawServer, http
from support.thinned import few
from support.virtual_wire import InVirtualTime

from harness.errors import RunStopped
from harness.models.api import retry
from harness.models.api.openai import Chat
from harness.models.api.replies import LostError
from harness.models.api.retry import Policy
from harness.types import ChatRequest, Failure, Message, Response

REFUSED, BROKEN = LostError("refused", connected=False), LostError("reset", connected=True)


@pytest.fixture(autouse=True)
def _key(key, monkeypatch):
    monkeypatch.setattr(retry, "_REACHED", set())


def kinds(outcomes) -> Counter[str]:
    return Counter(outcome.kind if isinstance(outcome, Failure) else "answered" for outcome in outcomes.values())


def words(body) -> str:
    return body["messages"][-1]["content"]


@pytest.mark.parametrize(
    "lost, concurrency, away",
    few(itertools.product([REFUSED, BROKEN], [1, 4, 64], [0.3, 1.0, 8.0, 30.0, 60.0]), 3),
)
def test_a_server_may_be_away_for_a_minute_in_the_middle(monkeypatch, lost, concurrency, away):
    server = InVirtualTime(monkeypatch, delay=0.02)
    gone = 1.0
    answered = server.answers(
        lambda *_: lost if gone <= server.now() < gone + away else chat_reply("No"), 600, max_concurrency=concurrency
    )
    assert kinds(answered) == {"answered": 600}
    alone = 600 * 0.02 / concurrency
    assert server.now() < alone + 3 * away + 3  # and is soon asked again


@pytest.mark.parametrize("lost, concurrency", few(itertools.product([REFUSED, BROKEN], [1, 8, 64]), 2))
def test_a_server_that_is_gone_for_good_ends_the_run_in_a_quarter_of_an_hour(monkeypatch, lost, concurrency):
    server = InVirtualTime(monkeypatch, delay=0.02)
    with pytest.raises(RunStopped, match=r"http://virtual/v1.*(refused|reset).*Answers so far are kept"):
        server.answers(lambda *_: lost if server.now() > 1 else chat_reply("No"), 5000, max_concurrency=concurrency)
    assert server.now() < 900 and (concurrency == 1 or server.now() < 150)
    assert "answered" in kinds(server.handed_out) and kinds(server.handed_out)["connection_lost"] < retry.FUTILE_AFTER


@pytest.mark.slow
def test_waits_for_a_server_that_is_away_obey_the_limits(monkeypatch):
    server = InVirtualTime(monkeypatch, delay=0.02)
    with pytest.raises(RunStopped, match="cannot be reached any more"):
        server.answers(lambda *_: REFUSED if server.now() > 1 else chat_reply("No"), 5000, max_total_wait=5.0)
    assert server.now() < 10


@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_items_whose_connection_always_breaks_fail_by_name_though_they_are_the_first(monkeypatch, concurrency):
    server = InVirtualTime(monkeypatch, delay=0.02)
    breaking = {"0?", "1?", "2?"}
    answered = server.answers(
        lambda path, body, number: BROKEN if words(body) in breaking else chat_reply("No"),
        64,
        max_concurrency=concurrency,
        attempts=6,
    )
    assert kinds(answered) == {"answered": 61, "connection_lost": 3}
    tries = Counter(words(body) for body in server.calls)
    assert {tries[question] for question in breaking} == {6}


def test_a_server_that_thinks_is_not_gone_where_first_connections_are_refused(monkeypatch):
    """The others are under way for longer than three refusals take."""
    server = InVirtualTime(monkeypatch, delay=30.0)
    quick = server.post

    async def post(path, body):
        server.delay = 0.001 if words(body) in ("0?", "1?", "2?") else 30.0
        return await quick(path, body)

    monkeypatch.setattr(server, "post", post)
    answered = server.answers(
        lambda path, body, number: REFUSED if words(body) in ("0?", "1?", "2?") else chat_reply("No"), 64
    )
    assert kinds(answered) == {"answered": 61, "connection_lost": 3}


@pytest.mark.slow
def test_many_items_that_always_break_at_the_end_of_a_run_fail_each_by_name(monkeypatch):
    server = InVirtualTime(monkeypatch, delay=0.02)
    answered = server.answers(
        lambda path, body, number: BROKEN if int(words(body)[:-1]) % 5 == 0 else chat_reply("No"), 400
    )
    assert kinds(answered) == {"answered": 320, "connection_lost": 80}


@pytest.mark.parametrize("lost", [REFUSED, BROKEN])
def test_a_server_that_was_never_there_stops_the_run_soon(monkeypatch, lost):
    server = InVirtualTime(monkeypatch, delay=0.001)
    with pytest.raises(RunStopped, match=r"cannot be reached .*check model\.base_url"):
        server.answers(lambda *_: lost, 600)
    assert server.now() < 5


def test_a_server_that_answered_one_turn_may_be_away_before_the_next(monkeypatch):
    InVirtualTime(monkeypatch, delay=0.02).answers(lambda *_: chat_reply("No"), 4)
    later = InVirtualTime(monkeypatch, delay=0.02)
    answered = later.answers(lambda *_: REFUSED if later.now() < 20 else chat_reply("No"), 4)
    assert kinds(answered) == {"answered": 4}


@pytest.fixture
def restarting() -> Iterator[Callable[..., list[RawServer]]]:
    """Start a server that ends after a number of answers; `[1]` is the one that replaces it."""
    servers: list[RawServer] = []

    def start(after: int, refusals: Callable[[], bool]) -> list[RawServer]:
        def reply(question: str, times: int) -> bytes | None:
            if len(servers[0].asked) == after:
                threading.Thread(target=restart).start()
            return http(chat()) if len(servers[0].asked) < after else None

        def restart() -> None:
            port = servers[0].port
            servers[0].close()
            wait_for(refusals)
            servers.append(RawServer(lambda *_: http(chat()), port))

        servers.append(RawServer(reply))
        return servers

    yield start
    wait_for(lambda: len(servers) == 2)
    servers[1].close()


def test_a_real_server_that_starts_anew_is_asked_for_the_rest(restarting, monkeypatch):
    waits: list[float] = []
    sleep = Policy._sleep

    async def counted(policy: Policy, seconds: float) -> None:
        waits.append(seconds)
        await sleep(policy, min(seconds, 0.05))

    monkeypatch.setattr(Policy, "_sleep", counted)
    servers = restarting(after=30, refusals=lambda: len(waits) >= 12)
    model = Chat(name="m", model="m", base_url=servers[0].url, max_concurrency=4, attempts=1000)
    outcomes = dict(each(model.respond(ChatRequest((Message("user", f"{k}?"),), max_tokens=4) for k in range(60))))
    assert len(outcomes) == 60 and all(isinstance(outcome, Response) for outcome in outcomes.values())
    assert len(servers[1].asked) >= 30 and len(waits) >= 12
