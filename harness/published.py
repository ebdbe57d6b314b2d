"""Numbers that the papers print, as rows beside which measured ones can stand: python -m harness.published table=4

They are shipped in harness/data/published/, and so are the counts behind Corr2Cause's Tables 4 and 5a: recall gives the
true positives among 342, precision the false ones, F1 and accuracy confirm both to the last printed digit.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from harness import options
from harness.errors import ConfigError, unknown
from harness.scoring.classification import Counts, decisions
from harness.scoring.proportions import Interval, intervals
from harness.tables import TITLES, markdown

HELP = """\
Numbers that the papers print, marked as such, with their data version.

  python -m harness.published                        the tables there are
  python -m harness.published table=4                Corr2Cause, Table 4; so too 5a, 5b, 6a, 6b, 12, 13
  python -m harness.published table=XI               CausalBench, Table XI
  python -m harness.published table=4 results        and the runs below results/ on the same task
"""

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
    """The digits as they stand in the paper, by metric: percent for Corr2Cause, as it comes for CausalBench."""
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


@dataclass(frozen=True)
class Settings:
    """HELP says what each one means."""

    table: str | None = None


@cache
def rows() -> tuple[Row, ...]:
    """All published rows, in the papers' order."""
    return (*_corr2cause(), *_causalbench())


def table(name: str) -> list[Row]:
    """The rows of a table: 4, 5a, XI, … Raises ConfigError."""
    found = [row for row in rows() if row.table == f"Table {name}"]
    if not found:
        raise ConfigError(unknown("published table", name, {row.table.removeprefix("Table ") for row in rows()}))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table; the exit code."""
    return options.command(HELP, Settings, job, arguments)


def job(given: list[str], settings: Settings) -> str:
    """A table as text, with measured runs below it where folders are given."""
    if settings.table is None:
        if given:
            raise ConfigError(f"table= has to be given: which one to set {given[0]} beside.")
        counted = {(row.benchmark, row.table): len(table(row.table.removeprefix("Table "))) for row in rows()}
        body = [[benchmark, name.removeprefix("Table "), str(n)] for (benchmark, name), n in counted.items()]
        return markdown(["benchmark", "table", "rows"], body, text_columns=2)
    found = table(settings.table.removeprefix("Table "))
    return "\n\n".join([text(found), *_measured(found[0].benchmark, given)])


def text(found: Sequence[Row]) -> str:
    """Rows of one table, in words and as a table."""
    first = found[0]
    metrics = list(dict.fromkeys(name for row in found for name in row.printed))
    telling = [name for name in first.setting if len({row.setting.get(name) for row in found}) > 1]
    known = any(row.counts for row in found)
    header = [*(name.replace("_", " ") for name in telling), "model"]
    text_columns = len(header)
    for name in metrics:
        header += [TITLES.get(name, name), *(["95%"] if known else [])]
    body = []
    for row in found:
        cells = [*(row.setting[name] for name in telling), row.model]
        for name in metrics:
            mark = "*" if name in row.contradicted else ""
            cells += [f"{row.printed.get(name) or '–'}{mark}", *([_shown(row, name)] if known else [])]
        body.append(cells)
    parts = [
        f"PUBLISHED, not measured here: {first.table} of {SOURCES[first.benchmark]} ({first.version}).",
        markdown(header, body, text_columns=text_columns),
        "\n".join([PLAIN if known else NONE, *marked(found)]),
    ]
    return "\n\n".join(parts)


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


def _shown(row: Row, name: str) -> str:
    found = row.intervals.get(name)
    return "–" if found is None or name in row.contradicted else f"{100 * found[0]:.1f} … {100 * found[1]:.1f}"


def _measured(benchmark: str, folders: Sequence[str]) -> Iterator[str]:
    """The leaderboard of the benchmark's runs below the folders."""
    from harness import leaderboard
    from harness.results import RESULT

    for name in folders:
        folder = Path(name)
        if not folder.is_dir():
            raise ConfigError(f"there is no folder {name} to set beside.")
        read = [leaderboard.load(file) for file in sorted(folder.rglob(RESULT)) if ".sweeps" not in file.parts]
        if not (fitting := [row for row in read if row.task.partition("/")[0] == benchmark]):
            raise ConfigError(f"{name} holds no runs of {benchmark}.")
        version = " (the variant tells the data's version: v2 where it tells none)" if benchmark == "corr2cause" else ""
        yield f"MEASURED HERE, below {name}{version}:"
        yield leaderboard.tables(fitting)


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


if __name__ == "__main__":
    sys.exit(main())
