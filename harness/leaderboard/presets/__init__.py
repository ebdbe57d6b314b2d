"""The papers' own tables as presets of the leaderboard: preset=4, preset=causalbench/XI."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from harness.errors import ConfigError, nearest
from harness.leaderboard.published_numbers import no_scores, only_one
from harness.tasks.benchmark import Benchmark
from harness.tasks.find import every
from harness.tasks.presets import Number, Preset


def preset(name: str) -> Preset:
    """The preset of a name such as 4, 5a, XI, causalbench/XI; of 5a the part (a). Raises ConfigError."""
    wanted = name.strip().lower().removeprefix("table ")
    benchmark_name, _, table = wanted.rpartition("/")
    fitting = [
        (benchmark, one)
        for benchmark in every()
        for called, one in _named(benchmark).items()
        if called.lower() == table and benchmark_name in ("", benchmark.name.lower())
    ]
    only_one("preset", name, [benchmark.name for benchmark, _ in fitting])
    if not fitting:
        hint = nearest(name, (called for benchmark in every() for called in _named(benchmark)))
        message = no_scores("preset", table) or f"there is no preset {name!r}{hint}."
        raise ConfigError(f"{message} There are:\n{listed()}")
    return fitting[0][1]


def presets() -> list[tuple[Benchmark, Preset]]:
    """Return the presets of all benchmarks."""
    return [(benchmark, one) for benchmark in every() for one in benchmark.presets()]


def listed() -> str:
    """A line for each preset."""
    width = max(len(one.name) for _, one in presets())
    lines = [
        f"  preset={one.name:<{width}}  {benchmark.title}, Table {one.name}: {one.title}"
        for benchmark, one in presets()
    ]
    return "\n".join(lines)


@cache
def _named(benchmark: Benchmark) -> dict[str, Preset]:
    """Return a benchmark's presets, and the parts of those that are of several tables, by name."""
    named: dict[str, Preset] = {}
    for one in benchmark.presets():
        named[one.name] = one
        for table in one.tables:
            named[table] = replace(one, name=table, tables=(table,), columns=_columns(one, table))
    return named


def _columns(one: Preset, table: str) -> tuple[Number, ...]:
    return tuple(number for number in one.columns if number.where.get("table") == f"Table {table}")
