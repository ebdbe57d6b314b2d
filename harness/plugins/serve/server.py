"""A server of this run: its process, behind a supervisor that outlives the run, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harness.plugins.serve import log_lines
from harness.plugins.serve.launch import Launch
from harness.plugins.serve.ports import HOST

GRACE = 30.0
"""Seconds that a server has to end by itself before it is killed."""
_BEYOND = 10.0
"""More seconds for the supervisor to clear up."""
_NOT_THE_SERVERS = ("VLLM_API_KEY", "SGLANG_API_KEY", "LLAMA_API_KEY")
"""Variables that would have it ask this run for a key."""


class Server:
    """A server that was started, until it is closed or has ended."""

    def __init__(self, launch: Launch, port: int, locks: Sequence[int]) -> None:
        """Start it; it is not ready yet. `locks`: open files that whatever ends the server holds until it has ended."""
        self.what = launch
        self.port = port
        self.started = time.monotonic()
        self._locks = list(locks)
        launch.log.parent.mkdir(parents=True, exist_ok=True)
        lifeline, self._lifeline = os.pipe()
        report, report_end = os.pipe()
        numbers = [str(lifeline), str(report_end), str(os.getpid()), str(GRACE)]
        supervisor = str(Path(__file__).with_name("supervisor.py"))
        variables = {name: value for name, value in os.environ.items() if name not in _NOT_THE_SERVERS}
        try:
            with launch.log.open("wb") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", supervisor, *numbers, *launch.command(port)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**variables, "PYTHONUNBUFFERED": "1"},
                    pass_fds=(lifeline, report_end, *locks),
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._lifeline)
            os.close(report)
            raise
        finally:
            os.close(lifeline)
            os.close(report_end)
        with open(report, "rb") as said:  # noqa: PTH123
            number = said.readline().strip()
        self._server = int(number) if number.isdigit() else 0

    @property
    def base_url(self) -> str:
        """Its address, as model.base_url would be."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def session(self) -> int:
        """The session of its processes, which no other has."""
        return self._process.pid

    @property
    def code(self) -> int | None:
        """Its exit code as shells have it; None while it runs."""
        code = self._process.poll()
        if code is not None and code < 0 and self._server:  # the supervisor was killed: nobody else clears up
            with suppress(OSError):
                os.killpg(self._server, signal.SIGKILL)
        return code

    def obituary(self) -> str:
        """Return in words how it ended and what its log says of that; "" while it runs."""
        if (code := self.code) is None:
            return ""
        how = f"was killed (signal {code - 128})" if code > 128 else f"ended with exit code {abs(code)}"
        log = self.what.log
        said = log_lines.errors_in(log)
        words = f"its log ends: {said}" if said else "its log is empty"
        ways = [way for way in (log_lines.way_out(log), f"all of it is in {log}") if way]
        return f"{self.what.engine} {how} after {time.monotonic() - self.started:.0f} s; {words} ({'; '.join(ways)})"

    def close(self) -> None:
        """End it and all that it has started, and wait for that; take its log away if it ended well."""
        ended_by_itself = self._process.poll() is not None
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        if not ended_by_itself:
            self._process.terminate()  # a fork of this process may hold the pipe open
            try:
                self._process.wait(GRACE + _BEYOND)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
                with suppress(OSError):
                    os.killpg(self._server, signal.SIGKILL)
            if not self.what.keeps_log:
                with suppress(OSError):
                    self.what.log.unlink(missing_ok=True)
        while self._locks:
            os.close(self._locks.pop())
