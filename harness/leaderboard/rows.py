"""The runs that stand in a leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, unknown
from harness.prompting.version import other_rules_note
from harness.storage.runs import Run
from harness.storage.several import below
from harness.types import Result, Role

RANKED: tuple[Role, ...] = ("model", "algorithm")
"""The roles that are compared with each other."""


@dataclass(frozen=True)
class Row:
    """A run with the name that tables give to the folder above it."""

    run: Run
    folder: str = ""

    @property
    def task(self) -> str:
        """The name of its task."""
        return self.run.place["task"]

    @property
    def variant(self) -> str:
        """The name of the task's settings."""
        return self.run.place["variant"]

    @property
    def prompt(self) -> str:
        """The name of its prompt; of an algorithm, that of its data."""
        return self.run.place["prompt"]

    @property
    def model(self) -> str:
        """The name of what answered."""
        return self.run.place["model"]

    @property
    def complete(self) -> bool:
        """Whether it may be ranked: the run has ended, and its manifest says so of this very result."""
        return self.run.complete and not self.run.trouble and not self.unanswered

    @property
    def unanswered(self) -> bool:
        """Whether every call failed: there is nothing to rank."""
        overall = self.run.result.overall
        return overall.items > 0 and overall.failed == overall.items

    @property
    def role(self) -> Role:
        """What answered."""
        return self.run.role

    @property
    def ranked(self) -> bool:
        """Whether it is compared, and may be the best: baselines, solvers and cheats are there to compare with."""
        return self.role in RANKED

    @property
    def trouble(self) -> str:
        """Why a result is not ranked though it calls itself complete; empty where nothing is wrong."""
        return self.run.trouble

    @property
    def result(self) -> Result:
        """Its scores."""
        return self.run.result

    @property
    def items(self) -> str | None:
        """The SHA-256 of the items that were asked; None where there is no manifest."""
        return self.run.items

    @property
    def path(self) -> str:
        """Its own folder."""
        return str(self.run.folder)

    @property
    def results(self) -> str:
        """The results folder that it lies in, where it stands in one; else the folder that it was found below.

        Runs of one results folder belong together, however they were named on the command line.
        """
        parts = Path(self.task, self.variant, self.prompt, self.model).parts
        folder = self.run.folder.absolute()
        return str(folder.parents[len(parts) - 1]) if folder.parts[-len(parts) :] == parts else self.folder

    @property
    def configuration(self) -> Mapping[str, Any]:
        """What its answers depend on; empty where there is no manifest."""
        return self.run.configuration

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the task that are not their defaults; empty where there is no manifest."""
        return self.run.settings

    @property
    def usd(self) -> float | None:
        """What its answers cost; None where nothing was paid, or where some answer's cost is not known."""
        cost = self.run.result_json.get("cost") or {}
        return None if cost.get("answers_without_cost") else cost.get("usd")


def find_rows(folders: Sequence[str], *, some: bool = True) -> list[Row]:
    """Return the runs below the folders, each once, as `below` does; `some` says that there has to be one."""
    return [Row(run, name) for run, name in below(folders, need="one" if some else "none").values()]


def select_rows(rows: Sequence[Row], **patterns: str | None) -> list[Row]:
    """Return the rows whose task, model, prompt, variant fit: a name or glob, or several with commas between them.

    Names have commas too (labels=audited,limit=20), so what fits some row as a whole is not taken apart.
    """
    selection = list(rows)
    for part, pattern in patterns.items():
        if pattern is None:
            continue
        names = {str(getattr(row, part)) for row in rows}
        fitting = _fitting(names, [pattern]) or _fitting(names, (name.strip() for name in pattern.split(",")))
        if not fitting:
            raise ConfigError(unknown(part, pattern, names))
        selection = [row for row in selection if getattr(row, part) in fitting]
    if rows and not selection:
        filters = " ".join(f"{part}={pattern}" for part, pattern in patterns.items() if pattern is not None)
        raise ConfigError(f"no run fits all of {filters}: choose fewer.")
    return selection


def of_other_rules(rows: Sequence[Row]) -> list[str]:
    """Return that ranked runs were read by other rules than today's, and the command that reads them again."""
    older = [row for row in rows if row.complete and row.run.read_by_other_rules]
    folders = dict.fromkeys(row.folder or row.path for row in older)
    return [other_rules_note(len(older), "of these runs", folders)] if older else []


def _fitting(names: Iterable[str], patterns: Iterable[str]) -> set[str]:
    globs = list(patterns)
    return {name for name in names if any(name == pattern or fnmatchcase(name, pattern) for pattern in globs)}
