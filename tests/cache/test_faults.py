"""Whole runs under kill -9, on full disks and several at once: a sentence, and no answer that was stored is lost."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from support import forks
from support.cache_help import command, mounted
from support.openai_server import KEY, WAIT, chat_reply

from harness.cache import Store
from harness.storage import records


def says(text: str) -> dict:
    return chat_reply(text) | {"usage": None}


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
@pytest.mark.parametrize("full", ["cache", "results"])
def test_a_full_disk_is_a_sentence_and_no_stored_answer_is_asked_again(serve, tmp_path, full):
    server = serve(lambda *_: says("No, and this is said at length. " * 30), delay=0.01)
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
    server = serve(lambda *_: says("No"))
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
