"""Jobs of a sweep side by side: one budget, whole lines, and a stop that loses nothing."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from support import forks
from support.openai_server import KEY, WAIT

pytestmark = pytest.mark.slow


def begin(folder: Path, *arguments: str) -> forks.Command:
    return forks.Command("harness", ["-m", *arguments], folder, os.environ | {"OPENAI_API_KEY": KEY})


def test_jobs_side_by_side_keep_one_budget_and_speak_in_whole_lines(serve, tmp_path):
    server = serve()
    sweep = ("model=gpt35,gpt4,always_no", f"model.base_url={server.url}", "task.limit=20", "parallel=3")
    first = begin(tmp_path, *sweep, "budget.requests=30")
    _, err = first.communicate(WAIT)
    assert first.wait() == 1 and len(server.calls) == 30
    assert all(line.startswith(("[", "model=always_no", "sweep: ")) for line in err.splitlines() if line), err
    again = begin(tmp_path, *sweep)
    out, err = again.communicate(WAIT)
    assert again.wait() == 0 and len(server.calls) == 40 and "3 of 3 jobs are done" in err, err
    assert all(f"| {name} " in out for name in ("gpt35", "gpt4", "always_no"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stop_loses_nothing(serve, tmp_path, number):
    server = serve(held=40)
    sweep = (
        "model=gpt35,gpt4",
        f"model.base_url={server.url}",
        "task.limit=30",
        "parallel=2",
        "model.max_concurrency=2",
    )
    job = begin(tmp_path, *sweep)
    server.wait_for_calls(41)
    job.send_signal(number)
    if number == signal.SIGINT:
        server.held = 10**9
    _, err = job.communicate(WAIT)
    if number == signal.SIGINT:
        assert job.wait() == 130 and err.count("stopping:") == 1 and err.count("interrupted") == 1, err
    asked = len(server.calls)
    server.held = 10**9
    again = begin(tmp_path, *sweep)
    again.communicate(WAIT)
    assert again.wait() == 0
    assert len(server.calls) <= 60 + (asked if number == signal.SIGKILL else 0)
    results = [json.loads(file.read_text()) for file in tmp_path.glob("results/*/*/*/*/result.json")]
    assert [result["complete"] for result in results] == [True, True]
