"""Real servers with a tiny model, started once a session; `make test-servers` installs and asks for them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.tiny_served_model import WRITE_GGUF, checkpoint

HERE = Path(__file__).parent
ENVIRONMENTS = Path(os.environ.get("SERVERS", ".servers")).absolute()
PATIENCE = 600.0
"""Seconds for a server to be ready: vLLM takes one of them for every import on a busy machine."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these tests out where they were not asked for by their marker."""
    return None if "servers" in (config.getoption("markexpr") or "") else True


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("served") / "tiny")


def started(name: str, arguments: list[str], log: Path, **environment: str) -> Iterator[str]:
    """Start a server of an environment, give its address, end it."""
    python = ENVIRONMENTS / name / "bin" / "python"
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    with log.open("wb") as out:
        variables = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", **environment}
        command = [str(python), *(part.format(port=port) for part in arguments)]
        process = subprocess.Popen(command, stdout=out, stderr=out, env=variables, start_new_session=True)
    try:
        end = time.monotonic() + PATIENCE
        while not answers(port):
            assert process.poll() is None, f"{name} ended: {log.read_text(errors='replace')[-3000:]}"
            assert time.monotonic() < end, f"{name} is not ready: {log.read_text(errors='replace')[-3000:]}"
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # with all that it has started
        process.wait()


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def need(name: str, module: str) -> None:
    """Skip where a server is not there: vLLM's build for processors is for some machines only."""
    python = ENVIRONMENTS / name / "bin" / "python"
    found = python.exists() and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0
    if not found:
        pytest.skip(f"{name} is not in {ENVIRONMENTS}: make test-servers installs it where it can be had")


@pytest.fixture(scope="session")
def transformers_serve(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    need("transformers", "transformers")
    command = ["-m", "transformers.cli.transformers", "serve", str(tiny), "--device", "cpu", "--port", "{port}"]
    yield from started("transformers", command, tmp_path_factory.mktemp("log") / "transformers")


@pytest.fixture(scope="session")
def llama_cpp(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    need("llama_cpp", "xllamacpp")
    folder = tmp_path_factory.mktemp("gguf")
    python = ENVIRONMENTS / "llama_cpp" / "bin" / "python"
    subprocess.run([python, WRITE_GGUF, tiny, folder / "tiny.gguf"], check=True, timeout=120)
    command = [str(HERE / "llama_cpp_server.py"), "-m", str(folder / "tiny.gguf"), "--port", "{port}"]
    yield from started("llama_cpp", command, folder / "log")


@pytest.fixture(scope="session")
def vllm(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    need("vllm", "vllm")
    options = {"--model": str(tiny), "--served-model-name": "tiny", "--dtype": "float32", "--max-model-len": "2048"}
    command = ["-m", "vllm.entrypoints.openai.api_server", *(part for pair in options.items() for part in pair)]
    cpu = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    log = tmp_path_factory.mktemp("log") / "vllm"
    yield from started("vllm", [*command, "--enforce-eager", "--port", "{port}"], log, **cpu, VLLM_NO_USAGE_STATS="1")
