"""Processes that share a cache ask each thing once, whatever becomes of some of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from support import forks
from support.cache_help import ask, command, count, fill, says, sqlite_only
from support.openai_server import KEY, WAIT, chat_reply, error, wait_for
from support.outcomes import each
from support.scripted import Scripted

from harness.cache import CachedModel, Store
from harness.errors import Interrupted
from harness.runtime.signals import STOP
from harness.storage import records
from harness.types import Failure

PIPES = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
CACHE = ".cache/answers.sqlite"


def start(folder: Path, server, name: str, *more: str) -> forks.Command:
    """Start a run with a results folder of its own, whose API key ends in its name."""
    arguments = ["model=gpt4", f"model.base_url={server.url}", f"results={name}", *more]
    return forks.Command("harness", arguments, folder, os.environ | {"OPENAI_API_KEY": f"{KEY}-{name}"})


def ends_well(job: forks.Command) -> str:
    out, said = job.communicate(WAIT)
    assert job.returncode == 0, said
    return out + said


def asked(server) -> Counter[str]:
    return Counter(json.dumps(call["messages"]) for call in server.calls)


def askers(server) -> Counter[str]:
    return Counter(headers["Authorization"].rpartition("-")[2] for headers in server.headers)


def outcomes(folder: Path, name: str) -> list[tuple]:
    found = records.read(next((folder / name).rglob("records.jsonl")))
    return sorted((record.item, record.outcome.text, record.answer) for record in found)


def scores(folder: Path, name: str) -> dict:
    result = json.loads(next((folder / name).rglob("result.json")).read_text())
    return {part: result[part] for part in ("complete", "scores", "failures")}


def left(folder: Path) -> list[str]:
    """Lock files, and claims in the cache."""
    with closing(Store(folder / CACHE, readonly=True)) as store:
        claims = [f"claim {key}" for key, _ in store.query("SELECT key, owner FROM claims")]
    return [*claims, *(file.name for file in (folder / CACHE).parent.glob("*.lock"))]


def answer(path, body, number):
    """Answer by the words alone, so that it does not matter who asks."""
    return chat_reply("Yes" if len(json.dumps(body["messages"])) % 2 else "No")


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "limit"), [(3, 100), pytest.param(8, 300, marks=pytest.mark.slow)])
def test_processes_that_start_together_ask_each_question_once(serve, tmp_path, processes, limit):
    server = serve(answer, held=0)
    names = [f"r{k}" for k in range(processes)]
    jobs = [start(tmp_path, server, name, f"task.limit={limit}") for name in names]
    # None is answered before all of them have begun.
    wait_for(lambda: len(askers(server)) == processes)
    server.held = 10**9
    for job in jobs:
        ends_well(job)
    assert set(asked(server).values()) == {1} and len(server.calls) == limit == count(tmp_path / CACHE)
    first = outcomes(tmp_path, "r0")
    assert len(first) == limit and all(outcomes(tmp_path, name) == first for name in names)
    assert all(scores(tmp_path, name) == scores(tmp_path, "r0") for name in names)
    assert not left(tmp_path)
    assert command("verify", f"cache={tmp_path / CACHE}").returncode == 0


@pytest.mark.slow
def test_half_of_them_are_killed_and_the_others_finish(serve, tmp_path):
    server = serve(answer, held=100)
    jobs = {name: start(tmp_path, server, name, "task.limit=300") for name in ("r0", "r1", "r2", "r3")}
    wait_for(lambda: len(askers(server)) == 4 and (tmp_path / CACHE).exists() and count(tmp_path / CACHE) == 100)
    known = set(list(asked(server))[:100])
    for name in ("r0", "r1"):
        jobs[name].kill()
        jobs[name].wait(WAIT)
    in_flight = sum(askers(server)[name] for name in ("r0", "r1"))
    server.held = 10**9
    for name in ("r2", "r3"):
        ends_well(jobs[name])
    times = asked(server)
    assert len(times) == 300 == count(tmp_path / CACHE)
    assert len(server.calls) - 300 <= in_flight
    assert max(times.values()) <= 2 and all(times[question] == 1 for question in known)
    assert outcomes(tmp_path, "r2") == outcomes(tmp_path, "r3")
    before = len(server.calls)
    ends_well(start(tmp_path, server, "r0", "task.limit=300"))
    assert len(server.calls) == before
    assert not left(tmp_path)


@pytest.mark.slow
def test_of_a_stopped_process_the_others_wait_for_what_it_asks_and_ctrl_c_ends_the_wait(serve, tmp_path):
    server = serve(answer, held=0)
    stopped = start(tmp_path, server, "stopped", "task.limit=100", "model.max_concurrency=8")
    server.wait_for_calls(8)
    stopped.send_signal(signal.SIGSTOP)
    server.held = 10**9
    other, impatient = (start(tmp_path, server, name, "task.limit=100") for name in ("other", "impatient"))
    for job in (other, impatient):
        wait_for(lambda job=job: "waiting for" in job.output)
        assert f"process {stopped.pid} on " in job.output
    # The two have gone on with everything else.
    assert askers(server)["stopped"] == 8
    rest = count(tmp_path / CACHE)
    assert 100 - 8 - 32 <= rest < 100
    impatient.send_signal(signal.SIGINT)
    said = impatient.communicate(WAIT)[1]
    assert impatient.returncode == 130 and "interrupted: every answer so far is stored" in said, said
    assert count(tmp_path / CACHE) == rest
    stopped.send_signal(signal.SIGCONT)
    for job in (stopped, other):
        ends_well(job)
    assert set(asked(server).values()) == {1} and len(server.calls) == 100
    assert outcomes(tmp_path, "other") == outcomes(tmp_path, "stopped")
    ends_well(start(tmp_path, server, "impatient", "task.limit=100"))
    assert len(server.calls) == 100 and not left(tmp_path)


@pytest.mark.slow
def test_what_a_process_gives_up_without_an_answer_is_asked_by_another(serve, tmp_path):
    def refuse(path, body, number):
        return error(401, "wrong key", "invalid_api_key") if number <= 8 else answer(path, body, number)

    server = serve(refuse, held=0)
    refused = start(tmp_path, server, "refused", "task.limit=100")
    server.wait_for_calls(8)
    other = start(tmp_path, server, "other", "task.limit=100")
    wait_for(lambda: askers(server)["other"])
    server.held = 10**9
    assert refused.wait(WAIT) == 1
    ends_well(other)
    assert askers(server)["other"] == 100 == count(tmp_path / CACHE)
    assert not left(tmp_path)


@pytest.mark.slow
def test_a_budget_that_is_used_up_leaves_the_rest_to_others(serve, tmp_path):
    server = serve(answer, held=0)
    poor = start(tmp_path, server, "poor", "task.limit=100", "budget.requests=5")
    server.wait_for_calls(5)
    rich = start(tmp_path, server, "rich", "task.limit=100")
    wait_for(lambda: askers(server)["rich"])
    server.held = 10**9
    assert "budget.requests=5 is reached" in poor.communicate(WAIT)[1]
    ends_well(rich)
    assert askers(server) == {"poor": 5, "rich": 95} and set(asked(server).values()) == {1}


@pytest.mark.slow
def test_processes_that_refresh_together_ask_anew_once(serve, tmp_path):
    server = serve(answer)
    ends_well(start(tmp_path, server, "first", "task.limit=60"))
    server.held = 60
    jobs = [start(tmp_path, server, name, "task.limit=60", "cache=refresh") for name in ("one", "two")]
    wait_for(lambda: len(askers(server)) == 3)
    server.held = 10**9
    for job in jobs:
        ends_well(job)
    assert len(server.calls) == 120 and set(asked(server).values()) == {2}
    assert not left(tmp_path)


@pytest.mark.slow
def test_openings_are_played_once_by_all(serve, tmp_path):
    data = (
        "task=causalbench/causality",
        "task.networks=[asia,cancer]",
        "task.format=data",
        "task.rows=20",
        "task.limit=40",
    )
    server = serve(answer, held=0)
    jobs = [start(tmp_path, server, name, *data) for name in ("one", "two", "three")]
    server.wait_for_calls(1)
    server.held = 10**9
    for job in jobs:
        ends_well(job)
    assert set(asked(server).values()) == {1}
    found = [outcomes(tmp_path, name) for name in ("one", "two", "three")]
    assert found[0] == found[1] == found[2] and len(found[0]) == 40
    assert not left(tmp_path)


@pytest.fixture
def path(tmp_path, kind) -> Path:
    return tmp_path / f"answers.{kind}"


@pytest.fixture
def holder(path):
    """Yield a function that starts a process which claims the answers to some requests and lives."""
    jobs = []

    def hold(requests, **model):
        with closing(Store(path)) as store:
            cached = CachedModel(Scripted(says, **model), store)
            keys = [cached.key(request) for request in requests]
        code = (
            "import sys; from pathlib import Path; from harness.cache import Store\n"
            "store = Store(Path(sys.argv[1])); store.claims.take(sys.argv[2:])\n"
            "print('ready', flush=True); sys.stdin.readline(); store.close()"
        )
        jobs.append(subprocess.Popen([sys.executable, "-c", code, path, *keys], text=True, **PIPES))
        assert jobs[-1].stdout.readline() == "ready\n"
        return jobs[-1]

    yield hold
    for job in jobs:
        job.kill()
        job.wait()


def locks(path: Path) -> set[Path]:
    return {file for file in path.parent.rglob("*.lock") if file.name != "merging.lock"}


def ask_all(path, requests, says=says, **settings) -> tuple[list, list, list[str]]:
    """Return the outcomes, the requests that the model got, and the lines shown."""
    inner, lines = Scripted(says), []
    with closing(Store(path)) as store:
        found = list(each(CachedModel(inner, store, say=lines.append, **settings).respond(requests)))
    return found, inner.asked, lines


def test_after_a_bounded_wait_for_one_that_lives_its_share_is_asked_here(path, holder):
    requests = [ask(f"{k}?") for k in range(20)]
    other = holder(requests[5:10])
    found, inner, lines = ask_all(path, requests, patience=0.3)
    assert len(found) == 20 and inner == [*requests[:5], *requests[10:], *requests[5:10]]
    assert len(lines) == 1 and "nothing has come for 0.3 s" in lines[0] and f"process {other.pid} on" in lines[0]
    assert count(path) == 20


def test_claims_of_the_dead_are_taken_at_once_and_their_files_go(path, holder):
    requests = [ask(f"{k}?") for k in range(20)]
    other = holder(requests[5:10])
    other.kill()
    other.wait()
    assert len(locks(path)) == 1
    found, inner, lines = ask_all(path, requests)
    assert len(found) == 20 and inner == requests and not lines
    assert not locks(path)


@pytest.mark.slow
def test_one_that_dies_while_it_is_waited_for(path, holder):
    requests = [ask(f"{k}?") for k in range(20)]
    other = holder(requests[:20])

    def kill(line):
        lines.append(line)
        other.kill()

    lines = []
    with closing(Store(path)) as store:
        inner = Scripted(says)
        found = list(each(CachedModel(inner, store, say=kill).respond(requests)))
    assert len(found) == 20 and inner.asked == requests
    asker = f"another process on this cache is asking for (process {other.pid} on {os.uname().nodename})"
    assert lines == [f"waiting for 20 answers that {asker}"]


def test_no_more_than_so_many_are_set_apart_before_they_are_waited_for(path, holder, monkeypatch):
    monkeypatch.setattr("harness.cache.asking._APART", 4)
    monkeypatch.setattr("harness.cache.asking._AHEAD", 4)
    requests = [ask(f"{k}?") for k in range(80)]
    holder(requests[:60])
    pulled, at_line = [], []

    def source():
        for request in requests:
            pulled.append(request)
            yield request

    with closing(Store(path)) as store:
        model = CachedModel(Scripted(says), store, patience=0.1, say=lambda _: at_line.append(len(pulled)))
        found = list(each(model.respond(source())))
    assert sorted(map(str, (request for request, _ in found))) == sorted(map(str, requests))
    assert at_line[0] < 40


def test_other_models_samples_and_modes_know_no_claims_of_it(path, holder):
    requests = [ask(f"{k}?") for k in range(5)]
    holder(requests, name="another")
    assert ask_all(path, requests)[1] == requests
    holder([ask("new", sample=0)])
    assert ask_all(path, [ask("new", sample=1)])[1] == [ask("new", sample=1)]
    owners = locks(path)
    with closing(Store(path)) as store:
        list(each(CachedModel(Scripted(says), store).respond(requests)))
        list(each(CachedModel(Scripted(says), store, mode="frozen").respond(requests)))
        assert locks(path) == owners


def test_a_failure_gives_its_claim_up(path):
    with closing(Store(path)) as store:
        answers = each(
            CachedModel(Scripted(lambda _: Failure("timeout", "late")), store).respond([ask("1?"), ask("2?")])
        )
        next(answers)
        claims = store.claims.owners()
        assert len(claims) == 1  # the second one's
        answers.close()
        assert not store.claims.owners()


def test_where_no_lock_can_be_made_everything_is_asked(tmp_path):
    # A name as long as names may be: SQLite's own have room beside it, the lock's has not.
    path = tmp_path / f"{'a' * 240}.sqlite"
    requests = [ask(f"{k}?") for k in range(5)]
    found, inner, _ = ask_all(path, requests)
    assert len(found) == 5 and inner == requests
    with closing(Store(path)) as store:
        assert not store.claims.take(["key"]).others and not store.claims.owners()


@sqlite_only
def test_an_owner_that_somebody_made_up_is_no_path(path):
    (path.parent / "x.lock").touch()
    fill(path, 1)
    with closing(Store(path)) as store:
        key = CachedModel(Scripted(says), store).key(ask("new"))
        with store.transaction() as db:
            db.execute("INSERT INTO claims VALUES (?, '/../x')", (key,))
    (path.parent / f"{path.name}.").mkdir()  # so that the path leads somewhere
    assert ask_all(path, [ask("new")])[1] == [ask("new")]
    assert (path.parent / "x.lock").exists()


def test_ctrl_c_ends_the_wait_with_the_sentence_of_the_mode(path, holder, monkeypatch):
    monkeypatch.setattr("harness.cache.asking._SLOW", 0.05)
    holder([ask("1?")])
    try:
        for mode, said in (("on", "the same command goes on"), ("refresh", "cache=on asks for the rest only")):

            def stop(line):
                STOP.requested = True

            with closing(Store(path)) as store, pytest.raises(Interrupted, match=said):
                list(each(CachedModel(Scripted(says), store, mode=mode, say=stop).respond([ask("1?")])))
            STOP.requested = False
    finally:
        STOP.requested = False
