"""to=hf: the table as a data set of the library `datasets`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from harness.errors import HarnessError
from harness.export import number_of, unfinished_folder
from harness.storage.record_lines import columns, rows
from harness.storage.runs import Run


def write(runs: Sequence[Run], out: str | None) -> str:
    """Write the folder and return the sentence that says so."""
    from datasets import Dataset, Features, Value
    from datasets.utils.logging import disable_progress_bar

    disable_progress_bar()
    types = columns(runs)
    path = out or "records.hf"
    kinds = {str: "string", int: "int64", float: "float64", bool: "bool"}
    features = Features({name: Value(kinds[kind]) for name, kind in types.items()})

    def all_rows() -> Iterator[dict[str, Any]]:
        yield from rows(runs, types)

    try:
        # Of its own, so that no earlier export is taken for this one.
        with unfinished_folder(path) as folder, tempfile.TemporaryDirectory() as cache:
            data = Dataset.from_generator(all_rows, features=features, cache_dir=cache)
            data.save_to_disk(str(folder))
    except HarnessError:
        raise
    except Exception as error:
        if isinstance(error.__cause__, HarnessError):
            raise error.__cause__ from None
        raise
    return f'{path}: {len(data):,} records of {number_of(runs)}; datasets.load_from_disk("{path}") reads it.'
