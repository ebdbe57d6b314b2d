"""Two runs or more on the same items, compared in pairs: harness compare A B, --help for all of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from harness.cli import key_value
from harness.cli.key_value import Words
from harness.compare.comparison import compare
from harness.compare.pairing import Loader, Replies, one_run
from harness.compare.tables import tables
from harness.errors import ConfigError, DataError, unknown
from harness.scoring.definitions import definition, leading_first, of_counts
from harness.tables.table import Part
from harness.tables.write import form_of, write

HELP = """\
Compare models, prompts or perturbations on the same items, in pairs.

  harness compare A B                       two folders of runs
  harness compare A B C D                   the others against the first
  harness compare A B C pairs=all           every two of them
  harness compare A B by=relation           and in every relation (network, num_nodes, template, …)
  harness compare A B out=comparison.tex    as a file: .md, .json or .tex; .csv has the differences alone

Items pair by their ids, which no perturbation, prompt, version or split of the builtin data changes. The difference has
an interval over clusters and a p from swapping A and B in whole clusters; all p-values of a call are corrected together
(Holm). Of three runs or more, those that cannot be compared are named and left out.

  metrics=f1        what to compare, the first one for the verdict: f1, accuracy, precision, recall
  by=               breakdowns to compare in as well
  pairs=first       first: the others against the first; all: every two
  margin=           points: adds whether the others are no worse than the first by more than this, in the first metric
  labels=           the labels that count; the runs' own where nothing is said
  items=10          how many items with different answers to show
  out=              a file to write: .md, .csv, .json or .tex
"""


@dataclass(frozen=True)
class CompareSettings:
    """The command's settings; HELP says what each one means."""

    metrics: Words = ()
    by: Words = ()
    pairs: Literal["first", "all"] = "first"
    margin: Annotated[float, Field(ge=0, le=100)] | None = None
    labels: str | None = None
    items: Annotated[int, Field(ge=0)] = 10
    out: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, CompareSettings, job, arguments)


def job(folders: list[str], settings: CompareSettings) -> list[Part]:
    """Return the comparison in words and tables, and write it where settings say so."""
    if len(folders) < 2:
        raise ConfigError("give two runs or more: harness compare A B (--help for the rest).")
    if twice := [name for name in folders if folders.count(name) > 1]:
        raise ConfigError(f"{twice[0]} is given twice: a run is compared with another one.")
    if settings.out is not None:
        form_of(settings.out)
    load, replies, left_out = Loader(), [], []
    for place, name in enumerate(folders):
        try:
            replies.append(load(one_run(name)))
        except DataError as error:
            if not place or len(folders) == 2:
                raise
            left_out.append(str(error))
    comparisons, problems = compare(
        replies,
        all_pairs=settings.pairs == "all",
        metrics=metrics_to_compare(settings.metrics, replies),
        by=settings.by,
        labels=settings.labels,
    )
    found = list(tables(comparisons, items=settings.items, margin=settings.margin))
    others = [f"Not compared: {error}" for error in (*left_out, *map(str, problems))]
    found[0] = replace(found[0], others=others)
    if settings.out is not None:
        write(found[:1] if settings.out.endswith(".csv") else found, settings.out, "Comparison")
    return [*found]


def metrics_to_compare(metrics: Words, replies: Sequence[Replies]) -> Words:
    """Return what to compare, where nothing is said F1, or the accuracy of questions with choices.

    Raises ConfigError.
    """
    known = [metric.name for metric in of_counts()]
    usual = [name for name in leading_first(known) if definition(name).lead == "first"]
    if any(each.run.result.choices for each in replies):
        known = usual = ["accuracy"]
    for name in metrics:
        if name not in known:
            raise ConfigError(unknown("metric to compare", name, known))
    return tuple(dict.fromkeys(metrics or usual))


if __name__ == "__main__":
    sys.exit(main())
