"""Several addresses that serve one model: blocks, addresses that go down and come back, one identity."""

from __future__ import annotations

import pytest
from support.openai_server import chat_reply, error
from support.outcomes import each

from harness.errors import ConfigError, RunStopped
from harness.models.api import fleet
from harness.models.api.openai import Chat
from harness.runtime.under_way import RETRIES
from harness.types import ChatRequest, Message, Response


@pytest.fixture(autouse=True)
def _key(key):
    return key


@pytest.fixture
def told(monkeypatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(RETRIES, "speaker", lines.append)
    return lines


def model(*urls: str, **settings) -> Chat:
    return Chat(**{"name": "m", "model": "m", "base_url": list(urls), "endpoint": "ours", "max_wait": 0.05, **settings})


def asked(chat: Chat, number: int) -> dict[str, object]:
    requests = (ChatRequest((Message("user", f"{k}?"),), max_tokens=4) for k in range(number))
    return {request.messages[-1].content: outcome for request, outcome in each(chat.respond(requests))}


def questions(server) -> list[int]:
    return [int(call["messages"][-1]["content"][:-1]) for call in server.calls]


def test_requests_in_a_row_go_to_one_address(serve):
    first, second = serve(delay=0.002), serve(delay=0.002)
    outcomes = asked(model(first.url, second.url), 640)
    assert len(outcomes) == 640 and all(isinstance(outcome, Response) for outcome in outcomes.values())
    ours, theirs = set(questions(first)), set(questions(second))
    assert not ours & theirs and len(ours | theirs) == 640 and min(len(ours), len(theirs)) >= 128
    for block in range(0, 640, fleet.BLOCK):  # each whole at one of them
        assert set(range(block, block + fleet.BLOCK)) <= ours or set(range(block, block + fleet.BLOCK)) <= theirs


@pytest.mark.parametrize(
    "fault",
    [
        None,
        (500, {"error": "broken"}),
        pytest.param((401, {"error": "wrong key"}), marks=pytest.mark.slow),
        pytest.param((404, {"error": "no such model"}), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_what_was_for_an_address_that_is_down_goes_to_the_others_and_is_said_once(serve, told, fault):
    good, second = serve(), serve()
    bad = "http://127.0.0.1:9/v1" if fault is None else serve(lambda *_: fault).url
    outcomes = asked(model(bad, good.url, second.url), 300)
    assert len(outcomes) == 300 and all(isinstance(outcome, Response) for outcome in outcomes.values())
    assert len(good.calls) + len(second.calls) == 300  # nothing twice
    (line,) = told
    assert line.startswith(f"{bad} is left alone for now (") and "its requests go to the others" in line


def test_an_address_that_was_down_gets_requests_again(serve, told, monkeypatch):
    monkeypatch.setattr(fleet, "FIRST_PAUSE", 0.1)
    good = serve(delay=0.01)
    back = serve(lambda path, body, number: error(500, "starting") if number < 6 else chat_reply("No"))
    outcomes = asked(model(back.url, good.url, max_concurrency=4), 400)
    assert all(isinstance(outcome, Response) for outcome in outcomes.values()) and len(told) == 1
    assert len(back.calls) > 64  # a block and more, after those that failed


def test_with_none_left_the_run_stops_with_the_ordinary_sentence(told):
    with pytest.raises(RunStopped, match=r"http://127.0.0.1:9/v1, http://127.0.0.1:10/v1 cannot be reached"):
        asked(model("http://127.0.0.1:9/v1", "http://127.0.0.1:10/v1"), 200)


def test_a_wrong_parameter_is_the_same_at_every_address(serve, told):
    refuses = [serve(lambda *_: error(400, "does not support parameters: ['seed']")) for _ in range(2)]
    with pytest.raises(RunStopped, match=r"model\.seed=null"):
        asked(model(*(server.url for server in refuses)), 200)
    assert sum(len(server.calls) for server in refuses) < 64  # what waited for its turn is not sent


def test_their_order_and_number_are_no_part_of_the_identity():
    a, b, c = (f"http://localhost:{port}/v1" for port in (1, 2, 3))
    assert model(a, b).identity == model(b, a).identity == model(c, endpoint="ours").identity
    assert Chat(name="m", model="m", base_url=[a]).identity == Chat(name="m", model="m", base_url=a).identity
    assert model(a, b, a).addresses == [a, b]
    with pytest.raises(ConfigError, match=r"2 addresses.*model\.endpoint=NAME"):
        model(a, b, endpoint=None)
    with pytest.raises(ConfigError, match="is no address"):
        model(a, "localhost:8000")
    with pytest.raises(ConfigError, match="credentials"):
        model(a, "http://me:secret@localhost/v1")


@pytest.mark.slow
def test_a_list_is_taken_from_the_command_line(harness, serve, key):
    servers = [serve(), serve()]
    both = ",".join(server.url for server in servers)
    process = harness(
        "model=openai",
        "model.model=m",
        f"model.base_url=[{both}]",
        "model.endpoint=ours",
        "task.limit=100",
        "prompt=plain",
    )
    assert process.returncode == 0, process.stderr
    assert sum(len(server.calls) for server in servers) == 100 and all(server.calls for server in servers)
