"""Numbers as text and as cells of tables: metrics with their intervals, counts, what follows from counts, p-values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.scoring.definitions import definition, definitions
from harness.tables.table import Cell, Column, Line
from harness.types import Metric, Scores

COUNTS = ("items", "positives", "clusters", "unreadable", "cut_off", "failed")
"""The counts that stand beside every score."""
YES = "yes"
"""The share of Yes among the replies that could be read: a number that follows from a row's counts."""
YES_NOTE = "Yes: the share of Yes among the replies that could be read."


def shown(scores: Scores, name: str) -> Metric:
    """Return a metric of a row as it is shown: F1 is undefined where there are no positives, whatever was said."""
    metric = scores.metric(name)
    return Metric(name, None) if metric is None or (name == "f1" and not scores.positives) else metric


def number_cell(scores: Scores | None, name: str, *, interval: bool = True) -> Cell:
    """Return a metric, a count or the share of Yes of a row as tables show it; a dash where the row has none.

    An interval has one decimal less than the value: resamples tell no more.
    """
    if name in COUNTS:
        return Cell("–") if scores is None else Cell(count_text(scores, name), getattr(scores, name))
    if name == YES:
        share = yes_share(scores) if scores else None
        return Cell(metric_text(name, share), share)
    metric, known = Metric(name, None) if scores is None else shown(scores, name), definition(name)
    scale, decimals = 100 if known.unit == "percent" else 1, max(1, known.decimals - 1)
    ends = interval_text(metric.interval, scale=scale, decimals=decimals) if interval else ""
    return Cell(metric_text(name, metric.value), metric.value, metric.interval, ends)


def number_column(number: str, name: str = "", ending: str = "", over: str = "") -> Column:
    """Return the column of a metric, a count or the share of Yes; an `ending` of its title says of which group."""
    title, known = "cut off in thought" if number == "cut_off" else number.replace("_", " "), definition(number)
    if number in COUNTS:
        return Column(name or number, title + ending, "count", None, over)
    return Column(name or number, known.title + ending, "metric", known.best, over)


def interval_text(interval: tuple[float, float] | None, *, scale: int = 100, decimals: int = 1) -> str:
    """Return an interval in brackets; "" without one."""
    return f"[{scale * interval[0]:,.{decimals}f}, {scale * interval[1]:,.{decimals}f}]" if interval else ""


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
        values = {at: cells[place].value for at, cells in enumerate(rows)}
        known = {at: value for at, value in values.items() if isinstance(value, int | float)}
        metric = definition(column.name.partition("/")[0])
        is_distance = column.kind == "metric" and metric.unit == "count" and metric.decimals == 2
        if is_distance and any(value != int(value) for value in known.values()):
            for at, value in known.items():
                rows[at][place] = replace(rows[at][place], text=f"{value:,.2f}")
    return [replace(line, cells=cells) for line, cells in zip(lines, rows, strict=True)]


def metrics_of(rows: Iterable[Scores]) -> list[str]:
    """Return the metrics that occur and that tables show, in the order of their definitions, others after them."""
    names = {metric.name for scores in rows for metric in scores.metrics}
    known = [metric.name for metric in definitions().values() if metric.name in names and metric.shown]
    return known + sorted(names - set(definitions()))


def counts_of(rows: Iterable[Scores]) -> list[str]:
    """Return the counts that tables show: replies that were cut off in thought only where there are any."""
    thinking = any(row.cut_off for row in rows)
    return [name for name in COUNTS if thinking or name != "cut_off"]


def count_text(row: Scores, name: str) -> str:
    """Return a count as text, clusters with what they are."""
    if name == "clusters":
        return f"{row.clusters:,}{f' {row.unit}s' if row.unit else ''}" if row.clusters or not row.items else "–"
    return f"{getattr(row, name):,}"


def yes_share(scores: Scores) -> float | None:
    """Return the share of Yes among the readable replies; None where nothing was read."""
    yes, no = (sum(scores.confusion.get(name, 0) for name in names) for names in (("tp", "fp"), ("fn", "tn")))
    return yes / (yes + no) if yes + no else None


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
