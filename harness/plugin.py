"""What a package adds to the harness, in one small value, and how such packages are found.

A plug-in's distribution names its value in the entry-point group `harness.plugins`, as this project's own plug-ins do:

    [project.entry-points."harness.plugins"]
    toy = "toy_package:PLUGIN"

The value holds names and paths of modules, so that listing every plug-in imports nothing heavy; a module is imported
when what it offers is asked for. docs/adding.md has a complete example.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from harness.errors import ConfigError

GROUP = "harness.plugins"
"""The entry-point group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of a plug-in: `harness NAME …`."""

    summary: str
    """Its line in `harness --help`."""
    module: str
    """The module whose `main()` carries it out; it returns the exit code."""
    config: str = ""
    """The root file in `configs/` that its settings are composed from; "" for one that Hydra does not compose."""
    help: str = ""
    """For one that Hydra composes: "module:function"; returns the text of `--help`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """What a package adds to the harness. Paths of classes and functions are written "module:name"."""

    name: str
    """What messages call it."""
    home: Path
    """The package's folder. Its `configs/` and `prompts/`, where it has them, are searched after those that ship."""
    commands: Mapping[str, Command] = field(default_factory=dict)
    benchmarks: Mapping[str, str] = field(default_factory=dict)
    """Values of `harness.tasks.benchmark.Benchmark`, by the first part of their tasks' names."""
    models: tuple[str, ...] = ()
    """Classes of models whose identity follows from their settings alone, so that `verify` may make them again."""
    published: str = ""
    """The function of a task, its runs and breakdowns that yields the tables which papers print of it."""
    engines: Mapping[str, str] = field(default_factory=dict)
    """What starts processes, by the name that the command line gives it (`harness.engine.Engine`)."""
    metrics: tuple[str, ...] = ()
    """Metrics beside those that every run has (`harness.scoring.definitions.MetricDefinition`)."""
    wrappers: tuple[str, ...] = ()
    """Functions that may put a model of their own around the one that a run asks (`harness.prepare.Wrapping`)."""


@cache
def plugins() -> tuple[Plugin, ...]:
    """Return every plug-in that is installed, by name. One that cannot be loaded is named on stderr and left out."""
    loaded: dict[str, Plugin] = {}
    for entry in sorted(_entry_points(), key=lambda entry: entry.name):
        try:
            value = entry.load()
        except ModuleNotFoundError as error:
            _complain(entry.name, f"it needs the package {error.name}")
        except Exception as error:  # a stranger's package may raise anything
            _complain(entry.name, f"{type(error).__name__}: {error}")
        else:
            if isinstance(value, Plugin):
                loaded.setdefault(value.name, value)
            else:
                _complain(entry.name, f"{entry.value} is no harness.plugin.Plugin")
    return tuple(loaded.values())


def _entry_points() -> list[metadata.EntryPoint]:
    """Return the entry points of the group in the installed distributions, and of none in the working directory.

    It may be on Python's path, and hold a folder that somebody sent, which nobody has installed.
    """
    here = Path.cwd().resolve()
    entries = metadata.entry_points(group=GROUP)
    return [entry for entry in entries if entry.dist is None or Path(str(entry.dist.locate_file(""))).resolve() != here]


def version_of(name: str) -> str | None:
    """Return the version of a distribution; None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _complain(name: str, reason: str) -> None:
    print(f"The plug-in {name} cannot be loaded: {reason}.", file=sys.stderr)


def commands() -> dict[str, Command]:
    return {name: command for plugin in plugins() for name, command in plugin.commands.items()}


def engines() -> dict[str, str]:
    return {name: path for plugin in plugins() for name, path in plugin.engines.items()}


def published() -> list[Any]:
    """Return the functions that yield what papers print of a task."""
    return [load(plugin.published) for plugin in plugins() if plugin.published]


def wrappers() -> list[Any]:
    return [load(path) for plugin in plugins() for path in plugin.wrappers]


@cache
def folders(name: str) -> tuple[Path, ...]:
    """Return the folders of this name that plug-ins bring: `configs` or `prompts`."""
    return tuple(folder for plugin in plugins() if (folder := plugin.home / name).is_dir())


def load(path: str) -> Any:
    """Return the object at a path "module:name". Raises ConfigError where it cannot be imported."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{path} cannot be loaded: {error}") from error
