"""The jobs of a sweep: carried out one at a time, in any process, and the folder where they leave their outcomes.

The folder is below results/.sweeps/ and holds the list of jobs, their outcomes, their leaderboard and their budget.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from omegaconf import DictConfig

from harness.cli import hydra_app, own_configs
from harness.cli.launcher import Job, Multirun, numbered
from harness.cli.own_configs import as_running
from harness.cost.budget import Accounts
from harness.engine import Work
from harness.errors import ConfigError, Interrupted, StoreError
from harness.runtime import console, signals
from harness.runtime.secrets import in_environment, mask_keys, refuse_config
from harness.settings import plain
from harness.storage.atomic_write import atomic_file
from harness.storage.runs import Run
from harness.tables.table import Part


class RunOne(Protocol):
    """The function of a command that runs one composed config."""

    def __call__(self, config: DictConfig, *, brief: bool, accounts: Accounts | None = None) -> Path | None:
        """Run it and print the scores, in half a line if `brief`; return the results folder, if there is one.

        `accounts`: of a budget from which all jobs of a sweep take.
        """


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
    run_one: RunOne
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
        config: Any = {}
        place = Path(self.folder, str(self.number))
        say(f"[{self.number}] {mask_keys(str(Job(self.number, tuple(self.overrides))))}")
        try:
            _check_shared_disk(place)
            composed = numbered(hydra_app.composed(self.config_name, [*self.hydra, *self.overrides]), self.number)
            with as_running(composed) as config:
                refuse_config(plain(config))
                command: SweepCommand = import_module(self.module).command()
                note(place, run=command.run_one(config, brief=True, accounts=_accounts(config, place)), error=None)
        except Interrupted as stop:
            raise KeyboardInterrupt(*stop.args) from stop
        except Exception as error:
            if config.get("debug"):
                print(mask_keys(console.clean(traceback.format_exc())), end="", file=sys.stderr)
            sentence = mask_keys(hydra_app.sentence(error, self.config_name, self.overrides))
            before = outcome(place.parent / str(self.number - 1)) or {}
            same = f"as in job {self.number - 1}." if before.get("error") == sentence else sentence
            console.complain(same, f"error in job {self.number}")
            note(place, run=None, error=sentence)
            return 1
        return 0


def carry_out(order: dict[str, Any]) -> int:
    """Carry out a job in a process of its own, given the fields of its `Order`; return the exit code."""
    job = Order(**order)
    os.chdir(job.working_directory)
    console.prepare_streams()
    own_configs.register()
    try:
        return job.carry_out()
    except KeyboardInterrupt:
        return signals.INTERRUPTED  # the parent process reports it


def _accounts(config: DictConfig, place: Path) -> Accounts | None:
    """Return the accounts of a sweep's budget, from which all its jobs take; None for a command without limits."""
    return None if config.get("budget") is None else Accounts(place.parent / BUDGET)


def _check_shared_disk(place: Path) -> None:
    """Raise ConfigError on a node without the sweep's folder, where the job's results would be lost."""
    if not (place.parent / SWEEP).is_file():
        raise ConfigError(
            f"the node {socket.gethostname()} has no folder {place.parent}: results= (and cache.path=) have to be on a "
            "disk that all nodes share."
        )


def orders(multirun: Multirun, module: str, place: Path) -> list[Order]:
    """Return the jobs of a sweep of a module's command, which leave their outcomes in a folder."""
    common = list(multirun.hydra_overrides), str(place.absolute()), str(Path.cwd())
    name = multirun.config_name
    return [Order(module, name, job.number, list(job.overrides), *common) for job in multirun.jobs]


def work(jobs: Sequence[Order]) -> list[Work]:
    """Return jobs as work for an engine."""
    keys = tuple(in_environment())
    return [Work(str(job.number), "harness.sweep.jobs:carry_out", asdict(job), keys) for job in jobs]


KEPT = 20
"""How many folders of sweeps are kept, the newest."""
SWEEP, OUTCOME, BUDGET, LOCK = "sweep.json", "outcome.json", "budget.sqlite", ".lock"
_DATED = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-\d+)?")


@contextmanager
def new_folder(multirun: Multirun) -> Iterator[Path]:
    """Make the folder of a sweep and yield it; older ones than the newest 20 are removed.

    A folder is never removed while the sweep runs that made it.
    """
    import filelock

    wanted = Path(multirun.config.hydra.sweep.dir)
    try:
        place = _new(wanted)
        with filelock.FileLock(place / LOCK):
            if wanted.parent.name == ".sweeps":
                _remove_old(wanted.parent)
            jobs = [{"number": job.number, "settings": mask_keys(str(job))} for job in multirun.jobs]
            _write(place / SWEEP, {"command": multirun.config_name, "jobs": jobs})
            yield place
    except OSError as error:
        raise StoreError(
            f"the sweep's folder {wanted} cannot be written ({error.strerror}): choose another results=."
        ) from error


def note(place: Path, *, run: Path | None, error: str | None) -> None:
    place.mkdir(parents=True, exist_ok=True)
    _write(place / OUTCOME, {"run": str(run) if run else None, "error": error})


def outcome(place: Path) -> dict[str, Any] | None:
    """Return the outcome of a job from its folder; None where it has left none."""
    try:
        content = json.loads((place / OUTCOME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _new(wanted: Path) -> Path:
    """Make a folder of this name, or with a number after it where one is there: two sweeps may begin in a second."""
    wanted.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        place = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            place.mkdir()
        except FileExistsError:
            number += 1
        else:
            return place


def _remove_old(sweeps: Path) -> None:
    import filelock

    dated = sorted(place for place in sweeps.iterdir() if place.is_dir() and _DATED.fullmatch(place.name))
    for place in dated[:-KEPT]:
        with suppress(filelock.Timeout, OSError), filelock.FileLock(place / LOCK, timeout=0):
            shutil.rmtree(place, ignore_errors=True)


def _write(file: Path, content: object) -> None:
    with atomic_file(str(file), "results=", user_path=False) as stream:
        json.dump(content, stream, indent=1)
