"""Numbers that the papers print, as rows beside which measured ones can stand.

They are shipped in harness/data/published/, and so are the counts behind Corr2Cause's Tables 4 and 5a: recall gives the
true positives among 342, precision the false ones, F1 and accuracy confirm both to the last printed digit.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from harness.errors import ConfigError, unknown
from harness.scoring.classification import Counts, decisions
from harness.scoring.proportions import Interval, intervals
from harness.tables.metrics import TITLES
from harness.tables.table import LOW_IS_GOOD, NEITHER, Cell, Column, Line, Part, Table

NO_SCORES = ("I", "VIII", "XII")
"""Tables of CausalBench that are settings, statistics and check marks."""
METRICS = ("f1", "precision", "recall", "accuracy")
PLAIN = (
    "Intervals: 95%, Wilson's, from the counts behind the printed digits, as if items were independent; F1's by way of "
    "TP/(TP+FP+FN). Whose answers stood in which cluster is not known, so these are too narrow."
)
NONE = "No row has an interval: the counts behind these numbers are not known."
VERSIONS = {
    "corr2cause": "data v1.0: 2,246 test items, 342 of them positive",
    "causalbench": "the paper's own data, of which no version is told",
}
SOURCES = {
    "corr2cause": "Jin et al., Can Large Language Models Infer Causation from Correlation?, ICLR 2024",
    "causalbench": "Zhou et al., CausalBench: A Comprehensive Benchmark for Causal Learning Capability of LLMs",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a paper's table."""

    benchmark: str
    table: str
    """As in Table 4, Table XI."""
    setting: Mapping[str, str]
    """What else tells it from other rows: group, perturbation, relation; task, prompt format, network."""
    model: str
    printed: Mapping[str, str]
    """The digits as they stand in the paper, by metric: in percent or as fractions (`percent` tells which)."""
    counts: Counts | None = None
    """What the digits were computed from; None where that cannot be told."""
    contradicted: tuple[str, ...] = ()
    """Metrics that do not fit the row's other digits."""

    @property
    def intervals(self) -> Mapping[str, Interval | None]:
        """95%, by metric, as fractions (see PLAIN); empty where the counts are not known."""
        return intervals(self.counts) if self.counts else {}

    @property
    def version(self) -> str:
        """Of the data that the number was measured on."""
        return VERSIONS[self.benchmark]

    def percent(self, metric: str) -> bool:
        """Whether the paper prints the metric in percent: CausalBench does so in one column only."""
        return self.benchmark == "corr2cause" or (self.table, metric) == ("Table IX", "accuracy")


@cache
def rows() -> tuple[Row, ...]:
    """All published rows, in the papers' order."""
    return (*_corr2cause(), *_causalbench())


def table(name: str) -> list[Row]:
    """The rows of a table: 4, 5a, XI, … Raises ConfigError."""
    (found,) = tables(name)[:1]
    return found


def tables(name: str) -> list[list[Row]]:
    """The rows of a table, and of each part where it has some: 5 is 5a and 5b. Raises ConfigError."""
    wanted = name.strip().lower().removeprefix("table ")
    there: dict[str, list[Row]] = {}
    for row in rows():
        there.setdefault(row.table.removeprefix("Table "), []).append(row)
    found = [there[one] for one in there if wanted in (one.lower(), one.rstrip("ab"))]
    if not found:
        raise ConfigError(no_scores("published table", wanted) or unknown("published table", name, there, place))
    return found


def no_scores(kind: str, name: str) -> str:
    """The sentence for a table that is none of results; empty for others."""
    if name.upper() not in NO_SCORES:
        return ""
    others = f"{', '.join(NO_SCORES[:-1])} and {NO_SCORES[-1]}"
    return f"there is no {kind} {name.upper()}: Tables {others} of CausalBench are settings and lists, not scores."


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
    first = found[0]
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
        f"PUBLISHED, not measured here: {first.table} of {SOURCES[first.benchmark]} ({first.version}).",
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


def _corr2cause() -> Iterator[Row]:
    counts = {(row["table"], row["model"]): row for row in _file("corr2cause_counts.csv")}
    for row in _file("corr2cause.csv"):
        known = counts.get((row["table"], row["model"]))
        yield Row(
            row["benchmark"],
            row["table"],
            {name: row[name] for name in ("group", "perturbation", "relation")},
            row["model"],
            {name: row[name] for name in METRICS if row[name]},
            None if known is None else Counts(**{name: int(known[name]) for name in ("tp", "fp", "fn", "tn")}),
            () if known is None else tuple(known["contradicted"].split()),
        )


def _causalbench() -> Iterator[Row]:
    """The file has a row for each number: those of a model in one setting become one row."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for row in _file("causalbench.csv"):
        key = tuple(row[name] for name in ("table", "task", "prompt_format", "network", "model"))
        found.setdefault(key, {})[row["metric"]] = row["value"]
    for (name, task, prompt_format, network, model), printed in found.items():
        setting = {"task": task, "prompt_format": prompt_format, "network": network}
        yield Row("causalbench", name, setting, model, printed)


def _file(name: str) -> Iterator[dict[str, str]]:
    file = resources.files("harness") / "data" / "published" / name
    yield from csv.DictReader(file.read_text(encoding="utf-8").splitlines())
