"""Two runs or more on the same items, compared in pairs: harness compare A B, --help for all of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.cli import key_value
from harness.cli.key_value import Words
from harness.compare.margin import verdict
from harness.compare.measure import Comparison, compare
from harness.compare.runs import Replies, load
from harness.compare.tables import as_json, parts
from harness.errors import ConfigError, unknown
from harness.scoring.bootstrap import RESAMPLES, SEED
from harness.scoring.definitions import definition, leading_first, of_counts
from harness.storage.atomic_write import atomic_file, check
from harness.tables.markdown_csv_json import csv_text, markdown
from harness.tables.table import Part

HELP = """\
Compare models, prompts or perturbations on the same items, in pairs.

  harness compare A B                       two folders of runs
  harness compare A B C D                   the others against the first
  harness compare A B C pairs=all           every two of them
  harness compare A B by=relation           and in every relation (network, num_nodes, template, …)
  harness compare A B out=comparison.json   all of it, every differing item too (.json, .md; .csv: the table)

Items pair by their ids, which no perturbation, prompt, version or split of the builtin data changes. The difference has
an interval over clusters and a p from swapping A and B in whole clusters; all p-values of a call are corrected together
(Holm).

  metrics=f1        what to compare, the first one for the verdict: f1, accuracy, precision, recall
  by=               breakdowns to compare in as well
  pairs=first       first: the others against the first; all: every two
  margin=           points: adds whether the others are no worse than the first by more than this, in the first metric
  labels=           the labels that count; the runs' own where nothing is said
  items=10          how many items with different answers to show
  out=              a file to write: .json, .md or .csv
"""


@dataclass(frozen=True)
class CompareSettings:
    """The command's settings; HELP says what each one means."""

    metrics: Words | None = None
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
    if settings.out and Path(settings.out).suffix not in (".json", ".md", ".csv"):
        raise ConfigError(f"out={settings.out}: the name has to end in .json, .md or .csv.")
    if settings.out:
        check(settings.out)
    replies = [load(name) for name in folders]
    settings = replace(settings, metrics=metrics_to_compare(settings.metrics, replies))
    comparisons = compare(
        replies,
        all_pairs=settings.pairs == "all",
        metrics=settings.metrics or (),
        by=settings.by,
        labels=settings.labels,
    )
    comparison_parts = list(parts(comparisons, items=settings.items, margin=settings.margin))
    if settings.out:
        _write(Path(settings.out), comparisons, settings, comparison_parts)
    return comparison_parts


def metrics_to_compare(metrics: Words | None, replies: Sequence[Replies]) -> Words:
    """Return what to compare, where nothing is said F1, or the accuracy of questions with choices.

    Raises ConfigError.
    """
    known = [metric.name for metric in of_counts()]
    for name in ("",) if metrics == () else metrics or ():
        if name not in known:
            raise ConfigError(unknown("metric to compare", name, known))
    if not any(run.choices for run in replies):
        usual = (name for name in leading_first(known) if definition(name).lead == "first")
        return tuple(dict.fromkeys(metrics or usual))
    if metrics not in (None, ("accuracy",)):
        raise ConfigError("of runs on questions with choices the accuracy is compared: leave metrics= out.")
    return ("accuracy",)


def _write(path: Path, comparisons: list[Comparison], settings: CompareSettings, parts: Sequence[Part]) -> None:
    if path.suffix == ".json":
        content = json.dumps(_json(comparisons, settings), indent=2, ensure_ascii=False)
    elif path.suffix == ".csv":
        content = _csv(comparisons)
    else:
        content = f"# Comparison\n\n{markdown(parts)}"
    with atomic_file(str(path)) as file:
        file.write(f"{content.rstrip()}\n".encode(errors="replace").decode())  # half characters as question marks


def _json(comparisons: list[Comparison], settings: CompareSettings) -> dict[str, Any]:
    return {
        "settings": {"metrics": settings.metrics, "resamples": RESAMPLES, "seed": SEED},
        "comparisons": [
            {
                "a": {"name": comparison.first, "path": str(comparison.runs[0].path), **comparison.runs[0].place},
                "b": {"name": comparison.second, "path": str(comparison.runs[1].path), **comparison.runs[1].place},
                "labels": comparison.pairing.labels,
                "shared": comparison.pairing.shared,
                "in_a_only": comparison.pairing.first_only,
                "in_b_only": comparison.pairing.second_only,
                "failed": comparison.pairing.failed,
                "unreadable": {
                    name: {"replies": lost, "count_as": run.unreadable}
                    for name, lost, run in zip("ab", comparison.pairing.unreadable, comparison.runs, strict=True)
                },
                **({} if settings.margin is None else {"margin": _margin(comparison, settings.margin)}),
                "rows": _rows(comparison),
                "differing": as_json(comparison.pairing.differing),
            }
            for comparison in comparisons
        ],
    }


def _margin(comparison: Comparison, margin: float) -> dict[str, Any]:
    return {"points": margin, "verdict": verdict(comparison, margin)[0]}


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a dictionary for each group and metric; shares as fractions."""
    return [
        {
            "breakdown": row.group[0],
            "group": row.group[1],
            "items": row.items,
            "positives": row.positives,
            "clusters": row.clusters,
            "unit": row.unit,
            "metric": metric.metric,
            "a": metric.first,
            "b": metric.second,
            "difference": metric.value,
            "low": metric.interval and metric.interval[0],
            "high": metric.interval and metric.interval[1],
            "standard_error": metric.error,
            "detectable": metric.detectable,
            "p": metric.p,
            "p_holm": metric.p_holm,
            "swaps": row.swaps and row.swaps.number,
            "swaps_exact": row.swaps and row.swaps.exact,
            **{f"right_{name}": count for name, count in asdict(row.mcnemar).items()},
            "mcnemar_p": row.mcnemar.p,
            "mcnemar_p_holm": row.mcnemar_holm,
        }
        for row in comparison.rows
        for metric in row.metrics
    ]


def _csv(comparisons: list[Comparison]) -> str:
    rows = [
        {"run_a": comparison.first, "run_b": comparison.second, **row}
        for comparison in comparisons
        for row in _rows(comparison)
    ]
    return csv_text(list(rows[0]), rows)


if __name__ == "__main__":
    sys.exit(main())
