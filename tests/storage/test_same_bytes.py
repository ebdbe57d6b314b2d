"""Of each benchmark and each kind of answer that ships, one run's files are read and written again byte for byte."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.storage import records, runs
from harness.storage.atomic_write import format_json
from harness.storage.manifest import Manifest
from harness.storage.result_json import result_json

SHIPPED = Path("results/shipped")


def other_bytes(folder: Path) -> Iterator[str]:
    """Yield the name of each file of a run that is another one when what was read of it is written again."""
    run = runs.load(folder)
    if run.manifest_error:
        raise run.manifest_error
    if run.records_file:
        again = io.StringIO()
        writer = records.Writer(again, run.result.headline)
        for line in records.read(run.records_file):
            writer.write(line)
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


def one_of_each() -> list[Path]:
    """Return the run with the smallest files of each task and role, and one with each part that few manifests have."""
    found: dict[tuple[object, ...], tuple[int, Path]] = {}
    for file in sorted(SHIPPED.rglob("manifest.json")):
        manifest = json.loads(file.read_text(encoding="utf-8"))
        size = sum(part.stat().st_size for part in file.parent.iterdir() if part.is_file())
        rare = [name for name in ("judge", "recorded", "training", "own_files") if manifest.get(name)]
        key = (manifest["run"]["task"], manifest.get("role"), *rare)
        found[key] = min(found.get(key, (size, file.parent)), (size, file.parent))
    return [folder for _, folder in found.values()]


@pytest.mark.parametrize("folder", one_of_each(), ids=lambda folder: str(folder.relative_to(SHIPPED)))
def test_what_ships_is_read_and_written_again_byte_for_byte(folder):
    assert not list(other_bytes(folder))
