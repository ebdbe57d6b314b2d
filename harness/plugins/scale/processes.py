"""Work in processes of this machine: the shards of a run (workers=processes), or the jobs of a sweep (parallel=N).

Each process runs this module with a piece of work as its arguments. It ends in order when its standard input is closed:
on Ctrl-C, and also when the process that started it is killed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any

from pydantic import Field

import harness
from harness.cli.key_value import exit_code
from harness.engine import State, Work
from harness.plugin import load
from harness.runtime import console, signals
from harness.sweep.jobs import say


@dataclass(frozen=True)
class Processes:
    """configs/workers/processes.yaml says what each setting means."""

    count: Annotated[int, Field(ge=1)] | None = None

    @property
    def name(self) -> str:
        return "processes"

    def check(self, setting: str) -> int:
        return self.count or len(_gpus()) or len(os.sched_getaffinity(0))

    def start(self, work: Sequence[Work], folder: Path) -> _Processes:
        """Start as many processes as run at a time; the others start as these end."""
        return _Processes(work, self.check(""), partial(self._begun, folder))

    def cancel_named(self, names: Sequence[str]) -> None:
        """Do nothing: they end with the process that began them."""

    def _begun(self, folder: Path, work: Work, slot: int) -> subprocess.Popen[bytes]:
        """Start a process with a GPU, or its part of the cores, for itself and a log in the folder."""
        environment = {}
        if gpus := _gpus():
            environment["CUDA_VISIBLE_DEVICES"] = gpus[slot % len(gpus)]
        elif (count := self.check("")) > 1:
            environment["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // count))
            environment |= {name: os.environ[name] for name in environment if name in os.environ}
        with (folder / f"{work.name}.log").open("ab") as log:
            return _begun(work, environment, log, log)


@dataclass(frozen=True)
class Parallel(Processes):
    """The processes of parallel=N, whose lines are printed here, each with the number of its job before it."""

    def _begun(self, folder: Path, work: Work, slot: int) -> subprocess.Popen[bytes]:
        process = _begun(work, {}, subprocess.DEVNULL, subprocess.PIPE)
        relay = threading.Thread(target=_relay, args=(process.stderr, f"[{work.name}]"), daemon=True)
        relay.start()
        _RELAYS[process.pid] = relay
        return process


_RELAYS: dict[int, threading.Thread] = {}
"""The thread that prints the lines of a process, by its id."""


class _Processes:
    """Processes, of which some run and others wait for their turn."""

    title, names, grace, outlives = "processes", (), 0.0, False

    def __init__(self, work: Sequence[Work], count: int, begin: Callable[[Work, int], subprocess.Popen[bytes]]) -> None:
        self._queue, self._count, self._begin = deque(work), count, begin
        self._running: dict[str, tuple[subprocess.Popen[bytes], int]] = {}
        """By their names, each with its slot."""
        self._ended: dict[str, int] = {}
        """With their exit codes."""
        self._fill()

    def states(self) -> Mapping[str, State]:
        """Return the states, after starting others in the place of those that have ended."""
        for name, (process, _) in list(self._running.items()):
            if (code := process.poll()) is not None:
                if (relay := _RELAYS.pop(process.pid, None)) is not None:
                    relay.join()
                del self._running[name]
                self._ended[name] = code
        self._fill()
        states: dict[str, State] = dict.fromkeys(self._ended, "ended")
        queue = [work.name for work in self._queue]
        return states | dict.fromkeys(self._running, "running") | dict.fromkeys(queue, "waiting")

    def end_of(self, name: str) -> str:
        code = self._ended.get(name, 0)
        return f"exit code {code}" + "; killed, or out of memory" * (code < 0)

    def waiting(self) -> str:
        return ""

    def cancel(self, *, at_once: bool = False) -> None:
        """Close the standard input of running processes; drop work that has not begun."""
        self._ended |= {work.name: 0 for work in self._queue}
        self._queue.clear()
        for process, _ in self._running.values():
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
            if at_once:
                process.kill()

    def _fill(self) -> None:
        taken = {slot for _, slot in self._running.values()}
        for slot in range(self._count):
            if slot not in taken and self._queue:
                work = self._queue.popleft()
                self._running[work.name] = self._begin(work, slot), slot


def _begun(
    work: Work, environment: Mapping[str, str], out: IO[bytes] | int, err: IO[bytes] | int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(work),
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=err,
        env={**os.environ, "PYTHONPATH": python_path(), **environment},
        start_new_session=True,  # a terminal's Ctrl-C goes to the parent alone, which closes standard input
    )


def _relay(lines: IO[bytes], mark: str) -> None:
    for line in lines:
        text = line.decode("utf-8", "replace").rstrip()
        if text and not text.startswith("stopping: "):  # said once, for all jobs
            say(text if text.startswith(mark) else f"{mark} {text.strip()}")


def _gpus() -> list[str]:
    """Return the GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    if (visible := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return [gpu for gpu in visible.split(",") if gpu.strip()]
    if shutil.which("nvidia-smi") is None:
        return []
    try:
        listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [str(number) for number in range(sum(line.startswith("GPU ") for line in listing.splitlines()))]


def command(work: Work) -> Sequence[str]:
    """Return the command line of a process that carries out a piece of work."""
    # -P: no package is looked for in the working directory first, where anything may lie.
    return [
        sys.executable,
        "-P",
        "-m",
        "harness.plugins.scale.processes",
        work.name,
        work.function,
        json.dumps(work.argument),
    ]


def python_path() -> str:
    """Return the PYTHONPATH with which another process finds this harness, installed or not."""
    home = str(Path(harness.__file__).resolve().parent.parent)
    return os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])


def perform(function: str, argument: Any) -> int:
    return int(load(function)(argument))


def main() -> None:
    """Carry out the work that the command line describes."""
    console.prepare_streams()
    threading.Thread(target=_end_with_input, daemon=True).start()
    _, function, argument = sys.argv[1:]
    signals.leave(exit_code(lambda: perform(function, json.loads(argument)), interrupted=""))


def _end_with_input() -> None:
    """Wait for the end of standard input, then have this process end in order."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
