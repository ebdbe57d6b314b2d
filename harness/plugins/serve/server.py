"""A server of this run: started at a free port, watched until it is ready, and ended with the run."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import RunStopped
from harness.runtime import signals
from harness.runtime.console import clean, shortened
from harness.runtime.signals import STOP
from harness.trust import child_environment

HOST = "127.0.0.1"
GRACE = 30.0
"""Seconds that a server has to end by itself before it is killed."""
_BEYOND = 10.0
"""More seconds, for its supervisor."""
_TRIES = 4
"""Ports to try: another program may take a port before the server binds to it."""
_FIRST_LINE, _EVERY = 5.0, 15.0
"""Seconds of waiting until the first line on it is printed, and between further ones."""
_LOOK = 0.1
"""Seconds between two looks at the server."""
_KEY_VARIABLES = ("VLLM_API_KEY", "SGLANG_API_KEY", "LLAMA_API_KEY")
"""Environment variables that would make the server ask for a key."""


@dataclass(frozen=True)
class Launch:
    """A server's command, without its port. Equal ones start the same server."""

    engine: str
    model: str
    """The server's name for the model."""
    words: tuple[str, ...]
    """The command, with {port} in place of the port."""
    ready: float
    """Seconds until it has to be ready."""
    health: str
    """The path that answers once it is ready."""
    log: Path
    keeps_log: bool
    """Whether the log is kept even if all went well."""


class ServerProcess:
    """A running server, under a supervisor that ends it if the run dies."""

    def __init__(self, launch: Launch, port: int) -> None:
        self.what = launch
        self.port = port
        self.base_url = f"http://{HOST}:{port}/v1"
        self.started = time.monotonic()
        self._keeps_log = launch.keeps_log
        launch.log.parent.mkdir(parents=True, exist_ok=True)
        supervisor = [str(Path(__file__).with_name("supervisor.py")), str(os.getpid()), str(GRACE)]
        variables = {name: value for name, value in os.environ.items() if name not in _KEY_VARIABLES}
        with launch.log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    *supervisor,
                    *(word.replace("{port}", str(port)) for word in launch.words),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**variables, **child_environment(), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )

    @property
    def session(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        """The exit code, as shells have it; None while it runs."""
        return self._process.poll()

    def obituary(self) -> str:
        """Return a sentence on how it ended, with the errors in its log; "" while it runs."""
        if (code := self.code) is None:
            return ""
        self._keeps_log = True
        how = f"was killed (signal {code - 128})" if code > 128 else f"ended with exit code {abs(code)}"
        log = self.what.log
        errors = errors_in(log)
        words = f"its log ends: {errors}" if errors else "its log is empty"
        ways = [way for way in (_way_out(log), f"all of it is in {log}") if way]
        return f"{self.what.engine} {how} after {time.monotonic() - self.started:.0f} s; {words} ({'; '.join(ways)})"

    def wait_until_ready(self, say: Callable[[str], None]) -> bool:
        """Return True once it is ready; False if it ended, another program has its port, or the user ends the run.

        Raises RunStopped after `Launch.ready` seconds.
        """
        launch, next_line = self.what, self.started + _FIRST_LINE
        say(f"starting {launch.engine} with {launch.model} (its log: {launch.log})")
        while self.code is None and not STOP.requested:
            seconds = time.monotonic() - self.started
            if _answers(self.port, launch.health):
                if _belongs_to_others(self.port, self.session):
                    return False
                say(f"{launch.engine} is ready after {seconds:.0f} s")
                return True
            last = shortened("".join(_messages(launch.log)[-1:]), 100)
            if seconds > launch.ready:
                self._keeps_log = True
                raise RunStopped(
                    f"{launch.engine} was not ready after {launch.ready:g} s (model.ready=… gives it more); the last "
                    f"line of its log: {last or 'none'} (all of it is in {launch.log})."
                )
            if time.monotonic() > next_line:
                next_line = time.monotonic() + _EVERY
                say(f"{launch.engine} has been starting for {seconds:.0f} s{f': {last}' if last else ''}")
            time.sleep(_LOOK)
        return False

    def close(self) -> None:
        """End it and wait for that; delete its log if all went well."""
        if self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(GRACE + _BEYOND)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)  # the server's death signal follows
            self._process.wait()
        if not self._keeps_log:
            self.what.log.unlink(missing_ok=True)


def running(launch: Launch, say: Callable[[str], None]) -> ServerProcess | None:
    """Return the server for a launch, once it is ready: the one that runs already, or a new one.

    Other servers of this process are ended first, since they would share the GPU. None if the user ends the run
    meanwhile. Raises RunStopped if the server ends, or is not ready in time.
    """
    if isinstance(server := signals.find_companion(launch), ServerProcess) and server.code is None:
        return server
    signals.end_companions()
    for tries_left in reversed(range(_TRIES)):
        try:
            server = ServerProcess(launch, free_port())
        except OSError as error:  # its log cannot be written, there are too many processes
            raise RunStopped(f"{launch.engine} cannot be started ({error}).") from None
        signals.add_companion(server)
        try:
            if server.wait_until_ready(say):
                return server
        except BaseException:
            signals.end_companions()
            raise
        end = "" if STOP.requested else server.obituary()
        signals.end_companions()
        if STOP.requested:
            return None
        if (end and not _PORT_TAKEN.search("\n".join(_lines(launch.log)))) or not tries_left:
            raise RunStopped(f"{end or f'somebody else listens at every port that {launch.engine} was to have'}.")
        say(f"somebody else has taken port {server.port}: {launch.engine} is started again at another one")
    raise AssertionError("the last try returns or raises")


def free_port() -> int:
    """Return a port that is free now; another program may still take it before the server does."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _answers(port: int, health: str) -> bool:
    """Test whether a server answers: that it is ready, or that it has no such path or wants a key."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", health)
        return connection.getresponse().status in (200, 204, 401, 404, 405)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _belongs_to_others(port: int, session: int) -> bool:
    """Test whether only processes outside of a session listen at a port, as far as Linux shows that to this user.

    Another program's server may be ready at the port that ours was to have. Its answers would be another model's.
    """
    sockets = set(_listening(port))
    sessions = {os.getsid(pid) for pid in _holders(sockets)} if sockets else set()
    return bool(sessions) and session not in sessions


def _listening(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:  # 0A: it listens
                    yield f"socket:[{fields[9]}]"


def _holders(sockets: set[str]) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*/fd"):
        with suppress(OSError):  # it has ended, or is another user's
            if any(os.readlink(file) in sockets for file in folder.iterdir()):  # noqa: PTH115
                yield int(folder.parent.name)


# What a server's log says of its end, in a sentence.

_TAIL = 1 << 16
"""Bytes that are read of the log's end."""
_LAST = 3
"""Lines to quote if none names an error."""
_LONGEST = 300
"""Characters to quote of a line."""
_ERROR = re.compile(
    r"^(?:\S+: )?(?:[\w.]*(?:Error|Exception)\b|fatal\b)|^Value error|out of memory|address already in use", re.I
)
"""The beginning of an error's own line: warnings may mention errors that could happen."""
_NO_ERROR = re.compile(r"^(?:\([^()]*\)\s*)?(?:WARNING|INFO|DEBUG)\b")
_PREFIX = re.compile(
    r"^(?:\([^()]*pid=\d+[^()]*\)\s*|(?:ERROR|WARNING|INFO|CRITICAL)\s*:?\s+|\d\d-\d\d \d\d:\d\d:\d\d\s+"
    r"|\[[\w./]+:\d+\]\s*)+"
)
"""What vLLM and uvicorn write before a message: process, level, time, place."""
_NO_ROOT_CAUSE = re.compile(r"initialization failed|see root cause above|Traceback|cleanup", re.I)
_MEMORY = re.compile(
    r"out of memory|no available memory|free memory on device|larger than the (?:available|maximum)", re.I
)
_PORT_TAKEN = re.compile(r"address already in use|errno 98|errno 48|couldn't bind|bind.* failed", re.I)


def errors_in(log: Path) -> str:
    """Return the first and the last error in the end of a log, else its last lines; "" for an empty log."""
    messages = [_PREFIX.sub("", line) for line in _lines(log) if not _NO_ERROR.match(line)]
    errors = [message for message in messages if _ERROR.search(message) and not _NO_ROOT_CAUSE.search(message)]
    chosen = list(dict.fromkeys([*errors[:1], *errors[-1:]])) or _messages(log)[-_LAST:]
    return " / ".join(shortened(line, _LONGEST) for line in chosen)


def _way_out(log: Path) -> str:
    """Return what to do if the log says that memory ran out; else ""."""
    if not _MEMORY.search("\n".join(_lines(log))):
        return ""
    return (
        "its memory is too small for this: give it a smaller model, more GPUs (model.args=[--tensor-parallel-size,2]), "
        "a shorter context (model.args=[--max-model-len,4096]), or a GPU that nobody else uses"
    )


def _messages(log: Path) -> list[str]:
    return [_PREFIX.sub("", line) for line in _lines(log)]


def _lines(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    lines = (clean(line).strip() for line in re.split(r"[\r\n]+", text))
    return [line for line in lines if line]
