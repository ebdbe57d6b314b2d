"""The leaderboard: every complete result below some folders, best F1 first. harness leaderboard --help"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness import plugin
from harness.cli import key_value
from harness.cli.key_value import Words
from harness.errors import ConfigError, StoreError
from harness.leaderboard.build import BoardOptions, build
from harness.leaderboard.comparable import find_runs, task_title
from harness.storage.atomic_write import atomic_file, check
from harness.storage.runs import Run
from harness.tables.latex_html import html, latex
from harness.tables.markdown_csv_json import as_csv, as_json, markdown
from harness.tables.numbers import Intervals
from harness.tables.table import Part, Table

HELP = """\
Rebuild the leaderboard from the results of earlier runs.

  harness leaderboard                         results/, written to results/LEADERBOARD.md too
  harness leaderboard A B                     several results folders; written only with out=
  harness leaderboard out=table.tex           .md, .csv, .json, .tex or .html
  harness leaderboard model='gpt*,always_*' metrics=f1,accuracy by=relation published=true
  harness leaderboard by=task                 models by benchmarks, each with its main metric and interval
  harness leaderboard by=perturbation         the original beside its perturbations, with differences and p
  harness leaderboard over=seed               one row for the runs of a model with several seeds

Runs on different items or with different headline labels stand in tables of their own; incomplete ones are not ranked.

  model=                which runs: names or globs, several with commas between them; folders choose tasks and variants
  metrics=              f1, accuracy, …; yes (share of Yes), chance (F1 of as many Yes at random); counts: items,
                        positives, clusters, unreadable, cut_off, failed; what a run took: cost (USD), tokens_in and
                        tokens_out, in all, seconds (mean of an answer), served (the models that replies name); else
                        all but these
  by=                   a column for each group too: relation, num_nodes, network, scale, structure, …; or for each
                        value of a setting: perturbation, version, labels, limit, prompt, …; rows are what differs in
                        nothing else, with the difference to the first column, its interval and p as compare has them
  over=                 one row for all values of a setting: seed, prompt, …: mean ± standard deviation, least, median,
                        greatest, the share of items whose answer changes, and n, the number of runs
  intervals=brackets    brackets or none
  published=false       true: what the papers print on the same task, set apart, with its data version
  format=               markdown, csv, json, latex or html: what is printed, and written where out= does not tell
  out=                  the file to write (- for none); RESULTS/LEADERBOARD.md where nothing is chosen
"""
Format = Literal["markdown", "csv", "json", "latex", "html"]
ENDINGS: Mapping[str, Format] = {".md": "markdown", ".csv": "csv", ".json": "json", ".tex": "latex", ".html": "html"}
RENDERERS: Mapping[Format, Callable[[Sequence[Table]], str]] = {
    "markdown": markdown,
    "csv": as_csv,
    "json": as_json,
    "latex": lambda tables: latex(tables, {table.task: task_title(table.task) for table in tables}),
    "html": html,
}


@dataclass(frozen=True)
class LeaderboardSettings:
    """Settings of the command, each explained in HELP."""

    model: str | None = None
    metrics: Words = ()
    by: Words = ()
    over: str | None = None
    intervals: Intervals = "brackets"
    published: bool = False
    format: Format | None = None
    out: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, LeaderboardSettings, job, arguments)


def job(arguments: list[str], settings: LeaderboardSettings) -> str | list[Part]:
    """Write the leaderboard, and return its tables, or their text where `format=` is given."""
    folders = arguments or ["results"]
    format_ = _format(settings)
    if settings.out is not None:
        check(settings.out)
    tables = _leaderboard(folders, settings)
    if settings.out not in (None, "-"):
        _write_file(
            Path(str(settings.out)),
            f"# Leaderboard\n\n{markdown(tables)}" if format_ == "markdown" else RENDERERS[format_](tables),
        )
        print(f"{settings.out}: {len(tables):,} table{'s' * (len(tables) != 1)}.", file=sys.stderr)
    elif settings == LeaderboardSettings() and len(folders) == 1:
        try:
            write(markdown(tables), Path(folders[0]) / "LEADERBOARD.md")
        except StoreError as error:  # somebody else's folder: the table is what was asked for
            return [*tables, f"Not written: {error}"]
    return [*tables] if settings.format is None else RENDERERS[settings.format](tables)


def _leaderboard(folders: Sequence[str], settings: LeaderboardSettings) -> list[Table]:
    """Return the tables of the runs below the folders, as the settings ask."""
    rows = find_runs(folders, model=settings.model)
    choice = BoardOptions(
        settings.metrics,
        tuple(dict.fromkeys(settings.by)),
        settings.intervals,
        settings.over,
    )
    tables = build(rows, choice)
    return _with_published(tables, rows, choice) if settings.published else tables


def _format(settings: LeaderboardSettings) -> Format:
    """Return the format that the file is written in."""
    if settings.out == "":
        raise ConfigError("out= needs the name of a file, or - for none.")
    ending = Path(settings.out or "").suffix
    if from_ending := ENDINGS.get(ending):
        if settings.format not in (None, from_ending):
            raise ConfigError(
                f"out={settings.out} ends as {from_ending}, but format={settings.format} was given: choose one."
            )
        return from_ending
    if ending and settings.format is None and settings.out != "-":
        raise ConfigError(f"out={settings.out}: the name has to end in {', '.join(ENDINGS)}, or give format=.")
    return settings.format or "markdown"


def _with_published(measured: Sequence[Table], rows: Sequence[Run], choice: BoardOptions) -> list[Table]:
    """Return the tables, each task's followed by those of its published numbers."""
    if not (sources := plugin.published()):
        raise ConfigError("published=true needs the package causal-harness-papers (pip install -e packages/papers).")
    tables: list[Table] = []
    for task in dict.fromkeys(table.task for table in measured):
        tables += (table for table in measured if table.task == task)
        tables += (table for published in sources for table in published(task, rows, choice.by))
    return tables


def write(text: str, path: Path) -> None:
    """Write the leaderboard as a Markdown file, at a place that the user has not named."""
    _write_file(path, f"# Leaderboard\n\n{text}", named=False)


def _write_file(path: Path, text: str, *, named: bool = True) -> None:
    with atomic_file(str(path), user_path=named) as file:
        file.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
