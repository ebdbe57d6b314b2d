"""What tables by and over a setting of runs call their rows, and what stands above them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from harness.leaderboard.chains import RunSetting, Series
from harness.leaderboard.comparable import capitalized, settings_words
from harness.storage.runs import Run
from harness.tables.table import Cell, Column


def chain_columns(chains: Sequence[Series], setting: RunSetting) -> tuple[list[Column], list[list[Cell]], list[str]]:
    """Return the columns of names, their cells for each chain, and the names that all chains share, in words."""
    rows = [_chain_names(chain, setting) for chain in chains]
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


def view_heading(view: str, setting: RunSetting, row: Run) -> str:
    """Return the heading of a table of chains: By perturbation, a sample of 100."""
    if setting.part == "variant":
        return f"{capitalized(view)} variant"
    return capitalized(f"{view} {setting.title}, {settings_words(row, setting.other_settings(row))}")


def _chain_names(chain: Series, setting: RunSetting) -> dict[str, str]:
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
