"""Runs that agree in everything but one setting: rows of robustness charts, and of tables by= and over= a setting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from harness.leaderboard.comparable import capitalized, items_of, settings_words, sort_key
from harness.leaderboard.setting import Setting
from harness.storage.runs import Run
from harness.tables.table import Cell, Column
from harness.tasks.benchmark import PERTURBATION
from harness.tasks.find import benchmark_of


@dataclass
class Chain:
    """Runs that agree in everything but a setting."""

    rest: tuple[str, ...]
    """All that they agree in."""
    by_step: dict[str, Run] = field(default_factory=dict)
    """By the setting's value, as headings have it."""

    @property
    def first(self) -> Run:
        """The run of the first step that there is."""
        return next(iter(self.by_step.values()))

    def beside(self, other: Chain) -> bool:
        """Return whether both may stand in one table: some step in both, and there the same items and labels."""
        shared = [(row, other.by_step[step]) for step, row in self.by_step.items() if step in other.by_step]
        same = (items_of(a) == items_of(b) and a.result.headline == b.result.headline for a, b in shared)
        return bool(shared) and all(same)


def chains_of(rows: Sequence[Run], setting: Setting, *, folders: bool = True) -> list[Chain]:
    """Return the complete runs in chains, their steps in order; runs of several results folders apart, where `folders`.

    A run that has the same step as another of its chain begins a chain of its own.
    """
    order = steps_of(rows, setting)
    chains: list[Chain] = []
    for row in sorted((row for row in rows if row.sound), key=lambda row: order.index(setting.step(row))):
        rest = (*setting.rest(row), row.results_folder if folders else "")
        step = setting.step(row)
        chain = next((other for other in chains if other.rest == rest and step not in other.by_step), None)
        if chain is None:
            chains.append(chain := Chain(rest))
        chain.by_step[step] = row
    return sorted(chains, key=_fewest_settings_first)


def _fewest_settings_first(chain: Chain) -> tuple[bool, int, tuple[float | str, ...]]:
    first = chain.first
    return first.variant != "default", len(first.settings), sort_key(first)


def steps_of(rows: Sequence[Run], setting: Setting) -> list[str]:
    """Return the values of a setting that the runs have: perturbations as charts have them, others from the default."""
    if setting == Setting("task", PERTURBATION):
        known = [step for row in rows[:1] for step in benchmark_of(row.task).perturbations.values()]
    else:
        known = sorted({setting.step(row) for row in rows if setting.is_default(row)})
    steps = {setting.step(row) for row in rows}
    return [step for step in known if step in steps] + sorted(steps - set(known), key=_natural)


def sets_of(chains: Sequence[Chain]) -> list[list[Chain]]:
    """Return the chains in sets that may stand side by side."""
    sets: list[list[Chain]] = []
    for chain in chains:
        members = next((members for members in sets if all(chain.beside(member) for member in members)), None)
        if members is None:
            sets.append(members := [])
        members.append(chain)
    return sets


def _natural(text: str) -> tuple[int, float, str]:
    try:
        return 0, float(text.replace(",", "")), text
    except ValueError:
        return 1, 0.0, text


def chain_columns(chains: Sequence[Chain], setting: Setting) -> tuple[list[Column], list[list[Cell]], list[str]]:
    """Return the columns of names, their cells for each chain, and the names that all chains share, in words."""
    rows = [_names(chain, setting) for chain in chains]
    known = [name for name in ("model", "prompt", "variant", "folder") if any(row.get(name) for row in rows)]
    differing = [name for name in known if len({row[name] for row in rows}) > 1]
    # One chain, or chains that differ in nothing, still need a name.
    columns = differing if "model" in differing or "model" not in known else ["model", *differing]
    if not columns:
        columns = known[:1]
    # The variant stands in the heading, the folder only tells equal names apart.
    shared = [f"{name} {rows[0][name]}" for name in known if name == "prompt" and name not in columns]
    cells = [[Cell(row[name], row[name]) for name in columns] for row in rows]
    return [Column(name, name) for name in columns], cells, shared


def view_heading(view: str, setting: Setting, row: Run) -> str:
    """Return the heading of a table of chains: By perturbation, a sample of 100."""
    if setting.part == "variant":
        return f"{capitalized(view)} variant"
    return capitalized(f"{view} {setting.title}, {settings_words(row, setting.other_settings(row))}")


def _names(chain: Chain, setting: Setting) -> dict[str, str]:
    first = chain.first
    names = {"model": first.model, "prompt": first.prompt, "variant": setting.other_variant(first)}
    if not setting.name:
        names[setting.part] = ""
    elif setting.part == "model":
        names["model"] = common_name([row.model for row in chain.by_step.values()])
    elif setting.part == "data":
        names["prompt"] = chain.rest[1]
    return names | {"folder": first.source if len({row.source for row in chain.by_step.values()}) == 1 else ""}


def common_name(names: Sequence[str]) -> str:
    """Return what names of one model's runs begin with, such as gpt4 of gpt4-seed=1 and gpt4-seed=2."""
    if len(set(names)) == 1:
        return names[0]
    common = "".join(signs[0] for signs in takewhile(lambda signs: len(set(signs)) == 1, zip(*names, strict=False)))
    beginning = re.sub(r"[\W_]+(s|seed|run|t|temp(erature)?)?[\W_]*$", "", common)
    return beginning or ", ".join(names)
