"""Work that other processes carry out, such as the jobs of a sweep; plug-ins offer what starts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

from harness import plugin
from harness.errors import ConfigError, unknown
from harness.settings import build


@dataclass(frozen=True)
class Work:
    """What one process is to do."""

    name: str
    """Its name in messages and files, such as the number of a job."""
    function: str
    """The "module:function" that does it; returns an exit code."""
    argument: Any
    """The function's argument, a JSON value."""
    keys: tuple[str, ...] = ()
    """Environment variables with keys that it needs."""


class Engine(Protocol):
    """What starts processes: a class with its settings, named in `configs/hydra/launcher/`."""

    tells: ClassVar[bool]
    """Whether what its processes print is shown here as they print it."""

    def check(self, setting: str) -> int:
        """Return how many processes run at a time. Raises ConfigError if none can.

        `setting` is the section of the engine's own settings, such as hydra.launcher.
        """

    def carry_out(self, work: Sequence[Work], folder: Path, has_ended: Callable[[str], bool]) -> Mapping[str, str]:
        """Have all of it done, and wait; return how those pieces ended that left nothing.

        What processes print goes to stderr or into `folder`. `has_ended` says of a name whether that piece has left its
        outcome. Raises ConfigError, and KeyboardInterrupt after Ctrl-C once all have ended.
        """


def engine(name: str, setting: str, **settings: object) -> Engine:
    """Return the engine of a name. Raises ConfigError where no plug-in has it; `setting` is where its settings are."""
    if (path := plugin.engines().get(name)) is None:
        raise ConfigError(unknown("engine", name, plugin.engines()) if plugin.engines() else without_plugin(setting))
    return cast(Engine, build({"_target_": path.replace(":", "."), **settings}, setting))


def without_plugin(setting: str) -> str:
    """Return the error for a setting that needs a plug-in."""
    return f"{setting} needs the package causal-harness-scale, which is not installed (pip install -e packages/scale)."
