"""Whole runs under kill -9, on full disks and several at once: a sentence, and no answer that was stored is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
from support import forks
from support.cache_help import command, count, mounted
from support.openai_server import KEY, WAIT, chat_reply, wait_for

from harness.cache import Store
from harness.storage import records


def start(folder: Path, server, *more: str, key: str = KEY) -> forks.Command:
    arguments = ["model=gpt4", f"model.base_url={server.url}", *more]
    return forks.Command("harness", arguments, folder, os.environ | {"OPENAI_API_KEY": key})


def keys(path: Path) -> set[str]:
    with closing(Store(path, readonly=True)) as store:
        return {key for (key,) in store.query("SELECT key FROM answers")}


def sound(place: Path, limit: int) -> None:
    """Check that a results folder has no result, or one that its records bear out."""
    if not (place / "result.json").exists():
        return
    result = json.loads((place / "result.json").read_text())
    found = len(list(records.read(place / "records.jsonl")))
    assert found == limit or not result["complete"]
    assert json.loads((place / "manifest.json").read_text())["configuration"]


@pytest.mark.slow
@pytest.mark.parametrize("times", [3, 50])
def test_kill_9_at_random_moments(serve, tmp_path, times):
    server = serve(lambda *_: chat_reply("No"), delay=0.02)
    moments = random.Random(times)
    cache, place = tmp_path / ".cache/answers.sqlite", tmp_path / "results/corr2cause/limit=600/plain/gpt4"
    limit = ("task.limit=600", "model.max_concurrency=8")
    kept: set[str] = set()
    for k in range(times):
        # Every third one replaces what is stored: so there is something to write when all has been asked.
        job = start(tmp_path, server, *limit, *(["cache=refresh"] if k % 3 == 2 else []))
        if k % 4:  # from the moment at which the first answers are under way
            asked = len(server.calls)
            wait_for(lambda job=job, asked=asked: len(server.calls) > asked or job.poll() is not None)
        time.sleep(moments.uniform(0, 2.5 if k % 2 else 0.6))
        job.kill()
        said = job.communicate()[1]
        assert "error" not in said, said
        if cache.exists():
            now = keys(cache)
            assert kept <= now, f"{len(kept - now)} stored answers are gone after kill {k}"
            kept = now
            done = command("verify", f"cache={cache}")
            assert done.returncode == 0, done.stdout
        sound(place, 600)
    job = start(tmp_path, server, *limit, key=f"{KEY}-9")
    said = job.communicate(WAIT)[1]
    assert job.returncode == 0, said
    # By its key: the server may come to what was under way at the last kill only now.
    assert sum(sent["Authorization"].endswith("-9") for sent in server.headers) == 600 - len(kept)
    sound(place, 600)
    assert json.loads((place / "result.json").read_text())["complete"]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_processes_on_one_cache_at_once(serve, tmp_path, processes):
    server = serve(lambda *_: chat_reply("No"))
    jobs = [start(tmp_path, server, f"results=r{k}", "task.limit=200") for k in range(processes)]
    for job in jobs:
        said = job.communicate(WAIT)[1]
        assert job.returncode == 0, said
    cache = tmp_path / ".cache/answers.sqlite"
    assert count(cache) == 200
    assert command("verify", f"cache={cache}").returncode == 0
    asked = len(server.calls)
    assert start(tmp_path, server, "results=again", "task.limit=200", "cache=frozen").wait(WAIT) == 0
    assert len(server.calls) == asked


@pytest.mark.slow
@pytest.mark.parametrize("full", ["cache", "results"])
def test_a_full_disk_is_a_sentence_and_no_stored_answer_is_asked_again(serve, tmp_path, full):
    server = serve(lambda *_: chat_reply("No, and this is said at length. " * 30), delay=0.01)
    with mounted(tmp_path / "disk", "size=300k") as disk:
        cache = (disk if full == "cache" else tmp_path) / "answers.sqlite"
        results = (disk if full == "results" else tmp_path) / "results"
        arguments = ("task.limit=400", f"cache.path={cache}", f"results={results}", "model.max_concurrency=8")
        job = start(tmp_path, server, *arguments)
        said = job.communicate(WAIT)[1]
        lines = said.strip().splitlines()
        assert job.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: "), said
        assert "make room" in said or "No space left" in said, said
        kept = len(keys(cache))
        assert 0 < kept <= 400
        sound(results / "corr2cause/limit=400/plain/gpt4", 400)
        # The same once more, still without room: the same sentence.
        assert start(tmp_path, server, *arguments).communicate(WAIT)[1].startswith("error: ")
        kept, asked = len(keys(cache)), len(server.calls)
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        job = start(tmp_path, server, *arguments)
        said = job.communicate(WAIT)[1]
        assert job.returncode == 0, said
        assert len(server.calls) - asked == 400 - kept
        assert command("verify", f"cache={cache}").returncode == 0


def test_a_disk_without_room_for_anything(serve, tmp_path):
    server = serve()
    with mounted(tmp_path / "disk", "size=16k") as disk:
        (disk / "ballast").write_bytes(b"0" * 12_000)
        for arguments in (("cache.path=disk/answers.sqlite",), ("results=disk/results",)):
            job = start(tmp_path, server, "task.limit=20", *arguments)
            said = job.communicate(WAIT)[1]
            assert job.returncode == 1 and said.startswith("error: ") and len(said.splitlines()) == 1, said
            assert "make room" in said or "No space left" in said, said


def test_a_read_only_disk(serve, tmp_path):
    server = serve()
    with mounted(tmp_path / "disk", "size=4m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for arguments, setting in (
            ("cache.path=disk/answers.sqlite", "cache.path"),
            ("results=disk/results", "results="),
        ):
            job = start(tmp_path, server, "task.limit=20", arguments)
            said = job.communicate(WAIT)[1]
            assert job.returncode == 1 and said.startswith("error: ") and setting in said, said
            assert len(said.splitlines()) == 1
    assert not server.calls
