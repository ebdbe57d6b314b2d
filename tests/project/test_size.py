"""How large each room may be: lines of Python (blank ones and docstrings included) and files. Lowered, never raised.

`python tests/project/test_size.py` writes today's figures into the table, where they are smaller.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import yaml

from harness.cli.commands import COMMANDS, module_of

HOME = Path(__file__).resolve().parents[2]
ROOMS: dict[str, tuple[int, int]] = {
    "benchmarks": (1431, 18),
    "harness/*.py": (2919, 17),
    "harness/cache": (967, 6),
    "harness/causal": (636, 6),
    "harness/cli": (1136, 9),
    "harness/compare": (781, 6),
    "harness/cost": (970, 6),
    "harness/exports": (370, 4),
    "harness/leaderboard": (1217, 7),
    "harness/models": (228, 3),
    "harness/models/api": (2248, 13),
    "harness/models/local": (1957, 11),
    "harness/plot": (635, 5),
    "harness/prompting": (2119, 13),
    "harness/recorded": (399, 4),
    "harness/report": (572, 5),
    "harness/reread": (146, 2),
    "harness/runtime": (660, 6),
    "harness/scoring": (2084, 15),
    "harness/show": (100, 2),
    "harness/storage": (1969, 13),
    "harness/sweep": (495, 4),
    "harness/tables": (898, 7),
    "harness/tasks": (1100, 7),
    "harness/tasks/causalbench": (1658, 12),
    "harness/tasks/cladder": (2354, 14),
    "harness/tasks/corr2cause": (1565, 11),
    "harness/tasks/corr2cause/fresh": (799, 6),
    "harness/tasks/questions": (356, 2),
    "harness/verify": (648, 5),
    "packages/batches": (1250, 8),
    "packages/bridges": (398, 7),
    "packages/discovery": (795, 5),
    "packages/lab": (2244, 15),
    "packages/papers": (1900, 13),
    "packages/scale": (764, 7),
    "packages/train": (872, 7),
    "tests": (36091, 282),
    "tools": (1497, 11),
}  # fmt: skip
"""Lines and files by room. A room within a room counts in its own row alone."""
AHEAD = {
    "harness/exports",
    "harness/models",
    "harness/recorded",
    "harness/tasks/corr2cause/fresh",
    "packages/batches",
    "packages/bridges",
    "packages/discovery",
    "packages/lab",
    "packages/papers",
    "packages/scale",
    "packages/train",
    "tools",
}  # fmt: skip
"""Rooms that are being filled: their rows are what the plan of the house allows them."""


@cache
def files() -> tuple[str, ...]:
    """Return the files of Python that git knows or would take, from the top of the repository."""
    known = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.py"]
    listed = subprocess.run(known, cwd=HOME, check=True, capture_output=True, text=True).stdout.split()
    return tuple(name for name in listed if (HOME / name).is_file())


def room_of(name: str) -> str | None:
    """Return the row that a file counts in; None for one that no room holds."""
    parts = Path(name).parts
    if parts[0] == "packages" and len(parts) > 3:
        return "tests" if parts[2] == "tests" else "/".join(parts[:2])
    if parts[0] == "harness" and len(parts) == 2:
        return "harness/*.py"
    longest = max((room for room in ROOMS if name.startswith(f"{room}/")), key=len, default=None)
    return longest or ("/".join(parts[:2]) if parts[0] == "harness" else None)


def sizes() -> dict[str, tuple[int, int]]:
    """Return lines and files by room."""
    found: dict[str, list[int]] = {}
    for name in files():
        if room := room_of(name):
            text = (HOME / name).read_text(encoding="utf-8")
            found.setdefault(room, []).append(text.count("\n"))
    return {room: (sum(lines), len(lines)) for room, lines in found.items()}


def too_large() -> Iterator[str]:
    for room, (lines, count) in sizes().items():
        most_lines, most_files = ROOMS.get(room, (0, 0))
        if lines > most_lines or count > most_files:
            yield f"{room}: {lines:,} lines in {count} files, where {most_lines:,} in {most_files} are allowed"


SETTINGS = 130
"""Names that a user may have to know, each once by its group or its command. Lowered, never raised."""
NO_SETTINGS = {"_target_", "defaults", "hydra"}


def settings() -> set[str]:
    """Return what can be set: names in the YAML of each group, those below them too, and the options of commands."""
    found: set[str] = set()
    for file in sorted((HOME / "configs").rglob("*.yaml")):
        group = file.relative_to(HOME / "configs").with_suffix("").parts[0]
        content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        for name in content.keys() - NO_SETTINGS:
            below = content[name] if isinstance(content[name], dict) else {}
            found |= {f"{group}.{name}.{part}" for part in below} or {f"{group}.{name}"}
    for command in COMMANDS:
        kinds = [kind for name, kind in vars(module_of(command)).items() if name.endswith("Settings")]
        found |= {f"{command} {option.name}" for kind in kinds for option in fields(kind)}
    return found


def test_no_more_can_be_set():
    assert len(settings()) <= SETTINGS, sorted(settings())


def test_no_room_grows():
    assert not list(too_large())


def test_no_row_is_left_of_a_room_that_is_gone():
    assert not [room for room in ROOMS if room not in AHEAD and not (HOME / room.removesuffix("/*.py")).is_dir()]


def write_lower() -> None:
    """Write today's figures into the table of this file, where they are smaller; drop rows of what is gone."""
    today = sizes()
    rows = {
        room: bound if room in AHEAD else tuple(map(min, bound, today[room]))
        for room, bound in ROOMS.items()
        if room in today or room in AHEAD
    }
    table = "".join(f'    "{room}": {bound},\n' for room, bound in rows.items())
    file = Path(__file__)
    text = file.read_text(encoding="utf-8")
    file.write_text(
        re.sub(r"(?s)(= \{\n).*?(\}  # fmt: skip\n)", lambda m: m[1] + table + m[2], text, count=1), "utf-8"
    )


if __name__ == "__main__":
    write_lower()
