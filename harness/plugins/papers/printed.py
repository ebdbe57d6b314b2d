"""What the two papers print: the rows of their tables, with the counts behind some, and the later works'."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.plugins.papers.published import PublishedRow, read_rows
from harness.scoring.classification import AnswerCounts
from harness.tasks.corr2cause.benchmark import PERTURBATIONS

METRICS = ("f1", "precision", "recall", "accuracy")
FOLLOW_UPS = "Follow-ups"
"""The table of later works, which is none of the paper's."""


def file(name: str) -> str:
    return (Path(__file__).parent / "data" / "published" / name).read_text(encoding="utf-8")


def corr2cause() -> Iterator[PublishedRow]:
    """Yield the printed rows, with the counts behind Tables 4 and 5a, and those of later works.

    Recall gives the true positives among 342, precision the false ones, F1 and accuracy confirm both to the last
    printed digit.
    """
    lines = csv.DictReader(file("corr2cause_counts.csv").splitlines())
    counts = {(line["table"], line["model"]): line for line in lines}
    settings = {called: value for value, called in PERTURBATIONS.items()}
    for row in read_rows(file("corr2cause.csv"), "corr2cause", METRICS):
        count = counts.get((row.table, row.model))
        yield replace(
            row,
            asked={"perturbation": settings.get(row.setting["perturbation"], row.setting["perturbation"])},
            counts=None
            if count is None
            else AnswerCounts(**{name: int(count[name]) for name in ("tp", "fp", "fn", "tn")}),
            contradicted=() if count is None else tuple(count["contradicted"].split()),
        )
    yield from _followups()


def _followups() -> Iterator[PublishedRow]:
    """Yield the rows of later works, each with its source; what was not read there itself is marked second-hand."""
    settings = {called: value for value, called in PERTURBATIONS.items()}
    for line in csv.DictReader(file("corr2cause_followups.csv").splitlines()):
        mark = " (second-hand)" if line["second_hand"] else ""
        where = f"{line['source']}{mark}"
        yield PublishedRow(
            "corr2cause",
            FOLLOW_UPS,
            {name: line[name] for name in ("method", "perturbation", "items")} | {"source": where},
            line["model"],
            {name: line[name] for name in METRICS if line[name]},
            asked={"perturbation": settings[line["perturbation"]]},
            in_percent=METRICS,
            source=f"{line['title']}, {where}",
            note=line["note"],
        )


def causalbench() -> Iterator[PublishedRow]:
    """Yield the printed rows. The file has a line for each number: those of a model in one setting become one row."""
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for line in csv.DictReader(file("causalbench.csv").splitlines()):
        key = tuple(line[name] for name in ("table", "task", "prompt_format", "network", "model"))
        rows.setdefault(key, {})[line["metric"]] = line["value"]
    for (table, task, prompt_format, network, model), digits in rows.items():
        setting = {"task": task, "prompt_format": prompt_format, "network": network}
        # Shares are fractions, but for one column.
        percent = ("accuracy",) if table == "Table IX" else ()
        asked_of = f"causalbench/{re.split('[_:]', task)[0]}"
        yield PublishedRow("causalbench", table, setting, model, digits, task=asked_of, in_percent=percent)
