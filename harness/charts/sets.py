"""The charts of one set of runs that may stand side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from harness.charts.names import labels, reference, shared_data
from harness.charts.values import (
    Chart,
    ConfusionChart,
    ConfusionRow,
    CostChart,
    CostRow,
    HeatCell,
    HeatChart,
    HeatColumn,
    HeatRow,
    Interval,
    NetworkColumn,
    ReliabilityChart,
    ReliabilityRow,
    ScaleChart,
    ScaleRow,
    ScoreRow,
    ScoresChart,
    Unit,
)
from harness.errors import DataError
from harness.leaderboard.comparable import capitalized
from harness.scoring.definitions import definition, leading_first, main_metrics
from harness.scoring.probabilities import reliability
from harness.storage.replies import ReplyReader
from harness.storage.runs import Run
from harness.tables.results import interval_notes
from harness.tasks.find import benchmark_of
from harness.types import Scores

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
        self,
        task: str,
        prefix: str,
        heading: str,
        rows: Sequence[Run],
        names: dict[int, str],
        replies: ReplyReader,
    ) -> None:
        self.task = task
        self.prefix = prefix
        self.heading = heading
        self.rows = rows
        self.replies = replies
        run_labels = labels(rows)
        data = ", ".join(shared_data(rows))
        self.data = [f"The data of all algorithms: {data}."] if data else []
        self.refs = [reference(row, names[id(row)], label) for row, label in zip(rows, run_labels, strict=True)]
        self.metrics = list(dict.fromkeys(name for row in rows for name in main_metrics(row.result.overall)))

    def charts(self) -> Iterator[Chart]:
        """Yield all charts, in the order in which they are shown."""
        for metric in self.metrics:
            yield self.scores(metric)
        for breakdown in dict.fromkeys(name for row in self.rows for name in _breakdowns(row)):
            if breakdown != "overall" and "/" not in breakdown:
                yield self.heat(breakdown)
        yield from self.confusion()
        yield from self.reliabilities()
        for metric in self.metrics:
            yield from self.costs(metric)
        yield from self.scales()

    def _common(self, kind: str, title: str, notes: Sequence[str] = ()) -> dict[str, Any]:
        """Return the fields that all kinds of charts have."""
        return {
            "id": f"{self.prefix}/{kind}",
            "task": self.task,
            "heading": self.heading,
            "title": title,
            "notes": [*notes, *self.data],
        }

    def scores(self, metric: str) -> Chart:
        """Return the chart of a leaderboard's column."""
        overall = [row.result.overall for row in self.rows]
        rows = [
            ScoreRow(
                **ref,
                value=scores[metric],
                interval=interval_of(scores, metric),
                items=scores.items,
                clusters=scores.clusters,
            )
            for ref, scores in zip(self.refs, overall, strict=True)
        ]
        common = self._common(f"scores/{metric}", f"{title_of(metric)} by model", interval_notes_of(overall))
        return ScoresChart(**common, metric=metric, rows=rows)

    def heat(self, breakdown: str) -> Chart:
        """Return the heat map of a breakdown: a row for each run, a column for each group."""
        parts = [_breakdowns(row).get(breakdown, {}) for row in self.rows]
        groups = list(dict.fromkeys(group for part in parts for group in part))
        names = {
            name for part in parts for scores in part.values() for name in (metric.name for metric in scores.metrics)
        }
        metrics = [name for name in leading_first(names) if definition(name).in_heat_maps]
        columns = []
        for group in groups:
            first = next(part[group] for part in parts if group in part)
            title = group.replace("_", " ")
            columns.append(HeatColumn(group=group, title=title, items=first.items, positives=first.positives))
        rows = [
            HeatRow(**ref, cells=[_cell(part[group], metrics) if group in part else None for group in groups])
            for ref, part in zip(self.refs, parts, strict=True)
        ]
        title = f"Scores by {_BREAKDOWNS.get(breakdown, breakdown.replace('_', ' '))}"
        common = self._common(f"heat/{breakdown}", title)
        return HeatChart(**common, breakdown=breakdown, metrics=metrics, columns=columns, rows=rows)

    def confusion(self) -> Iterator[Chart]:
        """Yield the chart of what became of positives and negatives, of the runs whose task counts it."""
        rows = [
            ConfusionRow(**ref, counts={name: row.result.overall.confusion.get(name, 0) for name in COUNTS})
            for ref, row in zip(self.refs, self.rows, strict=True)
            if row.result.overall.confusion
        ]
        if rows:
            yield ConfusionChart(**self._common("confusion", "Answers by what is true and what was said"), rows=rows)

    def reliabilities(self) -> Iterator[Chart]:
        """Yield reliability diagrams: of the probabilities that runs have given, and of the confidence they state."""
        rows: dict[str, list[ReliabilityRow]] = {"probability": [], "stated": []}
        missing = []
        for ref, row in zip(self.refs, self.rows, strict=True):
            if row.result.choices or not (row.result.overall.metric("brier") or _asks_for_confidence(row)):
                continue
            try:
                given = _predictions(row, self.replies)
            except DataError:
                missing.append(str(ref["label"]))
                continue
            for source, answers in given.items():
                if answers:
                    rows[source].append(_reliability_row(ref, answers))
        notes = [f"Not in it, as their records are not here: {', '.join(missing)}."] if missing else []
        if rows["probability"]:
            common = self._common(
                "reliability/probability", "Reliability of the probabilities of Yes", [*_BINS, *notes]
            )
            yield ReliabilityChart(**common, source="probability", rows=rows["probability"])
        if rows["stated"]:
            title = "Reliability of the confidence that replies state"
            common = self._common("reliability/stated", title, [*_BINS, _STATED, *notes])
            yield ReliabilityChart(**common, source="stated", rows=rows["stated"])

    def costs(self, metric: str) -> Iterator[Chart]:
        """Yield the chart in USD of runs whose cost is known, and where some have tokens alone, the chart in tokens."""
        models = [(ref, row) for ref, row in zip(self.refs, self.rows, strict=True) if ref["role"] == "model"]
        usd = [(ref, row, row.usd) for ref, row in models]
        tokens = [(ref, row, _tokens(row)) for ref, row in models]
        if any(x is not None for _, _, x in usd):
            yield from self._cost(metric, "USD", usd)
        if any(x is not None and dollars is None for (_, _, x), (_, _, dollars) in zip(tokens, usd, strict=True)):
            yield from self._cost(metric, "tokens", tokens)

    def _cost(
        self, metric: str, unit: Unit, amounts: Sequence[tuple[dict[str, Any], Run, float | None]]
    ) -> Iterator[Chart]:
        """Yield the chart of score against USD or tokens, unless no run has both."""
        rows = []
        for ref, row, amount in amounts:
            overall = row.result.overall
            value = overall[metric]
            if amount is not None and value is not None and overall.items:
                x = 1000 * amount / overall.items
                rows.append(CostRow(**ref, x=x, value=value, interval=interval_of(overall, metric)))
        if not rows:
            return
        missing = [str(ref["label"]) for ref, _, _ in amounts if ref["run"] not in {row.run for row in rows}]
        notes = (
            [f"Not in it, as {unit} or {definition(metric).title} are not known: {', '.join(missing)}."]
            if missing
            else []
        )
        notes += interval_notes_of([row.result.overall for _, row, _ in amounts])
        if unit == "tokens":
            notes.append("Tokens are those read and written, each model's by its own tokenizer.")
        title = f"{title_of(metric)} against {unit} per 1,000 items"
        yield CostChart(
            **self._common(f"cost/{metric}/{unit.lower()}", title, notes), metric=metric, unit=unit, rows=rows
        )

    def scales(self) -> Iterator[Chart]:
        """Yield scores by network, smallest first, where the benchmark knows the sizes of its networks."""
        names = {name for row in self.rows for name in _breakdowns(row).get("network", {})}
        sizes = benchmark_of(self.task).graph_sizes
        if len(names) < 2 or sizes is None or not (graphs := sizes(names)):
            return
        networks = [NetworkColumn(name=g.name, nodes=g.nodes, edges=g.edges, scale=g.scale) for g in graphs]
        networks.sort(key=lambda network: (network.nodes, network.edges))
        parts = [[_breakdowns(row).get("network", {}).get(network.name) for network in networks] for row in self.rows]
        for metric in self.metrics:
            rows = [
                ScaleRow(
                    **ref,
                    values=[scores and scores[metric] for scores in part],
                    intervals=[scores and interval_of(scores, metric) for scores in part],
                )
                for ref, part in zip(self.refs, parts, strict=True)
            ]
            notes = interval_notes_of([scores for part in parts for scores in part if scores])
            common = self._common(f"scale/{metric}", f"{title_of(metric)} by number of variables", notes)
            yield ScaleChart(**common, metric=metric, networks=networks, rows=rows)


def _asks_for_confidence(row: Run) -> bool:
    return bool((row.manifest.words or {}).get("confidence"))


def _predictions(row: Run, replies: ReplyReader) -> dict[str, list[tuple[int, float, str]]]:
    """Return (label, probability of Yes, cluster) of each answer that has one, by where the probability is from.

    A stated confidence is one in the answer given, so that of a No what it leaves is the probability of Yes.
    """
    given: dict[str, list[tuple[int, float, str]]] = {"probability": [], "stated": []}
    for reply in replies.of(row):
        gold, probability, confidence = dict(reply.labels)[row.result.headline], reply.probability, reply.confidence
        if probability is not None and math.isfinite(probability):
            given["probability"].append((gold, probability, reply.cluster))
        if confidence is not None:
            given["stated"].append((gold, confidence if reply.answer else 1 - confidence, reply.cluster))
    return given


def _reliability_row(ref: dict[str, Any], answers: Sequence[tuple[int, float, str]]) -> ReliabilityRow:
    numbers = reliability(*(list(column) for column in zip(*answers, strict=True)))
    return ReliabilityRow(
        **ref,
        bins=numbers.bins,
        ece=numbers.ece,
        error=numbers.error.value,
        error_interval=numbers.error.interval,
        brier=numbers.brier.value,
        brier_interval=numbers.brier.interval,
    )


def interval_notes_of(rows: Sequence[Scores]) -> list[str]:
    """Return the notes on intervals, for charts that draw them as lines."""
    return [note.replace("In brackets:", "Lines:") for note in interval_notes(rows)]


def title_of(metric: str) -> str:
    return capitalized(definition(metric).title)


def _breakdowns(row: Run) -> Any:
    return row.result.scores[row.result.headline]


def interval_of(scores: Scores, name: str) -> Interval:
    metric = scores.metric(name)
    return metric.interval if metric else None


def _cell(scores: Scores, metrics: Sequence[str]) -> HeatCell:
    return HeatCell(
        items=scores.items,
        positives=scores.positives,
        values={name: scores[name] for name in metrics},
        intervals={name: interval_of(scores, name) for name in metrics},
    )


def _tokens(row: Run) -> int | None:
    """Return the tokens read and written; None where either was not counted."""
    usage = row.result.usage
    return None if usage.input is None or usage.output is None else usage.input + usage.output
