"""The same command again: after kill -9, after Ctrl-C, after failures, and when all is done."""

from __future__ import annotations

import json
import math
import os
import signal
from pathlib import Path

import pytest
from support import forks
from support.openai_server import KEY, WAIT, chat_reply, error, wait_for


def started(tmp_path: Path, url: str, *more: str) -> forks.Command:
    arguments = ["model=gpt4", f"model.base_url={url}", "task.limit=100", "model.max_concurrency=8", *more]
    return forks.Command("harness", arguments, tmp_path, os.environ | {"OPENAI_API_KEY": KEY})


def test_after_kill_9_no_stored_answer_is_asked_again(harness, serve, tmp_path):
    server = serve(held=60)
    job = started(tmp_path, server.url)
    server.wait_for_calls(61)
    job.kill()
    job.wait()
    server.held = math.inf
    place = tmp_path / "results/corr2cause/limit=100/plain/gpt4"
    assert not (place / "result.json").exists()
    process = harness(
        "model=gpt4", f"model.base_url={server.url}", "task.limit=100", "model.max_concurrency=8", OPENAI_API_KEY=KEY
    )
    assert process.returncode == 0, process.stderr
    contents = [call["messages"][-1]["content"] for call in server.calls]
    twice = len(contents) - len(set(contents))
    assert len(set(contents)) == 100
    assert twice <= 8, f"{twice} asked twice"
    assert json.loads((place / "result.json").read_text())["complete"] is True


@pytest.mark.parametrize(
    ("number", "times"),
    [
        (signal.SIGINT, 1),
        pytest.param(signal.SIGINT, 2, marks=pytest.mark.slow),
        *(
            pytest.param(number, 1, marks=pytest.mark.slow)
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
        ),
    ],
)
def test_ctrl_c_loses_nothing(harness, serve, tmp_path, number, times):
    server = serve(held=60)
    job = started(tmp_path, server.url)
    server.wait_for_calls(61)
    job.send_signal(number)
    wait_for(lambda: "stopping" in job.output)
    if times == 2:
        job.send_signal(number)
        job.wait(WAIT)  # though the calls under way get no answer
    server.held = math.inf
    output, errors = job.communicate(WAIT)
    assert job.returncode == 130, errors
    assert times == 2 or output.startswith("NOT COMPLETE")
    assert [line.partition(":")[0] for line in errors.splitlines()][-2:] == ["stopping", "interrupted"], errors
    assert len(server.calls) < 100
    if times == 1:
        place = tmp_path / "results/corr2cause/limit=100/plain/gpt4"
        assert json.loads((place / "result.json").read_text())["complete"] is False
        recorded = len((place / "records.jsonl").read_text().splitlines())
        assert recorded == len(server.calls)
    calls = len(server.calls)
    process = harness("model=gpt4", f"model.base_url={server.url}", "task.limit=100", OPENAI_API_KEY=KEY)
    assert process.returncode == 0, process.stderr
    assert len(server.calls) - 100 <= (0 if times == 1 else 8), calls


def test_the_same_run_once_more_leaves_result_and_manifest_alone(harness, tmp_path):
    place = tmp_path / "results/corr2cause/limit=5/plain/always_no"
    assert harness("model=always_no", "task.limit=5").returncode == 0
    before = {name: (place / name).read_bytes() for name in ("result.json", "manifest.json")}
    (place / "records.jsonl").unlink()
    assert harness("model=always_no", "task.limit=5", fresh=True).returncode == 0  # with hashes of its own
    assert before == {name: (place / name).read_bytes() for name in before}
    assert len((place / "records.jsonl").read_text().splitlines()) == 5


@pytest.mark.slow
def test_a_run_with_failures_says_so_and_the_next_one_asks_only_for_them(harness, serve):
    down = iter([True] * 3)
    server = serve(lambda path, body, number: error(500, "oops") if next(down, False) else chat_reply("No"))
    arguments = ("model=gpt4", f"model.base_url={server.url}", "task.limit=20", "model.attempts=1")
    first = harness(*arguments, OPENAI_API_KEY=KEY)
    assert first.returncode == 1 and "3 calls failed in a way that may pass" in first.stderr
    assert first.stdout.startswith("NOT COMPLETE")
    assert "Not complete, so not ranked: limit=20/plain/gpt4" in harness(module="harness.leaderboard").stdout
    again = harness(*arguments, OPENAI_API_KEY=KEY)
    assert again.returncode == 0 and len(server.calls) == 23
