"""A sweep from its command line to its exit code.

Every job is composed and prepared before the first begins, so that a wrong name in the last costs nothing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.cli.hydra_app import composed_job
from harness.cli.launcher import Job, Multirun
from harness.errors import ConfigError, HarnessError, UnfitError
from harness.leaderboard.build import BoardOptions, build
from harness.runtime import console
from harness.storage.run_folder import RESULT
from harness.storage.runs import Run, load
from harness.sweep import jobs
from harness.sweep.jobs import CheckedJob, SweepCommand
from harness.tables import terminal
from harness.tables.table import Part
from harness.tables.write import write

_KILLED = "killed, or out of memory"
"""Why a process may have ended without leaving an outcome."""
SHOWN = 5
"""How many errors are printed one by one."""


def carry_out(command: SweepCommand, multirun: Multirun) -> int:
    """Check, plan and run the jobs of a sweep, then show what they came to; return the exit code.

    Raises HarnessError for a sweep of which a job cannot run, before any is begun.
    """
    ready, notes = checked(command, multirun)
    multirun, engine = replace(multirun, jobs=tuple(each.job for each in ready)), multirun.engine
    if ready[0].config.get("dry_run"):
        terminal.show([*command.plan(ready, True), *notes, "Nothing was asked (dry_run=true)."])
        return 0
    if intro := [*command.plan(ready, False), *notes]:
        terminal.show(intro, stream=sys.stderr)
    place = jobs.new_folder(multirun)
    orders = jobs.orders(multirun, command.module, place)
    ends: Mapping[str, str] | None = None
    try:
        if engine is not None:
            ends = engine.carry_out(jobs.work(orders), place, partial(_has_ended, place))
        else:
            for order in orders:
                order.carry_out()
            ends = {}
    finally:
        show_tables(command, place, len(orders))
        code = show_errors(place, len(orders), ends, told=engine is None or engine.tells)
    return code


def _has_ended(place: Path, job: str) -> bool:
    with suppress(OSError):  # a network file system looks at its server when a folder is listed
        list((place / job).iterdir())
    return jobs.outcome(place / job) is not None


def checked(command: SweepCommand, multirun: Multirun) -> tuple[list[CheckedJob], list[str]]:
    """Return the jobs of a sweep, prepared, and sentences on what was left out of it.

    Raises ConfigError where one cannot run, or two would share a folder.
    """
    errors: dict[str, list[Job]] = defaultdict(list)
    jobs: list[CheckedJob] = []
    notes: list[str] = []
    for job in multirun.jobs:
        try:
            config = composed_job(multirun, job)
            prepared = command.prepare(config)
            prepared.folder.check()
            jobs.append(CheckedJob(job, config, prepared))
        except UnfitError as error:
            if not multirun.glob_of_prompts:
                errors[str(error)].append(job)
            notes.append(f"Left out, as the prompt does not fit the model: {job}.")
        except HarnessError as error:
            errors[str(error)].append(job)
    if errors:
        raise _refusal(errors, len(multirun.jobs))
    if not jobs:
        raise ConfigError("none of these prompts fits model and task. No job was begun.")
    by_place: dict[Path, list[CheckedJob]] = defaultdict(list)
    for each in jobs:
        by_place[each.prepared.folder.path].append(each)
    for path, sharing in by_place.items():
        if any(_configuration(each) != _configuration(sharing[0]) for each in sharing):
            raise ConfigError(_collision(path, sharing, multirun))
        if len(sharing) > 1:
            notes.append(f"Made once, though asked for {len(sharing)} times: {sharing[0].job}.")
    kept = [sharing[0] for sharing in by_place.values()]
    return [replace(each, job=replace(each.job, number=number)) for number, each in enumerate(kept)], notes


def _refusal(errors: Mapping[str, Sequence[Job]], total: int) -> ConfigError:
    """Return the error of a sweep with jobs that cannot run; several errors are printed here, one line each."""
    texts = [
        f"{f'{_numbers(jobs, total)}: ' if len(jobs) < total else ''}{sentence}" for sentence, jobs in errors.items()
    ]
    if len(texts) == 1:
        return ConfigError(f"{texts[0]} No job was begun.")
    for text in texts[:SHOWN]:
        console.complain(text)
    more = f" ({len(texts) - SHOWN} more errors are not shown)" if len(texts) > SHOWN else ""
    return ConfigError(f"{sum(map(len, errors.values()))} of {total} jobs cannot run{more}: none was begun.")


def _numbers(jobs: Sequence[Job], total: int) -> str:
    one = f"job {jobs[0].number} of {total} ({jobs[0]})"
    return one if len(jobs) == 1 else f"jobs {_listing([str(job.number) for job in jobs])}"


def _listing(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _configuration(checked: CheckedJob) -> object:
    return checked.prepared.folder.manifest.configuration


def _collision(path: Path, sharing: Sequence[CheckedJob], multirun: Multirun) -> str:
    """Return the sentence for different runs with one folder, with a name that tells them apart."""
    settings = [checked.job.settings() for checked in sharing]
    names = [name for name in settings[0] if len({each.get(name) for each in settings}) > 1]
    folder = sharing[0].prepared.folder
    rename = "judge.name" if names and all(name.startswith("judge") for name in names) else folder.renamed_by
    group = rename.partition(".")[0]
    swept = len({job.settings().get(group) for job in multirun.jobs}) > 1
    base = f"${{hydra:runtime.choices.{group}}}" if swept else folder.manifest.run["model"]
    own = "-".join([base, *(f"${{{name}}}" for name in names if "." in name)])
    return (
        f"jobs {_listing([str(checked.job.number) for checked in sharing])} would share the folder {path}, which takes "
        f"one run; they differ in {_listing(names) if names else 'their settings'}. Give each a name of its own: "
        f"'{rename}=\"{own}\"'. No job was begun."
    )


def show_tables(command: SweepCommand, place: Path, count: int) -> None:
    """Print the tables of the jobs that have left a run, and write them into the sweep's folder."""
    outcomes = [jobs.outcome(place / str(number)) for number in range(count)]
    runs = dict.fromkeys(Path(outcome["run"]) for outcome in outcomes if outcome and outcome.get("run"))
    rows = [load(run) for run in runs if (run / RESULT).exists()]
    if not rows:
        return
    parts = (command.tables or build)(rows)
    by_setting = () if command.tables else _by_the_setting(rows)
    print()
    terminal.show(by_setting or parts)
    print(flush=True)
    board = place / "LEADERBOARD.md"
    if by_setting:
        print(f"With all metrics, a table for each value: {board}", flush=True)
    write([*by_setting, *parts], str(board), "Leaderboard", named=False)


def _by_the_setting(rows: Sequence[Run]) -> Sequence[Part]:
    """Return one table with a column for each value where the runs differ in one setting of the task; else nothing."""
    complete = [row for row in rows if row.sound]
    names = {name for row in complete for name in row.settings}
    varied = [name for name in names if len({str(row.settings.get(name)) for row in complete}) > 1]
    if len(varied) != 1 or len({row.task for row in complete}) != 1:
        return ()
    with suppress(ConfigError):
        return build(rows, BoardOptions(by=varied))
    return ()


def show_errors(place: Path, count: int, ends: Mapping[str, str] | None, *, told: bool) -> int:
    """Print the errors of the jobs that have failed; return the exit code.

    `ends` says by job number how its process ended, `told` whether jobs have printed their errors here. Jobs that an
    interrupted sweep, whose ends are None, has not begun are no errors.
    """
    unreported: dict[str, list[int]] = defaultdict(list)
    failed = 0
    for number in range(count):
        if (outcome := jobs.outcome(place / str(number))) is not None:
            error = outcome.get("error")
        else:
            error = None if ends is None else _lost(ends.get(str(number), _KILLED))
        failed += bool(error)
        if error and (outcome is None or not told):
            unreported[str(error)].append(number)
    for error, numbers in unreported.items():
        console.complain(error, f"error in job{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}")
    if failed:
        console.complain(f"{failed} of {count} jobs have failed; {place} says which, and why.", "sweep")
    return 1 if failed else 0


def _lost(how: str) -> str:
    kept = "Every stored answer is kept, and the same command asks for the rest."
    return f"its process ended without a word ({how}). {kept}"
