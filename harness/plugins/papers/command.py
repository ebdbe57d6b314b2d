"""Numbers that the papers print, beside measured ones: harness published table=4"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cli import key_value
from harness.errors import ConfigError
from harness.plugins.papers.presets import PaperTable, presets
from harness.plugins.papers.published import only_one, papers, rows, table_order, table_parts, tables
from harness.tables.table import Part, Table
from harness.tasks.find import benchmark_of, every

HELP = """\
Numbers that the papers print, marked as such, with their data version.

  harness published                        the tables there are
  harness published table=4                Corr2Cause, Table 4; so too 5 (or 5a, 5b), 6 (6a, 6b), 12, 13
  harness published table=follow-ups       what later works measured on Corr2Cause, each with its source
  harness published table=XI               CausalBench, Table XI; VIII has marks in place of numbers
  harness published table=1                Corr2Cause, Table 1 (3; 8: stories; 11: n-grams), measured
  harness published table=4 results        and the runs below results/ on the same task
"""


@dataclass(frozen=True)
class PublishedSettings:
    """The settings of the command, as HELP describes them."""

    table: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    return key_value.command(HELP, PublishedSettings, job, arguments)


def job(arguments: list[str], settings: PublishedSettings) -> list[Part]:
    """Return a published table, and the leaderboard of the runs below the folders if any are named."""
    name, folders = settings.table, arguments
    if name is None and arguments and not Path(arguments[0]).is_dir():
        name, folders = arguments[0], arguments[1:]
    if name is None:
        if arguments:
            raise ConfigError(f"table= has to be given: which one to set {arguments[0]} beside.")
        row_counts = Counter((row.benchmark, row.table.removeprefix("Table ")) for row in rows())
        counts = {place: str(count) for place, count in row_counts.items()}
        counts |= {(benchmark.name, table): "measured" for benchmark in every() for table in benchmark.statistics}
        counts |= {
            (benchmark.name, table.name): table.holds for benchmark, table in presets() if isinstance(table, PaperTable)
        }
        body = [[*place, counts[place]] for place in sorted(counts, key=_order)]
        return [Table.of(["benchmark", "table", "rows"], body, text_columns=2)]
    if not folders and (measured := _statistics(name)):
        return [*measured()]
    if table := _other_table(name):
        from harness.leaderboard.comparable import find_runs

        return [*table.lay_out(find_runs(folders, some=False) if folders else [])]
    paper_tables = tables(name)
    return [
        *(part for table in paper_tables for part in table_parts(table)),
        *_leaderboard(paper_tables[0][0].benchmark, folders),
    ]


def _statistics(name: str) -> Callable[[], Sequence[Part]] | None:
    """Return the function that measures a paper's table of data statistics; None for an unknown name."""
    benchmark_name, _, table_name = name.strip().lower().removeprefix("table ").rpartition("/")
    measures = {
        benchmark.name: benchmark.statistics[table_name]
        for benchmark in every()
        if benchmark_name in ("", benchmark.name.lower()) and table_name in benchmark.statistics
    }
    if measures:
        only_one("table", name, [*measures, *papers(name)])
    return next(iter(measures.values()), None)


def _other_table(name: str) -> PaperTable | None:
    """Return a paper's table that lays itself out; None if no paper has one of that name."""
    benchmark_name, _, table_name = name.strip().lower().removeprefix("table ").rpartition("/")
    for benchmark, table in presets():
        named = table.name.lower() == table_name and benchmark_name in ("", benchmark.name.lower())
        if named and isinstance(table, PaperTable):
            return table
    return None


def _order(benchmark_and_table: tuple[str, str]) -> tuple[int, int, str]:
    return table_order(benchmark_and_table[1])


def _leaderboard(benchmark: str, folders: Sequence[str]) -> Iterator[Part]:
    """Yield the leaderboard of the benchmark's runs below the folders. Raises ConfigError where there are none."""
    from harness.leaderboard.build import build
    from harness.leaderboard.comparable import find_runs

    for name in folders:
        fitting = [row for row in find_runs([name], some=False) if row.task.partition("/")[0] == benchmark]
        if not fitting:
            raise ConfigError(f"{name} holds no runs of {benchmark}.")
        paper = benchmark_of(benchmark)
        default = paper.defaults.get(paper.version_setting)
        version = f" (the variant tells the data's version: {default} where it tells none)" if default else ""
        yield f"MEASURED HERE, below {name}{version}:"
        yield from build(fitting)


if __name__ == "__main__":
    sys.exit(main())
