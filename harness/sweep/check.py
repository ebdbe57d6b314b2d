"""Compose and prepare every job of a sweep before the first begins, so that a wrong name in the last costs nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from omegaconf.errors import OmegaConfBaseException

from harness.cli.multirun import Job, Multirun
from harness.cli.setting_lines import groups
from harness.errors import ConfigError, HarnessError
from harness.runtime import console
from harness.runtime.secrets import refuse_config
from harness.settings import build, plain
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
    multirun, notes = _without_idle_settings(multirun)
    errors: dict[str, list[Job]] = defaultdict(list)
    jobs: list[CheckedJob] = []
    for job in multirun.jobs:
        try:
            jobs.append(_prepared(command, multirun, job))
        except HarnessError as error:
            errors[str(error)].append(job)
    if errors:
        raise _refusal(errors, multirun, jobs)
    jobs, more = _distinct(command, jobs, multirun)
    kept = tuple(replace(checked.job, number=number) for number, checked in enumerate(jobs))
    jobs = [replace(checked, job=job) for checked, job in zip(jobs, kept, strict=True)]
    return Sweep(replace(multirun, jobs=kept), jobs, [*notes, *more])


def _prepared(command: SweepCommand, multirun: Multirun, job: Job) -> CheckedJob:
    with multirun.as_running(multirun.compose(job.overrides, job.number)) as task_config:
        config = plain(task_config)
        refuse_config(config)
        prepared = command.prepare(config)
        command.check(prepared)
        prepared.folder.check()
        return CheckedJob(job, config, prepared)


def _without_idle_settings(multirun: Multirun) -> tuple[Multirun, list[str]]:
    """Return the sweep without swept settings that its baselines do not have, and notes on them.

    A baseline is the same at every temperature of the other models, so it runs once, without it. A model that is really
    asked and lacks a swept setting is refused instead: the comparison would be unequal.
    """
    swept = len({job.settings().get("model") for job in multirun.jobs}) > 1
    if not (swept and any(_setting(override) for job in multirun.jobs for override in job.overrides)):
        return multirun, []
    names_of: dict[str | None, set[str] | None] = {}
    left_out: dict[str, set[str]] = defaultdict(set)
    jobs: dict[tuple[str, ...], Job] = {}
    for job in multirun.jobs:
        choice = job.settings().get("model")
        if choice not in names_of:
            names_of[choice] = _names_of_instant(multirun, job)
        overrides = job.overrides
        if (names := names_of[choice]) is not None:
            idle = [override for override in overrides if _idle(override, names)]
            left_out[str(choice)] |= {f"model.{name}" for name in map(_setting, idle) if name != "name"}
            overrides = tuple(override for override in overrides if override not in idle)
        jobs.setdefault(overrides, replace(job, overrides=overrides))
    notes = [
        f"model={choice} has no {_listing(sorted(settings))}: it is the same whatever the others are set to, and runs "
        "without."
        for choice, settings in left_out.items()
        if settings
    ]
    return replace(multirun, jobs=tuple(replace(job, number=k) for k, job in enumerate(jobs.values()))), notes


def _setting(override: str) -> str:
    """Return the name of the model's setting that an override sets: temperature of ++model.temperature=1; else ""."""
    match = re.match(r"[+~]*model\.([^.=]+)", override)
    return match[1] if match else ""


def _idle(override: str, names: Collection[str]) -> bool:
    """Test whether an override sets or refers to a setting that is not among `names`, the model's."""
    name = _setting(override)
    return bool(name) and not {name, *re.findall(r"\$\{model\.(\w+)", override)} <= set(names)


def _names_of_instant(multirun: Multirun, job: Job) -> set[str] | None:
    """Return the settings of a job's model, if it is one that answers at once; None for all others."""
    overrides = [override for override in job.overrides if not _setting(override)]
    try:
        with multirun.as_running(multirun.compose(overrides, job.number)) as config:
            section = plain(config.model)
            instant = build(section, "model").traits.instant
    except (HarnessError, OmegaConfBaseException, AttributeError):
        return None  # it needs one of those settings, or is broken: composing it with them says why
    return {*section} if instant else None


def _refusal(errors: Mapping[str, Sequence[Job]], multirun: Multirun, fine: Sequence[CheckedJob]) -> ConfigError:
    """Return the error of a sweep with jobs that cannot run; several errors are printed here, one line each."""
    total = len(multirun.jobs)
    texts = []
    for sentence, jobs in errors.items():
        hint = ""
        key = re.match(r"there is no setting '([^']+)'", sentence)
        if key and any(key[1] in checked.job.settings() for checked in fine):
            hint = " Other jobs of this sweep have it: sweep over those alone, and over this one without it."
        who = f"{_numbers(jobs, total)}: " if len(jobs) < total else ""
        texts.append(f"{who}{sentence}{hint}")
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


def _distinct(
    command: SweepCommand, jobs: Sequence[CheckedJob], multirun: Multirun
) -> tuple[list[CheckedJob], list[str]]:
    """Return the jobs without repetitions of the same run, and notes on those.

    Raises ConfigError where different runs would share a folder.
    """
    by_place: dict[Path, list[CheckedJob]] = defaultdict(list)
    for checked in jobs:
        by_place[checked.prepared.folder.path].append(checked)
    kept, notes = [], []
    for sharing in by_place.values():
        first, *others = sharing
        path = first.prepared.folder.path
        for other in others:
            if other.prepared.folder.manifest.configuration != first.prepared.folder.manifest.configuration:
                raise ConfigError(_collision(path, sharing, multirun))
        kept.append(first)
        if others:
            notes.append(f"Made once, though asked for {len(sharing)} times: {first.job}.")
    return sorted(kept, key=lambda checked: checked.job.number), notes


def _collision(path: object, sharing: Sequence[CheckedJob], multirun: Multirun) -> str:
    """Return the sentence for different runs with one folder, with the setting that gives each a name of its own."""
    settings = [checked.job.settings() for checked in sharing]
    names = [name for name in settings[0] if len({each.get(name) for each in settings}) > 1]
    folder = sharing[0].prepared.folder
    rename = "judge.name" if names and all(name.startswith("judge") for name in names) else folder.renamed_by
    own_names = {checked.prepared.folder.manifest.run["model"] for checked in sharing}
    swept = len({job.settings().get(rename.partition(".")[0]) for job in multirun.jobs}) > 1
    group = rename.partition(".")[0]
    base = f"${{hydra:runtime.choices.{group}}}" if swept else next(iter(own_names))
    chosen_groups = groups(multirun.config_name)
    letters = [name.rpartition(".")[2][0] for name in names]
    parts = []
    for name, letter in zip(names, letters, strict=True):
        mark = letter if letters.count(letter) == 1 else f"{name.rpartition('.')[2]}="
        value = f"${{hydra:runtime.choices.{name}}}" if name in chosen_groups else f"${{{name}}}"
        parts.append(f"-{mark}{value}")
    numbers = _listing([str(checked.job.number) for checked in sharing])
    return (
        f"jobs {numbers} would share the folder {path}, which takes one run; they differ in "
        f"{_listing(names) if names else 'their settings'}. Give each a name of its own: "
        f"'{rename}=\"{base}{''.join(parts)}\"'. No job was begun."
    )
