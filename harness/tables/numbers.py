"""Numbers as text and as cells of tables: metrics with their intervals, counts, what follows from counts, p-values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from harness.scoring.definitions import definition, definitions
from harness.tables.table import Cell, Column, Line
from harness.types import Metric, Scores

Intervals = Literal["brackets", "none"]
"""How a table shows intervals: [1.0, 2.0], or not at all."""
COUNTS = ("items", "positives", "clusters", "unreadable", "cut_off", "failed")
"""The counts that stand beside every score."""
DERIVED = ("yes", "chance")
"""Numbers that follow from a row's counts."""
DERIVED_NOTES = {
    "yes": "Yes: the share of Yes among the replies that could be read.",
    "chance": "Chance F1: what as many Yes, given at random, are expected to have.",
}


def metric_cell(metric: Metric, intervals: Intervals = "brackets") -> Cell:
    """Return a metric as tables show it, with its interval; one decimal less than the value: resamples tell no more."""
    known = definition(metric.name)
    scale = 100 if known.unit == "percent" else 1
    interval = interval_text(metric.interval, intervals, scale=scale, decimals=max(1, known.decimals - 1))
    return Cell(metric_text(metric.name, metric.value), metric.value, metric.interval, interval)


def score_cell(scores: Scores | None, name: str, intervals: Intervals = "brackets") -> Cell:
    """Return a metric of a row as tables show it; a dash where the row has none."""
    return metric_cell(Metric(name, None) if scores is None else shown(scores, name), intervals)


def shown(scores: Scores, name: str) -> Metric:
    """Return a metric of a row as it is shown: F1 is undefined where there are no positives, whatever was said."""
    metric = scores.metric(name)
    return Metric(name, None) if metric is None or (name == "f1" and not scores.positives) else metric


def interval_text(
    interval: tuple[float, float] | None,
    intervals: Intervals,
    *,
    scale: int = 100,
    decimals: int = 1,
    thousands: Literal[",", ""] = ",",
) -> str:
    """Return an interval in brackets; "" without one, or if none is wanted."""
    if interval is None or intervals == "none":
        return ""
    low, high = interval
    form = f"{thousands}.{decimals}f"
    return f"[{scale * low:{form}}, {scale * high:{form}}]"


def metric_text(name: str, value: float | None) -> str:
    """Return a metric's value as text: shares in percent with two decimals; a dash where it is undefined.

    A distance that is a whole number has no decimals where it stands alone; `even_decimals` sees to columns.
    """
    if value is None:
        return "–"
    known = definition(name)
    if known.unit == "percent":
        return f"{100 * value:.2f}"
    return f"{value:,.0f}" if known.unit == "count" and value == int(value) else f"{value:,.{known.decimals}f}"


def even_decimals(columns: Sequence[Column], lines: Sequence[Line]) -> list[Line]:
    """Return the lines with two decimals at all distances of a column if any has some."""
    rows = [list(line.cells) for line in lines]
    for place, column in enumerate(columns):
        cells = {line: rows[line][place] for line in range(len(lines)) if column.kind == "metric"}
        values = {line: cell.value for line, cell in cells.items() if isinstance(cell.value, int | float)}
        if any(cells[line].text == f"{value:,.2f}" and value != int(value) for line, value in values.items()):
            for line, value in values.items():
                if cells[line].text == f"{value:,.0f}":
                    rows[line][place] = replace(cells[line], text=f"{value:,.2f}")
    return [replace(line, cells=cells) for line, cells in zip(lines, rows, strict=True)]


def metrics_of(rows: Iterable[Scores]) -> list[str]:
    """Return the metrics that occur and that tables show, in the order of their definitions, others after them."""
    names = {metric.name for scores in rows for metric in scores.metrics}
    known = [metric.name for metric in definitions().values() if metric.name in names and metric.shown]
    return known + sorted(names - set(definitions()))


def metric_column(name: str, metric: str, title: str = "") -> Column:
    known = definition(metric)
    return Column(name, title or known.title, "metric", known.best)


def counts_of(rows: Iterable[Scores]) -> list[str]:
    """Return the counts that tables show: replies that were cut off in thought only where there are any."""
    thinking = any(row.cut_off for row in rows)
    return [name for name in COUNTS if thinking or name != "cut_off"]


def count_title(name: str) -> str:
    return "cut off in thought" if name == "cut_off" else name.replace("_", " ")


def count_cell(row: Scores, name: str) -> Cell:
    return Cell(count_text(row, name), getattr(row, name))


def count_text(row: Scores, name: str) -> str:
    """Return a count as text, clusters with what they are."""
    if name == "clusters":
        return f"{row.clusters:,}{f' {row.unit}s' if row.unit else ''}" if row.clusters or not row.items else "–"
    return f"{getattr(row, name):,}"


def derived_cell(scores: Scores | None, name: str) -> Cell:
    """Return a derived number as tables show it; a dash where the row has no counts of answers."""
    value = derived(scores, name) if scores else None
    return Cell(metric_text(name, value), value)


def derived(scores: Scores, name: str) -> float | None:
    """Return the share of Yes among the readable replies, or the F1 that as many Yes at random are expected to have.

    Guesses that say Yes with probability q where a share p is positive have a precision of p and a recall of q, so an
    F1 of 2pq / (p + q). None where nothing was read, or neither p nor q is above 0.
    """
    counts = scores.confusion
    yes = counts.get("tp", 0) + counts.get("fp", 0)
    read = yes + counts.get("fn", 0) + counts.get("tn", 0)
    if not read:
        return None
    if name == "yes":
        return yes / read
    p, q = (counts.get("tp", 0) + counts.get("fn", 0)) / read, yes / read
    return 2 * p * q / (p + q) if p + q else None


def percent_text(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def signed_text(value: float | None, decimals: int = 2) -> str:
    """Return a difference of shares in points, with its sign; a dash where it is undefined."""
    return "–" if value is None else f"{100 * value:+.{decimals}f}".replace("-", "−")


def p_text(value: float | None) -> str:
    """Return a p-value: four decimals, or a power of ten where it is smaller."""
    if value is None:
        return "–"
    if value < 1e-99:
        return "<1e-99"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"
