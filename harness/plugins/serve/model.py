"""A chat model whose server the run starts and ends."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from harness.errors import ConfigError, RunStopped
from harness.models.api.openai import Chat
from harness.models.api.replies import LostError
from harness.plugins.serve import identity
from harness.plugins.serve.server import HOST, Launch, ServerProcess, running
from harness.protocols import Admission, Outcomes, Traits
from harness.runtime.under_way import RETRIES
from harness.types import JSON, Request, Usage

if TYPE_CHECKING:
    from harness.models.api.client import Wire


def _words(value: Any) -> Any:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [word if isinstance(word, str) else str(word) for word in value]


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
LOGS = Path(".cache/servers")
"""The folder of logs without model.log; those of servers that ended well are deleted."""
_RESERVED = frozenset(
    (
        *("--host", "--port", "--model", "--model-path", "--served-model-name", "--alias", "-m"),
        *("--api-key", "--api-key-file"),
    )
)
"""Arguments that the run passes itself, or, as keys would be written to manifests, not at all."""
_DEATH = 3.0
"""Seconds to wait, after a connection broke, for the server's process to end."""


@dataclass(frozen=True, kw_only=True)
class Served(Chat):
    """A checkpoint behind a server of this run; configs/model/vllm.yaml says what each setting means."""

    path: str
    revision: str | None = None
    command: str
    arguments: Words
    flags: Mapping[str, str] = field(default_factory=dict)
    engine: str
    package: str | None = None
    version: str | None = None
    args: Words = ()
    dtype: str = "auto"
    quantization: str | None = None
    chat_template: str | None = None
    ready: Annotated[float, Field(gt=0)] = 1800.0
    health: str = "/health"
    log: str | None = None
    model: str = field(default="", init=False)
    base_url: str = field(default=f"http://{HOST}/v1", init=False)
    endpoint: None = field(default=None, init=False)
    api_key_env: None = field(default=None, init=False)
    batch: None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Raise ConfigError for arguments that the run gives itself, and settings that the engine does not know."""
        object.__setattr__(self, "model", self._served_name)
        super().__post_init__()
        check_arguments(self.args)
        for name in ("quantization", "chat_template"):
            if getattr(self, name) is not None and name not in self.flags:
                raise ConfigError(f"model.{name}: {self.engine} takes none on its command line: leave it out.")

    @property
    def _served_name(self) -> str:
        """The server's name for the model: its folder's name if the command line takes a name, else its path."""
        place = Path(self.path).expanduser()
        if not place.exists():
            return self.path
        takes_name = any("{model}" in argument for argument in self.arguments)
        return place.resolve().name if takes_name else str(place.resolve())

    def check_key(self) -> None:
        """Raise ConfigError if the program is missing, has another version than model.version, or wrong arguments."""
        words = program(self.command, self.package)
        if self.version is not None and (installed := identity.version_of(tuple(words), self.package)) != self.version:
            raise ConfigError(f"model.version={self.version}, and {self.engine} here is {installed}: leave it out.")
        list(filled(self.arguments, path=self.path, model=self.model))

    @property
    def identity(self) -> Mapping[str, JSON]:
        """What the answers depend on, wherever the server runs."""
        chat = {name: value for name, value in super().identity.items() if name not in ("endpoint", "model")}
        return {**chat, "kind": "served.chat", **self._what_is_served}

    @cached_property
    def _what_is_served(self) -> dict[str, JSON]:
        if "revision" not in self.flags and not Path(self.path).expanduser().exists():
            raise ConfigError(
                f"model.path={self.path}: there is no such folder or file, and {self.engine} cannot be told which "
                "commit of the Hub to take: download it, and give its place."
            )
        version = self.version or identity.version_of(tuple(program(self.command, self.package)), self.package)
        return {
            "engine": self.engine,
            "version": version,
            **identity.checkpoint_of(self.path, self.revision, code="--trust-remote-code" in self.args),
            "dtype": self.dtype,
            "quantization": identity.quantization_of(self.path, self.quantization),
            "chat_template": identity.template_of(self.path, self.chat_template),
            "args": identity.lasting(self.args),
        }

    @property
    def traits(self) -> Traits:
        return replace(super().traits, companion=lambda: self.launch)

    @cached_property
    def launch(self) -> Launch:
        """The command to start. Raises ConfigError."""
        place = Path(self.path).expanduser()
        words = [*program(self.command, self.package)]
        words += filled(self.arguments, path=str(place.resolve()) if place.exists() else self.path, model=self.model)
        words += [word for name, flag in self.flags.items() for word in self._flag(name, flag)]
        readable = re.sub(r"[^A-Za-z0-9._-]+", "_", self.name).strip("._")[-60:] or "server"
        return Launch(
            engine=self.engine,
            model=self.model,
            words=(*words, *self.args),
            ready=self.ready,
            health=self.health,
            log=LOGS / f"{readable}-{os.getpid()}.log" if self.log is None else Path(self.log).expanduser(),
            keeps_log=self.log is not None,
        )

    def _flag(self, name: str, flag: str) -> list[str]:
        """Return the command-line words of a setting; none if it is not set."""
        if name == "revision":
            commit = str(self._what_is_served["checkpoint"]).rpartition("@")[2]
            return [] if Path(self.path).expanduser().exists() else [flag, commit]
        value = getattr(self, name)
        if value is None or (name == "dtype" and value == "auto"):
            return []
        return [flag, str(Path(value).expanduser().resolve()) if name == "chat_template" else str(value)]

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Start the server at the first request, unless it runs; then answer as any chat model does."""
        source = requests if isinstance(requests, Admission) else Admission(requests)
        if (first := next(source, None)) is None:
            return
        server = running(self.launch, RETRIES.say)
        if server is not None:
            yield from self._at(server).respond(_PutBack(first, source))

    def _at(self, server: ServerProcess) -> Chat:
        """Return the chat model at a server."""
        settings = {f.name: getattr(self, f.name) for f in fields(Chat)}
        chat = _AtServer(**(settings | {"base_url": server.base_url, "model": self.model}))
        object.__setattr__(chat, "server", server)
        return chat


class _AtServer(Chat):
    """A chat model at a server of this run; when the server ends, the run stops."""

    server: ServerProcess

    async def send(self, wire: Wire, request: Request) -> Any:
        """Return the server's reply. Raises RunStopped, with the errors in its log, if the server has ended."""
        try:
            return await super().send(wire, request)
        except Exception as error:
            for _ in range(int(_DEATH / 0.1) if isinstance(error, LostError) else 1):
                if end := self.server.obituary():
                    raise RunStopped(f"{end}. The same command starts it again, and goes on from there.") from None
                await asyncio.sleep(0.1)
            raise


class _PutBack(Admission):
    """Requests with the first one, which was taken out, put back."""

    def __init__(self, first: Request, rest: Admission) -> None:
        super().__init__(rest)
        self._first: Request | None = first
        self._rest = rest

    def __next__(self) -> Request:
        if (first := self._first) is not None:
            self._first = None
            return first
        return next(self._rest)

    def __length_hint__(self) -> int:
        return self._rest.__length_hint__() + (self._first is not None)

    @property
    def ready(self) -> bool:
        return self._first is not None or self._rest.ready

    @property
    def left(self) -> float:
        return self._rest.left

    def failed(self, request: Request, usage: Usage | None) -> None:
        self._rest.failed(request, usage)

    def again(self, request: Request) -> bool:
        return self._rest.again(request)


def program(command: str, package: str | None) -> list[str]:
    """Return the words of model.command, with the program's absolute path. Raises ConfigError if it is not there."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"model.command={command} is no command ({error}).") from None
    if not words:
        raise ConfigError("model.command is empty: give the program that serves, such as vllm.")
    program_path = shutil.which(str(Path(words[0]).expanduser()) if words[0].startswith("~") else words[0])
    if program_path is None:
        install = (
            f"{package} belongs in an environment of its own (python -m venv {package} && {package}/bin/pip install "
            f"{package}), whose program is then named: model.command={package}/bin/{Path(words[0]).name}"
            if package
            else "Install it, or name it with its path (model.command=/path/to/it)"
        )
        raise ConfigError(
            f"model.command={command}: there is no program {words[0]} here. {install}. To plan or to replay without "
            "it, give its version (model.version=…)."
        )
    return [str(Path(program_path).absolute()), *words[1:]]


def filled(arguments: Iterable[str], **values: str) -> Iterator[str]:
    """Yield arguments with {path}, {model} and {host} filled in; {port} stays. Raises ConfigError for other names."""
    values = {**values, "host": HOST}
    for argument in arguments:
        unknown = set(re.findall(r"\{(\w+)\}", argument)) - {*values, "port"}
        if unknown:
            raise ConfigError(
                f"model.arguments has {{{unknown.pop()}}}, which nothing fills in: there are "
                f"{', '.join(f'{{{name}}}' for name in (*values, 'port'))}."
            )
        yield re.sub(r"\{(\w+)\}", lambda name: values.get(name[1], name[0]), argument)


def check_arguments(args: Sequence[str]) -> None:
    if reserved := [name for name in (argument.partition("=")[0] for argument in args) if name in _RESERVED]:
        raise ConfigError(
            f"model.args has {reserved[0]}, which the run says itself (its server is on this machine, at a free port, "
            "without a key, for model.path): leave it out."
        )
