"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from support import forks
from support.openai_server import KEY, Server, chat_reply
from support.server import RawServer

os.environ["HF_HUB_OFFLINE"] = "1"  # the Hub's client reads it when it is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")  # each core has a worker of its own
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of commands would each compile the package anew

# A shell ignores Ctrl-C for what it begins in the background, nohup ignores SIGHUP, and commands inherit what is
# ignored: tests that send these signals would wait for ever. A handler is not inherited, and ends no tests either.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else lambda number, frame: None)

# The same examples every day, and no limit on how long one may take on a busy machine.
hypothesis.settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")
forks.silence_remarks()
forks.ask_once()
forks.parse_once()
HOMES = count()

gc.disable()  # what is imported and collected stays: looking through it again and again took a quarter of the time


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what all tests share: a tenth of their time went into looking at it."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


DRAWN = 5
"""As many examples does `make test` draw for a property; `make test-slow` draws as many as the test says."""

WITH_TORCH = ("causal_lm", "masked_lm", "missing_parts", "nli", "shared_prefixes", "sharing_limits", "small_models",
              "upgrade", "causalbench_models", "finetune")  # fmt: skip
"""Tests of what imports torch and transformers, which takes seconds in each worker."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draw fewer examples where slow tests are left out; what draws more is slow where these are asked for."""
    # Workers take equal parts and steal from the ends of others: what computes with torch stays with the first.
    items.sort(key=lambda item: not any(name in item.path.name for name in WITH_TORCH))
    expression = config.option.markexpr
    for item in items:
        function = getattr(item, "obj", None)
        settings = getattr(function, "_hypothesis_internal_use_settings", None)
        if settings is None or settings.max_examples <= DRAWN:
            continue
        if "not slow" in expression:
            function._hypothesis_internal_use_settings = hypothesis.settings(settings, max_examples=DRAWN)
        elif expression == "slow":
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    """Restore the process's handler of Ctrl-C: a command that a test runs in this process sets its own."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Take the user's keys and cache out of a test's environment; return the folder of those that it has instead."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    # Another name for each test, and no folder: most tests need none, and making it takes longer than they do.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(HOMES))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    return home


@pytest.fixture(autouse=True)
def canary(request: pytest.FixtureRequest, quiet_environment: Path) -> Iterator[None]:
    """Check after a test with a key: it is in no file of the test's, in no output and in no log down to DEBUG."""
    if not {"key", "serve", "harness"} & set(request.fixturenames):
        yield
        return
    request.getfixturevalue("caplog").set_level(logging.DEBUG)
    tmp_path = request.getfixturevalue("tmp_path")
    yield
    written = chain(tmp_path.rglob("*"), quiet_environment.rglob("*"))
    files = [file for file in written if file.is_file() and KEY.encode() in file.read_bytes()]
    reports = [f"{when} {what}" for when, what, text in request.node._report_sections if KEY in text]
    assert not files and not reports, f"the key is in {files} {reports}"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the key of a server, whose failed calls wait a fiftieth of the time unless it says how long."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("harness.models.api.retry.FIRST", 0.01)
    return KEY


@pytest.fixture
def raw() -> Iterator[Callable[..., RawServer]]:
    """Return a function that starts servers which send any bytes."""
    servers: list[RawServer] = []

    def start(reply: Any) -> RawServer:
        servers.append(RawServer(reply))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Return a function that starts local servers; by default they answer No to everything."""
    servers: list[Server] = []

    def start(reply: Any = lambda path, body, number: chat_reply("No"), **settings: Any) -> Server:
        servers.append(Server(reply, **settings))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def harness(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `python -m harness …` in an empty folder; a `fresh` process has no imports yet."""

    def call(
        *arguments: str, module: str = "harness", fresh: bool = False, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        if fresh:
            command = [sys.executable, "-m", module, *arguments]
            surroundings: dict[str, Any] = {"cwd": tmp_path, "env": os.environ | environment}
            process = subprocess.run(command, **surroundings, capture_output=True, text=True, timeout=300)
        else:
            process = forks.run(module, arguments, tmp_path, os.environ | environment)
        assert KEY not in process.stdout + process.stderr
        return process

    return call


pytest_plugins = ["support.conftest_models"]
