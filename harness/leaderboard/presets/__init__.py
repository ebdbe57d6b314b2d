"""The papers' own tables as presets of the leaderboard: preset=4, preset=causalbench/XI."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.errors import ConfigError, nearest
from harness.leaderboard.presets import causalbench, causalbench_appendix, corr2cause
from harness.leaderboard.presets.schema import Number, Preset
from harness.leaderboard.published_numbers import no_scores

PRESETS = (*corr2cause.PRESETS, *causalbench.PRESETS, *causalbench_appendix.PRESETS)
NAMES = {"corr2cause": "Corr2Cause", "causalbench": "CausalBench"}


def preset(name: str) -> Preset:
    """The preset of a name such as 4, 5a, XI, causalbench/XI; of 5a the part (a). Raises ConfigError."""
    every = {one.lower(): found for one, found in _named()}
    wanted = name.strip().lower().removeprefix("table ")
    if wanted not in every:
        hint = nearest(name, (one for one, _ in _named() if "/" not in one))
        told = no_scores("preset", wanted.rpartition("/")[2]) or f"there is no preset {name!r}{hint}."
        raise ConfigError(f"{told} There are:\n{listed()}")
    return every[wanted]


def listed() -> str:
    """A line for each preset."""
    width = max(len(one.name) for one in PRESETS)
    lines = [f"  preset={one.name:<{width}}  {NAMES[one.benchmark]}, Table {one.name}: {one.title}" for one in PRESETS]
    return "\n".join(lines)


def _named() -> Iterator[tuple[str, Preset]]:
    for one in PRESETS:
        parts = [
            (table, replace(one, name=table, tables=(table,), columns=_columns(one, table))) for table in one.tables
        ]
        for name, found in ((one.name, one), *parts):
            yield name, found
            yield f"{one.benchmark}/{name}", found


def _columns(one: Preset, table: str) -> tuple[Number, ...]:
    return tuple(number for number in one.columns if number.where.get("table") == f"Table {table}")
