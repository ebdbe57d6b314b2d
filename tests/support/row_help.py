"""Rows of a leaderboard made by hand, of runs that no folder holds."""

from __future__ import annotations

import re
from pathlib import Path

from harness.prompting.version import reading_version
from harness.storage.runs import Run
from harness.types import Result


def board_row(
    task: str,
    variant: str,
    prompt: str,
    model: str,
    complete: bool,
    result: Result,
    items: str | None = None,
    folder: str = "",
    data: tuple[int, int] | None = None,
) -> Run:
    """A row with the settings that its variant names; `items` is the SHA-256 of what was asked.

    Of an algorithm, `data` are the observations and the seed that it has learned from.
    """
    place = {"task": task, "variant": variant, "prompt": prompt, "model": model}
    settings = dict(re.findall(r"(?:^|,)(\w+)=(.*?)(?=,\w+=|$)", variant))
    manifest = {"items": {"sha256": items}, "configuration": {"task": settings}, "reading": reading_version()}
    if data is not None:
        manifest["configuration"]["data"] = dict(zip(("observations", "seed"), data, strict=True))
        manifest |= {"role": "algorithm", "config": {"algorithm": {"name": model}}}
    return Run(Path(folder), place, complete, result, manifest=manifest, source=folder)
