"""What is started: the program, the words of its command, and where its log goes."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError
from harness.plugins.serve.ports import HOST

_OURS = frozenset(
    (
        "--host",
        "--port",
        "--model",
        "--model-path",
        "--served-model-name",
        "--alias",
        "--api-key",
        "--api-key-file",
        "-m",
    )
)
"""What the run tells a server itself; a key would stand in manifests."""
LOGS = Path(".cache/servers")
"""Where logs are that nobody has named a place for; those of servers that ended well are taken away."""


@dataclass(frozen=True)
class Launch:
    """A server's command but for its port. Two that are equal start the same."""

    engine: str
    model: str
    """What the server calls the model."""
    words: tuple[str, ...]
    """With {port} where the port goes."""
    gpus: tuple[str, ...]
    ready: float
    """Seconds that it has to be ready."""
    health: str
    """The path that answers once it is."""
    log: Path
    keeps_log: bool

    def command(self, port: int) -> list[str]:
        """Return the command for a port."""
        return [word.replace("{port}", str(port)) for word in self.words]


def program(command: str, package: str | None) -> list[str]:
    """Return the words of model.command, the program with its place. Raises ConfigError where it is not there."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"model.command={command} is no command ({error}).") from None
    if not words:
        raise ConfigError("model.command is empty: give the program that serves, such as vllm.")
    found = shutil.which(str(Path(words[0]).expanduser()) if words[0].startswith("~") else words[0])
    if found is None:
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
    return [str(Path(found).absolute()), *words[1:]]


def filled(arguments: Iterable[str], **values: str) -> Iterator[str]:
    """Yield arguments with {path}, {model} and {host} filled in; {port} stays. Raises ConfigError for another name."""
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
    """Refuse arguments that the run gives itself. Raises ConfigError."""
    if ours := [name for name in (argument.partition("=")[0] for argument in args) if name in _OURS]:
        raise ConfigError(
            f"model.args has {ours[0]}, which the run says itself (its server is on this machine, at a free port, "
            "without a key, for model.path): leave it out."
        )


def log_of(log: str | None, name: str) -> Path:
    """Return the file for a server's log: the given one, or one of its own below .cache/servers/."""
    if log is not None:
        return Path(log).expanduser()
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[-60:] or "server"
    return LOGS / f"{readable}-{os.getpid()}.log"
