"""to=csv: the table as RFC 4180 has it, UTF-8, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

from harness.export.folder import number_of
from harness.storage.atomic_write import atomic_file
from harness.storage.flat_table import columns, rows
from harness.storage.runs import Run
from harness.tables.markdown_csv_json import inert


def write(runs: Sequence[Run], out: str | None) -> str:
    """Write the file and return the sentence that says so."""
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
