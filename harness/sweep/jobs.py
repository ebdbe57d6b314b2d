"""The jobs of a sweep: carried out one at a time, in any process, and the folder where they leave their outcomes.

The folder is below results/.sweeps/ and holds the list of jobs, their outcomes, their leaderboard and their budget.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from harness.cli import hydra_app
from harness.cli.launcher import Job, Multirun
from harness.engine import Work
from harness.errors import ConfigError, Interrupted, StoreError
from harness.runtime import console, signals
from harness.runtime.secrets import in_environment, mask_keys
from harness.storage.atomic_write import atomic_file
from harness.storage.runs import Run
from harness.tables.table import Part

SWEEP, OUTCOME, BUDGET = "sweep.json", "outcome.json", "budget.sqlite"


@dataclass(frozen=True)
class CheckedJob:
    """A job that can run."""

    job: Job
    config: Mapping[str, Any]
    prepared: Any
    """What the command's `prepare` returned."""


@dataclass(frozen=True)
class SweepCommand:
    """A command that can be swept. Its module has a function `command` that returns it, for other processes."""

    module: str
    prepare: Callable[[Mapping[str, Any]], Any]
    """Returns the run that a config describes, with a `folder`. Raises HarnessError for one that cannot run."""
    run_one: Callable[..., Path | None]
    """Of a config, `brief` and `budget_file` (of a budget from which all jobs take): runs it, prints half a line of
    scores if `brief`, and returns the results folder, if there is one."""
    plan: Callable[[Sequence[CheckedJob], bool], Sequence[Part]] = lambda checked, asked: ()
    """Returns the plan of all jobs; where it was not asked for, nothing if they cost nothing."""
    tables: Callable[[Sequence[Run]], Sequence[Part]] | None = None
    """Returns the tables at the end; None: the leaderboard's."""


def say(text: str) -> None:
    with suppress(OSError):  # the terminal has gone
        print(console.clean(text), file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Order:
    """A job in the form in which any process can carry it out."""

    module: str
    """Of the command."""
    config_name: str
    number: int
    overrides: Sequence[str]
    hydra: Sequence[str]
    """Settings of Hydra's own."""
    folder: str
    """That of the sweep."""
    working_directory: str

    def carry_out(self) -> int:
        """Carry out the job in this process; return the exit code. Raises KeyboardInterrupt, which ends the sweep."""
        config: dict[str, Any] = {}
        place = Path(self.folder, str(self.number))
        say(f"[{self.number}] {mask_keys(str(Job(self.number, tuple(self.overrides))))}")
        try:
            if not (place.parent / SWEEP).is_file():  # on another node
                raise ConfigError(
                    f"the node {socket.gethostname()} has no folder {place.parent}: results= (and cache.path=) have to "
                    "be on a disk that all nodes share."
                )
            config |= hydra_app.composed(self.config_name, [*self.hydra, *self.overrides], self.number)
            command: SweepCommand = import_module(self.module).command()
            budget_file = None if config.get("budget") is None else place.parent / BUDGET
            _note(place, command.run_one(config, brief=True, budget_file=budget_file))
        except Interrupted as stop:
            raise KeyboardInterrupt(*stop.args) from stop
        except Exception as error:
            if config.get("debug"):
                print(mask_keys(console.clean(traceback.format_exc())), end="", file=sys.stderr)
            sentence = mask_keys(hydra_app.sentence(error, self.config_name, self.overrides))
            same = (outcome(place.parent / str(self.number - 1)) or {}).get("error") == sentence
            console.complain(f"as in job {self.number - 1}." if same else sentence, f"error in job {self.number}")
            _note(place, None, sentence)
            return 1
        return 0


def carry_out(order: dict[str, Any]) -> int:
    """Carry out a job in a process of its own, given the fields of its `Order`; return the exit code."""
    job = Order(**order)
    os.chdir(job.working_directory)
    console.prepare_streams()
    try:
        return job.carry_out()
    except KeyboardInterrupt:
        return signals.INTERRUPTED  # the parent process reports it


def orders(multirun: Multirun, module: str, place: Path) -> list[Order]:
    """Return the jobs of a sweep of a module's command, which leave their outcomes in a folder."""
    common = list(multirun.hydra_overrides), str(place.absolute()), str(Path.cwd())
    return [Order(module, multirun.config_name, job.number, list(job.overrides), *common) for job in multirun.jobs]


def work(jobs: Sequence[Order]) -> list[Work]:
    """Return jobs as work for an engine."""
    keys = tuple(in_environment())
    return [Work(str(job.number), "harness.sweep.jobs:carry_out", asdict(job), keys) for job in jobs]


def new_folder(multirun: Multirun) -> Path:
    """Make the folder of a sweep, with a number after its name where that is there; return it. Raises StoreError."""
    jobs = [{"number": job.number, "settings": mask_keys(str(job))} for job in multirun.jobs]
    wanted = multirun.folder
    try:
        wanted.parent.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            place = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
            with suppress(FileExistsError):
                place.mkdir()
                break
    except OSError as error:
        raise StoreError(
            f"the sweep's folder {wanted} cannot be written ({error.strerror}): choose another results=."
        ) from error
    _write(place / SWEEP, {"command": multirun.config_name, "jobs": jobs})
    return place


def outcome(place: Path) -> dict[str, Any] | None:
    """Return the outcome of a job from its folder; None where it has left none."""
    try:
        content = json.loads((place / OUTCOME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _note(place: Path, run: Path | None, error: str | None = None) -> None:
    place.mkdir(parents=True, exist_ok=True)
    _write(place / OUTCOME, {"run": str(run) if run else None, "error": error})


def _write(file: Path, content: object) -> None:
    with atomic_file(str(file), "results=", user_path=False) as stream:
        json.dump(content, stream, indent=1)
