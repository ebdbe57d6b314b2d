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
from harness.errors import HarnessError, NotHereError
from harness.runtime import console
from harness.storage.find import find
from harness.storage.run_folder import records_in
from harness.verify.run import problems_of

LONGEST = 1000
"""Characters of a line that is printed."""
HOLDS, WRONG, UNKNOWN = "holds", "DOES NOT HOLD", "settings, items and prompt hold; no records"
NOT_CHECKED = "NOT CHECKED"

HELP = """\
Make every number of earlier runs again from their records, and every record from its task, its prompt and its reply.

  harness verify                     everything below results/
  harness verify A B                 other folders, of runs or above them
  harness verify A items.csv         a run whose file of items lies elsewhere than when it was made

A line for each run: it holds, it does not (with what differs), or it has no records to compute its scores from. The
exit code is 0 where at least one run holds and none does not.

A folder may come from anybody, so it is read as data. A run is NOT CHECKED whose task or parser is of no installed
package (a class that lies in a folder is not imported), one whose file of items is not here, and one
with a metric of a package that is not installed.
"""


@dataclass(frozen=True)
class VerifySettings:
    """The command has none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each run; return 1 where something does not hold."""
    return key_value.command(HELP, VerifySettings, job, arguments)


def job(folders: list[str], settings: VerifySettings) -> int:
    """Verify the runs below the folders and return the exit code."""
    data = [name for name in folders if Path(name).is_file()]
    verdicts = _verify([*find([name for name in folders if name not in data] or ["results"])], data)
    print(f"{verdicts[HOLDS]} of {verdicts[HOLDS] + verdicts[WRONG] + verdicts[NOT_CHECKED]} runs hold.")
    if verdicts[UNKNOWN]:
        print(f"{verdicts[UNKNOWN]} more have no records to compute their scores from: their commands make them again.")
    return 0 if verdicts[HOLDS] and not verdicts[WRONG] and not verdicts[NOT_CHECKED] else 1


def _verify(folders: Sequence[Path], data: Sequence[str]) -> Counter[str]:
    """Print a line for each run as it is checked; return how many there are of each verdict."""
    verdicts: Counter[str] = Counter()
    for folder in folders:
        verdict, problems = _verdict(folder, data)
        verdicts[verdict] += 1
        print(
            _one_line(f"{folder}: {verdict}"),
            *(f"  {_one_line(problem)}" for problem in problems),
            sep="\n",
            flush=True,
        )
    return verdicts


def _one_line(text: str) -> str:
    """Return a text as one line of bounded length: the names in it come from whoever sent the folder."""
    line = " ".join(console.clean(text).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"


def _verdict(folder: Path, data: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Return the verdict on a run and what does not hold. Whatever a folder holds, the others are still checked."""
    problems: list[str] = []
    try:
        problems.extend(problems_of(folder, data=data))
        return WRONG if problems else HOLDS if records_in(folder) else UNKNOWN, problems
    except (NotHereError, ModuleNotFoundError) as error:
        return WRONG if problems else NOT_CHECKED, [*problems, str(error)]
    except HarnessError as error:
        return WRONG, [*problems, str(error)]
    except Exception as error:  # what somebody has put into a folder must not end the check of the rest
        return WRONG, [*problems, f"it cannot be checked ({type(error).__name__}: {error})."]


if __name__ == "__main__":
    sys.exit(main())
