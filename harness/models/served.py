"""A chat model whose server the run starts and ends: vLLM, SGLang, llama.cpp, transformers serve."""

from __future__ import annotations

import atexit
import http.client
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path

from harness.errors import ConfigError, Interrupted, RunStopped
from harness.models.api.openai import Chat
from harness.models.local.checkpoint import fingerprint, locate
from harness.protocols import Outcomes
from harness.runtime.console import clean, shortened
from harness.runtime.progress import RETRIES
from harness.runtime.signals import LAST, STOP
from harness.types import JSON, Request

HOST = "127.0.0.1"
LOGS = Path(".cache/servers")
READY = 3600.0
"""Seconds until it answers; one that ends meanwhile is noticed at once."""
GRACE = 20.0
"""Seconds that a server has to end by itself before it is killed."""


@dataclass(frozen=True, kw_only=True)
class Served(Chat):
    """A checkpoint behind a server of this run; configs/model/vllm.yaml says what each setting means."""

    path: str
    revision: str | None = None
    command: str
    arguments: tuple[str, ...]
    args: tuple[str | int | float, ...] = ()
    engine: str
    model: str = field(default="", init=False)
    base_url: str = field(default=f"http://{HOST}/v1", init=False)
    api_key_env: None = field(default=None, init=False)
    batch: None = field(default=None, init=False)

    @cached_property
    def place(self) -> Path:
        """The checkpoint's folder or file, downloaded if it is a name of the Hub. Raises ConfigError."""
        return locate(self.path, self.revision).resolve()

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What is served and by what, wherever the server runs."""
        chat = {name: value for name, value in super().identity.items() if name not in ("endpoint", "model")}
        checkpoint = {"checkpoint": fingerprint(self.place), "args": [str(word) for word in self.args]}
        return {**chat, "kind": "served.chat", "engine": self.engine, **checkpoint}

    def check_key(self) -> None:
        """Raise ConfigError if the program is missing."""
        if shutil.which(self.command.split(" ")[0]) is None:
            raise ConfigError(f"model.command={self.command}: there is no such program here; name it with its path.")

    def words(self, port: int) -> list[str]:
        """Return the command that serves at a port."""
        values = {"path": str(self.place), "model": self._served_name, "host": HOST, "port": str(port)}
        words = [*self.command.split(" "), *(word.format_map(values) for word in self.arguments)]
        return [*words, *(str(word) for word in self.args)]

    @property
    def _served_name(self) -> str:
        """The server's name for the model: the checkpoint's if the command line takes one, else its place."""
        takes_name = any("{model}" in word for word in self.arguments)
        return self.place.name if takes_name else str(self.place)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Start the server, unless it runs; then answer as any chat model does."""
        self.check_key()
        server = running(self)
        settings = {f.name: getattr(self, f.name) for f in fields(Chat)}
        at_server = {"base_url": f"http://{HOST}:{server.port}/v1", "model": self._served_name}
        try:
            yield from Chat(**settings | at_server).respond(requests)
        except RunStopped:
            if server.process.poll() is not None:
                raise RunStopped(server.says("has ended")) from None
            raise


class Server:
    """A server's process, which ends with this one at the latest."""

    def __init__(self, model: Served) -> None:
        """Start it at a free port."""
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            self.port = int(probe.getsockname()[1])
        self.what, self._model, self._owner = model.words(0), model, os.getpid()
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = (LOGS / f"{os.getpid()}-{self.port}.log").resolve()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                model.words(self.port), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        atexit.register(self.close)
        LAST.append(self.close)

    def wait(self) -> None:
        """Wait until it answers. Raises RunStopped if it ends, takes too long or the user ends the run."""
        RETRIES.say(f"starting {self._model.engine} with {self._model.path} (its log: {self.log})")
        until = time.monotonic() + READY
        while not self._answers():
            if STOP.requested:
                raise Interrupted(f"interrupted while {self._model.engine} was starting.")
            if self.process.poll() is not None:
                raise RunStopped(self.says("has ended"))
            if time.monotonic() > until:
                raise RunStopped(self.says("was not ready within an hour"))
            time.sleep(0.1)
        RETRIES.say(f"{self._model.engine} is ready")

    def close(self) -> None:
        """End it with all that it has started, and wait for that."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if os.getpid() == self._owner and self.process.poll() is None:
                os.killpg(self.process.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(GRACE)

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=5)
        with suppress(OSError, http.client.HTTPException), closing(connection):
            connection.request("GET", "/health")
            return connection.getresponse().status in (200, 204, 404, 405)
        return False

    def says(self, what: str) -> str:
        """Return a sentence on the server, with the last line of its log that tells an error, and its end."""
        lines = [line for line in clean(self.log.read_text(errors="replace")[-10_000:]).split("\n") if line.strip()]
        errors = [line for line in lines[:-3] if "error" in line.lower()]
        last = " / ".join(shortened(line, 300) for line in errors[-1:] + lines[-3:]) or "nothing"
        return f"{self._model.engine} {what}; its log ends: {last} ({self.log})."


_SERVERS: list[Server] = []
"""The one that runs: a second one would share its GPU."""


def running(model: Served) -> Server:
    """Return the server of a model once it is ready: the one that runs already, or a new one in its place."""
    if _SERVERS and _SERVERS[0].what == model.words(0) and _SERVERS[0].process.poll() is None:
        return _SERVERS[0]
    while _SERVERS:
        _SERVERS.pop().close()
    _SERVERS.append(Server(model))
    _SERVERS[0].wait()
    return _SERVERS[0]
