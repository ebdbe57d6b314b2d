"""Check results against their own records: harness verify results/…

A results folder is read as data: nothing that it names is imported or run but what is installed.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cli import key_value
from harness.errors import DataError, HarnessError, NotHereError
from harness.runtime import console
from harness.runtime.progress import Progress
from harness.storage import runs
from harness.storage.find import find
from harness.storage.run_folder import records_in
from harness.verify.run import problems_of

MOST = 10**9
"""Records that a bar is drawn for."""
LONGEST = 1000
"""Characters of a line that is printed."""
HOLDS, WRONG, UNKNOWN = "holds", "DOES NOT HOLD", "settings, items and prompt hold; no records"
NOT_CHECKED = "NOT CHECKED"

HELP = """\
Make every number of earlier runs again from their records, and every record from its task, its prompt and its reply.

  harness verify                     everything below results/
  harness verify A B                 other folders, of runs or above them

A line for each run: it holds, it does not (with what differs), or it has no records to compute its scores from. The
exit code is 0 where at least one run holds and none does not.

A folder may come from anybody, so it is read as data. A run is NOT CHECKED whose task or parser is of no installed
package (a class that lies in a folder is not imported), and one whose file of items is not here.
"""


@dataclass(frozen=True)
class VerifySettings:
    """The command has none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each run; return 1 where something does not hold."""
    return key_value.command(HELP, VerifySettings, job, arguments)


def job(folders: list[str], settings: VerifySettings) -> int:
    """Verify the runs below the folders and return the exit code."""
    verdicts = _verify([*find(folders or ["results"])])
    print(f"{verdicts[HOLDS]} of {verdicts[HOLDS] + verdicts[WRONG] + verdicts[NOT_CHECKED]} runs hold.")
    if verdicts[UNKNOWN]:
        print(f"{verdicts[UNKNOWN]} more have no records to compute their scores from: their commands make them again.")
    return 0 if verdicts[HOLDS] and not verdicts[WRONG] and not verdicts[NOT_CHECKED] else 1


def _verify(folders: Sequence[Path]) -> Counter[str]:
    """Print a line for each run, with one bar over the records of all; return how many there are of each verdict."""
    verdicts: Counter[str] = Counter()
    waiting: list[str] = []
    bar = Progress("verifying").watch(itertools.count(), range(sum(map(_expected, folders))))
    # A line in the middle of the bar would be torn: where both are on the terminal, lines wait for the bar's end.
    tell = waiting.append if sys.stdout.isatty() and console.capable(sys.stderr) else print
    try:
        for folder in folders:
            verdict, problems = _verdict(folder, bar)
            verdicts[verdict] += 1
            tell(_one_line(f"{folder}: {verdict}"))
            for problem in problems:
                tell(f"  {_one_line(problem)}")
    finally:
        bar.close()
        print("".join(f"{line}\n" for line in waiting), end="")
    return verdicts


def _one_line(text: str) -> str:
    """Return a text as one line of bounded length: the names in it come from whoever sent the folder."""
    line = " ".join(console.clean(text).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"


def _verdict(folder: Path, bar: Iterator[int]) -> tuple[str, list[str]]:
    """Return the verdict on a run and what does not hold. Whatever a folder holds, the others are still checked."""
    problems: list[str] = []
    try:
        problems.extend(problems_of(folder, bar))
        return WRONG if problems else HOLDS if records_in(folder) else UNKNOWN, problems
    except NotHereError as error:
        return WRONG if problems else NOT_CHECKED, [*problems, str(error)]
    except HarnessError as error:
        return WRONG, [*problems, str(error)]
    except Exception as error:  # what somebody has put into a folder must not end the check of the rest
        return WRONG, [*problems, f"it cannot be checked ({type(error).__name__}: {error})."]


def _expected(folder: Path) -> int:
    """Return the number of records by the run's manifest; 0 if it is missing or unreadable."""
    try:
        seal = runs.manifest_of(folder).records if records_in(folder) else None
    except DataError:
        return 0
    return min(seal["count"], MOST) if seal else 0


if __name__ == "__main__":
    sys.exit(main())
