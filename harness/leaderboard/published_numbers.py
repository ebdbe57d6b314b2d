"""Numbers that the papers print, as rows beside which measured ones can stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from harness.errors import ConfigError, unknown
from harness.scoring.classification import decisions
from harness.tables.metrics import TITLES
from harness.tables.table import LOW_IS_GOOD, NEITHER, Cell, Column, Line, Part, Table
from harness.tasks.benchmark import Benchmark
from harness.tasks.find import benchmark_of, every
from harness.tasks.published import Row

PLAIN = (
    "Intervals: 95%, Wilson's, from the counts behind the printed digits, as if items were independent; F1's by way of "
    "TP/(TP+FP+FN). Whose answers stood in which cluster is not known, so these are too narrow."
)
NONE = "No row has an interval: the counts behind these numbers are not known."


@cache
def rows_of(benchmark: Benchmark) -> tuple[Row, ...]:
    """Return the rows that a benchmark's paper prints, in its order."""
    return tuple(benchmark.published())


def rows() -> tuple[Row, ...]:
    """All published rows, in the papers' order."""
    return tuple(row for benchmark in every() for row in rows_of(benchmark))


def table(name: str) -> list[Row]:
    """The rows of a table: 4, 5a, XI, … Raises ConfigError."""
    (found,) = tables(name)[:1]
    return found


def tables(name: str) -> list[list[Row]]:
    """The rows of a table, and of each part where it has some: 5 is 5a and 5b. Raises ConfigError."""
    fitting = _fitting(name)
    only_one("table", name, papers(name))
    if not fitting:
        message = no_scores("published table", name.strip().lower().removeprefix("table ").rpartition("/")[2])
        raise ConfigError(message or unknown("published table", name, dict.fromkeys(map(_named, rows())), place))
    return list(fitting.values())


def papers(name: str) -> list[str]:
    """Return the names of the benchmarks that have a table of that name."""
    return list(dict.fromkeys(benchmark for benchmark, _ in _fitting(name)))


def only_one(kind: str, name: str, benchmarks: Sequence[str]) -> None:
    """Raise ConfigError where several benchmarks have a table of that name."""
    if len(several := dict.fromkeys(benchmarks)) > 1:
        either = " or ".join(f"{kind}={benchmark}/{name.rpartition('/')[2]}" for benchmark in several)
        raise ConfigError(f"{kind}={name} is a table of several papers: write {either}.")


def _fitting(name: str) -> dict[tuple[str, str], list[Row]]:
    """Return the rows of the tables that a name such as 5, 5a or causalbench/XI means, by benchmark and table."""
    benchmark, _, wanted = name.strip().lower().removeprefix("table ").rpartition("/")
    there: dict[tuple[str, str], list[Row]] = {}
    for row in rows():
        called = _named(row).lower()
        if benchmark in ("", row.benchmark.lower()) and wanted in (called, called.rstrip("ab")):
            there.setdefault((row.benchmark, _named(row)), []).append(row)
    return there


def _named(row: Row) -> str:
    return row.table.removeprefix("Table ")


def no_scores(kind: str, name: str) -> str:
    """The sentence for a table that is none of results; empty for others."""
    for benchmark in every():
        if name.upper() in (one.upper() for one in benchmark.no_scores):
            *others, last = benchmark.no_scores
            names = f"Tables {', '.join(others)} and {last}" if others else f"Table {last}"
            verb = "are" if others else "is one of"
            said = f"{names} of {benchmark.title} {verb} settings and lists, not scores."
            return f"there is no {kind} {name.upper()}: {said}"
    return ""


def place(name: str) -> tuple[int, int, str]:
    """Where a table stands among the others: 4, 5a, 12, then II, IX, XI."""
    if number := re.match(r"\d+", name):
        return 0, int(number[0]), name
    digits = [{"I": 1, "V": 5, "X": 10}.get(letter, 0) for letter in name]
    return 1, sum(-one if one < after else one for one, after in zip(digits, [*digits[1:], 0], strict=True)), name


def printed_column(metric: str) -> Column:
    """The column of a printed metric; where it is not one of ours, nobody says which end is the good one."""
    title = TITLES.get(metric, metric.replace("_", " "))
    if metric in NEITHER or metric not in TITLES:
        return Column(metric, title, "metric")
    return Column(metric, title, "metric", "low" if metric in LOW_IS_GOOD else "high")


def parts(found: Sequence[Row]) -> list[Part]:
    """Rows of one table, in words and as a table."""
    first, benchmark = found[0], benchmark_of(found[0].benchmark)
    metrics = list(dict.fromkeys(name for row in found for name in row.printed))
    telling = [name for name in first.setting if len({row.setting.get(name) for row in found}) > 1]
    known = any(row.counts for row in found)
    columns = [*(Column(name, name.replace("_", " ")) for name in telling), Column("model", "model")]
    for name in metrics:
        columns.append(printed_column(name))
        columns += [Column(f"{TITLES.get(name, name)} 95%", "95%", "metric")] if known else []
    lines = []
    for row in found:
        cells = [Cell(text) for text in (*(row.setting[name] for name in telling), row.model)]
        for name in metrics:
            cells += [_cell(row, name), *([Cell(_shown(row, name))] if known else [])]
        lines.append(Line(cells))
    return [
        f"PUBLISHED, not measured here: {first.table} of {benchmark.source} ({benchmark.data_version}).",
        Table(columns=columns, lines=lines, spare=[f"{name} 95%" for name in ("recall", "precision", "accuracy")]),
        "\n".join([PLAIN if known else NONE, *marked(found)]),
    ]


def marked(found: Sequence[Row]) -> Iterator[str]:
    """What has to be said about digits that contradict each other."""
    for row in found:
        for name in row.contradicted:
            own = decisions(row.counts, unreadable="wrong") if row.counts else ()
            says = ", ".join(f"{100 * m.value:.2f}" for m in own if m.name == name and m.value is not None)
            why = f"the printed {name} contradicts the row's own precision and recall, which say {says}"
            yield f"* {row.model}: {why}; no interval."
    if any(row.counts and not row.counts.tp + row.counts.fp for row in found):
        yield "Precision printed as 0 without a single Yes is undefined: no interval."


def _cell(row: Row, name: str) -> Cell:
    printed = row.printed.get(name) or "–"
    try:
        value = float(printed)
    except ValueError:
        return Cell(printed)
    return Cell(f"{printed}{'*' if name in row.contradicted else ''}", value)


def _shown(row: Row, name: str) -> str:
    found = row.intervals.get(name)
    return "–" if found is None or name in row.contradicted else f"{100 * found[0]:.1f} … {100 * found[1]:.1f}"
