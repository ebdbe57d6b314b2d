"""Short tortures; the long ones are `make torture`, docs/reliability.md says what came of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")


def torture(*options: str) -> str:
    script = Path(__file__).parent / "torture.py"
    process = subprocess.run([sys.executable, script, *options], capture_output=True, text=True, timeout=900)
    assert process.returncode == 0, process.stderr[-3000:] + process.stdout
    return process.stdout


@pytest.mark.slow
def test_faults_and_kills_lose_nothing():
    # On a machine that is busy for a second, calls with a timeout of one end though nothing hangs.
    output = torture("--runs", "4", "--seed", "8", "--timeout", "300")
    assert "| stored answers lost | 0 |" in output and "| stored answers asked again | 0 |" in output


@pytest.mark.slow
def test_a_kill_at_each_opening_and_renaming_of_a_file():
    torture("--kill", "events")
