"""cache=on, off, frozen, refresh: in a process of its own as a user types it, and what a miss is told as."""

from __future__ import annotations

import itertools
import json
import subprocess
from contextlib import closing

import pytest
from support.cache_help import ask, count, fill, mounted, says
from support.openai_server import KEY, chat_reply
from support.outcomes import each
from support.scripted import Scripted
from support.thinned import few

from harness.cache import CachedModel, Store
from harness.errors import StoreError
from harness.models.baselines import Baseline
from harness.types import Response


@pytest.fixture
def numbered(serve, harness):
    """Return (call, server): `call` runs gpt4 against a server that numbers its replies."""
    numbers = itertools.count()
    server = serve(lambda *_: chat_reply(f"No, {next(numbers)}"))

    def call(*arguments):
        return harness("model=gpt4", f"model.base_url={server.url}", *arguments, OPENAI_API_KEY=KEY)

    return call, server


def replies(path, place="results/corr2cause/limit=30/plain/gpt4") -> set[str]:
    return {json.loads(line)["response"]["text"] for line in (path / place / "records.jsonl").read_text().splitlines()}


def test_the_four_modes_of_a_run(numbered, tmp_path):
    call, server = numbered
    assert call("task.limit=30").returncode == 0
    first = replies(tmp_path)
    result = (tmp_path / "results/corr2cause/limit=30/plain/gpt4/result.json").read_text()

    frozen = call("task.limit=30", "cache=frozen")
    assert frozen.returncode == 0 and "30 answers came from the cache, 0 were asked now." in frozen.stdout
    assert replies(tmp_path) == first and len(server.calls) == 30
    miss = call("task.limit=31", "cache=frozen")
    assert (
        miss.returncode == 1 and "cache=frozen" in miss.stderr and "does not hold every answer of gpt4" in miss.stderr
    )
    assert len(miss.stderr.splitlines()) == 1 and len(server.calls) == 30
    elsewhere = call("task.limit=30", "cache=frozen", "model.temperature=0.7", "results=warm")
    assert "does not hold every answer of gpt4,temperature=0.7 as it is set now" in elsewhere.stderr

    off = call("task.limit=30", "cache=off", "results=off")
    assert off.returncode == 0 and "cache=off: 30 answers stand in the records only" in off.stdout
    assert len(server.calls) == 60 and count(tmp_path / ".cache/answers.sqlite") == 30

    assert call("task.limit=30", "cache=refresh").returncode == 0
    second = replies(tmp_path)
    assert len(server.calls) == 90 and not second & first
    assert call("task.limit=30", "cache=frozen").returncode == 0
    assert replies(tmp_path) == second and len(server.calls) == 90
    assert json.loads(result)["scores"]


def test_mode_and_path_together_and_no_file_without_need(numbered, tmp_path):
    call, _ = numbered
    missing = call("task.limit=3", "cache=frozen", "cache.path=mine.sqlite")
    assert "there is no cache mine.sqlite" in missing.stderr
    assert call("task.limit=3", "cache=off").returncode == 0
    assert not list(tmp_path.rglob("*.sqlite"))
    assert call("task.limit=3", "cache=on", "cache.path=mine.sqlite").returncode == 0
    assert call("task.limit=3", "cache.path=mine.sqlite", "cache=frozen").returncode == 0


def test_ctrl_c_does_not_promise_what_off_cannot_keep():
    from harness.cost.budget import Budgeted
    from harness.runtime.signals import STOP

    said = {}
    try:
        STOP.requested = True
        for mode in ("on", "off", "refresh"):
            with pytest.raises(Exception, match="interrupted") as error:
                list(each(Budgeted(Scripted(says), cache=mode).respond([ask("?")])))
            said[mode] = str(error.value)
        with pytest.raises(Exception, match=r"interrupted: this model's answers are not stored.* begins again"):
            list(each(Budgeted(Baseline("always_no", 0)).respond([ask("?")])))
    finally:
        STOP.requested = False
    assert "goes on from there" in said["on"]
    assert "asks for everything again" in said["off"] and "no answer is stored" in said["off"]
    assert "cache=on only for the rest" in said["refresh"]


@pytest.mark.parametrize("mode", few(["frozen", "off", "refresh"], 1))
def test_an_instant_model_answers_in_every_mode(harness, tmp_path, mode):
    done = harness("model=random_uniform", "task.limit=10", f"cache={mode}")
    assert done.returncode == 0, done.stderr
    assert "cache=off" not in done.stdout and not (tmp_path / ".cache").exists()


def test_a_local_model_is_refreshed_and_replayed(harness, nli_path):
    arguments = ("model=nli", f"model.path={nli_path}", "model.name=tiny", "task.limit=5")
    for mode, said in (("refresh", "holds"), ("frozen", "5 answers came from the cache, 0")):
        done = harness(*arguments, f"cache={mode}")
        assert done.returncode == 0 and said in done.stdout, done.stderr
    assert "does not hold every answer of tiny" in harness(*arguments, "task.limit=6", "cache=frozen").stderr


def test_a_frozen_cache_can_lie_where_nothing_can_be_written(tmp_path):
    with mounted(tmp_path / "disk", "size=4m") as disk:
        fill(disk / "answers.sqlite", 20)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with closing(Store(disk / "answers.sqlite", readonly=True)) as store:
            found = list(
                each(CachedModel(Scripted(says), store, mode="frozen").respond(ask(f"{k}?") for k in range(20)))
            )
        assert len(found) == 20
        with (
            pytest.raises(StoreError, match="make it readable and writable"),
            closing(Store(disk / "answers.sqlite")) as store,
        ):
            list(each(CachedModel(Scripted(says), store).respond([ask("new")])))


def test_refresh_asks_the_same_words_once_in_a_run(tmp_path):
    fill(tmp_path / "a.sqlite", 5)
    with closing(Store(tmp_path / "a.sqlite")) as store:
        inner = Scripted(says)
        model = CachedModel(inner, store, mode="refresh")
        for _ in range(2):
            assert len(list(each(model.respond(ask(f"{k}?") for k in range(5))))) == 5
        assert len(inner.asked) == 5


def test_where_another_process_was_sooner_its_answer_is_handed_out(tmp_path):
    # So that a replay gives what the run gave.
    with closing(Store(tmp_path / "a.sqlite")) as store:

        def slow(request):
            fill(tmp_path / "a.sqlite", 1)
            return Response("too late")

        answer = next(each(CachedModel(Scripted(slow), store).respond([ask("0?")])))[1]
        assert answer.text == "To 0?" and not answer.cached  # both were paid for


def test_a_miss_says_whose_answer_is_missing(tmp_path):
    path = tmp_path / "a.sqlite"
    fill(path, 20)
    with closing(Store(path, readonly=True)) as store:
        for name in ("scripted", "b"):
            with pytest.raises(StoreError, match=f"does not hold every answer of {name} as it is set now"):
                list(each(CachedModel(Scripted(says, name=name), store, mode="frozen").respond([ask("new")])))
