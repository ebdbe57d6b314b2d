"""Which benchmark a run is of: one that is installed. A results folder names none.

A folder may come from anybody, so nothing is imported for the names that stand in it: they are compared with those of
the packages below harness/tasks and of plug-ins.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from harness.plugin import load, plugins
from harness.tasks.benchmark import Benchmark

_HERE = Path(__file__).resolve().parent


def benchmark_of(task: str) -> Benchmark:
    """Return the benchmark of a task, or of a benchmark's own name; an empty one for any that is not installed."""
    name = task.partition("/")[0]
    return _installed(name) if name in _packages() else Benchmark(name=name, title=name)


def every() -> tuple[Benchmark, ...]:
    """Return the benchmarks of the harness and of plug-ins, by year."""
    return tuple(sorted(map(_installed, _packages()), key=lambda benchmark: (benchmark.year, benchmark.name)))


@cache
def _packages() -> Mapping[str, str]:
    """Return the paths ("module:value") of the benchmarks of the harness and of plug-ins, by name."""
    added = {name: path for plugin in plugins() for name, path in plugin.benchmarks.items()}
    own = (file.parent.name for file in _HERE.glob("*/benchmark.py"))
    return added | {name: f"harness.tasks.{name}.benchmark:BENCHMARK" for name in own}


@cache
def _installed(name: str) -> Benchmark:
    benchmark: Benchmark = load(_packages()[name])
    return benchmark
