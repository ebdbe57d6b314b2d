"""workers=processes: real processes against a local server, killed and interrupted, and what they leave."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from pathlib import Path

import pytest
from support import forks
from support.openai_server import KEY, WAIT, wait_for


def begin(folder: Path, *arguments: str) -> forks.Command:
    return forks.Command("harness", arguments, folder, os.environ | {"OPENAI_API_KEY": KEY})


def run_at(server, items: int = 40) -> tuple[str, ...]:
    return (
        "model=openai", "model.model=m", f"model.base_url={server.url}", f"task.limit={items}", "workers=processes",
        "workers.count=2", "model.max_concurrency=2",
    )  # fmt: skip


def workers(folder: Path) -> list[int]:
    """Return the processes of the workers of commands in a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if "harness.plugins.scale.processes" in command and str(folder) in command:
            found.append(int(place.name))
    return found


def manifest(folder: Path) -> dict:
    (file,) = folder.rglob("manifest.json")
    return json.loads(file.read_text())


@pytest.mark.slow
def test_a_killed_worker_costs_what_it_had_under_way_and_no_more(serve, decided, tmp_path):
    server = serve(decided, held=4)
    job = begin(tmp_path, *run_at(server, 20))
    server.wait_for_calls(8)  # two of each worker are under way
    dead, _ = workers(tmp_path)
    os.kill(dead, signal.SIGKILL)
    server.held = 10**9
    out, err = job.communicate(WAIT)
    assert job.wait() == 0, err
    assert len(server.calls) <= 22 and not workers(tmp_path)
    assert "ended without a word" in err and "are dealt again" in err and "answers came from the cache" not in out
    said = manifest(tmp_path)["workers"]
    assert (said["engine"], said["started"], said["rounds"], said["lost"]) == ("processes", 4, 2, 1)
    assert not (tmp_path / ".cache/answers.sqlite.workers").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_was_stopped_goes_on(serve, decided, tmp_path, number):
    server = serve(decided, held=16)
    job = begin(tmp_path, *run_at(server))
    server.wait_for_calls(20)
    job.send_signal(number)
    if number == signal.SIGKILL:
        job.wait(WAIT)
    else:
        wait_for(lambda: sum("stopping: " in log.read_text() for log in tmp_path.rglob("1-*.log")) == 2)
    server.held = 10**9
    _, err = job.communicate(WAIT)
    if number == signal.SIGINT:
        assert job.wait() == 130 and "interrupted: the workers have ended" in err, err
        assert not workers(tmp_path) and len(server.calls) < 40
        with sqlite3.connect(tmp_path / ".cache/answers.sqlite") as db:
            assert db.execute("SELECT count(*) FROM answers").fetchone()[0] == len(server.calls)
    again = begin(tmp_path, *run_at(server))
    _, err = again.communicate(WAIT)
    assert again.wait() == 0 and len(server.calls) == 40, err
    assert (number == signal.SIGKILL) == ("workers of an earlier command left are taken in" in err), err
    assert manifest(tmp_path)["complete"] is True


@pytest.mark.slow
def test_each_worker_loads_a_local_model_of_its_own(gpt2_path, left, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ("model=causal_lm", f"model.path={gpt2_path}", "model.name=tiny", "model.device=cpu", "task.limit=12")
    job = begin(tmp_path, *run, "workers=processes", "workers.count=2")
    _, err = job.communicate(WAIT)
    assert job.wait() == 0 and manifest(tmp_path / "results")["workers"]["started"] == 2, err
    whole = begin(tmp_path, *run, "results=whole", "cache.path=whole.sqlite")
    assert whole.wait(WAIT) == 0
    ours, theirs = left("results"), left("whole")
    assert [ours[part] for part in ("items", "counts", "configuration")] == [
        theirs[part] for part in ("items", "counts", "configuration")
    ]
