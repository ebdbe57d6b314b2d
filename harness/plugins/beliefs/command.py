"""Do a model's answers about one premise fit any world, and which one: harness beliefs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from harness.causal.sheets import LARGEST
from harness.cli import key_value
from harness.errors import ConfigError, DataError, unknown
from harness.leaderboard.comparable import find_runs, of_other_rules, select_runs
from harness.plugins.beliefs import classes
from harness.plugins.beliefs.belief import Believed
from harness.plugins.beliefs.tables import per_premise, summary
from harness.storage.atomic_write import atomic_file, check
from harness.storage.runs import Run
from harness.tables.markdown_csv_json import as_csv, as_json, markdown
from harness.tables.table import Part, Table
from harness.tasks.find import benchmark_of

HELP = """\
Do a model's answers about one premise fit any world? Which one, and how far is that from the true one?

  harness task.split=all task.whole=true task.num_nodes=5 task.limit=100 task.perturbation=permutation model=gpt4o
  harness beliefs results                         the runs below a folder: a row for each
  harness beliefs RUN per=premise                 a row for each premise (per=size: for each number of variables)
  harness beliefs RUN OTHER premise=n5-g117       the graphs believed in beside the true one

Corr2Cause: of all labelled Markov equivalence classes over as many variables (up to six) the one whose answers to all
hypotheses are nearest to the model's; flips are the answers to change. CausalBench (task=causalbench/causality): the
nearest acyclic graph; flips are the edges to take back.
Flips alone mislead: who always says No needs none. So beside them are those of the same answers shuffled among the
questions of one relation about the same premise, and `times` is how many times as many these need, with its interval
over premises: 1 is a model whose answers hang together no more than that. Where each relation has one answer there is
nothing to compare with, and no number.

  model=, prompt=, variant=     which runs: names or globs
  least=0.5                     the share of a premise's hypotheses that need an answer; fewer fit some world anyway
  shuffles=100                  of each premise
  seed=0                        draws them
  out=                          a file to write: .md, .csv or .json
"""
Believe = Callable[..., Believed]


@dataclass(frozen=True)
class BeliefSettings:
    """Settings of the command, each explained in HELP."""

    model: str | None = None
    prompt: str | None = None
    variant: str | None = None
    least: Annotated[float, Field(ge=0, le=1)] = 0.5
    shuffles: Annotated[int, Field(ge=1, le=10_000)] = 100
    seed: Annotated[int, Field(ge=0)] = 0
    per: Literal["run", "size", "premise"] = "run"
    premise: str | None = None
    out: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, BeliefSettings, job, arguments)


def job(arguments: list[str], settings: BeliefSettings) -> list[Part]:
    """Return the tables of all runs, or the graphs of one premise, and write them where settings say so."""
    if settings.out is not None:
        if Path(settings.out).suffix not in (".md", ".csv", ".json"):
            raise ConfigError(f"out={settings.out}: the name has to end in .md, .csv or .json.")
        check(settings.out)
    rows = find_runs(arguments or ["results"])
    rows = select_runs(rows, model=settings.model, prompt=settings.prompt, variant=settings.variant)
    runs = [run for run in rows if _believe(run) is not None]
    if not runs:
        raise ConfigError(
            f"none of the {len(rows):,} runs asks about premises of Corr2Cause or causes of CausalBench's networks: "
            "harness task.split=all task.whole=true task.num_nodes=5 makes one."
        )
    parts = _graphs(runs, settings.premise) if settings.premise else _tables(runs, settings)
    parts += of_other_rules(runs)
    if settings.out is not None:
        tables = [part for part in parts if isinstance(part, Table)]
        written = {".md": lambda: f"# Believed worlds\n\n{markdown(parts)}", ".csv": lambda: as_csv(tables)}
        with atomic_file(settings.out) as file:
            file.write(f"{written.get(Path(settings.out).suffix, lambda: as_json(tables))()}\n")
    return parts


def _believe(run: Run) -> Believe | None:
    """Return what finds the worlds of a run's answers; None for one of another kind."""
    if benchmark_of(run.task).name == "corr2cause":
        return classes.believe
    if run.task != "causalbench/causality" or run.learned:
        return None
    from harness.plugins.beliefs import networks

    return networks.believe


def _tables(runs: Sequence[Run], settings: BeliefSettings) -> list[Part]:
    started = time.process_time()
    kinds: dict[Believe, list[tuple[Run, Believed]]] = {}
    left_out: list[DataError] = []
    for run in runs:
        believe = _believe(run)
        assert believe is not None
        try:
            believed = believe(
                classes.records_of(run), least=settings.least, number=settings.shuffles, seed=settings.seed
            )
        except DataError as error:
            left_out.append(error)
        else:
            kinds.setdefault(believe, []).append((run, believed))
    if not kinds:
        raise left_out[0]
    parts: list[Part] = []
    for believe, pairs in kinds.items():
        networks = believe is not classes.believe
        if settings.per == "premise":
            parts += per_premise(pairs, networks=networks)
        else:
            parts += summary(pairs, networks=networks, by_size=settings.per == "size", settings=settings)
    parts += [f"Left out: {error}" for error in left_out]
    print(f"{time.process_time() - started:.0f} s of processor time", file=sys.stderr)
    return parts


def _graphs(runs: Sequence[Run], name: str) -> list[Part]:
    """Return the true class of a premise beside the nearest one of each run, pair by pair."""
    from harness.plugins.beliefs.tables import graphs

    premises: list[tuple[Run, classes.Premise]] = []
    known: dict[str, None] = {}
    for run in runs:
        if _believe(run) is classes.believe:
            of_run = {premise.name: premise for premise in classes.premises(classes.records_of(run), Believed())}
            known |= dict.fromkeys(of_run)
            premises += [(run, of_run[name])] if name in of_run and of_run[name].settled else []
    if not premises:
        names = sorted(known)
        raise ConfigError(unknown("premise", name, names if len(names) < 20 else [*names[:20], "…"]))
    n = premises[0][1].n
    if not 2 <= n <= LARGEST:
        raise ConfigError(f"premise={name} has {n} variables; all classes are looked through up to {LARGEST}.")
    return graphs(premises)


if __name__ == "__main__":
    sys.exit(main())
