"""A sweep from its command line to its exit code."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.cli.launcher import Multirun
from harness.errors import ConfigError
from harness.leaderboard.build import BoardOptions, build
from harness.runtime import console
from harness.storage.run_folder import RESULT
from harness.storage.runs import Run, load
from harness.sweep import check, jobs
from harness.sweep.jobs import SweepCommand
from harness.tables import terminal
from harness.tables.table import Part
from harness.tables.write import write

_KILLED = "killed, or out of memory"
"""Why a process may have ended without leaving an outcome."""


def carry_out(command: SweepCommand, multirun: Multirun) -> int:
    """Check, plan and run the jobs of a sweep, then show what they came to; return the exit code.

    Raises HarnessError for a sweep of which a job cannot run, before any is begun.
    """
    checked, notes = check.checked(command, multirun)
    multirun, engine = replace(multirun, jobs=tuple(each.job for each in checked)), multirun.engine
    if checked[0].config.get("dry_run"):
        terminal.show([*command.plan(checked, True), *notes, "Nothing was asked (dry_run=true)."])
        return 0
    if intro := [*command.plan(checked, False), *notes]:
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
