"""Compose and prepare every job of a sweep before the first begins, so that a wrong name in the last costs nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.cli.hydra_app import composed_job
from harness.cli.launcher import Job, Multirun
from harness.errors import ConfigError, HarnessError, UnfitError
from harness.runtime import console
from harness.sweep.jobs import CheckedJob, SweepCommand

SHOWN = 5
"""How many errors are printed one by one."""


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
