"""What a package adds to the harness, in one small value, and how such packages are found.

A plug-in's distribution names its value in the entry-point group `harness.plugins`, as this project's own plug-ins do:

    [project.entry-points."harness.plugins"]
    toy = "toy_package:PLUGIN"

The value holds names and paths of modules, so that listing every plug-in imports nothing heavy; a module is imported
when what it offers is asked for. docs/adding.md has a complete example.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location
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
class Exporter:
    """A target of `harness export to=NAME`."""

    summary: str
    """Its line in `harness export --help`."""
    write: str
    """The function of runs and `out` that writes them and returns the sentence that says so."""
    is_file: bool = False
    """Whether it writes one file; a folder otherwise."""
    takes_bare_runs: bool = False
    """Whether it has something to write for a run whose records are not there."""


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
    exporters: Mapping[str, Exporter] = field(default_factory=dict)
    engines: Mapping[str, str] = field(default_factory=dict)
    """What starts processes, by the name that the command line gives it (`harness.engine.Engine`)."""
    metrics: tuple[str, ...] = ()
    """Metrics beside those that every run has (`harness.scoring.definitions.MetricDefinition`)."""
    wrappers: tuple[str, ...] = ()
    """Functions that may put a model of their own around the one that a run asks (`harness.prepare.Wrapping`)."""


def plugins() -> tuple[Plugin, ...]:
    """Return every plug-in that is installed, by name. One that cannot be loaded is named on stderr and left out."""
    return _load_all()[0]


def absent() -> str:
    """Return the sentence on plug-ins that are registered but cannot be imported, or ""."""
    names = _load_all()[1]
    return f"Without their packages: the plug-in{'s' * (len(names) > 1)} {', '.join(names)}." if names else ""


@cache
def _load_all() -> tuple[tuple[Plugin, ...], tuple[str, ...]]:
    """Return the plug-ins that can be imported, and the names of those whose module is missing."""
    loaded: dict[str, Plugin] = {}
    missing: list[str] = []
    for name, place in sorted(_entry_points().items()):
        module, _, attribute = place.partition(":")
        try:
            value = getattr(import_module(module), attribute)
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                _complain(name, f"it needs the package {error.name}")
            else:
                missing.append(name)
        except Exception as error:  # a stranger's package may raise anything
            _complain(name, f"{type(error).__name__}: {error}")
        else:
            if isinstance(value, Plugin):
                loaded.setdefault(value.name, value)
            else:
                _complain(name, f"{place} is no harness.plugin.Plugin")
    return tuple(loaded.values()), tuple(missing)


def _entry_points() -> dict[str, str]:
    """Return "module:value" by name, of each entry point of the group in the installed distributions."""
    entries: dict[str, str] = {}
    for folder in distributions().values():
        entries = _entries_in(folder / "entry_points.txt") | entries
    return entries


def version_of(name: str) -> str | None:
    """Return the version of a distribution; None where it is not installed."""
    folder = distributions().get(name)
    return None if folder is None else folder.stem.split("-")[1]


def distributions() -> Mapping[str, Path]:
    """Return the folders that installers leave by the names of distributions: those that Python finds first.

    importlib.metadata loads fifty modules for it, a third of the time of `--help`, and reads a whole description for a
    version. The working directory is left out: it may hold a folder that somebody sent, whose entry points every
    command would import although nobody has installed it.
    """
    return _below(tuple(filter(None, sys.path)), Path.cwd().resolve())


@cache
def _below(places: tuple[str, ...], but: Path) -> Mapping[str, Path]:
    folders: dict[str, Path] = {}
    for place in map(Path, places):
        entries = os.scandir(place) if place.is_dir() and place.resolve() != but else ()
        names = [entry.name for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
        for name in sorted(name for name in names if "-" in name[:-10]):  # that of a checkout has no version
            folders.setdefault(name.partition("-")[0].lower().replace("_", "-"), place / name)
    return folders


def _entries_in(file: Path) -> dict[str, str]:
    """Return the entry points of the group in a distribution's file; {} without that file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return {}
    if GROUP not in text:  # as in nearly all of a hundred files
        return {}
    section, entries = "", dict[str, str]()
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == GROUP and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            entries[name.strip()] = value.partition("[")[0].strip()
    return entries


def _complain(name: str, reason: str) -> None:
    print(f"The plug-in {name} cannot be loaded: {reason}.", file=sys.stderr)


def commands() -> dict[str, Command]:
    return {name: command for plugin in plugins() for name, command in plugin.commands.items()}


def exporters() -> dict[str, Exporter]:
    return {name: exporter for plugin in plugins() for name, exporter in plugin.exporters.items()}


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


class CommandFinder:
    """Has `python -m harness.NAME` find a plug-in's command as it finds the core's own modules.

    Where NAME is also a package of the core (`cache`), Python asks for NAME.__main__, which that package lacks.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the command's module under the name that was asked for; None where there is no such command."""
        parent, _, last = name.removesuffix(".__main__").rpartition(".")
        if parent != "harness" or last == "plugins" or (command := commands().get(last)) is None:
            return None
        module = find_spec(command.module)
        return spec_from_file_location(name, module.origin) if module is not None and module.origin else None


def load(path: str) -> Any:
    """Return the object at a path "module:name". Raises ConfigError where it cannot be imported."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"{path} cannot be loaded: {error}") from error
