"""Several jobs of a sweep at a time on this machine (parallel=N), each in a process of its own.

Hydra's joblib launcher would do it with one more package, but ends its workers at Ctrl-C with the calls that are under
way. Here a job's process ends in order when its standard input is closed: on Ctrl-C, and also where the process that
began it has been killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from types import FrameType

from harness.plugins.scale.surroundings import python_path
from harness.runtime.interrupt import SIGNALS
from harness.sweep import jobs
from harness.sweep.jobs import say
from harness.sweep.order import Order

_LOOK = 0.05
"""Seconds between two looks at whether a job has ended."""


class _Stop:
    """What Ctrl-C asks for: nothing, an end in order, an end at once."""

    asked = 0


def carry_out(orders: Sequence[Order], at_once: int) -> dict[int, str]:
    """Run the jobs, so many `at_once`; return how each has ended. Raises KeyboardInterrupt after Ctrl-C."""
    waiting = deque(orders)
    running: dict[int, _Process] = {}
    ends: dict[int, str] = {}
    with _signals() as stop:
        while waiting or running:
            if stop.asked:
                waiting.clear()
                for process in running.values():
                    process.end(at_once=stop.asked > 1)
            while waiting and len(running) < at_once:
                order = waiting.popleft()
                running[order.number] = _Process(order)
            time.sleep(_LOOK)
            for number, process in list(running.items()):
                if (code := process.ended()) is not None:
                    ends[number] = f"exit code {code}; killed, or out of memory"
                    jobs.SAID.add(number)  # its own lines have told what went wrong
                    del running[number]
                    if not stop.asked:
                        say(f"[{number}] has ended; {len(ends)} of {len(orders)} jobs are done")
    if stop.asked:
        raise KeyboardInterrupt
    return ends


class _Process:
    """The process of one job, whose lines come out whole with its number before them."""

    def __init__(self, order: Order) -> None:
        self._number = order.number
        self._process = subprocess.Popen(
            # -P: no package is looked for in the working directory first, where anything may lie.
            [sys.executable, "-P", "-m", "harness.plugins.scale.job_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": python_path()},
            start_new_session=True,  # a terminal's Ctrl-C goes to the process that began it, which tells it
        )
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended already; its exit code says so
            self._process.stdin.write(f"{json.dumps(asdict(order))}\n".encode())
            self._process.stdin.flush()
        self._lines = threading.Thread(target=self._relay, daemon=True)
        self._lines.start()

    def ended(self) -> int | None:
        """Return the exit code, once all that it has said is printed; None while it runs."""
        code = self._process.poll()
        if code is not None:
            self._lines.join()
        return code

    def end(self, *, at_once: bool) -> None:
        """Ask it to end: in order, or at once."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        if at_once:
            self._process.kill()

    def _relay(self) -> None:
        assert self._process.stderr is not None
        mark = f"[{self._number}]"
        for line in self._process.stderr:
            text = line.decode("utf-8", "replace").rstrip()
            if text and not text.startswith("stopping: "):  # said once, for all jobs
                say(text if text.startswith(mark) else f"{mark} {text.strip()}")


@contextmanager
def _signals() -> Iterator[_Stop]:
    """Yield what Ctrl-C (SIGTERM, SIGHUP, SIGQUIT) asks for within the context: first in order, then at once."""
    stop = _Stop()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.asked and number == signal.SIGHUP:
            return
        stop.asked += 1
        if stop.asked == 1:
            say("stopping: the calls under way of all jobs are being finished and kept (Ctrl-C again drops them)")

    before = {number: signal.getsignal(number) for number in SIGNALS}
    ignored = [number for number, handler in before.items() if handler is signal.SIG_IGN]  # nohup
    try:
        for number in before.keys() - ignored:
            signal.signal(number, on_signal)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
