"""to=hf and to=parquet: the table by the library `datasets`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from harness.errors import HarnessError
from harness.export import number_of, unfinished_folder
from harness.storage.atomic_write import atomic_file
from harness.storage.record_lines import columns, rows
from harness.storage.runs import Run


@contextmanager
def table(runs: Sequence[Run]) -> Iterator[Any]:
    """Yield the records as a data set of its own: no earlier export is taken for this one."""
    from datasets import Dataset, Features, Value
    from datasets.utils.logging import disable_progress_bar

    disable_progress_bar()
    types = columns(runs)
    kinds = {str: "string", int: "int64", float: "float64", bool: "bool"}
    features = Features({name: Value(kinds[kind]) for name, kind in types.items()})

    with tempfile.TemporaryDirectory() as cache:
        try:
            data = Dataset.from_generator(lambda: rows(runs, types), features=features, cache_dir=cache)
        except Exception as error:
            if isinstance(error.__cause__, HarnessError):
                raise error.__cause__ from None
            raise
        yield data


def write(runs: Sequence[Run], out: str | None) -> str:
    """Write the folder and return the sentence that says so."""
    path = out or "records.hf"
    with unfinished_folder(path) as folder, table(runs) as data:
        data.save_to_disk(str(folder))
    return f'{path}: {len(data):,} records of {number_of(runs)}; datasets.load_from_disk("{path}") reads it.'


def write_parquet(runs: Sequence[Run], out: str | None) -> str:
    """Write the table as a file of columns."""
    out = out or "records.parquet"
    with table(runs) as data, atomic_file(out) as file:
        data.to_parquet(file.buffer)  # type: ignore[attr-defined]
    return "" if out == "-" else f"{out}: {len(data):,} records of {number_of(runs)}."
