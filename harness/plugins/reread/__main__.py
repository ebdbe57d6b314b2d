"""Stored replies read again by today's rules: harness reread results/… (judge=…)

A results folder is read as data: nothing that it names is imported or run but what is installed.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from harness.cli import key_value
from harness.errors import ConfigError, HarnessError, Interrupted, RunStopped
from harness.plugins.reread.judges import NewJudge
from harness.plugins.reread.marks import MOST, read_marks, write_page
from harness.plugins.reread.renew import Change, NotReread, preview, renew, source_of, target_of
from harness.runtime import console, secrets, signals
from harness.runtime.interrupt import interruptible
from harness.runtime.progress import Progress
from harness.scoring.definitions import definition, main_metrics
from harness.settings import plain
from harness.storage.find import find
from harness.storage.runs import load
from harness.tables.numbers import metric_text
from harness.tables.results import judge_notes
from harness.types import Result

HELP = """\
Read the replies of earlier runs again by today's rules, without asking their models: records, scores and manifest are
renewed in their place, and say by which version of the rules they were read.

  harness reread                     everything below results/
  harness reread A B                 other folders, of runs or above them
  harness reread A dry_run=true      what would change, and nothing is written
  harness reread A judge=gpt4        a judge reads what the rules cannot; its run stands beside the other one

  harness reread RUN sample=50       a page (RUN/marks.html) on which you mark, for replies drawn at random,
                                     whether the rules read them right; nothing is read again
  harness reread RUN marks=FILE      how often they did not, by the marks that the page has saved, with an
                                     interval; the marks are kept in RUN/marks.json

A run that does not hold (harness verify says why) is left as it is.

  dry_run=false       true: only show what would change
  judge=              a model that is asked about the replies that the rules cannot read; judge.…=, cache=, cache.…=
                      and budget.…= (for each run) as in the command of a run
  judge_sample=50     with a judge: replies that the rules can read, drawn at random, which it reads as well
  sample=             without a judge: how many replies of one run a person is to mark, up to 1000
  marks=              the file of marks that the page has saved
"""
_OF_A_RUN = re.compile(r"\+?(?:judge|cache|budget|judge_sample)[.=]")
"""Settings that a run has as well, which Hydra composes."""


@dataclass(frozen=True)
class RereadSettings:
    """HELP says what each one means."""

    dry_run: bool = False
    sample: Annotated[int, Field(ge=1, le=MOST)] | None = None
    marks: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each run; return 1 where one could not be read again."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    of_a_run = [argument for argument in given if _OF_A_RUN.match(argument) and not Path(argument).exists()]
    own = [argument for argument in given if argument not in of_a_run]
    return key_value.command(HELP, RereadSettings, partial(job, of_a_run), own)


def job(of_a_run: Sequence[str], folders: list[str], settings: RereadSettings) -> int:
    """Read the runs below the folders again and return the exit code."""
    if (settings.sample, settings.marks) != (None, None):
        return _by_person(of_a_run, folders, settings)
    judge = _new_judge(of_a_run, asks=not settings.dry_run)
    run_folders = list(find(folders or ["results"]))
    places = {folder.resolve() for folder in run_folders}
    problems = 0
    progress = Progress("reading again")
    with interruptible(progress):
        for folder in run_folders:
            if signals.STOP.requested:
                raise Interrupted(signals.sentence("every run is as it was, or read again"))
            try:
                source = source_of(folder, with_judge=judge is not None)
                if (place := target_of(source.run, judge, source.prompt)) != folder:
                    if place.resolve() in places:
                        raise NotReread(f"its run with the judge is there already: {place} is read again.")
                    if judge is not None and source.nothing_to_judge(judge.settings.judge_sample):
                        raise NotReread("today's rules leave no reply to a judge: without judge=… they read it again.")
                change = preview(source, judge) if settings.dry_run else renew(source, judge, progress)
                _print_change(change, settings, judge)
            except NotReread as reason:
                _print(f"{folder}: {reason}")
            except RunStopped:
                raise
            except HarnessError as error:
                problems += 1
                _print(f"{folder}: NOT READ AGAIN: {getattr(error, 'in_full', error)}")
            else:
                if change.stopped is not None:
                    raise change.stopped
    return 1 if problems else 0


def _by_person(of_a_run: Sequence[str], folders: list[str], settings: RereadSettings) -> int:
    """Write the page on which a person marks replies of one run, or read the marks; return the exit code."""
    folder, *others = find(folders or ["results"])
    alone = settings in (RereadSettings(sample=settings.sample), RereadSettings(marks=settings.marks))
    if others or of_a_run or not alone:
        raise ConfigError("sample= and marks= each stand alone, with one run (a judge's sample is judge_sample=).")
    if settings.marks is not None:
        _print(read_marks(load(folder), Path(settings.marks).expanduser()))
    elif settings.sample is not None:
        page = write_page(load(folder), settings.sample)
        _print(f"{page}: open it in a browser, mark the replies, save the marks, and give the file that was saved:")
        _print(f"  harness reread {shlex.quote(str(folder))} marks=marks.json")
    return 0


def _new_judge(of_a_run: Sequence[str], *, asks: bool) -> NewJudge | None:
    """Return the judge of the command line; None where it names none. Raises ConfigError."""
    if not of_a_run:
        return None
    from harness.cli import hydra_app, own_configs

    if not any(argument.startswith("judge=") for argument in of_a_run):
        raise ConfigError(f"{of_a_run[0]} is a setting of a judge, and no judge is chosen: choose one with judge=….")
    secrets.refuse_arguments(list(of_a_run))
    own_configs.register()
    try:
        config: Mapping[str, Any] = plain(own_configs.without_hydra(hydra_app.composed("config", of_a_run)))
    except HarnessError:
        raise
    except Exception as error:
        raise ConfigError(secrets.mask_keys(hydra_app.sentence(error, "config", of_a_run))) from error
    secrets.refuse_config(dict(config))
    return NewJudge.of(config, asks=asks)


def _print_change(change: Change, settings: RereadSettings, judge: NewJudge | None) -> None:
    """Print how readings and scores of a run changed, or would."""
    others = {pair: count for pair, count in change.readings.items() if pair[0] != pair[1]}
    names = {None: "unreadable", 0: "No", 1: "Yes"}
    pairs = sorted(others.items(), key=lambda pair: -pair[1])
    kinds = ", ".join(f"{names[before]} → {names[after]}: {count:,}" for (before, after), count in pairs)
    would = "would be " if settings.dry_run else ""
    number = f"{sum(others.values()):,} of {change.readings.total():,} readings {would}changed"
    scores = f"{_brief(change.run.result)} before, {_brief(change.result)} {'then' if settings.dry_run else 'now'}"
    where = f" ({'would be ' if settings.dry_run else ''}left in {change.place})"
    at = "" if change.place == change.run.folder else where
    _print(f"{change.run.folder}: {number}{f' ({kinds})' if kinds else ''}; {scores}{at}.")
    if judge is not None and settings.dry_run:
        replies = f"{change.waiting:,} {'reply' if change.waiting == 1 else 'replies'}"
        size = judge.settings.judge_sample
        and_others = f", and at most {size:,} that they can" * (size > 0)
        _print(f"  {replies} that the rules cannot read would go to the judge {judge.model.name}{and_others}.")
    for note in judge_notes(change.result):
        _print(f"  {note}")


def _brief(result: Result) -> str:
    overall = result.overall
    return " and ".join(
        f"{definition(name).title} {metric_text(name, overall[name])}" for name in main_metrics(overall)
    )


def _print(text: str) -> None:
    print(console.clean(" ".join(text.split()) if not text.startswith("  ") else f"  {' '.join(text.split())}"))


if __name__ == "__main__":
    sys.exit(main())
