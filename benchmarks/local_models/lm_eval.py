"""lm-evaluation-harness, in an environment of its own (.bench/lm-eval, made by `make bench-peers`)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.protocols import as_text
from harness.types import ChatRequest, ChoiceRequest
from local_models.timing import Scores, Way

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".bench" / "lm-eval" / "bin" / "python"
TASK = ROOT / "benchmarks" / "peers" / "lm_eval"
ROW, WHOLE = "lm-evaluation-harness, batches of {}", "python -m lm_eval"


def version() -> str | None:
    """None where it is not installed."""
    if not PYTHON.exists():
        return None
    code = "from importlib.metadata import version; print(version('lm_eval'))"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def way(checkpoint: str, batch: int) -> Way[ChoiceRequest]:
    """Its command, once a run: seconds of its log-likelihoods alone, and of the process from start to end."""

    def ask(requests: list[ChoiceRequest]) -> tuple[Scores[ChoiceRequest], dict[str, float]]:
        samples, seconds, whole = _evaluated(checkpoint, batch, "harness_prompts", requests)
        found: Scores[ChoiceRequest] = {}
        for line in samples:
            values = [float(value) for value, _ in line["filtered_resps"]]
            found[requests[line["doc_id"]]] = dict(zip(("Yes", "No"), values, strict=True))
        return found, {ROW.format(batch): seconds, WHOLE: whole}

    return Way(ask)


def writing(checkpoint: str, batch: int) -> Way[ChatRequest]:
    """Its command, once a run: seconds of its generation alone, and of the process from start to end."""

    def ask(requests: list[ChatRequest]) -> tuple[Scores[ChatRequest], dict[str, float]]:
        samples, seconds, whole = _evaluated(checkpoint, batch, "harness_writes", requests)
        return {requests[line["doc_id"]]: {} for line in samples}, {ROW.format(batch): seconds, WHOLE: whole}

    return Way(ask)


def _evaluated(
    checkpoint: str, batch: int, task: str, requests: Sequence[ChatRequest | ChoiceRequest]
) -> tuple[list[dict[str, Any]], float, float]:
    """Return its samples, seconds of its answers alone, and seconds of its process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [json.dumps({"prompt": as_text(request.messages), "label": 0}) for request in requests]
        (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
        command = [PYTHON, TASK / "timed.py", "run", "--model", "hf", "--device", "cpu", "--batch_size", batch]
        command += ["--model_args", f"pretrained={checkpoint},dtype=float32", "--tasks", task]
        command += ["--include_path", TASK, "--output_path", "out", "--log_samples"]
        own = {"SECONDS": str(folder / "seconds"), "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "data")}
        bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        started = time.perf_counter()
        done = subprocess.run(list(map(str, command)), cwd=folder, env=bare | own, capture_output=True, text=True)
        whole = time.perf_counter() - started
        if done.returncode:
            raise RuntimeError(f"lm-evaluation-harness failed:\n{done.stderr[-3000:]}")
        (samples,) = folder.glob("out/**/samples_*.jsonl")
        found = [json.loads(line) for line in samples.read_text().splitlines()]
        return found, float((folder / "seconds").read_text()), whole
