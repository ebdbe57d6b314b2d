"""Two real language models, asked, killed, asked again and verified: `make test-real` installs them and calls this."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(3600)  # on a machine that is busy with other work
ITEMS = 40
HARNESS = [sys.executable, "-m", "harness"]
GGUF = Path(__file__).resolve().parents[2] / ".cache/models"
"""Checkpoints made of the packages' files: the same for all runs of this checkout."""


@pytest.fixture(params=["smollm2", "gemma3_270m"])
def run(request, tmp_path) -> list[str]:
    """The command that asks one of them, in an empty folder."""
    GGUF.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/models").symlink_to(GGUF)
    os.chdir(tmp_path)
    return [*HARNESS, f"model={request.param}", f"task.limit={ITEMS}"]


def stored() -> int:
    try:
        with closing(sqlite3.connect("file:.cache/answers.sqlite?mode=ro", uri=True)) as answers:
            return int(answers.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.OperationalError:  # not yet there
        return 0


def output_of(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_it_is_asked_and_killed_and_goes_on_and_is_verified(run):
    first = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not stored() and first.poll() is None:
        time.sleep(0.02)
    first.kill()
    first.wait()
    kept = stored()
    assert 0 < kept <= ITEMS
    assert f"{kept} answers came from the cache, {ITEMS - kept} were asked now" in output_of(run)
    assert stored() == ITEMS
    output_of([*run, "model.method=generate", "results=written"])
    assert stored() == 2 * ITEMS
    assert "2 of 2 runs hold" in output_of([*HARNESS, "verify", "results", "written"])
