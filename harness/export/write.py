"""The table of all records as a file; and the folder that an export of many files writes: all of it, or nothing."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, StoreError
from harness.runtime.environment import installing
from harness.storage.atomic_write import atomic_file, cannot_write
from harness.storage.record_lines import columns, rows
from harness.storage.runs import Run
from harness.tables.markdown_csv_json import inert

UNFINISHED = ".unfinished"
"""Where an export writes, inside its folder, until all of it is whole."""
_ROWS_AT_ONCE = 10_000


def write_csv(runs: Sequence[Run], out: str | None) -> str:
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


def write_parquet(runs: Sequence[Run], out: str | None) -> str:
    """Write the table as a file of columns."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(f"to=parquet needs pyarrow, which comes with datasets: {installing('hub')}.") from None
    path = Path(out or "records.parquet")
    types = columns(runs)
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in types.items()])
    count, table_rows = 0, rows(runs, types)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with parquet.ParquetWriter(temporary, schema) as writer:
            while batch := list(islice(table_rows, _ROWS_AT_ONCE)):
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                count += len(batch)
        temporary.replace(path)
    except OSError as error:
        raise cannot_write(str(path), error) from error
    finally:
        temporary.unlink(missing_ok=True)
    return f"{path}: {count:,} records of {number_of(runs)}."


@contextmanager
def unfinished_folder(out: str) -> Iterator[Path]:
    """Yield a folder to write to; its content appears in `out` once all of it is whole.

    Raises StoreError where something is in `out`, or cannot be written. An interruption leaves nothing behind.
    """
    path = Path(out)
    there, unfinished = path.exists(), path / UNFINISHED
    try:
        path.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)  # of an export that was killed
        if any(path.iterdir()):
            raise StoreError(f"{out} is not empty: choose another out=, or remove it.")
        unfinished.mkdir()
        yield unfinished
        for part in sorted(unfinished.iterdir()):
            part.rename(path / part.name)
    except OSError as error:
        raise cannot_write(out, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not there:
            with suppress(OSError):  # what was written is in it
                path.rmdir()


def number_of(runs: Sequence[Run], what: str = "run") -> str:
    """Return how many there are, in words: 1 run, 2 runs."""
    return f"{len(runs):,} {what}{'s' * (len(runs) != 1)}"
