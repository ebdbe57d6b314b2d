"""The command harness: `harness model=… task=… prompt=…` runs a model, `harness leaderboard …` another command.

A run: prepare it, carry it out, show the result.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.runtime import environment

if TYPE_CHECKING:
    from harness.cli.launcher import Multirun
    from harness.prepare import Prepared
    from harness.run import RunOutcome
    from harness.sweep.jobs import SweepCommand


def main() -> None:
    """Run the command named by the first argument; without one, evaluate a model."""
    environment.begin()
    from harness.cli import commands
    from harness.errors import ConfigError
    from harness.runtime import console, signals

    console.prepare_streams()
    try:
        if any("\udc80" <= sign <= "\udcff" for sign in "".join(sys.argv)):
            raise ConfigError("this locale cannot read all signs of the command (LC_ALL=C?): set PYTHONUTF8=1.")
        name, sys.argv[1:] = commands.command_and_arguments(sys.argv[1:])
    except ConfigError as error:
        console.complain(error)
        sys.exit(1)
    if name != commands.RUN:
        sys.exit(commands.module_of(name).main())
    signals.at_once(signals.sentence())
    from harness.cli import hydra_app  # a second on a cold disk

    signals.leave(hydra_app.launch(job, "config", sweep))


def job(config: Mapping[str, Any]) -> int:
    """Carry out one run; return the exit code."""
    gc.freeze()  # what the start has made stays: no look for circles goes through it again
    run_one(config, brief=False)
    return 0


def sweep(multirun: Multirun) -> int:
    """Carry out the jobs of a sweep; return the exit code."""
    from harness.sweep.carry_out import carry_out

    return carry_out(command(), multirun)


def command() -> SweepCommand:
    """Return what a sweep needs to know of this command."""
    from harness.prepare import prepare_to_begin
    from harness.sweep.jobs import SweepCommand
    from harness.sweep.plan import plan_of_all

    return SweepCommand("harness.__main__", prepare_to_begin, run_one, plan_of_all)


def run_one(config: Mapping[str, Any], *, brief: bool, budget_file: Path | None = None) -> Path:
    """Run what the config describes and print the scores; return the results folder.

    `brief`: in half a line, for a job of a sweep, whose plan has been shown. `budget_file`: of a budget for all jobs.
    """
    from harness.prepare import carry_out, prepare, rehearse
    from harness.tables import results

    # Build task, model and prompt, see that they fit, find the run's place and price.
    prepared = prepare(config, budget_file)
    # A dry run says what would be asked, and for how much.
    if prepared.settings.dry_run:
        prepared.folder.check()
        print(*rehearse(prepared), sep="\n")
        return prepared.folder.path
    # Ask, record, score.
    outcome = carry_out(prepared, announced=brief)
    # Show the scores, whole or not.
    if brief:
        print(
            f"    {'NOT COMPLETE: ' if outcome.stopped else ''}{results.brief(outcome.result.overall)}", file=sys.stderr
        )
    elif outcome.result.overall.items:
        show(prepared, outcome)
    # What stopped the run early, or left it without anything to score, is the command's error.
    if outcome.error:
        raise outcome.error
    return prepared.folder.path


def show(prepared: Prepared, outcome: RunOutcome) -> None:
    """Print the scores, where the answers come from, what they cost and where everything is left."""
    from harness.prepare import own_lines
    from harness.tables import results, terminal

    folder, progress = prepared.folder, prepared.progress
    if outcome.stopped:
        print("NOT COMPLETE: the scores of what was answered so far.\n")
    service = prepared.model.traits.service
    remarks = "\n".join(results.remarks(outcome.result, service.model if service is not None else ""))
    terminal.show([*results.result_tables(outcome.result), remarks], title=" · ".join(folder.manifest.run.values()))
    if not prepared.model.traits.instant and (where_from := progress.where_from()):
        print(where_from)
    if not prepared.stored and not prepared.model.traits.instant:
        print(f"cache=off: {progress.done - progress.failed:,} answers stand in the records only; none was stored.")
    if prepared.stored and service is not None and outcome.result.overall.unreadable:
        print(f"To ask again what could not be read: harness cache prune unreadable={folder.path} yes=true, then this.")
    costs = prepared.ledger.lines()
    if (judge := prepared.judge) is not None:
        costs += [f"Judge {judge.name}: {line}" for line in prepared.judge_ledger.lines()]
    costs += own_lines(prepared.own)
    print(*costs, sep="\n", end="\n" * bool(costs))
    print(f"{folder.path}/ holds {', '.join(sorted(f.name for f in folder.path.iterdir() if f.name[0] != '.'))}")


if __name__ == "__main__":
    main()
