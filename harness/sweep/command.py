"""What a command says of itself to a sweep."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from omegaconf import DictConfig

from harness.cli.multirun import Job
from harness.cost.shared_budget import Book
from harness.storage.runs import Run
from harness.tables.table import Part


class RunOne(Protocol):
    """The function of a command that runs one composed config."""

    def __call__(self, config: DictConfig, *, brief: bool, book: Book | None = None) -> Path | None:
        """Run it and print the scores, in half a line if `brief`; return the results folder, if there is one.

        `book`: where the jobs of a sweep take from one budget.
        """


@dataclass(frozen=True)
class Checked:
    """A job that can run."""

    job: Job
    config: Mapping[str, Any]
    prepared: Any
    """What the command's `prepare` returned."""


@dataclass(frozen=True)
class Command:
    """A command that can be swept. Its module has a function `command` that returns it, for other processes."""

    module: str
    prepare: Callable[[Mapping[str, Any]], Any]
    """Returns the run that a config describes, with a `folder`. Raises HarnessError for one that cannot run."""
    run_one: RunOne
    check: Callable[[Any], None] = lambda prepared: None
    """Raises HarnessError where a prepared run would fail at its first item."""
    plan: Callable[[Sequence[Checked]], Sequence[Part]] = lambda checked: ()
    """Returns the plan of all jobs."""
    asks: Callable[[Any], bool] = lambda prepared: False
    """Returns whether a prepared run may cost money."""
    place: Callable[[Any], Hashable] = lambda prepared: prepared.folder.path
    """Returns what a prepared run has for itself: of two that have the same, one is made."""
    next_step: Callable[[Sequence[Checked]], str] = lambda checked: ""
    """Returns what the user does when the jobs have ended; "" where nothing is left to do."""
    tables: Callable[[Sequence[Run]], Sequence[Part]] | None = None
    """Returns the tables at the end; None: the leaderboard's."""
