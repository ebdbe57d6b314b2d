"""A run's files read and written again: every byte is as it was.

python -m support.same_bytes results/shipped in tests/ does it for all runs below a folder.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.storage import records, runs
from harness.storage.atomic_write import format_json
from harness.storage.manifest import Manifest
from harness.storage.result_json import result_json


def other_bytes(folder: Path) -> Iterator[str]:
    """Yield the name of each file of a run that is another one when what was read of it is written again."""
    run = runs.load(folder)
    if run.manifest_error:
        raise run.manifest_error
    if run.records_file:
        again = io.StringIO()
        writer = records.Writer(again, run.result.headline)
        for _, line in records.read_lines(run.records_file):
            writer.copy(line.record, line)
        if again.getvalue().encode() != b"".join(records.lines(run.records_file)):
            yield run.records_file.name
    known = {name: part for name, part in run.result_json.items() if name in ("run", "complete", "cost")}
    result = {name: known[name] for name in ("run", "complete")} | result_json(run.result) | known
    if "judge" in result:
        result["judge"] |= {name: part for name, part in run.result_json["judge"].items() if name == "cost"}
    for name, content in (("result.json", result), ("manifest.json", _manifest(folder))):
        if f"{format_json(content)}\n" != (folder / name).read_text(encoding="utf-8"):
            yield name


def _manifest(folder: Path) -> object:
    """Return the manifest as read, without the names of today that reading gives to what has moved."""
    return Manifest.from_json(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))).as_json


if __name__ == "__main__":
    differing = 0
    for top in sys.argv[1:]:
        for file in sorted(Path(top).rglob("manifest.json")):
            for name in other_bytes(file.parent):
                differing += 1
                print(f"{file.parent}: {name} differs")
    sys.exit(1 if differing else 0)
