"""What the papers' other tables and tasks add to the benchmarks: each function returns one with more in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.tasks.benchmark import Benchmark, PaperTable

if TYPE_CHECKING:
    from harness.tables.table import Part
    from harness.types import Record


def corr2cause(benchmark: Benchmark) -> Benchmark:
    """Add Tables 1, 3, 8 and 11, and questions about hidden variables to what the reasoner answers."""
    return replace(
        benchmark,
        statistics={**benchmark.statistics, "1": _graphs, "3": _items, "8": _stories, "11": _ngrams},
        solves={**benchmark.solves, "corr2cause/latent": _follows_with_hidden},
    )


def causalbench(benchmark: Benchmark) -> Benchmark:
    """Add Table VIII, and the causes and effects that are ranked by their strength."""
    return replace(
        benchmark,
        other_tables=lambda: (*benchmark.other_tables(), *_marks()),
        item_values={**benchmark.item_values, "causalbench/strength": _ranking_values},
        own_models=(*benchmark.own_models, "harness.plugins.papers.strength_baselines.Ranker"),
    )


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


def _marks() -> Sequence[PaperTable]:
    from harness.plugins.papers.marks import TABLE_VIII

    return (TABLE_VIII,)
