"""Check results against their own records: harness verify results/…

A results folder is read as data: nothing that it names is imported or run but what is installed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cli import key_value
from harness.runtime import console
from harness.storage.find import find
from harness.verify.run import HOLDS, NOT_CHECKED, UNKNOWN, WRONG, verdict_on

LONGEST = 1000
"""Characters of a line that is printed."""
HELP = """\
Make every number of earlier runs again from their records, and every record from its task, its prompt and its reply.

  harness verify                     everything below results/
  harness verify A B                 other folders, of runs or above them
  harness verify A items.csv         a run whose file of items lies elsewhere than when it was made

A line for each run: it holds, it does not (with what differs), or it has no records to compute its scores from. The
exit code is 0 where at least one run holds and none does not.

A folder may come from anybody, so it is read as data. A run is NOT CHECKED whose task or parser is of no installed
package (a class that lies in a folder is not imported), one whose file of items is not here, and one with a metric of a
package that is not installed.
"""


@dataclass(frozen=True)
class VerifySettings:
    """The command has none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each run; return 1 where something does not hold."""
    return key_value.command(HELP, VerifySettings, job, arguments)


def job(folders: list[str], settings: VerifySettings) -> int:
    """Print a line for each run below the folders as it is checked; return the exit code."""
    data = [name for name in folders if Path(name).is_file()]
    verdicts: Counter[str] = Counter()
    for folder in find([name for name in folders if name not in data] or ["results"]):
        verdict, problems = verdict_on(folder, data=data)
        verdicts[verdict] += 1
        print(
            _one_line(f"{folder}: {verdict}"),
            *(f"  {_one_line(problem)}" for problem in problems),
            sep="\n",
            flush=True,
        )
    print(f"{verdicts[HOLDS]} of {verdicts[HOLDS] + verdicts[WRONG] + verdicts[NOT_CHECKED]} runs hold.")
    if verdicts[UNKNOWN]:
        print(f"{verdicts[UNKNOWN]} more have no records to compute their scores from: their commands make them again.")
    return 0 if verdicts[HOLDS] and not verdicts[WRONG] and not verdicts[NOT_CHECKED] else 1


def _one_line(text: str) -> str:
    """Return a text as one line of bounded length: the names in it come from whoever sent the folder."""
    line = " ".join(console.clean(text).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"


if __name__ == "__main__":
    sys.exit(main())
