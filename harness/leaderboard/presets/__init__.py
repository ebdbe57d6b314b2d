"""The papers' own tables as presets of the leaderboard: preset=4, preset=causalbench/XI."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from harness.errors import ConfigError, nearest
from harness.leaderboard.published import no_scores, only_one, table_order
from harness.tasks.benchmark import Benchmark, PaperTable
from harness.tasks.find import every
from harness.tasks.presets import Number, Preset


def preset(name: str) -> Preset | PaperTable:
    """Return the preset of a name such as 4, 5a, XI, causalbench/XI; of 5a the part (a). Raise ConfigError if none."""
    full_name = name.strip().lower().removeprefix("table ")
    benchmark_name, _, table = full_name.rpartition("/")
    fitting = [
        (benchmark, preset)
        for benchmark in every()
        for key, preset in _presets_by_name(benchmark).items()
        if key.lower() == table and benchmark_name in ("", benchmark.name.lower())
    ]
    only_one("preset", name, [benchmark.name for benchmark, _ in fitting])
    if not fitting:
        hint = nearest(name, (key for benchmark in every() for key in _presets_by_name(benchmark)))
        message = no_scores("preset", table) or f"there is no preset {name!r}{hint}."
        raise ConfigError(f"{message} There are:\n{preset_list()}")
    return fitting[0][1]


def presets() -> list[tuple[Benchmark, Preset | PaperTable]]:
    """Return the presets of all benchmarks, in the order of their tables."""
    found: list[tuple[Benchmark, Preset | PaperTable]] = []
    for benchmark in every():
        tables: list[Preset | PaperTable] = [*benchmark.presets(), *benchmark.other_tables()]
        found += [(benchmark, preset) for preset in sorted(tables, key=lambda preset: table_order(preset.name))]
    return found


def preset_list() -> str:
    """Return a line for each preset."""
    width = max(len(preset.name) for _, preset in presets())
    lines = [
        f"  preset={preset.name:<{width}}  {benchmark.title}, Table {preset.name}: {preset.title}"
        for benchmark, preset in presets()
    ]
    return "\n".join(lines)


@cache
def _presets_by_name(benchmark: Benchmark) -> dict[str, Preset | PaperTable]:
    """Return a benchmark's presets, and the parts of those that are of several tables, by name."""
    by_name: dict[str, Preset | PaperTable] = {table.name: table for table in benchmark.other_tables()}
    for preset in benchmark.presets():
        by_name[preset.name] = preset
        for table in preset.tables:
            by_name[table] = replace(preset, name=table, tables=(table,), columns=_columns(preset, table))
    return by_name


def _columns(preset: Preset, table: str) -> tuple[Number, ...]:
    return tuple(number for number in preset.columns if number.where.get("table") == f"Table {table}")
