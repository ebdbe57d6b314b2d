"""Drivers of folders of requests, run by a real Ray and a real vLLM: begun again, taken in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.openai_server import KEY, chat_reply

pytestmark = pytest.mark.cluster
RAY = Path(os.environ.get("RAY", ".servers/ray")).absolute() / "bin" / "python"
VLLM = Path(os.environ.get("VLLM_HOME", ".servers/vllm")).absolute() / "bin" / "python"
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


def test_ray_answers_what_its_checkpoint_lacks_and_nothing_twice(serve, tmp_path):
    """The second half of the parts comes later, as the rest does after a kill: what was written is left out."""
    if not RAY.exists():
        pytest.skip(f"{RAY} is not there")
    assert "16 requests" in written(tmp_path, "ray", "lines=8", "task.limit=16")
    server = serve(lambda *_: chat_reply("Yes", finish_reason="length"))
    command = [RAY, "todo/driver.py", "--url", server.url, "--calls", "2"]
    # local: a cluster that was killed leaves its address, and who comes later would wait for it.
    variables = {**os.environ, "OPENAI_API_KEY": KEY, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0",
                 "RAY_ADDRESS": "local"}  # fmt: skip
    later = tmp_path / "todo" / "part-000001.parquet"
    later.rename(tmp_path / "later")
    for asked in (8, 16):
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        assert len(server.calls) == len({json.dumps(call, sort_keys=True) for call in server.calls}) == asked
        assert "8 new" in harness(tmp_path, "harness.cache", "import", "todo/answers/")
        if not later.exists():
            (tmp_path / "later").rename(later)
    assert harness(tmp_path, "harness.cache", "export", "-").count("length") >= 16


def test_vllm_answers_the_parts_of_a_folder(tmp_path):
    if not VLLM.exists():
        pytest.skip(f"{VLLM} is not there")
    sys.path.append(str(ROOT / "tests" / "long" / "servers"))
    from tiny_served_model import checkpoint

    checkpoint(tmp_path / "tiny")
    assert "12 requests" in written(tmp_path, "vllm", "lines=6", "task.limit=12")
    options = ("--dtype", "float32", "--max-model-len", "2048", "--enforce-eager")
    # vLLM's command looks for a package called vllm, as which its build for processors is not installed.
    vllm = tmp_path / "vllm"
    vllm.write_text(f'#!/bin/sh\nshift\nexec {VLLM} -m vllm.entrypoints.openai.run_batch "$@"\n')
    vllm.chmod(0o755)
    variables = {**os.environ, **CPU, "VLLM": str(vllm)}
    command = ["sh", "todo/driver.sh", "--model", "tiny", *options]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "12 new" in harness(tmp_path, "harness.cache", "import", "todo/answers/")
