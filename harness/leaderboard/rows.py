"""The runs that stand in a leaderboard."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.codec import digest
from harness.errors import ConfigError, DataError, unknown
from harness.storage.files import DAMAGED, read_json
from harness.storage.files import below as files_below
from harness.storage.forms import check_manifest
from harness.storage.result_json import result_from_json
from harness.storage.run_folder import MANIFEST, RESULT, counts
from harness.types import Result


@dataclass(frozen=True)
class Row:
    """One run."""

    task: str
    variant: str
    prompt: str
    model: str
    complete: bool
    """Whether it may be ranked: the run has ended, and its manifest says so of this very result."""
    result: Result
    items: str | None = None
    """SHA-256 of the items that were asked, from the manifest; None where there is none."""
    folder: str = ""
    """The results folder that it was found below."""
    path: str = ""
    """Its own folder."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """What its answers depend on (task, data, prompt, model), from the manifest; empty where there is none."""
    usd: float | None = None
    """What its answers cost; None where nothing was paid, or where the cost of some answer is not known."""
    trouble: str = ""
    """What a run has, or lacks, for which its result is not ranked though it calls itself complete; else empty."""


def load(path: Path, folder: str = "") -> Row:
    """The run that a result.json tells of."""
    try:
        said = read_json(path)
        manifest = _manifest(path.with_name(MANIFEST))
        result = result_from_json(said)
        complete = said["complete"] is True and manifest.get("complete", True) is True
        trouble = _trouble(manifest, said["run"], result) if complete else ""
        return Row(
            **said["run"],
            complete=complete and not trouble,
            result=result,
            items=(manifest.get("items") or {}).get("sha256"),
            folder=folder,
            path=str(path.parent),
            configuration=manifest.get("configuration", {}),
            usd=_usd(said.get("cost") or {}),
            trouble=trouble,
        )
    except FileNotFoundError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, KeyError):
        raise DataError(f"{path} {DAMAGED}.") from None


def _manifest(path: Path) -> dict[str, Any]:
    """Return what the manifest says; nothing where it is not there or is none."""
    try:
        content = read_json(path)
        check_manifest(content)
    except (OSError, DataError, ValueError):
        return {}
    return content


def _trouble(manifest: Mapping[str, Any], run: Mapping[str, str], result: Result) -> str:
    """Why the manifest beside a complete result does not bear it out; empty where it does.

    The manifest is written last: a run that was killed before left one that says so, or one of an earlier run.
    """
    if not manifest:
        return f"no {MANIFEST} that can be read"
    items = (manifest.get("items") or {}).get("count")
    differing = {
        "run": manifest.get("run") != run,
        "items": items != result.overall.items,
        "counts": manifest.get("counts") != json.loads(json.dumps(counts(result))),
        "configuration_digest": manifest.get("configuration_digest") != digest(manifest.get("configuration")),
    }
    names = [name for name, differs in differing.items() if differs]
    return f"a {MANIFEST} that is not of this {RESULT} ({', '.join(names)})" if names else ""


def _usd(cost: Mapping[str, Any]) -> float | None:
    return None if cost.get("answers_without_cost") else cost.get("usd")


def below(folders: Sequence[str], *, some: bool = True) -> list[Row]:
    """All runs below the folders, each once; DataError where there has to be `some` and is none."""
    found: dict[Path, Row] = {}
    for name in folders:
        folder = Path(name)
        if not folder.is_dir():
            raise DataError(f"there is no folder {folder}; give the one that runs wrote to (results=… there).")
        for file in files_below(folder, RESULT):
            if ".sweeps" not in file.relative_to(folder).parts and file.resolve() not in found:
                found[file.resolve()] = load(file, name)
    if some and not found:
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
    if rows and not left:
        said = " ".join(f"{part}={pattern}" for part, pattern in patterns.items() if pattern is not None)
        raise ConfigError(f"no run fits all of {said}: choose fewer.")
    return left


def _fitting(names: Iterable[str], patterns: Iterable[str]) -> set[str]:
    wanted = list(patterns)
    return {name for name in names if any(name == one or fnmatchcase(name, one) for one in wanted)}
