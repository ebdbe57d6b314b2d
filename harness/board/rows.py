"""The runs that stand in a leaderboard."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from harness.errors import ConfigError, DataError, unknown
from harness.result_json import result_from_json
from harness.results import MANIFEST, RESULT
from harness.types import Result


@dataclass(frozen=True)
class Row:
    """One run."""

    task: str
    variant: str
    prompt: str
    model: str
    complete: bool
    result: Result
    items: str | None = None
    """SHA-256 of the items that were asked, from the manifest; None where there is none."""
    folder: str = ""
    """The results folder that it was found below."""


def load(path: Path, folder: str = "") -> Row:
    """The run that a result.json tells of."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        items = _items(path.with_name(MANIFEST))
        row = Row(**said["run"], complete=said["complete"], result=result_from_json(said), items=items, folder=folder)
        _ = row.result.overall
        return row
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not a result of this program ({error!r}): remove it.") from None


def _items(manifest: Path) -> str | None:
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8"))["items"]["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def below(folders: Sequence[str]) -> list[Row]:
    """All runs below the folders, each once."""
    found: dict[Path, Row] = {}
    for name in folders:
        folder = Path(name)
        if not folder.is_dir():
            raise DataError(f"there is no folder {folder}; give the one that runs wrote to (results=… there).")
        for file in sorted(folder.rglob(RESULT)):
            if ".sweeps" not in file.relative_to(folder).parts and file.resolve() not in found:
                found[file.resolve()] = load(file, name)
    if not found:
        raise DataError(f"no {RESULT} below {', '.join(folders)}: run something first, such as python -m harness.")
    return list(found.values())


def chosen(rows: Sequence[Row], **patterns: str | None) -> list[Row]:
    """The rows whose task, model, prompt, variant fit: a name or glob, or several with commas between them.

    Names have commas too (labels=audited,limit=20), so what fits some row as a whole is not taken apart.
    """
    left = list(rows)
    for part, pattern in patterns.items():
        if pattern is None:
            continue
        names = {str(getattr(row, part)) for row in rows}
        fitting = _fitting(names, [pattern]) or _fitting(names, (one.strip() for one in pattern.split(",")))
        if not fitting:
            raise ConfigError(unknown(part, pattern, names))
        left = [row for row in left if getattr(row, part) in fitting]
    if not left:
        said = " ".join(f"{part}={pattern}" for part, pattern in patterns.items() if pattern is not None)
        raise ConfigError(f"no run fits all of {said}: choose fewer.")
    return left


def _fitting(names: Iterable[str], patterns: Iterable[str]) -> set[str]:
    wanted = list(patterns)
    return {name for name in names if any(name == one or fnmatchcase(name, one) for one in wanted)}
