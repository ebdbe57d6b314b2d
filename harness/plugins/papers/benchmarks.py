"""What the papers add to the benchmarks: each function returns one with more in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.tasks.benchmark import Benchmark

if TYPE_CHECKING:
    from harness.plugins.papers.presets import PaperTable, Preset
    from harness.plugins.papers.published import PublishedRow
    from harness.tables.table import Part
    from harness.types import Record


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


def _corr2cause_rows() -> Iterable[PublishedRow]:
    from harness.plugins.papers.printed import corr2cause

    return corr2cause()


def _corr2cause_presets() -> Sequence[Preset]:
    from harness.plugins.papers.presets import read_presets
    from harness.plugins.papers.printed import file

    return read_presets(file("corr2cause.yaml"))


def _causalbench_rows() -> Iterable[PublishedRow]:
    from harness.plugins.papers.printed import causalbench

    return causalbench()


def _causalbench_presets() -> Sequence[Preset | PaperTable]:
    from harness.plugins.papers.marks import TABLE_VIII
    from harness.plugins.papers.presets import read_presets
    from harness.plugins.papers.printed import file

    return (*read_presets(file("causalbench.yaml")), TABLE_VIII)


def _graphs() -> Sequence[Part]:
    from harness.plugins.papers.universe import table_1

    return table_1()


def _items() -> Sequence[Part]:
    from harness.plugins.papers.universe import table_3

    return table_3()


def _stories() -> Sequence[Part]:
    from harness.plugins.papers.story_tasks import table_8

    return table_8()


def _ngrams() -> Sequence[Part]:
    from harness.plugins.papers.ngrams import table_11

    return table_11()


def _follows_with_hidden(words: str) -> bool | None:
    from harness.plugins.papers.latent import follows

    return follows(words)


def _ranking_values(record: Record) -> Mapping[str, float | None]:
    from harness.plugins.papers.strength_scores import measures

    return measures(record)
