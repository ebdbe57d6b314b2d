"""Two runs or more on the same items, compared in pairs: python -m harness.compare A B, --help for all of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.cli import key_value
from harness.cli.key_value import Words
from harness.compare.measure import Comparison, compare
from harness.compare.runs import load
from harness.compare.tables import as_json, parts
from harness.errors import ConfigError, unknown
from harness.scoring.bootstrap import RESAMPLES
from harness.scoring.paired import METRICS
from harness.scoring.significance import detectable
from harness.storage.atomic_write import check, written
from harness.tables.markdown_csv_json import csv_text, markdown
from harness.tables.table import Part

HELP = """\
Compare models, prompts or perturbations on the same items, in pairs.

  python -m harness.compare A B                       two results folders, or files of records (.jsonl, .jsonl.gz)
  python -m harness.compare A B C D                   the others against the first
  python -m harness.compare A B C pairs=all           every two of them
  python -m harness.compare A B by=relation           and in every relation (network, num_nodes, template, …)
  python -m harness.compare A B out=comparison.json   all of it, every differing item too (.json, .md; .csv: the table)

Items pair by their ids, which no perturbation, prompt, version or split of the builtin data changes. The difference has
an interval over clusters and a p from swapping A and B in whole clusters; all p-values of a call are corrected together
(Holm).

  metrics=f1        what to compare, the first one for the verdict: f1, accuracy, precision, recall
  by=               breakdowns to compare in as well
  pairs=first       first: the others against the first; all: every two
  labels=           the labels that count; the runs' own where nothing is said
  items=10          how many items with different answers to show
  out=              a file to write: .json, .md or .csv
  resamples=10000   of the interval, and random swaps where there are too many to try all
  seed=0            draws them
  least=0.5         the share of the smaller run's items that both have to have
"""


@dataclass(frozen=True)
class Settings:
    """HELP says what each one means."""

    metrics: Words = ("f1",)
    by: Words = ()
    pairs: Literal["first", "all"] = "first"
    labels: str | None = None
    items: Annotated[int, Field(ge=0)] = 10
    out: str | None = None
    resamples: Annotated[int, Field(ge=100, le=1_000_000)] = RESAMPLES
    seed: Annotated[int, Field(ge=0)] = 0
    least: Annotated[float, Field(ge=0, le=1)] = 0.5


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the comparison; the exit code."""
    return key_value.command(HELP, Settings, job, arguments)


def job(given: list[str], settings: Settings) -> list[Part]:
    """The comparison in words and tables; writes it where settings say so."""
    if len(given) < 2:
        raise ConfigError("give two runs or more: python -m harness.compare A B (--help for the rest).")
    if twice := [name for name in given if given.count(name) > 1]:
        raise ConfigError(f"{twice[0]} is given twice: a run is compared with another one.")
    for name in settings.metrics or ("",):
        if name not in METRICS:
            raise ConfigError(unknown("metric to compare", name, METRICS))
    if settings.out and Path(settings.out).suffix not in (".json", ".md", ".csv"):
        raise ConfigError(f"out={settings.out}: the name has to end in .json, .md or .csv.")
    if settings.out:
        check(settings.out)
    found = compare(
        [load(name) for name in given],
        all_pairs=settings.pairs == "all",
        metrics=tuple(dict.fromkeys(settings.metrics)),
        by=settings.by,
        labels=settings.labels,
        least=settings.least,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    shown = list(parts(found, items=settings.items, resamples=settings.resamples))
    if settings.out:
        _write(Path(settings.out), found, settings, shown)
    return shown


def _write(path: Path, found: list[Comparison], settings: Settings, shown: Sequence[Part]) -> None:
    if path.suffix == ".json":
        content = json.dumps(_json(found, settings), indent=2, ensure_ascii=False)
    elif path.suffix == ".csv":
        content = _csv(found)
    else:
        content = f"# Comparison\n\n{markdown(shown)}"
    with written(str(path)) as file:
        file.write(f"{content.rstrip()}\n".encode(errors="replace").decode())  # half characters as question marks


def _json(found: list[Comparison], settings: Settings) -> dict[str, Any]:
    return {
        "settings": {"metrics": settings.metrics, "resamples": settings.resamples, "seed": settings.seed},
        "comparisons": [
            {
                "a": {"name": one.first, "path": str(one.runs[0].path), **one.runs[0].place},
                "b": {"name": one.second, "path": str(one.runs[1].path), **one.runs[1].place},
                "labels": one.pairing.labels,
                "shared": one.pairing.shared,
                "in_a_only": one.pairing.first_only,
                "in_b_only": one.pairing.second_only,
                "failed": one.pairing.failed,
                "unreadable": {
                    name: {"replies": lost, "count_as": run.unreadable}
                    for name, lost, run in zip("ab", one.pairing.unreadable, one.runs, strict=True)
                },
                "rows": _rows(one),
                "differing": as_json(one.pairing.differing),
            }
            for one in found
        ],
    }


def _rows(one: Comparison) -> list[dict[str, Any]]:
    """A dictionary for each group and metric; shares as fractions."""
    return [
        {
            "breakdown": row.group[0],
            "group": row.group[1],
            "items": row.items,
            "positives": row.positives,
            "clusters": row.clusters,
            "unit": row.unit,
            "metric": measured.difference.metric,
            "a": measured.difference.first,
            "b": measured.difference.second,
            "difference": measured.difference.value,
            "low": measured.difference.interval and measured.difference.interval[0],
            "high": measured.difference.interval and measured.difference.interval[1],
            "standard_error": measured.difference.error,
            "detectable": detectable(measured.difference.error),
            "p": measured.difference.p,
            "p_holm": measured.p_holm,
            "swaps": row.swaps and row.swaps.tried,
            "swaps_exact": row.swaps and row.swaps.exact,
            **{f"right_{name}": count for name, count in asdict(row.mcnemar).items()},
            "mcnemar_p": row.mcnemar.p,
            "mcnemar_p_holm": row.mcnemar_holm,
        }
        for row in one.rows
        for measured in row.metrics
    ]


def _csv(found: list[Comparison]) -> str:
    rows = [{"run_a": one.first, "run_b": one.second, **row} for one in found for row in _rows(one)]
    return csv_text(list(rows[0]), rows)


if __name__ == "__main__":
    sys.exit(main())
