"""Standard output and error that are closed, full, without a reader, of few characters, or a terminal that has gone."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from support.openai_server import KEY, WAIT, wait_for


def shell(folder: Path, command: str, redirected: str) -> subprocess.CompletedProcess[str]:
    """Run a command with its streams redirected by a shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -m {command} {redirected}', sys.executable],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=WAIT,
    )


@pytest.mark.parametrize("redirected", [">&-", "2>&-", pytest.param("0<&- >&- 2>&-", marks=pytest.mark.slow)])
def test_a_stream_that_is_closed_costs_no_file(tmp_path, redirected):
    process = shell(tmp_path, "harness model=always_no task.limit=5", redirected)
    assert process.returncode == 0, process.stderr
    place = tmp_path / "results/corr2cause/limit=5/plain/always_no"
    assert json.loads((place / "manifest.json").read_text())["complete"] is True
    assert len((place / "records.jsonl").read_text().splitlines()) == 5


@pytest.mark.slow
def test_a_full_standard_output_is_an_error(tmp_path):
    process = shell(tmp_path, "harness model=always_no task.limit=5", ">/dev/full")
    assert process.returncode and "error: " in process.stderr and "Traceback" not in process.stderr


@pytest.mark.parametrize("command", ["harness model=always_no task.limit=5", "harness --help", "harness.items --help"])
def test_who_reads_no_more_is_no_error_to_tell(tmp_path, command):
    process = shell(tmp_path, command, "| true")
    assert not process.stderr


def test_few_characters_are_no_error(tmp_path):
    variables = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "harness", "model=random_uniform", "task.limit=6"]
    process = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, timeout=WAIT)
    assert process.returncode == 0 and b"| all " in process.stdout and process.stdout.isascii(), process.stderr
    process = subprocess.run([*command, "model.name=é"], cwd=tmp_path, env=variables, capture_output=True, timeout=WAIT)
    assert process.returncode == 1 and process.stderr.startswith(b"error: this locale") and b"UTF8=1" in process.stderr


def test_json_on_standard_output_is_utf_8_in_any_encoding():
    code = (
        "import sys\nfrom harness.runtime import console\nconsole.prepare_streams()\n"
        "from harness.storage.atomic_write import atomic_file\n"
        "print('–')\nwith atomic_file('-') as file: file.write('–\\n')\nprint('–')"
    )
    process = subprocess.run([sys.executable, "-c", code], env={"PYTHONIOENCODING": "latin-1"}, capture_output=True)
    assert process.stdout == b"\\u2013\n\xe2\x80\x93\n\xe2\x80\x93\n", process.stderr


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
