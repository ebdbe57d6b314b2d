"""Stored replies read again by today's rules: harness reread results/…

A results folder is read as data: nothing that it names is imported or run but what is installed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.cli import key_value
from harness.errors import HarnessError
from harness.reread.renew import Change, NotReread, renew
from harness.runtime import console
from harness.storage.find import find
from harness.tables.results import brief, judge_notes

HELP = """\
Read the replies of earlier runs again by today's rules, without asking anybody: records, scores and manifest are
renewed in their place, and say by which version of the rules they were read.

  harness reread                     everything below results/
  harness reread A B                 other folders, of runs or above them
  harness reread A dry_run=true      what would change, and nothing is written

A run that does not hold (harness verify says why) is left as it is. What a judge has read stays; one joins a run by
the run's command with judge=…, which takes the model's answers from the cache.

  dry_run=false       true: only show what would change
"""


@dataclass(frozen=True)
class RereadSettings:
    """HELP says what each one means."""

    dry_run: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each run; return 1 where one could not be read again."""
    return key_value.command(HELP, RereadSettings, job, arguments)


def job(folders: list[str], settings: RereadSettings) -> int:
    """Read the runs below the folders again and return the exit code."""
    problems = 0
    for folder in find(folders or ["results"]):
        try:
            _print_change(renew(folder, dry_run=settings.dry_run), dry_run=settings.dry_run)
        except NotReread as reason:
            _print(f"{folder}: {reason}")
        except HarnessError as error:
            problems += 1
            _print(f"{folder}: NOT READ AGAIN: {error}")
    return 1 if problems else 0


def _print_change(change: Change, *, dry_run: bool) -> None:
    """Print how readings and scores of a run changed, or would."""
    others = Counter({pair: count for pair, count in change.readings.items() if pair[0] != pair[1]})
    names: dict[int | None, str] = {None: "unreadable", **dict(enumerate(change.result.answers))}
    kinds = ", ".join(f"{names[before]} → {names[after]}: {count:,}" for (before, after), count in others.most_common())
    would, now = ("would be ", "then") if dry_run else ("", "now")
    number = f"{others.total():,} of {change.readings.total():,} readings {would}changed"
    scores = f"{brief(change.run.result.overall)} before, {brief(change.result.overall)} {now}"
    _print(f"{change.run.folder}: {number}{f' ({kinds})' if kinds else ''}; {scores}.")
    for note in judge_notes(change.result):
        _print(f"  {note}")


def _print(text: str) -> None:
    print(console.clean("  " * text.startswith("  ") + " ".join(text.split())))


if __name__ == "__main__":
    sys.exit(main())
