"""Every fault alone and all of them mixed, over real HTTP: nothing lost, nothing asked too early, nothing mistaken."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from support.clocks import Skipping
from support.fault_server import FATAL, OF_ONE_ITEM, OTHER_MODEL, PASSING, Faults, InThread, answer, own
from support.outcomes import each
from support.thinned import few

from harness.errors import RunStopped
from harness.models.api.gate import Gate
from harness.models.api.openai import Chat
from harness.types import ChatRequest, Failure, Message, Request, Response

PROMPTS = [f"Does {k} cause {k + 1}?" for k in range(24)]


@pytest.fixture(autouse=True)
def _key(key):
    return key


@pytest.fixture
def faulty() -> Iterator[Callable[..., InThread]]:
    servers: list[InThread] = []

    def start(**settings) -> InThread:
        servers.append(InThread(Faults(**settings)))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def asked(server: InThread, prompts=PROMPTS, **settings) -> dict[str, Response | Failure]:
    model = Chat(**{"name": "m", "model": "m", "base_url": server.url, "max_wait": 5.0, **settings})
    requests = (ChatRequest((Message("user", prompt),), max_tokens=4) for prompt in prompts)
    found: dict[Request, Response | Failure] = dict(each(model.respond(requests)))
    return {request.messages[-1].content: outcome for request, outcome in found.items()}


@pytest.mark.parametrize("fault", few(PASSING, 2))
def test_what_can_pass_is_asked_again_and_answered(faulty, fault):
    server = faulty(mix={fault: 0.4}, in_a_row=2, seed=1)
    found = asked(server)
    assert {prompt: outcome.text for prompt, outcome in found.items()} == {prompt: answer(prompt) for prompt in PROMPTS}
    assert server.kinds[fault] > 3 and server.early == 0
    assert set(server.answered.values()) == {1}  # nothing that was answered in full is asked again
    if fault == "other model":
        assert OTHER_MODEL in {outcome.served_model for outcome in found.values()}


@pytest.fixture
def patient(faulty, monkeypatch) -> Callable[..., InThread]:
    """Yield a server that never answers; time passes only for model.timeout. For one call at a time."""

    def start(**settings) -> InThread:
        server, loop = faulty(**settings, drip=0.02), Skipping()
        monkeypatch.setattr(asyncio, "new_event_loop", lambda: loop)
        server.passes = lambda share: loop.skip(share * PATIENCE)
        return server

    return start


PATIENCE = 600.0


@pytest.mark.parametrize("fault", few(["hang", "endless drip"], 1))
def test_what_takes_for_ever_is_ended_and_asked_once_more(patient, fault):
    server = patient(mix={fault: 0.3}, in_a_row=1, seed=2)
    found = asked(server, timeout=PATIENCE, max_concurrency=1)
    assert {prompt: outcome.text for prompt, outcome in found.items()} == {prompt: answer(prompt) for prompt in PROMPTS}
    assert server.requests.total() == len(PROMPTS) + server.kinds[fault] and server.kinds[fault] > 2
    assert set(server.answered.values()) == {1}


@pytest.mark.parametrize("fault", few(["endless drip", "hang"], 1))
def test_what_takes_for_ever_twice_is_a_timeout(patient, fault):
    server = patient(mix={fault: 1.0}, in_a_row=10**6)
    (outcome,) = asked(server, PROMPTS[:1], timeout=PATIENCE, max_concurrency=1).values()
    assert outcome == Failure("timeout", "no answer within model.timeout, 2 times over")
    assert server.requests.total() == server.kinds[fault] == 2


@pytest.mark.parametrize("fault", FATAL)
def test_what_no_later_request_survives_stops_at_once(faulty, fault):
    server = faulty(mix={fault: 1.0}, in_a_row=10**6)
    with pytest.raises(RunStopped, match="Answers so far are kept"):
        asked(server, [f"{k}?" for k in range(1000)], max_concurrency=8)
    assert sum(server.requests.values()) <= 8


def test_what_concerns_one_item_is_named_and_asked_once(faulty):
    server = faulty(own=0.5)
    found = asked(server)
    named = {"content filter": "content_filter", "refusal": "refusal", "context length": "context_length"}
    for prompt, outcome in found.items():
        kind = own(prompt, 0.5)
        if kind in OF_ONE_ITEM:
            assert isinstance(outcome, Failure) and outcome.kind == named[kind]
        else:
            assert isinstance(outcome, Response)
            assert outcome.finish_reason == ("length" if kind == "length" else "stop")
    assert {own(prompt, 0.5) for prompt in PROMPTS} >= {*OF_ONE_ITEM, None}
    assert set(server.requests.values()) == {1}


def test_a_wait_beyond_the_limit_is_that_items_failure_and_says_so(faulty):
    server = faulty(mix={"429 ten minutes": 0.2}, seed=3)
    failures = [outcome for outcome in asked(server).values() if isinstance(outcome, Failure)]
    assert len(failures) == server.kinds["429 ten minutes"] > 0
    assert all(failure.kind == "rate_limit" and "600 s" in failure.detail for failure in failures)


def test_a_wait_beyond_the_limit_that_all_are_told_stops_the_run(faulty):
    server = faulty(mix={"429 ten minutes": 1.0}, in_a_row=10**6)
    with pytest.raises(RunStopped, match=r"it asks to wait 600 s, model\.max_wait is 5 s"):
        asked(server, [f"{k}?" for k in range(1000)])
    assert sum(server.requests.values()) < 40


@pytest.mark.slow
def test_waits_in_all_have_a_limit_of_their_own(faulty):
    server = faulty(mix={"429 seconds": 1.0}, in_a_row=10**6)
    (outcome,) = asked(server, PROMPTS[:1], max_total_wait=2.5).values()
    assert isinstance(outcome, Failure) and "(after 2 s of waiting" in outcome.detail
    assert sum(server.requests.values()) == 3  # two waits of 1 to 1.25 s fit, a third one does not


def test_attempts_have_a_limit(faulty):
    server = faulty(mix={"429 milliseconds": 1.0}, in_a_row=10**6)
    (outcome,) = asked(server, PROMPTS[:1], attempts=4).values()
    assert isinstance(outcome, Failure) and outcome.kind == "rate_limit"
    assert sum(server.requests.values()) == 4


def test_a_connection_that_ends_again_and_again_is_one_items_failure_where_others_are_answered(faulty):
    server = faulty(mix={"reset before": 0.6}, in_a_row=10**6, seed=5)
    kinds = Counter(getattr(outcome, "kind", "answered") for outcome in asked(server, attempts=2).values())
    assert set(kinds) == {"connection_lost", "answered"}


@pytest.mark.slow
def test_everything_at_once(faulty, monkeypatch):
    timeouts = []
    note_timeout = Gate.note_timeout
    monkeypatch.setattr(Gate, "note_timeout", lambda gate: (timeouts.append(1), note_timeout(gate))[1])
    mix = dict.fromkeys(PASSING, 0.04)
    server = faulty(mix=mix | {"hang": 0.01}, own=0.1, seed=4)
    prompts = [f"Is {k} a cause?" for k in range(150)]
    found = asked(server, prompts, timeout=3.0)
    kinds = Counter(outcome.kind for outcome in found.values() if isinstance(outcome, Failure))
    assert len(found) == 150 and set(kinds) <= {"content_filter", "refusal", "context_length", "timeout"}
    # On a busy machine a call may be given up that does not hang: its reply counts as answered, or as told to wait.
    again = sum(count - 1 for count in server.answered.values() if count)
    assert server.early + again <= max(0, len(timeouts) - server.kinds["hang"])
    assert len(server.kinds) > 12
