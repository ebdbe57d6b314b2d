"""The charts of one set of runs that may stand side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.charts.names import labels, reference, shared_data
from harness.charts.values import Chart
from harness.errors import DataError
from harness.leaderboard.comparable import capitalized
from harness.scoring.definitions import definition, leading_first, main_metrics
from harness.scoring.probabilities import reliability
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.numbers import shown
from harness.tables.results import interval_notes
from harness.tasks.find import benchmark_of
from harness.types import JSON, Scores

Row = dict[str, JSON]

COUNTS = ("tp", "fp", "fn", "tn", "unreadable_positive", "unreadable_negative", "failed_positive", "failed_negative")
_BINS = (
    "Each mark is a tenth of the answers (more where many have one probability): the mean probability of Yes (across) "
    "and the share of which Yes is right (up). Lines: 95% over clusters. On the diagonal a model is calibrated.",
    "Error: the root of the mean squared distance from the diagonal, without noise. ECE: the mean distance, which noise"
    " makes larger. Brier: the mean squared error of the probabilities.",
)
_STATED = (
    "Stated: how sure of its answer a reply says it is, as a probability of Yes; it is none that the model computed."
)
_BREAKDOWNS = {"num_nodes": "number of variables", "argument": "length of the shortest argument"}


class ChartsOfSet:
    """The charts of runs that may stand side by side."""

    def __init__(
        self, task: str, prefix: str, heading: str, runs: Sequence[Run], names: Mapping[int, str], replies: ReplyReader
    ) -> None:
        """Name the runs: `prefix` begins the ids of charts, `names` are the runs' by their id()."""
        self.task = task
        self.prefix = prefix
        self.heading = heading
        self.runs = runs
        self.replies = replies
        self.refs = [reference(run, names[id(run)], label) for run, label in zip(runs, labels(runs), strict=True)]
        data = ", ".join(shared_data(runs))
        self.data = [f"The data of all algorithms: {data}."] if data else []
        self.metrics = list(dict.fromkeys(name for run in runs for name in main_metrics(run.result.overall)))

    def charts(self) -> Iterator[Chart]:
        """Yield all charts, in the order in which they are shown."""
        for metric in self.metrics:
            yield self.scores(metric)
        for breakdown in dict.fromkeys(name for run in self.runs for name in _breakdowns(run)):
            if breakdown != "overall" and "/" not in breakdown:
                yield self.heat(breakdown)
        yield from self.confusion()
        yield from self.reliabilities()
        for metric in self.metrics:
            yield from self.costs(metric)
        yield from self.scales()

    def _chart(self, name: str, title: str, notes: Sequence[str] = (), **body: JSON) -> Chart:
        """Return a chart whose id ends with a name that begins with its kind."""
        return Chart(
            kind=name.partition("/")[0],
            id=f"{self.prefix}/{name}",
            task=self.task,
            heading=self.heading,
            title=title,
            notes=[*notes, *self.data],
            body=body,
        )

    def scores(self, metric: str) -> Chart:
        """Return the chart of a leaderboard's column."""
        overall = [run.result.overall for run in self.runs]
        rows = [
            {**ref, **point(scores, metric), "items": scores.items, "clusters": scores.clusters}
            for ref, scores in zip(self.refs, overall, strict=True)
        ]
        title = f"{title_of(metric)} by model"
        return self._chart(f"scores/{metric}", title, interval_notes_of(overall), metric=metric, rows=rows)

    def heat(self, breakdown: str) -> Chart:
        """Return the heat map of a breakdown: a row for each run, a column for each group."""
        parts: list[Mapping[str, Scores]] = [_breakdowns(run).get(breakdown, {}) for run in self.runs]
        groups: dict[str, Scores] = {}
        for group, scores in ((group, scores) for part in parts for group, scores in part.items()):
            groups.setdefault(group, scores)
        names = {metric.name for part in parts for scores in part.values() for metric in scores.metrics}
        metrics = [name for name in leading_first(names) if definition(name).in_heat_maps]
        columns = [
            {"group": group, "title": group.replace("_", " "), "items": first.items, "positives": first.positives}
            for group, first in groups.items()
        ]
        rows = [
            {**ref, "cells": [_cell(part[group], metrics) if group in part else None for group in groups]}
            for ref, part in zip(self.refs, parts, strict=True)
        ]
        title = f"Scores by {_BREAKDOWNS.get(breakdown, breakdown.replace('_', ' '))}"
        return self._chart(f"heat/{breakdown}", title, breakdown=breakdown, metrics=metrics, columns=columns, rows=rows)

    def confusion(self) -> Iterator[Chart]:
        """Yield the chart of what became of positives and negatives, of the runs whose task counts it."""
        counts = [run.result.overall.confusion for run in self.runs]
        rows = [
            {**ref, "counts": {name: of_run.get(name, 0) for name in COUNTS}}
            for ref, of_run in zip(self.refs, counts, strict=True)
            if of_run
        ]
        if rows:
            yield self._chart("confusion", "Answers by what is true and what was said", rows=rows)

    def reliabilities(self) -> Iterator[Chart]:
        """Yield reliability diagrams: of the probabilities that runs have given, and of the confidence they state."""
        rows: dict[str, list[Row]] = {"probability": [], "stated": []}
        missing = []
        for ref, run in zip(self.refs, self.runs, strict=True):
            if run.result.choices or not (run.result.overall.metric("brier") or _asks_for_confidence(run)):
                continue
            try:
                given = _predictions(run, self.replies)
            except DataError:
                missing.append(str(ref["label"]))
                continue
            for source, answers in given.items():
                if answers:
                    rows[source].append({**ref, **_reliability(answers)})
        notes = [f"Not in it, as their records are not here: {', '.join(missing)}."] if missing else []
        titles = {
            "probability": ("Reliability of the probabilities of Yes", _BINS),
            "stated": ("Reliability of the confidence that replies state", (*_BINS, _STATED)),
        }
        for source, (title, about) in titles.items():
            if rows[source]:
                yield self._chart(f"reliability/{source}", title, [*about, *notes], source=source, rows=rows[source])

    def costs(self, metric: str) -> Iterator[Chart]:
        """Yield the chart in USD of runs whose cost is known, and where some have tokens alone, the chart in tokens."""
        models = [(ref, run) for ref, run in zip(self.refs, self.runs, strict=True) if ref["role"] == "model"]
        if any(run.usd is not None for _, run in models):
            yield from self._cost(metric, "USD", [(ref, run, run.usd) for ref, run in models])
        if any(run.usd is None and _tokens(run) is not None for _, run in models):
            yield from self._cost(metric, "tokens", [(ref, run, _tokens(run)) for ref, run in models])

    def _cost(self, metric: str, unit: str, amounts: Sequence[tuple[Row, Run, float | None]]) -> Iterator[Chart]:
        """Yield the chart of score against USD or tokens, unless no run has both."""
        rows, missing = [], []
        for ref, run, amount in amounts:
            overall = run.result.overall
            if amount is not None and overall[metric] is not None and overall.items:
                rows.append({**ref, "x": 1000 * amount / overall.items, **point(overall, metric)})
            else:
                missing.append(str(ref["label"]))
        if not rows:
            return
        title = definition(metric).title
        notes = [f"Not in it, as {unit} or {title} are not known: {', '.join(missing)}."] if missing else []
        notes += interval_notes_of([run.result.overall for _, run, _ in amounts])
        if unit == "tokens":
            notes.append("Tokens are those read and written, each model's by its own tokenizer.")
        yield self._chart(
            f"cost/{metric}/{unit.lower()}",
            f"{title_of(metric)} against {unit} per 1,000 items",
            notes,
            metric=metric,
            unit=unit,
            rows=rows,
        )

    def scales(self) -> Iterator[Chart]:
        """Yield scores by network, smallest first, where the benchmark knows the sizes of its networks."""
        names = {name for run in self.runs for name in _breakdowns(run).get("network", {})}
        sizes = benchmark_of(self.task).graph_sizes
        if len(names) < 2 or sizes is None or not (graphs := sizes(names)):
            return
        graphs = sorted(graphs, key=lambda graph: (graph.nodes, graph.edges))
        networks = [{"name": g.name, "nodes": g.nodes, "edges": g.edges, "scale": g.scale} for g in graphs]
        parts = [[_breakdowns(run).get("network", {}).get(graph.name) for graph in graphs] for run in self.runs]
        notes = interval_notes_of([scores for part in parts for scores in part if scores])
        for metric in self.metrics:
            rows: list[Row] = []
            for ref, part in zip(self.refs, parts, strict=True):
                points = [point(scores, metric) if scores else {} for scores in part]
                values, intervals = ([of.get(name) for of in points] for name in ("value", "interval"))
                rows.append({**ref, "values": values, "intervals": intervals})
            title = f"{title_of(metric)} by number of variables"
            yield self._chart(f"scale/{metric}", title, notes, metric=metric, networks=networks, rows=rows)


def _asks_for_confidence(run: Run) -> bool:
    return bool((run.manifest.words or {}).get("confidence"))


def _predictions(run: Run, replies: ReplyReader) -> dict[str, list[tuple[int, float, str]]]:
    """Return (label, probability of Yes, cluster) of each answer that has one, by where the probability is from.

    A stated confidence is one in the answer given, so that of a No what it leaves is the probability of Yes.
    """
    given: dict[str, list[tuple[int, float, str]]] = {"probability": [], "stated": []}
    for reply in replies.of(run):
        gold, probability, confidence = dict(reply.labels)[run.result.headline], reply.probability, reply.confidence
        if probability is not None and math.isfinite(probability):
            given["probability"].append((gold, probability, reply.cluster))
        if confidence is not None:
            given["stated"].append((gold, confidence if reply.answer else 1 - confidence, reply.cluster))
    return given


def _reliability(answers: Sequence[tuple[int, float, str]]) -> Row:
    numbers = reliability(*(list(column) for column in zip(*answers, strict=True)))
    row: Row = {"bins": [asdict(one) | {"interval": _ends(one.interval)} for one in numbers.bins], "ece": numbers.ece}
    for name, estimate in (("error", numbers.error), ("brier", numbers.brier)):
        row |= {name: estimate.value, f"{name}_interval": _ends(estimate.interval)}
    return row


def interval_notes_of(rows: Sequence[Scores]) -> list[str]:
    """Return the notes on intervals, for charts that draw them as lines."""
    return [note.replace("In brackets:", "Lines:") for note in interval_notes(rows)]


def title_of(metric: str) -> str:
    return capitalized(definition(metric).title)


def _breakdowns(run: Run) -> Any:
    return run.result.scores[run.result.headline]


def point(scores: Scores, name: str) -> Row:
    """Return a metric's value and interval."""
    metric = shown(scores, name)
    return {"value": metric.value, "interval": _ends(metric.interval)}


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _cell(scores: Scores, metrics: Sequence[str]) -> Row:
    points = {name: point(scores, name) for name in metrics}
    values, intervals = ({name: of[part] for name, of in points.items()} for part in ("value", "interval"))
    return {"items": scores.items, "positives": scores.positives, "values": values, "intervals": intervals}


def _tokens(run: Run) -> int | None:
    """Return the tokens read and written; None where either was not counted."""
    usage = run.result.usage
    return None if usage.input is None or usage.output is None else usage.input + usage.output
