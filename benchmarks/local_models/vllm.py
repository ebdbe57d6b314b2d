"""vLLM's build for processors, in an environment of its own (.servers/vllm, made by `make .servers/vllm/.ready`)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TypeVar

from harness.protocols import as_text
from harness.types import ChatRequest, ChoiceRequest
from local_models.timing import Scores, Way

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".servers" / "vllm" / "bin" / "python"
SCRIPT = ROOT / "benchmarks" / "peers" / "vllm_local.py"
ROW, WHOLE = "vLLM on the processor", "a script with vLLM"
CPU = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "2", "VLLM_CPU_OMP_THREADS_BIND": "nobind",
       "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}  # fmt: skip

R = TypeVar("R", ChatRequest, ChoiceRequest)


def version() -> str | None:
    """None where there is no build of it."""
    if not PYTHON.exists():
        return None
    code = "from importlib.metadata import version; print(version('vllm-cpu'))"
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() or None


def way(checkpoint: str, what: int | str) -> Way[R]:
    """A script with its library, once a run: seconds of the answers alone, and of the process from start to end.

    `what`: how many tokens it writes; or "rank", and it finds the log-odds of Yes and No: their log-probabilities among
    these two.
    """

    def ask(requests: list[R]) -> tuple[Scores[R], dict[str, float]]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            lines = [json.dumps({"prompt": as_text(request.messages)}) for request in requests]
            (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
            bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            command = [str(PYTHON), str(SCRIPT), checkpoint, "prompts.jsonl", str(what)]
            started = time.perf_counter()
            done = subprocess.run(command, cwd=folder, env=bare | CPU, capture_output=True, text=True)
            whole = time.perf_counter() - started
            if done.returncode:
                raise RuntimeError(f"vLLM failed:\n{(done.stdout + done.stderr)[-3000:]}")
            told = json.loads((folder / "found.json").read_text())
        return dict(zip(requests, told["found"], strict=True)), {ROW: told["seconds"], WHOLE: whole}

    return Way(ask)
