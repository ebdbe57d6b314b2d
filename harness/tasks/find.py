"""Which benchmark a run is of: one that ships, or one that the user's own configs name. A results folder names none.

A folder may come from anybody, so nothing is imported for the names that stand in it: they are compared with those of
the packages below harness/tasks and of ./configs/task in the working directory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from harness.config_files import CONFIGS, read_yaml
from harness.errors import ConfigError
from harness.plugin import load, plugins
from harness.runtime import console
from harness.settings import class_of
from harness.tasks.benchmark import Benchmark, Described
from harness.trust import trusted

_HERE = Path(__file__).resolve().parent


def benchmark_of(task: str) -> Benchmark:
    """Return the benchmark of a task, or of a benchmark's own name; an empty one if it is unknown.

    A class of the user's own counts where this process has imported it or the folder is trusted. Raises ConfigError
    where it cannot be imported.
    """
    name = task.partition("/")[0]
    if name in _packages():
        return _shipped(name)
    for called, target in _own(Path.cwd()).items():
        if called.partition("/")[0] == name and (benchmark := _of_class(target)) is not None:
            return benchmark
    return Benchmark(name=name, title=name)


def shipped() -> tuple[Benchmark, ...]:
    """Return the benchmarks that ship with the harness and with plug-ins, by year."""
    return tuple(sorted(map(_shipped, _packages()), key=_place))


def every() -> tuple[Benchmark, ...]:
    """Return the benchmarks that ship with harness and those of the user's own configs, by year.

    A class that cannot be imported has none: its own runs say why, and no one else's.
    """
    there = {benchmark.name: benchmark for benchmark in shipped()}
    for target in dict.fromkeys(_own(Path.cwd()).values()):
        with suppress(ConfigError):
            if (benchmark := _of_class(target)) is not None:
                there.setdefault(benchmark.name, benchmark)
    return tuple(sorted(there.values(), key=_place))


def _place(benchmark: Benchmark) -> tuple[int, str]:
    return benchmark.year, benchmark.name


@cache
def _packages() -> Mapping[str, str]:
    """Return the paths ("module:value") of the benchmarks of the harness and of plug-ins, by name."""
    added = {name: path for plugin in plugins() for name, path in plugin.benchmarks.items()}
    own = (file.parent.name for file in _HERE.glob("*/benchmark.py"))
    return added | {name: f"harness.tasks.{name}.benchmark:BENCHMARK" for name in own}


@cache
def _shipped(name: str) -> Benchmark:
    benchmark: Benchmark = load(_packages()[name])
    return benchmark


@cache
def _own(folder: Path) -> Mapping[str, str]:
    own = folder / "configs" / "task"
    return dict(_classes_by_name(own)) if own.is_dir() and own != CONFIGS / "task" else {}


def _classes_by_name(folder: Path) -> Iterator[tuple[str, str]]:
    import yaml

    for file in sorted(folder.rglob("*.yaml")):
        try:
            content = read_yaml(file)
        except (yaml.YAMLError, OSError, ValueError):
            continue  # a command that asks for it says what is wrong with it
        if isinstance(content, dict) and isinstance(content.get("_target_"), str):
            yield str(content.get("name") or file.relative_to(folder).with_suffix("").as_posix()), content["_target_"]


@cache
def _of_class(target: str) -> Benchmark | None:
    """Return the benchmark that a user's class declares, or None; also for one that nobody has said may be imported."""
    if not trusted() and target.rpartition(".")[0] not in sys.modules:
        console.complain(
            f"configs/task of this folder names {target}, whose code is not imported. If it is yours: "
            "`harness trust .`, once and for all.",
            "note",
        )
        return None
    task = class_of(target, "task")
    return task.benchmark if isinstance(task, Described) else None
