"""What runs left, written for other programs: harness export results/… to=csv, --help for all of it."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from harness.cli import key_value
from harness.errors import ConfigError, unknown
from harness.plugin import load
from harness.storage.atomic_write import atomic_file, check
from harness.storage.find import below
from harness.storage.runs import Run, columns, no_records, rows
from harness.tables.write import inert

HELP = """\
Write what runs left for other programs.

{examples}

Give folders of runs, or folders above them. A run without its records.jsonl (or .gz) is left out, and named.

  to=                  {names}
  out=                 where to write: a file for csv and parquet (records.csv, records.parquet), for inspect a folder
                       that is empty or not there (inspect_logs); it is in its place once all of it is whole

In the csv, text that a spreadsheet would take for a formula (= + - @ first) has a ' before it.
"""


@dataclass(frozen=True)
class ExportSettings:
    """The command's settings; HELP says what each one means."""

    to: str = ""
    out: str | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    lines = [f"  harness export results/… to={name:<14}{summary}" for name, (summary, _) in TARGETS.items()]
    text = HELP.replace("{examples}", "\n".join(lines)).replace("{names}", ", ".join(TARGETS))
    return key_value.command(text, ExportSettings, job, arguments)


def job(folders: list[str], settings: ExportSettings) -> str:
    """Write what the settings ask for and return the sentence that says so."""
    if not settings.to:
        raise ConfigError(f"say what to write: to= one of {', '.join(TARGETS)} (--help for the rest).")
    if settings.to not in TARGETS:
        raise ConfigError(unknown("form", settings.to, TARGETS))
    if not folders:
        raise ConfigError(f"give folders of runs: harness export results to={settings.to}.")
    if settings.out is not None:
        check(settings.out, folder=settings.to == "inspect")
    write = TARGETS[settings.to][1]
    try:
        every = [run for run, _ in below(folders, check=_readable).values()]
        runs = [run for run in every if run.records_file]
        if not runs:
            raise no_records(every[0].folder)
        message = write(runs, settings.out)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted: nothing was written; the same command begins again.") from None
    if bare := [str(run.folder) for run in every if not run.records_file]:
        names = ", ".join(bare[:8]) + (f" and {len(bare) - 8:,} more" * (len(bare) > 8))
        print(f"left out, as no records are there (their commands make them again): {names}.", file=sys.stderr)
    return message


def _readable(run: Run) -> None:
    """Raise DataError where a run's manifest or its records cannot be read."""
    if run.manifest_error:
        raise run.manifest_error
    if run.records_file:
        for _ in run.records():
            pass


def _csv(runs: Sequence[Run], out: str | None) -> str:
    """Write the table as RFC 4180 has it, UTF-8, safe to open in a spreadsheet."""
    out = out or "records.csv"
    types = columns(runs)
    count = 0
    with atomic_file(out) as file:
        # \r\n ends lines because Python quotes a \r or \n inside a cell only where it is part of the end.
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow([_cell(name) for name in types])
        for row in rows(runs, types):
            writer.writerow([_cell(value) for value in row.values()])
            count += 1
    return "" if out == "-" else f"{out}: {count:,} records of {number_of(runs)}."


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return inert(value) if isinstance(value, str) else value


def _parquet(runs: Sequence[Run], out: str | None) -> str:
    """Write the table as a file of columns, by `datasets`, which keeps no more than some rows in memory."""
    from datasets import Dataset, Features, Value
    from datasets.utils.logging import disable_progress_bar

    disable_progress_bar()
    out = out or "records.parquet"
    types, kinds = columns(runs), {str: "string", int: "int64", float: "float64", bool: "bool"}
    features = Features({name: Value(kinds[kind]) for name, kind in types.items()})
    with TemporaryDirectory() as cache, atomic_file(out) as file:
        data = Dataset.from_generator(lambda: rows(runs, types), features=features, cache_dir=cache)
        data.to_parquet(file.buffer)  # type: ignore[attr-defined]
        count = len(data)
    return "" if out == "-" else f"{out}: {count:,} records of {number_of(runs)}."


def _inspect(runs: Sequence[Run], out: str | None) -> str:
    written: str = load("harness.exports.inspect_log:write")(runs, out)
    return written


TARGETS: Mapping[str, tuple[str, Callable[[Sequence[Run], str | None], str]]] = {
    "csv": ("one flat table of all records, UTF-8", _csv),
    "parquet": ("the same columns; reply texts as they are", _parquet),
    "inspect": ("a log for each run: inspect view --log-dir inspect_logs", _inspect),
}
"""What can be written: its line in the help, and the function of runs and `out` that returns what it has written."""


def number_of(runs: Sequence[Run], what: str = "run") -> str:
    """Return how many there are, in words: 1 run, 2 runs."""
    return f"{len(runs):,} {what}{'s' * (len(runs) != 1)}"


if __name__ == "__main__":
    sys.exit(main())
