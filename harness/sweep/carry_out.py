"""A sweep from its command line to its exit code."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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
    sweep = check.checked(command, multirun)
    if sweep.jobs[0].config.get("dry_run"):
        terminal.show([*command.plan(sweep.jobs, True), *sweep.notes, "Nothing was asked (dry_run=true)."])
        return 0
    if intro := [*command.plan(sweep.jobs, False), *sweep.notes]:
        terminal.show(intro, stream=sys.stderr)
    engine = multirun.engine
    with jobs.new_folder(sweep.multirun) as place:
        orders = jobs.orders(sweep.multirun, command.module, place)
        ends: Mapping[str, str] = {}
        interrupted = True
        try:
            if engine is not None:
                ends = engine.carry_out(jobs.work(orders), place, partial(_has_ended, place))
            else:
                for order in orders:
                    order.carry_out()
            interrupted = False
        finally:
            told = engine is None or engine.tells
            code = conclude(place, sweep.multirun, command.tables, ends, told=told, interrupted=interrupted)
        return code


def _has_ended(place: Path, job: str) -> bool:
    with suppress(OSError):  # a network file system looks at its server when a folder is listed
        list((place / job).iterdir())
    return jobs.outcome(place / job) is not None


def conclude(
    place: Path,
    multirun: Multirun,
    tables: Callable[[Sequence[Run]], Sequence[Part]] | None,
    ends: Mapping[str, str],
    *,
    told: bool,
    interrupted: bool,
) -> int:
    """Print the tables of the jobs that have left a run, and the errors; return the exit code.

    `ends` says by job number how its process ended, `told` whether jobs have printed their errors here. Jobs that an
    interrupted sweep has not begun are no errors.
    """
    outcomes = {job.number: jobs.outcome(place / str(job.number)) for job in multirun.jobs}
    runs = dict.fromkeys(Path(outcome["run"]) for outcome in outcomes.values() if outcome and outcome.get("run"))
    rows = [load(run) for run in runs if (run / RESULT).exists()]
    if rows:
        parts = (tables or build)(rows)
        shown = parts if tables else _by_the_setting(rows) or parts
        print()
        terminal.show(shown)
        print(flush=True)
        board = place / "LEADERBOARD.md"
        if shown is not parts:
            print(f"With all metrics, a table for each value: {board}", flush=True)
            parts = [*shown, *parts]
        write(parts, str(board), "Leaderboard", named=False)
    unreported: dict[str, list[int]] = defaultdict(list)
    failed = 0
    for number, outcome in outcomes.items():
        if outcome is None and not interrupted:
            unreported[_lost(ends.get(str(number), _KILLED))].append(number)
            failed += 1
        elif outcome is not None and outcome.get("error"):
            failed += 1
            if not told:
                unreported[str(outcome["error"])].append(number)
    for error, numbers in unreported.items():
        console.complain(error, f"error in job{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}")
    if failed:
        console.complain(f"{failed} of {len(outcomes)} jobs have failed; {place} says which, and why.", "sweep")
    return 1 if failed else 0


def _by_the_setting(rows: Sequence[Run]) -> Sequence[Part]:
    """Return one table with a column for each value where the runs differ in one setting of the task; else nothing."""
    complete = [row for row in rows if row.sound]
    names = {name for row in complete for name in row.settings}
    varied = [
        name for name in names if any(row.settings.get(name) != complete[0].settings.get(name) for row in complete)
    ]
    if len(varied) != 1 or len({row.task for row in complete}) != 1:
        return ()
    try:
        return build(rows, BoardOptions(by=varied))
    except ConfigError:
        return ()


def _lost(how: str) -> str:
    kept = "Every stored answer is kept, and the same command asks for the rest."
    return f"its process ended without a word ({how}). {kept}"
