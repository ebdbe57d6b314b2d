"""Standard output and error that are closed, full, or a terminal that has gone."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import subprocess
import sys
import termios
from contextlib import closing
from pathlib import Path

import pytest
from support import forks
from support.cache_help import mounted
from support.openai_server import KEY, WAIT, chat_reply, wait_for
from support.thinned import few

from harness.cache import Store

LOST = "what was to be printed is lost"


def shell(folder: Path, command: str, redirected: str) -> subprocess.CompletedProcess[str]:
    """Run a command with its streams redirected by a shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -m {command} {redirected}', sys.executable],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WAIT,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "redirected", "code", "words"),
    few(
        [
            ("harness task.limit=5", ">&-", 1, LOST),
            ("harness task.limit=5", ">/dev/full", 1, LOST),
            ("harness task.limit=5", "2>&-", 0, ""),
            ("harness task.limit=5", "2>/dev/full", 0, ""),
            ("harness task.limit=5", ">&- 2>&-", 1, ""),
            ("harness task.limit=5", "0<&- >&- 2>&-", 1, ""),
            ("harness task.limt=5", ">&- 2>&-", 1, ""),
            ("harness -m task.limit=5,6", ">/dev/full", 1, LOST),
            ("harness task.limit=5 dry_run=true", ">/dev/full", 1, LOST),
            ("harness --cfg job", ">/dev/full", 1, LOST),
        ],
        1,
    ),
)
def test_what_is_printed_in_vain_is_a_sentence_and_files_are_whole(tmp_path, command, redirected, code, words):
    process = shell(tmp_path, command, redirected)
    assert process.returncode == code, process.stderr
    assert words in process.stderr and "Traceback" not in process.stderr and "Exception ignored" not in process.stderr
    assert process.stderr.count("error: ") == (1 if code and "2>&-" not in redirected else 0)
    if "task.limit=5" in command and "dry_run" not in command and "items" not in command:
        place = tmp_path / "results/corr2cause/limit=5/plain/reasoner"
        assert json.loads((place / "manifest.json").read_text())["complete"] is True
        assert len((place / "records.jsonl").read_text().splitlines()) == 5
        assert LOST not in "".join(file.read_text() for file in place.iterdir())


@pytest.mark.slow
def test_who_reads_no_more_is_no_error_to_tell(tmp_path):
    process = shell(tmp_path, "harness task.limit=5", "| true")
    assert not process.stderr


@pytest.mark.slow
def test_a_terminal_that_goes_away_ends_a_run_in_order(serve, harness, tmp_path):
    server = serve(held=30)
    arguments = ["model=gpt4", f"model.base_url={server.url}", "task.limit=300", "model.max_concurrency=8"]
    ours, theirs = pty.openpty()
    job = subprocess.Popen(
        [sys.executable, "-m", "harness", *arguments],
        cwd=tmp_path,
        env=os.environ | {"OPENAI_API_KEY": KEY},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    server.wait_for_calls(31)
    os.close(ours)  # and with it the terminal: SIGHUP
    server.held = 31
    wait_for(lambda: len(server.calls) > 31 or job.poll() is not None or server.in_flight < 8)
    server.held = 10**9
    assert job.wait(WAIT) > 0
    place = tmp_path / "results/corr2cause/limit=300/plain/gpt4"
    assert json.loads((place / "manifest.json").read_text())["complete"] is False
    calls = len(server.calls)
    assert calls < 300
    assert len((place / "records.jsonl").read_text().splitlines()) == calls
    process = harness(*arguments, OPENAI_API_KEY=KEY)
    assert process.returncode == 0 and len(server.calls) == 300, process.stderr


@pytest.mark.slow
def test_a_full_results_disk_costs_no_call_that_is_under_way(serve, tmp_path):
    text = "No, and this is said at length. " * 30
    server = serve(lambda *_: chat_reply(text), delay=0.1)  # so there are always some under way
    with mounted(tmp_path / "disk", "size=200k") as disk:
        arguments = ["model=gpt4", f"model.base_url={server.url}", "task.limit=400", f"results={disk}/results"]
        environment = os.environ | {"OPENAI_API_KEY": KEY}
        process = forks.run("harness", arguments, tmp_path, environment)
    assert process.returncode == 1
    assert process.stderr.startswith("error: ") and "make room" in process.stderr and process.stderr.count("\n") == 1
    assert len(server.calls) < 400
    with closing(Store(tmp_path / ".cache/answers.sqlite", readonly=True)) as store:
        assert next(store.query("SELECT count(*) FROM answers"))[0] == len(server.calls)
