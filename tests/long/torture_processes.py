"""Runs of the command in forked processes, killed by the clock or at a chosen event, and what they leave in a cache."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sqlite3
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
FAULTS = TESTS / "support" / "fault_server.py"
IMPORTED = ("harness.__main__", "hydra", "harness.run", "harness.sweep", "harness.tasks.corr2cause.task", "openai",
            "harness.models.api.openai", "harness.cache", "harness.storage.manifest",
            "harness.storage.run_folder", "aiohttp")  # fmt: skip
"""What a run imports: once, before the forks."""
EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "sqlite3.connect")


def prepare() -> None:
    """Import what runs import, so that a fork takes a moment."""
    sys.path.insert(0, str(TESTS.parent))  # this checkout, whatever is installed
    os.environ["OPENAI_API_KEY"] = "sk-torture"
    for module in IMPORTED:
        importlib.import_module(module)


@dataclass
class Kill:
    """When a process is killed: after so many seconds, or at its so many-th opening, renaming or removing of a file."""

    after: float | None = None
    event: int | None = None


def start(arguments: list[str], folder: Path, kill: Kill) -> int | None:
    """Run the command once; return its exit code, None if it was killed."""
    pid = _forked(arguments, folder, kill)
    if kill.after is not None:
        time.sleep(kill.after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


def _forked(arguments: list[str], folder: Path, kill: Kill) -> int:
    pid = os.fork()
    if pid:
        return pid
    os.chdir(folder)
    with open(folder / "said.txt", "a") as output:  # noqa: PTH123
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    sys.argv = ["harness", *arguments]
    if kill.event is not None:
        _kill_at(kill.event, folder)
    from harness.__main__ import main

    code: object = 99
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 98)


def _kill_at(number: int, folder: Path) -> None:
    """Kill this process with SIGKILL at the numbered event that concerns a file of the folder."""
    remaining = number

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal remaining
        if event not in EVENTS or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))  # noqa: PTH100
        if path.startswith(str(folder)) and not path.endswith("said.txt"):
            remaining -= 1
            if remaining == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def stored(cache: Path) -> dict[str, str]:
    """Return the words that the cache holds, by the prompt as the server names it."""
    if not cache.exists():
        return {}
    with contextlib.closing(sqlite3.connect(cache, timeout=30)) as db:
        try:
            rows = db.execute("SELECT request, response FROM answers").fetchall()
            texts = dict(db.execute("SELECT digest, text FROM texts"))
        except sqlite3.OperationalError:  # killed before the tables were made
            return {}
    questions = [(json.loads(request)["messages"][-1]["sha256"], response) for request, response in rows]
    return {texts[digest]: json.loads(response)["text"] for digest, response in questions}
