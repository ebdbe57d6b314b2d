"""What the papers add to the benchmarks: the rows of their tables, their presets, and more tasks and statistics."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.tasks.benchmark import Benchmark

if TYPE_CHECKING:
    from harness.plugins.papers.presets import PaperTable, Preset
    from harness.plugins.papers.published import PublishedRow
    from harness.tables.table import Part
    from harness.types import Record


METRICS = ("f1", "precision", "recall", "accuracy")
FOLLOW_UPS = "Follow-ups"
"""The table of later works, which is not one of the paper's."""


def corr2cause(benchmark: Benchmark) -> Benchmark:
    """Add what the paper prints, Tables 1, 3, 8 and 11, and questions about hidden variables for the reasoner."""
    return replace(
        benchmark,
        data_version="data v1.0: 2,246 test items, 342 of them positive",
        published=_corr2cause_rows,
        presets=_corr2cause_presets,
        paper_labels="published",
        paper_settings={"version": "v1"},
        statistics={**benchmark.statistics, "1": _graphs, "3": _items, "8": _stories, "11": _ngrams},
        solves={**benchmark.solves, "corr2cause/latent": _follows_with_hidden},
    )


def causalbench(benchmark: Benchmark) -> Benchmark:
    """Add what the paper prints, and the causes and effects that are ranked by their strength."""
    return replace(
        benchmark,
        data_version="the paper's own data, of which no version is told",
        published=_causalbench_rows,
        presets=_causalbench_presets,
        no_scores=("I", "XII"),
        digits="digits as printed, measured ones in the same form",
        paper_labels="paper",
        compared_labels=("paper", "exact"),
        item_values={**benchmark.item_values, "causalbench/strength": _ranking_values},
        own_models=(*benchmark.own_models, "harness.plugins.papers.strength_baselines.Ranker"),
    )


def _corr2cause_rows() -> Iterator[PublishedRow]:
    """Yield the printed rows, with the counts behind Tables 4 and 5a, and those of later works.

    Recall gives the true positives among 342, precision the false ones, F1 and accuracy confirm both to the last
    printed digit.
    """
    from harness.plugins.papers.published import read_rows
    from harness.scoring.classification import AnswerCounts

    lines = csv.DictReader(_data("corr2cause_counts.csv").splitlines())
    counts = {(line["table"], line["model"]): line for line in lines}
    settings = _perturbations()
    for row in read_rows(_data("corr2cause.csv"), "corr2cause", METRICS):
        count = counts.get((row.table, row.model))
        yield replace(
            row,
            task_settings={"perturbation": settings.get(row.setting["perturbation"], row.setting["perturbation"])},
            counts=None
            if count is None
            else AnswerCounts(**{name: int(count[name]) for name in ("tp", "fp", "fn", "tn")}),
            contradicted=() if count is None else tuple(count["contradicted"].split()),
        )
    yield from _followups()


def _followups() -> Iterator[PublishedRow]:
    """Yield the rows of later works, each with its source; what was not read there itself is marked second-hand."""
    from harness.plugins.papers.published import PublishedRow

    settings = _perturbations()
    for line in csv.DictReader(_data("corr2cause_followups.csv").splitlines()):
        mark = " (second-hand)" if line["second_hand"] else ""
        where = f"{line['source']}{mark}"
        yield PublishedRow(
            "corr2cause",
            FOLLOW_UPS,
            {name: line[name] for name in ("method", "perturbation", "items")} | {"source": where},
            line["model"],
            {name: line[name] for name in METRICS if line[name]},
            task_settings={"perturbation": settings[line["perturbation"]]},
            in_percent=METRICS,
            source=f"{line['title']}, {where}",
            note=line["note"],
        )


def _corr2cause_presets() -> Sequence[Preset]:
    from harness.plugins.papers.presets import read_presets

    return read_presets(_data("corr2cause.yaml"))


def _causalbench_rows() -> Iterator[PublishedRow]:
    """Yield the printed rows. The file has a line for each number: those of a model in one setting become one row."""
    from harness.plugins.papers.published import PublishedRow

    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for line in csv.DictReader(_data("causalbench.csv").splitlines()):
        key = tuple(line[name] for name in ("table", "task", "prompt_format", "network", "model"))
        rows.setdefault(key, {})[line["metric"]] = line["value"]
    for (table, task, prompt_format, network, model), digits in rows.items():
        setting = {"task": task, "prompt_format": prompt_format, "network": network}
        # Shares are fractions, but for one column.
        percent = ("accuracy",) if table == "Table IX" else ()
        asked_of = f"causalbench/{re.split('[_:]', task)[0]}"
        yield PublishedRow("causalbench", table, setting, model, digits, task=asked_of, in_percent=percent)


def _causalbench_presets() -> Sequence[Preset | PaperTable]:
    from harness.plugins.papers.marks import TABLE_VIII
    from harness.plugins.papers.presets import read_presets

    return (*read_presets(_data("causalbench.yaml")), TABLE_VIII)


def _data(name: str) -> str:
    return (Path(__file__).parent / "data" / "published" / name).read_text(encoding="utf-8")


def _perturbations() -> dict[str, str]:
    """Return the values of task.perturbation by what the tables call them."""
    from harness.tasks.corr2cause.benchmark import PERTURBATIONS

    return {called: value for value, called in PERTURBATIONS.items()}


def _graphs() -> Sequence[Part]:
    from harness.plugins.papers.statistics import table_1

    return table_1()


def _items() -> Sequence[Part]:
    from harness.plugins.papers.statistics import table_3

    return table_3()


def _stories() -> Sequence[Part]:
    from harness.plugins.papers.story_tasks import table_8

    return table_8()


def _ngrams() -> Sequence[Part]:
    from harness.plugins.papers.statistics import table_11

    return table_11()


def _follows_with_hidden(words: str) -> bool | None:
    from harness.plugins.papers.latent import follows

    return follows(words)


def _ranking_values(record: Record) -> Mapping[str, float | None]:
    from harness.plugins.papers.strength_scores import measures

    return measures(record)
