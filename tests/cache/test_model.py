from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
from support.outcomes import each
from support.scripted import Scripted

from harness.cache import CachedModel, Store
from harness.cost.budget import Budget, Budgeted
from harness.cost.ledger import Ledger, Metered
from harness.errors import StoreError
from harness.models.api.openai import Chat
from harness.protocols import Traits
from harness.settings import Limits
from harness.types import ChatRequest, Failure, Message, PairRequest, Response, Usage


def ask(text: str, sample: int = 0) -> ChatRequest:
    return ChatRequest((Message("system", "Be brief."), Message("user", text)), max_tokens=5, sample=sample)


def rich(text: str) -> Response:
    return Response(
        text=text,
        logprobs={"Yes": -0.25},
        usage=Usage(input=3, output=1),
        finish_reason="stop",
        served_model="m",
        seconds=0.5,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "answers.sqlite"


def test_what_was_answered_is_not_asked_again(path):
    inner = Scripted(lambda request: rich(request.messages[-1].content))
    requests = [ask(f"{k}?") for k in range(20)]
    first = dict(each(CachedModel(inner, Store(path)).respond(requests)))
    again = dict(each(CachedModel(inner, Store(path)).respond(requests)))
    assert len(inner.asked) == 20
    assert {r: o.text for r, o in again.items()} == {r: o.text for r, o in first.items()}
    assert all(outcome.cached for outcome in again.values()) and not any(o.cached for o in first.values())
    one = again[ask("7?")]
    assert (one.logprobs, one.usage, one.finish_reason, one.seconds) == ({"Yes": -0.25}, Usage(3, 1), "stop", 0.5)


def test_hits_do_not_wait_for_misses(path):
    inner = Scripted(lambda request: rich("x"))
    list(each(CachedModel(inner, Store(path)).respond([ask("known")])))
    inner.asked.clear()
    answers = each(CachedModel(inner, Store(path)).respond([ask("new"), ask("known")]))
    assert next(answers)[0] == ask("known") and not inner.asked


def within_limits(model):
    return Budgeted(model, Budget(Limits(requests=1000)))


@pytest.mark.parametrize("around", [lambda model: model, within_limits])
def test_answers_that_land_together_are_stored_together_and_before_any_is_handed_out(path, around):
    class Batches(Scripted):
        def respond(self, requests):
            source = iter(requests)
            while batch := list(islice(source, 8)):
                yield [(request, rich("x")) for request in batch]

    store, said = Store(path), []
    store.connection.set_trace_callback(said.append)
    answers = each(CachedModel(around(Batches(lambda _: rich("x"))), store).respond([ask(f"{k}?") for k in range(32)]))
    next(answers)
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT count(*) FROM answers").fetchone() == (8,)
    assert len(list(answers)) == 31
    written = [part for part in "\n".join(said).split("COMMIT") if "INTO answers" in part]
    assert len(written) == 4


def test_a_greedy_model_gets_every_miss(path):
    """Check that a model whose window exceeds the cache's look-ahead sees all misses and loses no hit."""

    class Greedy(Scripted):
        def respond(self, requests):
            yield from super().respond(list(requests))

    list(each(CachedModel(Scripted(lambda r: rich("x")), Store(path)).respond(ask(f"{k}?") for k in range(0, 2000, 2))))
    inner = Greedy(lambda r: rich("x"))
    found = list(each(CachedModel(inner, Store(path)).respond(ask(f"{k}?") for k in range(2000))))
    assert len(found) == len(dict(found)) == 2000
    assert len(inner.asked) == 1000


def test_failures_are_not_stored(path):
    inner = Scripted(lambda request: Failure("timeout", "late"))
    for _ in range(2):
        assert dict(each(CachedModel(inner, Store(path)).respond([ask("?")]))) == {ask("?"): Failure("timeout", "late")}
    assert len(inner.asked) == 2


def test_other_models_requests_and_samples_are_other_answers(path):
    store = Store(path)
    a, b = (Scripted(lambda request, name=name: rich(name), name=name) for name in "ab")
    requests = [ask("?"), ask("?", sample=1), ask("??"), PairRequest("?", "?")]
    for model in (a, b):
        found = dict(each(CachedModel(model, store).respond(requests)))
        assert {outcome.text for outcome in found.values()} == {model.name}
        assert len(model.asked) == len(requests)


@pytest.mark.parametrize("around", [lambda model: model, within_limits])
def test_closing_the_answers_closes_the_models(path, around):
    closed = []

    class Open(Scripted):
        def respond(self, requests):
            try:
                yield from super().respond(requests)
            finally:
                closed.append(True)

    model = Metered(CachedModel(around(Open(lambda r: rich("x"))), Store(path)), Ledger(None, paid=False))
    landing = model.respond(ask(f"{k}?") for k in range(9))
    next(landing)
    landing.close()
    assert closed


def test_what_goes_around_a_model_passes_on_what_it_says_of_itself(path):
    model = Chat(name="m", model="m", base_url="http://localhost:1/v1", temperature=1.0)
    around = Metered(CachedModel(within_limits(model), Store(path)), Ledger(None, paid=True))
    assert (around.name, around.accepts, around.identity) == (model.name, model.accepts, model.identity)
    assert around.traits == model.traits == Traits(role="model", varies=True, service=model)


def test_the_inputs_of_a_key_stand_beside_the_answer_and_words_are_kept_once(path):
    list(each(CachedModel(Scripted(lambda r: rich("x")), Store(path)).respond([ask("1?"), ask("2?")])))
    with sqlite3.connect(path) as file:
        texts = {text for (text,) in file.execute("SELECT text FROM texts")}
        identities = [text for (text,) in file.execute("SELECT identity FROM identities")]
    assert texts == {"Be brief.", "1?", "2?"}
    assert identities == ['{"kind":"scripted","name":"scripted"}']


def test_a_fully_stored_run_does_not_start_the_model(path):
    list(each(CachedModel(Scripted(lambda r: rich("x")), Store(path)).respond([ask("?")])))

    class Heavy(Scripted):
        def respond(self, requests):
            pytest.fail("the model was started")
            yield

    assert len(list(each(CachedModel(Heavy(lambda r: rich("x")), Store(path)).respond([ask("?")])))) == 1


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cache\.path"):
        Store(tmp_path / "file" / "answers.sqlite")
    with pytest.raises(StoreError, match=r"cache\.path"):
        Store(tmp_path)


def test_a_locked_file_is_a_sentence(path, monkeypatch):
    Store(path).close()
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kw: connect(*args, **(kw | {"timeout": 0.2})))
    store = Store(path)
    other = connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked"):
        store.put({}, [("key", ask("?"), rich("x"))])
    other.close()


def test_two_processes_share_a_file(path):
    code = (
        "import sys; from pathlib import Path; from harness.cache import Store; from harness.types import *\n"
        "store = Store(Path(sys.argv[1]))\n"
        "for k in range(300): store.put({}, [(f'{sys.argv[2]}{k}', PairRequest(str(k), ''), Response('x'))])\n"
    )
    jobs = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "abcd"]
    assert [job.wait(300) for job in jobs] == [0, 0, 0, 0]
    store = Store(path)
    assert all(store.get(f"{name}{k}") for name in "abcd" for k in range(300))


def test_a_new_file_can_be_opened_by_many_at_once(tmp_path):
    # SQLite does not wait when several turn the same new file to WAL: most of these rounds failed before.
    code = (
        "import sys, time; from pathlib import Path; from harness.cache import Store\n"
        "for k in range(8):\n"
        "    time.sleep(max(0, float(sys.argv[2]) + k * 0.05 - time.time()))\n"
        "    Store(Path(sys.argv[1]) / str(k)).close()\n"
    )
    start = str(time.time() + 1)
    jobs = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), start]) for _ in range(4)]
    assert [job.wait(300) for job in jobs] == [0, 0, 0, 0]
