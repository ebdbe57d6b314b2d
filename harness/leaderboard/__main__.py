"""The leaderboard: every complete result below some folders, best F1 first. harness leaderboard --help"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import plugin
from harness.cli import key_value
from harness.cli.key_value import Words
from harness.errors import ConfigError, StoreError
from harness.leaderboard.build import BoardOptions, build
from harness.leaderboard.comparable import find_runs
from harness.storage.runs import Run
from harness.tables.table import Part, Table
from harness.tables.write import Format, form_of, text_of, write

TITLE = "Leaderboard"
HELP = """\
Rebuild the leaderboard from the results of earlier runs.

  harness leaderboard                         results/, written to results/LEADERBOARD.md too
  harness leaderboard A B                     several results folders; written only with out=
  harness leaderboard out=table.tex           .md, .csv, .json or .tex
  harness leaderboard model='gpt*,always_*' metrics=f1,accuracy by=relation published=true
  harness leaderboard by=task                 models by benchmarks, each with its main metric and interval
  harness leaderboard by=perturbation         the original beside its perturbations, with differences and p
  harness leaderboard over=seed               one row for the runs of a model with several seeds

Runs on different items or with different headline labels stand in tables of their own; incomplete ones are not ranked.

  model=                which runs: names or globs, several with commas between them; folders choose tasks and variants
  metrics=              f1, accuracy, …; yes (share of Yes); firm (share of answers in their form or announced);
                        counts: items, positives, clusters, unreadable, cut_off, failed; what a run took: cost (USD),
                        tokens_in, tokens_out
  by=                   a column for each group too: relation, num_nodes, network, scale, structure, …; or for each
                        value of a setting: perturbation, version, labels, limit, prompt, …; rows are what differs in
                        nothing else, with the difference to the first column, its interval and p as compare has them
  over=                 one row for all values of a setting: seed, prompt, …: mean ± standard deviation, least, median,
                        greatest, the share of items whose answer changes, and n, the number of runs
  published=false       true: what the papers print on the same task, set apart, with its data version
  format=               what is printed: markdown, csv, json or latex
  out=                  the file to write (- for none); RESULTS/LEADERBOARD.md where nothing is chosen
"""


@dataclass(frozen=True)
class LeaderboardSettings:
    """Settings of the command, each explained in HELP."""

    model: str | None = None
    metrics: Words = ()
    by: Words = ()
    over: str = ""
    published: bool = False
    format: Format | None = None
    out: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, LeaderboardSettings, job, arguments)


def job(arguments: list[str], settings: LeaderboardSettings) -> str | list[Part]:
    """Write the leaderboard, and return its tables, or their text where `format=` is given."""
    folders, out = arguments or ["results"], None if settings.out == "-" else settings.out
    if out is not None:
        form_of(out)
    runs = find_runs(folders, model=settings.model)
    choice = BoardOptions(settings.metrics, tuple(dict.fromkeys(settings.by)), settings.over)
    tables = build(runs, choice)
    if settings.published:
        tables = _with_published(tables, runs, choice)
    if out is not None:
        write(tables, out, TITLE)
        print(f"{out}: {len(tables):,} table{'s' * (len(tables) != 1)}.", file=sys.stderr)
    elif settings == LeaderboardSettings() and len(folders) == 1:
        try:
            write(tables, str(Path(folders[0]) / "LEADERBOARD.md"), TITLE, named=False)
        except StoreError as error:  # somebody else's folder: the table is what was asked for
            return [*tables, f"Not written: {error}"]
    return [*tables] if settings.format is None else text_of(tables, settings.format)


def _with_published(measured: Sequence[Table], runs: Sequence[Run], choice: BoardOptions) -> list[Table]:
    """Return the tables, each task's followed by those of its published numbers."""
    if not (sources := plugin.published()):
        raise ConfigError("published=true needs the package causal-harness-papers (pip install -e packages/papers).")
    tables: list[Table] = []
    for task in dict.fromkeys(table.task for table in measured):
        tables += (table for table in measured if table.task == task)
        tables += (table for published in sources for table in published(task, runs, choice.by))
    return tables


if __name__ == "__main__":
    sys.exit(main())
