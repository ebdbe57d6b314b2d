"""Caches for tests: filled, broken, and file systems with little room."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from harness.cache import CachedModel, Store
from harness.types import ChatRequest, Message, Response, Usage
from support import forks
from support.outcomes import each
from support.scripted import Scripted

sqlite_only = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
"""For tests that look into the tables of the one file."""


def ask(text: str, **settings) -> ChatRequest:
    return ChatRequest((Message("system", "Be brief."), Message("user", text)), **{"max_tokens": 5} | settings)


def says(request) -> Response:
    return Response(f"To {request.messages[-1].content}", usage=Usage(3, 1), finish_reason="stop", seconds=0.5)


def fill(path: Path, count: int, *, name: str = "scripted", task: str = "t", of=lambda k: f"{k}?", answer=says) -> None:
    with closing(Store(path)) as store:
        list(each(CachedModel(Scripted(answer, name=name), store, task=task).respond(ask(of(k)) for k in range(count))))


def count(path: Path) -> int:
    with closing(Store(path, readonly=True)) as store:
        return store.count()


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return forks.run("harness.cache", [str(argument) for argument in arguments], Path.cwd(), os.environ)


@contextmanager
def mounted(place: Path, options: str) -> Iterator[Path]:
    """Mount a tmpfs, skipping the test where mounting is not allowed."""
    place.mkdir(exist_ok=True)
    process = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True, text=True
    )
    if process.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {process.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[4:]
from support.cache_help import ask, says
from support.scripted import Scripted
from harness.cache import CachedModel, Store
store = Store(Path(sys.argv[1]), shared=False if sys.argv[3] == "False" else None)
model = CachedModel(Scripted(says), store)
for block in range(int(sys.argv[2]) // 100):
    requests = [ask(f"{block}/{k}") for k in range(100)]
    model.keep([(model.key(request), request, says(request)) for request in requests])
    print((block + 1) * 100, flush=True)
sys.stdin.read()
"""


HERE = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]


@contextmanager
def writer(path: Path, rows: int, *, shared: bool | None = False):
    """Give a process that has the cache alone, has stored so many rows, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(rows), str(shared), *HERE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        for line in process.stdout:
            if int(line) == rows:
                break
        yield process
        process.kill()
