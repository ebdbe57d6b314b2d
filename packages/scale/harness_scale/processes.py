"""Work in processes of this machine: the shards of a run, or the jobs of a sweep.

Each process runs this module with a piece of work as its arguments. It ends in order when its standard input is closed:
on Ctrl-C, and also when the process that started it is killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated, Any, ClassVar

from pydantic import Field

import harness
from harness.cli.key_value import exit_code
from harness.engine import Work
from harness.plugin import load
from harness.runtime import console, signals
from harness.sweep.jobs import say
from harness_scale.watching import Taken, wait


@dataclass(frozen=True)
class Processes:
    """Processes whose lines are printed here: one for each GPU, which it has for itself, else as many as cores."""

    count: Annotated[int, Field(ge=1)] | None = None
    tells: ClassVar[bool] = True

    def check(self, setting: str) -> int:
        return self.count or len(_gpus()) or len(os.sched_getaffinity(0))

    def carry_out(self, work: Sequence[Work], folder: Path, has_ended: Callable[[str], bool]) -> Mapping[str, str]:
        """Start as many as run at a time, others as these end, and wait for all."""
        count, running, slots = self.check(""), set[subprocess.Popen[bytes]](), SimpleQueue[int]()
        pool = ThreadPoolExecutor(count)

        def run(piece: Work) -> str:
            slot = slots.get()
            process = subprocess.Popen(
                # -P: no package is looked for in the working directory first, where anything may lie.
                [sys.executable, "-P", "-m", "harness_scale.processes", piece.function, json.dumps(piece.argument)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": python_path(), **self.environment(slot)},
                start_new_session=True,  # a terminal's Ctrl-C goes to the parent alone, which closes standard input
            )
            running.add(process)
            assert process.stderr is not None
            for line in process.stderr:
                text, mark = line.decode("utf-8", "replace").strip(), f"[{piece.name}]"
                if text and not text.startswith("stopping: "):  # said once, for all
                    say(text if text.startswith(mark) else f"{mark} {text}")
            code = process.wait()
            running.discard(process)
            slots.put(slot)
            return f"exit code {code}" + "; killed, or out of memory" * (code < 0)

        def cancel() -> None:
            """Close the standard input of running processes; drop work that has not begun."""
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                assert process.stdin is not None
                with suppress(OSError):
                    process.stdin.close()

        def ends() -> dict[str, str]:
            done = {name: future for name, future in futures.items() if future.done()}
            return {name: "not begun" if future.cancelled() else future.result() for name, future in done.items()}

        for slot in range(count):
            slots.put(slot)
        futures = {piece.name: pool.submit(run, piece) for piece in work}
        try:
            return wait(Taken("processes", ends, cancel), [*futures], has_ended)
        finally:
            cancel()

    def environment(self, slot: int) -> dict[str, str]:
        """Return the GPU, or the number of threads, that the process in one of the places has for itself."""
        if gpus := _gpus():
            return {"CUDA_VISIBLE_DEVICES": gpus[slot % len(gpus)]}
        threads = str(max(1, (os.cpu_count() or 1) // self.check("")))
        return {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", threads)}


def _gpus() -> list[str]:
    """Return the GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    there = sorted(place.name.removeprefix("nvidia") for place in Path("/dev").glob("nvidia[0-9]*"))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(there))
    return [gpu for gpu in visible.split(",") if gpu.strip()]


def python_path() -> str:
    """Return the PYTHONPATH with which another process finds this harness and this package, installed or not."""
    homes = [str(Path(file).resolve().parents[1]) for file in (harness.__file__, __file__)]
    return os.pathsep.join([*homes, *filter(None, [os.environ.get("PYTHONPATH")])])


def perform(function: str, argument: Any) -> int:
    return int(load(function)(argument))


def main() -> None:
    """Carry out the work that the command line describes."""
    console.prepare_streams()
    threading.Thread(target=_end_with_input, daemon=True).start()
    function, argument = sys.argv[1:]
    signals.leave(exit_code(lambda: perform(function, json.loads(argument)), interrupted=""))


def _end_with_input() -> None:
    """Wait for the end of standard input, then have this process end in order."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
