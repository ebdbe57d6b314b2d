"""Work that another process carries out: the jobs of a sweep and the shards of a run, on this machine or elsewhere.

The core knows the protocols and finds what offers them among the plug-ins (`Plugin.engines`, `Plugin.dispatch`).
Without such a plug-in a sweep runs its jobs one after the other, and a run asks all of its items itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from harness import plugin
from harness.errors import ConfigError

if TYPE_CHECKING:
    from harness.protocols import Model, Task
    from harness.types import JSON

State = Literal["waiting", "running", "ended"]
"""State of a piece of work: waiting in a queue, for the first time or again; running; ended, or killed."""


@dataclass(frozen=True)
class Work:
    """What one process is to do."""

    name: str
    """Its name in messages and files: the number of a job, or the round and number of a shard."""
    function: str
    """The "module:function" that does it; returns an exit code."""
    argument: Any
    """The function's argument, a JSON value."""
    keys: tuple[str, ...] = ()
    """Environment variables with keys that it needs."""


class Started(Protocol):
    """Work that an engine has taken."""

    @property
    def title(self) -> str:
        """Its name in messages: Slurm job 18."""

    @property
    def names(self) -> Sequence[str]:
        """Names by which another process can end it; empty if it ends with the process that started it."""

    @property
    def grace(self) -> float:
        """Seconds after which a file that another node wrote is seen here; 0 on one machine."""

    @property
    def outlives(self) -> bool:
        """Whether it goes on where this process is killed."""

    def states(self) -> Mapping[str, State] | None:
        """Return the state of each piece by its name; None where the engine does not answer."""

    def end_of(self, name: str) -> str:
        """Return in a few words how a piece ended; "" if unknown."""

    def waiting(self) -> str:
        """Return in words what waits in a queue, and why; else ""."""

    def cancel(self, *, at_once: bool = False) -> None:
        """End all of it once calls under way are finished and stored; `at_once`: without waiting for these."""


class Engine(Protocol):
    """What starts processes: a class with its settings, named in `configs/workers/` or `configs/hydra/launcher/`."""

    @property
    def name(self) -> str:
        """Its name in messages and manifests."""

    def check(self, setting: str) -> int:
        """Return how many processes run at a time. Raises ConfigError if none can.

        `setting` is the section of the engine's own settings: workers.
        """

    def start(self, work: Sequence[Work], folder: Path) -> Started:
        """Start a process for each piece, or queue it; what they print goes into `folder`. Raises ConfigError."""

    def cancel_named(self, names: Sequence[str]) -> None:
        """End work that a process which has gone had started."""


class Dispatch(Protocol):
    """The module of a plug-in that deals a run's items to shards, and waits for work that engines have taken."""

    def numbered(self, arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        """Return a command's arguments with a scheduler's numbers for shard=auto. Raises ConfigError."""

    def shard_of(self, task: Task, prompt: Any, model: Model, settings: Any) -> Task:
        """Return the part of a task that shard= asks for; with workers= the task. Raises ConfigError."""

    def check(self, prepared: Any) -> None:
        """Raise ConfigError where a prepared run cannot be asked in shards."""

    def carry_out(self, prepared: Any, config: Mapping[str, JSON], *, announced: bool) -> Any:
        """Return how a run with workers= ended; None for a shard, which is asked into the cache and not scored.

        `announced` says that the plan has been shown.
        """

    def next_step(self, prepared: Sequence[Any]) -> str:
        """Return what the user has to do after these shards; "" for work without shards."""

    def wait(self, engine: Engine, setting: str, work: Sequence[Work], place: Path) -> Mapping[str, str]:
        """Have the jobs of a sweep carried out, whose folders are below `place`; `setting` names the engine's own.

        Returns how those ended that left no outcome there. Raises KeyboardInterrupt after Ctrl-C.
        """


def dispatch(setting: str) -> Dispatch:
    """Return the module that carries out what a setting asks for. Raises ConfigError where no plug-in has one."""
    if not (modules := [each.dispatch for each in plugin.plugins() if each.dispatch]):
        raise ConfigError(without_plugin(setting))
    return cast(Dispatch, import_module(modules[0]))


def engine(name: str, setting: str, **settings: object) -> Engine:
    """Return the engine of a name. Raises ConfigError where no plug-in has it; `setting` is what asks for it."""
    if (path := plugin.engines().get(name)) is None:
        raise ConfigError(without_plugin(setting))
    return cast(Engine, plugin.load(path)(**settings))


def without_plugin(setting: str) -> str:
    """Return the error for a setting that needs a plug-in."""
    return f"{setting} needs the plug-in scale, which is not installed: without it one process asks for everything."
