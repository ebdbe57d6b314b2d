"""Caches for tests: filled, broken, and file systems with little room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from harness.cache import CachedModel, Store
from harness.types import ChatRequest, Message, Response, Usage
from support import forks
from support.outcomes import each
from support.scripted import Scripted


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
