"""One value of one file of a run changed into another of any type: no command that reads runs ends in a traceback."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import watched_reading
from watched_reading import place

VALUES = (None, True, -1, 0.5, 10**400, 1e308, "x", "", "\ud800", "a\nb\x1b[2A", [], {}, [1], {"a": [1]}, "9" * 5000)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values inside one."""
    members = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for name, member in members:
        yield (*at, name)
        yield from places(member, (*at, name))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(67))
def test_one_edit_ends_no_command_in_a_traceback(finished_runs, tmp_path, seed):
    lot = random.Random(seed)
    for folder in ("changed", "good"):
        shutil.copytree(place(finished_runs, "random_uniform"), tmp_path / folder)
    file = tmp_path / "changed" / lot.choice(["manifest.json", "result.json", "records.jsonl"])
    head, *rest = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
    content = json.loads(head)
    *way, last = lot.choice(list(places(content)))
    inner = content
    for name in way:
        inner = inner[name]
    inner[last] = lot.choice(VALUES)
    file.write_text("\n".join([json.dumps(content), *rest]) + "\n")
    for name in watched_reading.COMMANDS:
        read = watched_reading.read(name, ["changed", "good"], tmp_path)
        assert read.sane, f"{name} {way} {last}: {read.code} {read.err[-2000:]}"
        if name == "verify":
            assert "good: holds" in read.out
