"""A sweep from its command line to its exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from harness.cli.multirun import Multirun
from harness.engine import dispatch
from harness.errors import ConfigError
from harness.runtime import console
from harness.settings import Limits
from harness.sweep import check, folder, jobs
from harness.sweep.command import Command
from harness.sweep.conclude import conclude
from harness.sweep.order import orders
from harness.tables import terminal

_SHARED = (
    "The budget stands in budget.sqlite of the sweep's folder: results= has to be on a disk of all nodes whose file "
    "locks hold (NFS 4, Lustre mounted with flock). budget.of=part needs no locks."
)


def carry_out(command: Command, multirun: Multirun) -> int:
    """Check, plan and run the jobs of a sweep, then show what they came to; return the exit code.

    Raises HarnessError for a sweep of which a job cannot run, before any is begun.
    """
    sweep = check.checked(command, multirun)
    settings = sweep.jobs[0].config
    launcher = sweep.multirun.launcher
    notes = [*sweep.notes, *([_SHARED] if _share_budget(settings, launcher) else [])]
    if settings.get("dry_run"):
        terminal.show([*command.plan(sweep.jobs), *notes, "Nothing was asked (dry_run=true)."])
        return 0
    at_once = int(settings.get("parallel", 1))
    if launcher is not None and at_once > 1:
        raise ConfigError(f"parallel={at_once} and hydra/launcher= would both begin the jobs: choose one of them.")
    others = None
    if at_once > 1 or sweep.multirun.engine() is not None:
        others = dispatch(f"parallel={at_once}" if at_once > 1 else "hydra/launcher=")
    paid = any(command.asks(checked.prepared) for checked in sweep.jobs)
    if said := [*(command.plan(sweep.jobs) if paid else ()), *notes]:
        terminal.show(said, stream=sys.stderr)
    with folder.new_folder(sweep.multirun) as (place, placed):
        ends: Mapping[int, str] = {}
        engine = at_once if at_once > 1 else placed.engine()
        interrupted = True
        try:
            if others is not None and engine is not None:
                ends = others.wait(engine, orders(placed, command.module), place)
            else:
                placed.launch(partial(jobs.job, command.module))
            interrupted = False
        except Exception as error:
            if launcher is None or engine is not None:
                raise
            interrupted = False
            console.complain(_stopped(error), launcher)
        finally:
            code = conclude(place, placed, command.tables, ends, interrupted=interrupted)
        if not code and (next_step := command.next_step(sweep.jobs)):
            print(next_step)
        return code


def _stopped(error: Exception) -> str:
    """Return the sentence for a launcher of Hydra's that has stopped at a job: it tells of none of the others."""
    first = str(error).strip().partition("\n")[0].partition(". ")[0]
    return (
        f"{type(error).__name__}: {first.rstrip('.')}. This launcher stops there, and may end the other jobs; "
        "parallel=N goes on with them. What is stored is kept."
    )


def _share_budget(settings: Mapping[str, Any], launcher: str | None) -> bool:
    """Return whether jobs on several nodes may take from one budget."""
    limits = settings.get("budget") or {}
    several = launcher is not None and ("Slurm" in launcher or "Ray" in launcher)
    return several and limits.get("of") == "sweep" and any(limits.get(name) is not None for name in Limits().amounts)
