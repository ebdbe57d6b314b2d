"""The charts of one set of runs that may stand side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from harness.charts.names import data_of_all, labels, reference
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
    ScaleChart,
    ScaleRow,
    Score,
    ScoresChart,
    Unit,
)
from harness.leaderboard.rows import Row
from harness.tables.metrics import TITLES, interval_notes, main_metrics
from harness.tasks.find import benchmark_of
from harness.types import Scores

COUNTS = ("tp", "fp", "fn", "tn", "unreadable_positive", "unreadable_negative", "failed_positive", "failed_negative")
_IN_HEAT = ("f1", "macro_f1", "precision", "recall", "accuracy", "cell_accuracy")
_BREAKDOWNS = {"num_nodes": "number of variables"}


class SideBySide:
    """Runs that may stand side by side, and the charts of them."""

    def __init__(self, task: str, place: str, heading: str, rows: Sequence[Row], names: dict[int, str]) -> None:
        self.task = task
        self.place = place
        self.heading = heading
        self.rows = rows
        said = labels(rows)
        data = ", ".join(data_of_all(rows))
        self.data = [f"The data of all algorithms: {data}."] if data else []
        self.refs = [reference(row, names[id(row)], label) for row, label in zip(rows, said, strict=True)]
        self.metrics = list(dict.fromkeys(name for row in rows for name in main_metrics(row.result.overall)))

    def charts(self) -> Iterator[Chart]:
        """All of them, in the order in which they are shown."""
        for metric in self.metrics:
            yield self.scores(metric)
        for breakdown in dict.fromkeys(name for row in self.rows for name in _parts(row)):
            if breakdown != "overall" and "/" not in breakdown:
                yield self.heat(breakdown)
        yield from self.confusion()
        for metric in self.metrics:
            yield from self.costs(metric)
        yield from self.scales()

    def _common(self, kind: str, title: str, notes: Sequence[str] = ()) -> dict[str, Any]:
        return {
            "id": f"{self.place}/{kind}",
            "task": self.task,
            "heading": self.heading,
            "title": title,
            "notes": [*notes, *self.data],
        }

    def scores(self, metric: str) -> Chart:
        """The leaderboard's column, drawn."""
        overall = [row.result.overall for row in self.rows]
        rows = [
            Score(**ref, value=one[metric], interval=interval_of(one, metric), items=one.items, clusters=one.clusters)
            for ref, one in zip(self.refs, overall, strict=True)
        ]
        common = self._common(f"scores/{metric}", f"{title_of(metric)} by model", lines_said(overall))
        return ScoresChart(**common, metric=metric, rows=rows)

    def heat(self, breakdown: str) -> Chart:
        """A row of the table for each run."""
        parts = [_parts(row).get(breakdown, {}) for row in self.rows]
        groups = list(dict.fromkeys(group for part in parts for group in part))
        found = {name for part in parts for one in part.values() for name in (metric.name for metric in one.metrics)}
        metrics = [name for name in _IN_HEAT if name in found]
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
        """Yield what became of positives and negatives, of the runs whose task counts it."""
        rows = [
            ConfusionRow(**ref, counts={name: row.result.overall.confusion.get(name, 0) for name in COUNTS})
            for ref, row in zip(self.refs, self.rows, strict=True)
            if row.result.overall.confusion
        ]
        if rows:
            yield ConfusionChart(**self._common("confusion", "Answers by what is true and what was said"), rows=rows)

    def costs(self, metric: str) -> Iterator[Chart]:
        """In USD those whose cost is known; where that is not all, in tokens all whose tokens are."""
        asked = [(ref, row) for ref, row in zip(self.refs, self.rows, strict=True) if ref["role"] == "model"]
        usd = [(ref, row, row.usd) for ref, row in asked]
        tokens = [(ref, row, _tokens(row)) for ref, row in asked]
        if any(x is not None for _, _, x in usd):
            yield from self._cost(metric, "USD", usd)
        if any(x is not None and dollars is None for (_, _, x), (_, _, dollars) in zip(tokens, usd, strict=True)):
            yield from self._cost(metric, "tokens", tokens)

    def _cost(
        self, metric: str, unit: Unit, found: Sequence[tuple[dict[str, Any], Row, float | None]]
    ) -> Iterator[Chart]:
        rows = []
        for ref, row, spent in found:
            overall = row.result.overall
            value = overall[metric]
            if spent is not None and value is not None and overall.items:
                x = 1000 * spent / overall.items
                rows.append(CostRow(**ref, x=x, value=value, interval=interval_of(overall, metric)))
        if not rows:
            return
        missing = [str(ref["label"]) for ref, _, _ in found if ref["run"] not in {row.run for row in rows}]
        notes = [f"Not in it, as {unit} or {TITLES[metric]} are not known: {', '.join(missing)}."] if missing else []
        notes += lines_said([row.result.overall for _, row, _ in found])
        if unit == "tokens":
            notes.append("Tokens are those read and written, each model's by its own tokenizer.")
        title = f"{title_of(metric)} against {unit} per 1,000 items"
        yield CostChart(
            **self._common(f"cost/{metric}/{unit.lower()}", title, notes), metric=metric, unit=unit, rows=rows
        )

    def scales(self) -> Iterator[Chart]:
        """Scores by network, smallest first, where the benchmark knows the sizes of its networks."""
        found = {name for row in self.rows for name in _parts(row).get("network", {})}
        sizes = benchmark_of(self.task).graph_sizes
        if len(found) < 2 or sizes is None or not (graphs := sizes(found)):
            return
        networks = [NetworkColumn(name=g.name, nodes=g.nodes, edges=g.edges, scale=g.scale) for g in graphs]
        networks.sort(key=lambda network: (network.nodes, network.edges))
        parts = [[_parts(row).get("network", {}).get(one.name) for one in networks] for row in self.rows]
        for metric in self.metrics:
            rows = [
                ScaleRow(
                    **ref,
                    values=[one and one[metric] for one in part],
                    intervals=[one and interval_of(one, metric) for one in part],
                )
                for ref, part in zip(self.refs, parts, strict=True)
            ]
            said = lines_said([one for part in parts for one in part if one])
            common = self._common(f"scale/{metric}", f"{title_of(metric)} by number of variables", said)
            yield ScaleChart(**common, metric=metric, networks=networks, rows=rows)


def lines_said(rows: Sequence[Scores]) -> list[str]:
    """What tables say of their intervals."""
    return [note.replace("In brackets:", "Lines:") for note in interval_notes(rows)]


def title_of(metric: str) -> str:
    """A metric at the beginning of a title."""
    return TITLES[metric][0].upper() + TITLES[metric][1:]


def _parts(row: Row) -> Any:
    return row.result.scores[row.result.headline]


def interval_of(scores: Scores, name: str) -> Interval:
    """A metric's interval, if it has one."""
    metric = scores.metric(name)
    return metric.interval if metric else None


def _cell(scores: Scores, metrics: Sequence[str]) -> HeatCell:
    return HeatCell(
        items=scores.items,
        positives=scores.positives,
        values={name: scores[name] for name in metrics},
        intervals={name: interval_of(scores, name) for name in metrics},
    )


def _tokens(row: Row) -> int | None:
    """Read and written; None where either was not counted."""
    usage = row.result.usage
    return None if usage.input is None or usage.output is None else usage.input + usage.output
