"""Drivers of folders of requests, run by a real Ray and a real vLLM: killed, begun again, taken in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from slurm_runs import wait_until
from support.openai_server import KEY, chat_reply

pytestmark = pytest.mark.cluster
RAY = Path(os.environ.get("RAY", ".servers/ray")).absolute() / "bin" / "python"
VLLM = Path(os.environ.get("VLLM_HOME", ".servers/vllm")).absolute() / "bin" / "vllm"
ROOT = Path(__file__).resolve().parents[3]
CPU = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind",
       "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}  # fmt: skip


def harness(folder: Path, *arguments: str) -> str:
    """Return what a command prints."""
    variables = {**os.environ, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def written(folder: Path, engine: str, *run: str) -> str:
    model = ("model=openai", "model.model=tiny", "task=corr2cause", *run)
    return harness(folder, "harness.cache", "requests", "todo/", f"driver={engine}", *model)


def test_ray_answers_what_is_left_after_a_kill(serve, tmp_path):
    if not RAY.exists():
        pytest.skip(f"{RAY} is not there")
    assert "64 requests" in written(tmp_path, "ray", "lines=8", "task.limit=64")
    server = serve(lambda *_: chat_reply("Yes", finish_reason="length"), delay=0.2)
    command = [RAY, "todo/driver.py", "--url", server.url, "--calls", "2"]
    variables = {**os.environ, "OPENAI_API_KEY": KEY, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
    log = (tmp_path / "log").open("wb")
    begun = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=log, stderr=log, start_new_session=True)
    answers = tmp_path / "todo" / "answers"
    wait_until(lambda: answers.exists() and len(list(answers.glob("*.parquet"))) >= 2)
    os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    stored = int(harness(tmp_path, "harness.cache", "import", "todo/answers/").partition(" new")[0].split()[-1])
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert 0 < stored < 64 and f"{64 - stored} new" in harness(tmp_path, "harness.cache", "import", "todo/answers/")
    asked = Counter(json.dumps(call, sort_keys=True) for call in server.calls)
    assert len(asked) == 64 and asked.total() <= 64 + 16  # what was under way in both tasks
    lines = harness(tmp_path, "harness.cache", "export", "-")
    assert lines.count('"finish_reason": "length"') + lines.count('"finish_reason":"length"') == 64


def test_vllm_answers_the_parts_of_a_folder(tmp_path):
    if not VLLM.exists():
        pytest.skip(f"{VLLM} is not there")
    sys.path.append(str(ROOT / "tests" / "long" / "servers"))
    from tiny_served_model import checkpoint

    checkpoint(tmp_path / "tiny")
    assert "12 requests" in written(tmp_path, "vllm", "lines=6", "task.limit=12")
    options = ("--dtype", "float32", "--max-model-len", "2048", "--enforce-eager")
    variables = {**os.environ, **CPU, "VLLM": str(VLLM)}
    command = ["sh", "todo/driver.sh", "tiny", *options]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "12 new" in harness(tmp_path, "harness.cache", "import", "todo/answers/")
