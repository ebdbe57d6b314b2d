"""Compose and prepare every job of a sweep before the first begins, so that a wrong name in the last costs nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.cli.launcher import Job, Multirun
from harness.cli.own_configs import as_running
from harness.cli.setting_lines import groups
from harness.errors import ConfigError, HarnessError, UnfitError
from harness.runtime import console
from harness.runtime.secrets import refuse_config
from harness.settings import plain
from harness.sweep.jobs import CheckedJob, SweepCommand

SHOWN = 5
"""How many errors are printed one by one."""


@dataclass(frozen=True)
class Sweep:
    """A sweep of which every job can run."""

    multirun: Multirun
    jobs: Sequence[CheckedJob]
    notes: Sequence[str]
    """Sentences on what was left out of it."""


def checked(command: SweepCommand, multirun: Multirun) -> Sweep:
    """Return the jobs of a sweep, prepared. Raises ConfigError where one cannot run, or two would share a folder."""
    errors: dict[str, list[Job]] = defaultdict(list)
    jobs: list[CheckedJob] = []
    unfit: list[Job] = []
    for job in multirun.jobs:
        try:
            jobs.append(_prepared(command, multirun, job))
        except HarnessError as error:
            if multirun.glob_of_prompts and isinstance(error, UnfitError):
                unfit.append(job)
            else:
                errors[str(error)].append(job)
    if not jobs and not errors:
        raise ConfigError("none of these prompts fits model and task. No job was begun.")
    if errors:
        raise _refusal(errors, len(multirun.jobs))
    jobs, notes = _distinct(jobs, multirun)
    notes += [f"Left out, as the prompt does not fit the model: {job}." for job in unfit]
    kept = tuple(replace(checked.job, number=number) for number, checked in enumerate(jobs))
    jobs = [replace(checked, job=job) for checked, job in zip(jobs, kept, strict=True)]
    return Sweep(replace(multirun, jobs=kept), jobs, notes)


def _prepared(command: SweepCommand, multirun: Multirun, job: Job) -> CheckedJob:
    with as_running(multirun.compose(job)) as task_config:
        config = plain(task_config)
        refuse_config(config)
        prepared = command.prepare(config)
        prepared.folder.check()
        return CheckedJob(job, config, prepared)


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
    if len(jobs) == 1:
        return f"job {jobs[0].number} of {total} ({jobs[0]})"
    return f"jobs {_listing([str(job.number) for job in jobs])}"


def _listing(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _distinct(jobs: Sequence[CheckedJob], multirun: Multirun) -> tuple[list[CheckedJob], list[str]]:
    """Return the jobs without repetitions of the same run, and notes on those.

    Raises ConfigError where different runs would share a folder.
    """
    by_place: dict[Path, list[CheckedJob]] = defaultdict(list)
    for checked in jobs:
        by_place[checked.prepared.folder.path].append(checked)
    for path, sharing in by_place.items():
        if any(_configuration(each) != _configuration(sharing[0]) for each in sharing):
            raise ConfigError(_collision(path, sharing, multirun))
    notes = [
        f"Made once, though asked for {len(sharing)} times: {sharing[0].job}."
        for sharing in by_place.values()
        if len(sharing) > 1
    ]
    return [sharing[0] for sharing in by_place.values()], notes


def _configuration(checked: CheckedJob) -> object:
    return checked.prepared.folder.manifest.configuration


def _collision(path: Path, sharing: Sequence[CheckedJob], multirun: Multirun) -> str:
    """Return the sentence for different runs with one folder, with the setting that gives each a name of its own."""
    settings = [checked.job.settings() for checked in sharing]
    names = [name for name in settings[0] if len({each.get(name) for each in settings}) > 1]
    folder = sharing[0].prepared.folder
    rename = "judge.name" if names and all(name.startswith("judge") for name in names) else folder.renamed_by
    group = rename.partition(".")[0]
    swept = len({job.settings().get(group) for job in multirun.jobs}) > 1
    base = f"${{hydra:runtime.choices.{group}}}" if swept else folder.manifest.run["model"]
    chosen = groups(multirun.config_name)
    parts = (f"-${{hydra:runtime.choices.{name}}}" if name in chosen else f"-${{{name}}}" for name in names)
    numbers = _listing([str(checked.job.number) for checked in sharing])
    return (
        f"jobs {numbers} would share the folder {path}, which takes one run; they differ in "
        f"{_listing(names) if names else 'their settings'}. Give each a name of its own: "
        f"'{rename}=\"{base}{''.join(parts)}\"'. No job was begun."
    )
