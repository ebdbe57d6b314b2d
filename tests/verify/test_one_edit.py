"""One byte or one value of a run changed: verify names the file, and no command ends in a traceback."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import watched_reading
from watched_reading import place

from harness.errors import DataError
from harness.storage.runs import load
from harness.verify.run import WRONG, problems_of_files, verdict_on

SHIPPED = Path(__file__).parents[2] / "results/shipped"
FILES = ("manifest.json", "result.json", "records.jsonl")
VALUES = (None, True, -1, 0.5, 10**400, 1e308, "x", "", "\ud800", "a\nb\x1b[2A", [], {}, [1], {"a": [1]}, "9" * 5000)


def flip(file: Path, lot: random.Random) -> None:
    content = bytearray(file.read_bytes())
    at = lot.randrange(len(content))
    content[at] = lot.choice([byte for byte in range(256) if byte != content[at]])
    file.write_bytes(content)


@pytest.mark.parametrize("seed", range(30))
def test_a_file_with_one_other_byte_is_named(finished_runs, tmp_path, seed):
    lot, run = random.Random(seed), tmp_path / "run"
    shutil.copytree(place(finished_runs, "random_uniform"), run)
    flip(file := run / lot.choice(FILES), lot)
    verdict, problems = verdict_on(run)
    assert verdict == WRONG and any(file.name in problem for problem in problems)


def kinds() -> dict[str, Path]:
    """Return a run of each kind that ships: of each task, each role of what answered, and each set of files."""
    found = {}
    for manifest in sorted(SHIPPED.rglob("manifest.json")):
        content = json.loads(manifest.read_text())
        files = sorted({file.suffix for file in manifest.parent.rglob("*") if file.is_file()} - {""})
        found[" ".join([content["run"]["task"], content.get("role", "algorithm"), *files])] = manifest.parent
    return found


@pytest.mark.parametrize("kind", KINDS := kinds())
def test_a_byte_of_any_file_of_any_kind_of_run_that_ships_is_looked_at(kind, tmp_path):
    lot, original = random.Random(kind), KINDS[kind]
    run = Path(shutil.copytree(original, tmp_path / "run"))
    for file in sorted(path for path in original.rglob("*") if path.is_file() and path.suffix):  # no .lock
        name = file.relative_to(original)
        flip(run / name, lot)
        assert any(name.as_posix() in problem for problem in problems_below(run)) or unpacked(run / name, file)
        shutil.copy(file, run / name)
    assert not problems_below(run)


def problems_below(run: Path) -> list[str]:
    """Return what verify says of a folder's files before it makes a run's task again."""
    try:
        loaded = load(run)
        return [str(loaded.manifest_error)] if loaded.manifest_error else [*problems_of_files(loaded)]
    except DataError as error:
        return [str(error)]


def unpacked(changed: Path, original: Path) -> bool:
    """Return whether two archives hold the same: the time in the head of one may be any."""
    return changed.suffix == ".gz" and gzip.decompress(changed.read_bytes()) == gzip.decompress(original.read_bytes())


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values inside one."""
    members = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for name, member in members:
        yield (*at, name)
        yield from places(member, (*at, name))


@pytest.mark.parametrize("seed", range(3))
def test_one_other_value_ends_no_command_in_a_traceback(finished_runs, tmp_path, seed):
    lot = random.Random(seed)
    for folder in ("changed", "good"):
        shutil.copytree(place(finished_runs, "random_uniform"), tmp_path / folder)
    file = tmp_path / "changed" / lot.choice(FILES)
    head, *rest = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
    content = json.loads(head)
    *way, last = lot.choice(list(places(content)))
    inner = content
    for name in way:
        inner = inner[name]
    inner[last] = lot.choice(VALUES)
    file.write_text("\n".join([json.dumps(content), *rest]) + "\n")
    for name in watched_reading.COMMANDS:
        reading = watched_reading.read(name, ["changed", "good"], tmp_path)
        assert reading.sane, f"{name} {way} {last}: {reading.code} {reading.err[-2000:]}"
        if name == "verify":
            assert "good: holds" in reading.out
