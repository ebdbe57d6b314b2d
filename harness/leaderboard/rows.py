"""The runs that stand in a leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from harness.errors import ConfigError, unknown
from harness.storage import runs
from harness.storage.runs import Run
from harness.types import Result


@dataclass(frozen=True)
class Row:
    """A run, and what tables call the folder that it was found below."""

    run: Run
    folder: str = ""

    @property
    def task(self) -> str:
        """Return the name of its task."""
        return self.run.place["task"]

    @property
    def variant(self) -> str:
        """Return the name of the task's settings."""
        return self.run.place["variant"]

    @property
    def prompt(self) -> str:
        """Return the name of its prompt; of an algorithm, that of its data."""
        return self.run.place["prompt"]

    @property
    def model(self) -> str:
        """Return the name of what answered."""
        return self.run.place["model"]

    @property
    def complete(self) -> bool:
        """Return whether it may be ranked: the run has ended, and its manifest says so of this very result."""
        return self.run.complete and not self.run.trouble

    @property
    def trouble(self) -> str:
        """Return why a result is not ranked though it calls itself complete; empty where nothing is wrong."""
        return self.run.trouble

    @property
    def result(self) -> Result:
        """Return its scores."""
        return self.run.result

    @property
    def items(self) -> str | None:
        """Return the SHA-256 of the items that were asked; None where there is no manifest."""
        return self.run.items

    @property
    def path(self) -> str:
        """Return its own folder."""
        return str(self.run.folder)

    @property
    def configuration(self) -> Mapping[str, Any]:
        """Return what its answers depend on; empty where there is no manifest."""
        return self.run.configuration

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings of the task that are not their defaults; empty where there is no manifest."""
        return self.run.settings

    @property
    def usd(self) -> float | None:
        """Return what its answers cost; None where nothing was paid, or where some answer's cost is not known."""
        cost = self.run.result_json.get("cost") or {}
        return None if cost.get("answers_without_cost") else cost.get("usd")


def below(folders: Sequence[str], *, some: bool = True) -> list[Row]:
    """Return the runs below the folders, each once. Raises DataError where there has to be `some` and is none."""
    return [Row(runs.load(folder), name) for folder, name in runs.find(folders, need="one" if some else "none").items()]


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
