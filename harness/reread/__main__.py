"""Stored replies read again by today's rules: harness reread results/… (judge=…)

A results folder is read as data: nothing that it names is imported or run but what is installed.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.cli import key_value
from harness.errors import ConfigError, HarnessError, Interrupted, RunStopped
from harness.reread.judging import NewJudge
from harness.reread.renew import Change, NotReread, renew, source_of, target_of
from harness.runtime import console, signals
from harness.runtime.interrupt import interruptible
from harness.runtime.progress import Progress
from harness.scoring.definitions import definition, main_metrics
from harness.storage.find import find
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

A run that does not hold (harness verify says why) is left as it is.

  dry_run=false       true: only show what would change
  judge=              a model that is asked about the replies that the rules cannot read, and 50 others; judge.…=,
                      cache=, cache.…= and budget.…= (for each run) as in the command of a run
"""
_OF_A_RUN = re.compile(r"\+?(?:judge|cache|budget)[.=]")
"""Settings that a run has as well, which Hydra composes."""


@dataclass(frozen=True)
class RereadSettings:
    """HELP says what each one means."""

    dry_run: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each run; return 1 where one could not be read again."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    of_a_run = [argument for argument in given if _OF_A_RUN.match(argument) and not Path(argument).exists()]
    own = [argument for argument in given if argument not in of_a_run]
    return key_value.command(HELP, RereadSettings, partial(job, of_a_run), own)


def job(of_a_run: Sequence[str], folders: list[str], settings: RereadSettings) -> int:
    """Read the runs below the folders again and return the exit code."""
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
                    if judge is not None and source.nothing_to_judge():
                        raise NotReread("today's rules leave no reply to a judge: without judge=… they read it again.")
                change = renew(source, judge, progress, dry_run=settings.dry_run)
                _print_change(change, dry_run=settings.dry_run)
            except NotReread as reason:
                _print(f"{folder}: {reason}")
            except RunStopped:
                raise
            except HarnessError as error:
                problems += 1
                _print(f"{folder}: NOT READ AGAIN: {error}")
            else:
                if change.stopped is not None:
                    raise change.stopped
    return 1 if problems else 0


def _new_judge(of_a_run: Sequence[str], *, asks: bool) -> NewJudge | None:
    """Return the judge of the command line; None where it names none. Raises ConfigError."""
    if not of_a_run:
        return None
    from harness.cli.hydra_app import run_settings

    if not any(argument.startswith("judge=") for argument in of_a_run):
        raise ConfigError(f"{of_a_run[0]} is a setting of a judge, and no judge is chosen: choose one with judge=….")
    return NewJudge.of(run_settings(of_a_run), asks=asks)


def _print_change(change: Change, *, dry_run: bool) -> None:
    """Print how readings and scores of a run changed, or would."""
    others = Counter({pair: count for pair, count in change.readings.items() if pair[0] != pair[1]})
    names = {None: "unreadable", 0: "No", 1: "Yes"}
    kinds = ", ".join(f"{names[before]} → {names[after]}: {count:,}" for (before, after), count in others.most_common())
    would, now = ("would be ", "then") if dry_run else ("", "now")
    number = f"{others.total():,} of {change.readings.total():,} readings {would}changed"
    scores = f"{_brief(change.run.result)} before, {_brief(change.result)} {now}"
    where = "" if change.place == change.run.folder else f" ({would}left in {change.place})"
    _print(f"{change.run.folder}: {number}{f' ({kinds})' if kinds else ''}; {scores}{where}.")
    for note in judge_notes(change.result):
        _print(f"  {note}")


def _brief(result: Result) -> str:
    overall = result.overall
    return " and ".join(
        f"{definition(name).title} {metric_text(name, overall[name])}" for name in main_metrics(overall)
    )


def _print(text: str) -> None:
    print(console.clean("  " * text.startswith("  ") + " ".join(text.split())))


if __name__ == "__main__":
    sys.exit(main())
