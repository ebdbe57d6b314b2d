"""Of each benchmark and each kind of answer that ships, one run's files are read and written again byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.same_bytes import other_bytes

SHIPPED = Path("results/shipped")


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
