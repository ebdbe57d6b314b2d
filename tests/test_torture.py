"""A short torture; the long one is `make torture`, its outcome stands in docs/reliability.md."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")
def test_faults_and_kills_lose_nothing():
    script = Path(__file__).parent / "torture.py"
    done = subprocess.run(
        # On a machine that is busy for a second, calls with a timeout of one end though nothing hangs.
        [sys.executable, script, "--runs", "6", "--seed", "8", "--timeout", "300"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout
    assert "| stored answers lost | 0 |" in done.stdout and "| stored answers asked again | 0 |" in done.stdout
