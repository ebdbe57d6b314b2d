"""Workers as processes of this machine, each with a GPU for itself where there are any."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated

from pydantic import Field

from harness.plugins.scale.engine import State
from harness.plugins.scale.surroundings import python_path


@dataclass(frozen=True)
class Processes:
    """configs/workers/processes.yaml says what each setting means."""

    count: Annotated[int, Field(ge=1)] | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return "processes"

    def check(self) -> int:
        """Return the number of processes at a time."""
        return self.count or len(_gpus()) or len(os.sched_getaffinity(0))

    def start(self, orders: Sequence[Path], log: Path) -> _Started:
        """Begin as many as there are at a time; the others begin when these have ended."""
        return _Started(deque(orders), log, self.check())

    def cancel_named(self, names: Sequence[str]) -> None:
        """Do nothing: they end with the process that began them."""


class _Started:
    """Processes, of which some run and others wait for their turn."""

    names = ()

    def __init__(self, waiting: deque[Path], log: Path, count: int) -> None:
        self._waiting, self._log, self._count = waiting, log, count
        self._running: dict[Path, tuple[subprocess.Popen[bytes], int]] = {}
        """By their orders, each with its place among those at a time."""
        self._ended: dict[Path, int] = {}
        """With their exit codes."""
        self._begin()

    def states(self) -> Mapping[Path, State]:
        """Return the state of each worker, after beginning others in the place of those that have ended."""
        for order, (process, _) in list(self._running.items()):
            if (code := process.poll()) is not None:
                del self._running[order]
                self._ended[order] = code
        self._begin()
        states: dict[Path, State] = dict.fromkeys(self._ended, "ended")
        return states | dict.fromkeys(self._running, "running") | dict.fromkeys(self._waiting, "waiting")

    def end_of(self, order: Path) -> str:
        """Return the signal or the exit code that ended it."""
        code = self._ended.get(order, 0)
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"

    def cancel(self) -> None:
        """Close their standard input, which ends them in order; so does the end of this process, however it ends."""
        self._ended |= dict.fromkeys(self._waiting, 0)
        self._waiting.clear()
        for process, _ in self._running.values():
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()

    def _begin(self) -> None:
        taken = {place for _, place in self._running.values()}
        for place in range(self._count):
            if place not in taken and self._waiting:
                order = self._waiting.popleft()
                with (self._log / f"{order.stem}.log").open("ab") as log:
                    self._running[order] = _started(order, self._environment(place), log), place

    def _environment(self, place: int) -> dict[str, str]:
        """Return the environment of a process: a GPU for itself, or its part of the cores."""
        environment = {**os.environ, "PYTHONPATH": python_path()}
        if gpus := _gpus():
            environment["CUDA_VISIBLE_DEVICES"] = gpus[place % len(gpus)]
        elif self._count > 1:
            environment.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // self._count)))
        return environment


def _started(order: Path, environment: Mapping[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        # -P: no package is looked for in the working directory first, where anything may lie.
        [sys.executable, "-P", "-m", "harness.plugins.scale.worker", str(order)],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        env=environment,
        start_new_session=True,  # a terminal's Ctrl-C goes to the process that began it, which tells it
    )


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
