"""Every command that reads results folders, each in a forked process of its own that is watched while it reads.

An audit hook of Python itself notes what the process does: which modules it imports, which files it opens and how,
which programs and connections it starts. So a test says "nothing outside was read" of what was really opened.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIMIT = 200
"""Seconds after which a command hangs. None of them takes two on what tests have."""

Command = tuple[str, Callable[[Sequence[str]], list[str]]]
"""Module and arguments, from the folders to read."""

COMMANDS: dict[str, Command] = {
    "verify": ("harness.verify.__main__", lambda folders: list(folders)),
    "reread": ("harness.reread.__main__", lambda folders: list(folders)),
    "report": ("harness.report.__main__", lambda folders: [*folders, "out=out/page.html"]),
    "leaderboard": ("harness.leaderboard.__main__", lambda folders: [*folders, "out=out/board.tex", "by=relation"]),
    "compare": (
        "harness.compare.__main__",
        lambda folders: [*folders, "by=relation", "resamples=100", "out=out/compare.json"],
    ),
    "plot": ("harness.plot.__main__", lambda folders: [*folders, "out=out/figures", "format=svg"]),
    "export": ("harness.export", lambda folders: [*folders, "to=csv", "out=out/csv"]),
}

HEAVY = ("numpy", "matplotlib.font_manager", "matplotlib.backends.backend_svg", "harness.compare.difference",
         "harness.tasks.causalbench.task", "harness.tasks.causalbench", "harness.tasks.corr2cause.task",
         "harness.tasks.corr2cause", "yaml")  # fmt: skip
"""What commands import when they have begun."""

_FOREIGN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "socket.connect", "socket.bind",
            "socket.getaddrinfo", "urllib.Request", "webbrowser.open", "ctypes.dlopen", "pty.spawn")  # fmt: skip


@dataclass
class Reading:
    """What a command did."""

    code: int | str = "hangs"
    """Its exit code; how it ended where it has none."""
    out: str = ""
    err: str = ""
    modules: list[str] = field(default_factory=list)
    """Modules that it imported and that nothing had imported before."""
    opened: list[tuple[str, bool]] = field(default_factory=list)
    """Files, as far as they are real ones, and whether to write them."""
    path: list[str] = field(default_factory=list)
    """Python's search path when it had ended."""
    foreign: list[str] = field(default_factory=list)
    """Programs and connections."""

    @property
    def sane(self) -> bool:
        """Whether it ended as a command ends, without a traceback."""
        return self.code in (0, 1) and "Traceback" not in self.err + self.out and "should not have been" not in self.err


def read(name: str, folders: Sequence[str], cwd: Path, home: Path | None = None) -> Reading:
    """Run a command on some folders in `cwd`, as `python -m` would; it writes to the folder out there alone."""
    module, arguments = COMMANDS[name]
    return watched(module, arguments(folders), cwd)


def watched(module: str, arguments: Sequence[str], cwd: Path, limit: float = LIMIT) -> Reading:
    """Run the main function of a module in a fork, watched."""
    main = importlib.import_module(module).main
    with tempfile.TemporaryFile() as notes:
        sys.stdout.flush()
        sys.stderr.flush()
        if not (pid := os.fork()):
            _be_the_command(main, arguments, cwd, notes.fileno())
        ended = _ended(pid, limit)
        notes.seek(0)
        content = notes.read()
    reading = Reading(**json.loads(content)) if content else Reading()
    if ended is None:
        reading.code = "hangs"
    elif not content:
        reading.code = f"ends with status {ended}"
    return reading


def _ended(pid: int, limit: float) -> int | None:
    """Return the status with which a process ends; None if it has to be killed."""
    descriptor = os.pidfd_open(pid)
    try:
        import select

        if select.select([descriptor], [], [], limit)[0]:
            return os.waitpid(pid, 0)[1]
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return None
    finally:
        os.close(descriptor)


def _be_the_command(main: Callable[[Sequence[str]], int], arguments: Sequence[str], cwd: Path, notes: int) -> None:
    reading = Reading()
    try:
        os.chdir(cwd)
        sys.argv = ["harness", *arguments]
        out, err = io.StringIO(), io.StringIO()
        before = set(sys.modules)
        watching = True

        def hook(event: str, details: tuple[Any, ...]) -> None:
            if not watching:
                return
            if event == "import":
                reading.modules.append(str(details[0]))
            elif event == "open" and isinstance(details[0], str | bytes | os.PathLike):
                flags = details[2] if isinstance(details[2], int) else 0
                writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
                reading.opened.append((str(Path.cwd() / os.fsdecode(details[0])), writes))
            elif event in _FOREIGN:
                reading.foreign.append(f"{event} {details!r:.200}")

        sys.addaudithook(hook)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                reading.code = main(list(arguments))
            except SystemExit as stop:
                reading.code = f"SystemExit {stop.code}"
            except BaseException:
                reading.code = "raises"
                traceback.print_exc()
        watching = False
        reading.modules += sorted(set(sys.modules) - before)  # of importlib.import_module the hook hears nothing
        reading.path = sys.path[:]
        reading.out, reading.err = out.getvalue(), err.getvalue()
        os.write(notes, json.dumps(vars(reading)).encode())
    finally:
        os._exit(0)


SECRET = "the secret outside of what was sent 4711"


def place(finished_runs: Path, model: str) -> Path:
    (result,) = finished_runs.rglob(f"{model}/result.json")
    return result.parent
