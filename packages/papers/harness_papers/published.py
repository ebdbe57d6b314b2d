"""Rows of the papers' tables, as they stand beside what was measured: `harness leaderboard published=true`."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from harness.scoring.classification import AnswerCounts, decisions
from harness.scoring.definitions import definitions
from harness.storage.runs import Run
from harness.tables.numbers import interval_text, number_column
from harness.tables.table import Cell, Column, Line, Table
from harness.tasks.benchmark import Benchmark, benchmark_of
from harness.tasks.corr2cause import PERTURBATIONS

METRICS = ("f1", "precision", "recall", "accuracy")
DATA_VERSIONS = {
    "corr2cause": "data v1.0: 2,246 test items, 342 of them positive",
    "causalbench": "the paper's own data, of which no version is told",
}
WILSON_NOTE = (
    "Intervals: 95%, Wilson's, from the counts behind the printed digits, as if items were independent; F1's by way of "
    "TP/(TP+FP+FN). Whose answers stood in which cluster is not known, so these are too narrow."
)
NO_INTERVALS_NOTE = "No row has an interval: the counts behind these numbers are not known."


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row of a paper's table."""

    table: str
    """As in Table 4, Table XI."""
    setting: Mapping[str, str]
    """What else tells it from other rows: group, perturbation, relation; task, prompt format, network."""
    model: str
    printed: Mapping[str, str]
    """The digits as they stand in the paper, by metric: in percent or as fractions (`in_percent` tells which)."""
    task: str
    """The task whose runs it stands beside."""
    task_settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the task that these runs have."""
    counts: AnswerCounts | None = None
    """What the digits were computed from; None where that cannot be told."""
    contradicted: tuple[str, ...] = ()
    """Metrics that do not fit the row's other digits."""
    in_percent: tuple[str, ...] = ()
    """The metrics that the paper prints in percent."""
    source: str = ""
    """Where it stands, if that is not the benchmark's own paper."""
    note: str = ""
    """What has to be known beside the digits."""

    @property
    def intervals(self) -> Mapping[str, tuple[float, float] | None]:
        """95%, by metric, as fractions, from the counts alone; empty where the counts are not known."""
        return wilson_intervals(self.counts) if self.counts else {}


@cache
def rows(benchmark: str) -> tuple[PublishedRow, ...]:
    """Return the rows of a benchmark's paper; () for one whose paper is not here."""
    readers: Mapping[str, Callable[[], Iterator[PublishedRow]]] = {
        "corr2cause": _corr2cause,
        "causalbench": _causalbench,
    }
    return tuple(readers[benchmark]()) if benchmark in readers else ()


def _corr2cause() -> Iterator[PublishedRow]:
    """Yield the printed rows, with the counts behind Tables 4 and 5a, and those of later works.

    Recall gives the true positives among 342, precision the false ones, F1 and accuracy confirm both to the last
    printed digit.
    """
    perturbations = {called: value for value, called in PERTURBATIONS.items()}
    counts = {(line["table"], line["model"]): line for line in _lines("corr2cause_counts")}
    for line in _lines("corr2cause"):
        found = counts.get((line["table"], line["model"]))
        yield PublishedRow(
            line["table"],
            {name: value for name, value in line.items() if name not in ("table", "model", *METRICS)},
            line["model"],
            {name: line[name] for name in METRICS if line[name]},
            task="corr2cause",
            task_settings={"perturbation": perturbations.get(line["perturbation"], line["perturbation"])},
            counts=AnswerCounts(**{name: int(found[name]) for name in ("tp", "fp", "fn", "tn")}) if found else None,
            contradicted=tuple(found["contradicted"].split()) if found else (),
            in_percent=METRICS,
        )
    for line in _lines("corr2cause_followups"):
        where = f"{line['source']}{' (second-hand)' if line['second_hand'] else ''}"
        yield PublishedRow(
            "Follow-ups",
            {name: line[name] for name in ("method", "perturbation", "items")} | {"source": where},
            line["model"],
            {name: line[name] for name in METRICS if line[name]},
            task="corr2cause",
            task_settings={"perturbation": perturbations[line["perturbation"]]},
            in_percent=METRICS,
            source=f"{line['title']}, {where}",
            note=line["note"],
        )


def _causalbench() -> Iterator[PublishedRow]:
    """Yield the printed rows. The file has a line for each number: those of a model in one setting become one row."""
    digits: dict[tuple[str, ...], dict[str, str]] = {}
    for line in _lines("causalbench"):
        key = tuple(line[name] for name in ("table", "task", "prompt_format", "network", "model"))
        digits.setdefault(key, {})[line["metric"]] = line["value"]
    for (table, task, prompt_format, network, model), printed in digits.items():
        yield PublishedRow(
            table,
            {"task": task, "prompt_format": prompt_format, "network": network},
            model,
            printed,
            task=f"causalbench/{re.split('[_:]', task)[0]}",
            in_percent=("accuracy",) if table == "Table IX" else (),  # shares are fractions, but for one column
        )


def _lines(name: str) -> Iterator[dict[str, str]]:
    file = Path(__file__).parent / "data" / "published" / f"{name}.csv"
    return csv.DictReader(file.read_text(encoding="utf-8").splitlines())


def published_tables(task: str, measured: Sequence[Run], by: Sequence[str] = ()) -> Iterator[Table]:
    """Yield a table for each of the papers' that was measured on the task, with settings that some of the runs have."""
    benchmark = benchmark_of(task)
    runs = [{**benchmark.defaults, **row.settings} for row in measured if row.task == task]
    by_table: dict[str, list[PublishedRow]] = defaultdict(list)
    for row in rows(benchmark.name):
        beside = row.task == task and all(
            any(str(run.get(name)) == value for run in runs) for name, value in row.task_settings.items()
        )
        if beside and (row.setting.get("relation", "all") == "all" or "relation" in by):
            by_table[row.table].append(row)
    for name, of_table in by_table.items():
        yield _table(benchmark, task, name, of_table)


def _table(benchmark: Benchmark, task: str, name: str, rows: Sequence[PublishedRow]) -> Table:
    first = rows[0]
    metrics = list(dict.fromkeys(metric for row in rows for metric in row.printed))
    varying = [key for key in first.setting if len({row.setting.get(key) for row in rows}) > 1]
    columns = [Column("model", "model"), *(Column(key, key.replace("_", " ")) for key in varying)]
    columns += map(_column, metrics)
    lines = [
        Line(
            [
                Cell(row.model, row.model),
                *(Cell(row.setting[key], row.setting[key]) for key in varying),
                *(_cell(row, metric) for metric in metrics),
            ],
            ranked=False,
        )
        for row in rows
    ]
    version = "items as each row says" if first.source else DATA_VERSIONS[benchmark.name]
    source = (
        f"{name} on {benchmark.title} (each row names its source and its items; the digits are as they stand there)"
        if first.source
        else f"From {benchmark.source}; {version}"
    )
    digits = "percent" if set(metrics) & set(first.in_percent) else "shares as fractions"
    intervals = WILSON_NOTE if any(row.counts for row in rows) else NO_INTERVALS_NOTE
    return Table(
        task,
        columns,
        lines,
        above=f"{source}. Digits as printed, {digits}.",
        notes=[" ".join([intervals, *_contradictions(rows)]), *_remarks(rows)],
        heading=f"PUBLISHED, not measured here: {name} ({version})",
        published=version,
    )


def _column(metric: str) -> Column:
    """Return the column of a printed metric; where it is not one of ours, it is not known which end is better."""
    if metric in definitions():
        return number_column(metric)
    return Column(metric, metric.replace("_", " "), "metric")


def _cell(row: PublishedRow, metric: str) -> Cell:
    """Return the digits as printed, with the interval of the counts behind them, and a star where they contradict."""
    digits = row.printed.get(metric) or "–"
    try:
        value = float(digits)
    except ValueError:
        return Cell(digits)
    mark, interval = ("*", None) if metric in row.contradicted else ("", row.intervals.get(metric))
    number = round(value / 100, 8) if metric in row.in_percent else value
    return Cell(f"{digits}{mark}", number, interval, interval_text(interval))


def _contradictions(rows: Sequence[PublishedRow]) -> Iterator[str]:
    """Yield the sentences about digits that contradict each other."""
    for row in rows:
        for name in row.contradicted:
            metrics = decisions(row.counts, unreadable="wrong") if row.counts else ()
            values = [metric.value for metric in metrics if metric.name == name and metric.value is not None]
            digits = ", ".join(f"{100 * value:.2f}" for value in values)
            reason = f"the printed {name} contradicts the row's own precision and recall, which say {digits}"
            yield f"* {row.model}: {reason}; no interval."
    if any(row.counts and not row.counts.tp + row.counts.fp for row in rows):
        yield "Precision printed as 0 without a single Yes is undefined: no interval."


def _remarks(rows: Sequence[PublishedRow]) -> Iterator[str]:
    """Yield what has to be known of single rows, and the titles of their sources."""
    for source in dict.fromkeys(row.source for row in rows if row.source):
        of_source = [row for row in rows if row.source == source]
        remarks = [f"{row.model} ({next(iter(row.setting.values()))}): {row.note}" for row in of_source if row.note]
        yield f"{source}. {'. '.join(remarks)}{'.' if remarks else ''}".strip()


def wilson_intervals(counts: AnswerCounts) -> dict[str, tuple[float, float]]:
    """Return 95% intervals by metric, without those undefined. Every item has to be answered readably.

    F1 is no proportion, but F* = TP / (TP + FP + FN) is one, and F1 = 2F* / (1 + F*) grows with it (Hand, Christen and
    Kirielle, Machine Learning 2021; Lam, Gopal and Qian, arXiv:2309.14621, compare intervals of this kind).
    """
    from scipy.stats import binomtest

    right, answered, positive = counts.tp + counts.tn, counts.tp + counts.fp, counts.tp + counts.fn
    shares = {"f1": (counts.tp, answered + counts.fn), "precision": (counts.tp, answered)}
    shares |= {"recall": (counts.tp, positive), "accuracy": (right, counts.items)}
    shares = {name: share for name, share in shares.items() if share[1]}
    ends = {name: binomtest(*share).proportion_ci(method="wilson") for name, share in shares.items()}
    intervals = {name: (float(low), float(high)) for name, (low, high) in ends.items()}
    return {name: (2 * a / (1 + a), 2 * b / (1 + b)) if name == "f1" else (a, b) for name, (a, b) in intervals.items()}
