"""One byte or one value of a run changed: verify names the file, and no command ends in a traceback."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import watched_reading
from watched_reading import place

from harness.verify.__main__ import HOLDS, _verdict

FILES = ("manifest.json", "result.json", "records.jsonl")
VALUES = (None, True, -1, 0.5, 10**400, 1e308, "x", "", "\ud800", "a\nb\x1b[2A", [], {}, [1], {"a": [1]}, "9" * 5000)


@pytest.mark.parametrize("seed", range(60))
def test_a_file_with_one_other_byte_is_named(finished_runs, tmp_path, seed):
    lot, run = random.Random(seed), tmp_path / "run"
    shutil.copytree(place(finished_runs, "random_uniform"), run)
    file = run / lot.choice(FILES)
    content = bytearray(file.read_bytes())
    at = lot.randrange(len(content))
    content[at] = lot.choice([byte for byte in range(256) if byte != content[at]])
    file.write_bytes(content)
    verdict, problems = _verdict(run, iter(range(10**9)))
    named = verdict != HOLDS and any(file.name in problem for problem in problems)
    assert named or bytes(content[at : at + 1]).isspace()  # which may change nothing


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
