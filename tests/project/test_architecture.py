"""The floor plan: imports between the rooms of harness/ run one way, and no files import each other in a circle.

docs/architecture.md draws it. What is imported inside of a function, or for a type alone, counts as any other import.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[2]
VOCABULARY = ("__init__", "errors", "types", "protocols", "codec", "config_files", "settings", "seeding")
ROOMS = (
    VOCABULARY,
    ("runtime",),
    ("causal", "prompting"),
    ("scoring",),
    ("tables",),
    ("tasks",),
    ("storage",),
    ("cli",),
    ("models",),
    ("judge", "batch"),
    ("cache", "cost"),
    ("run",),
    ("prepare",),
    ("workers",),
    ("compare",),
    ("leaderboard",),
    ("charts", "export"),
    ("plot", "report", "verify", "published"),
    ("reread",),
    ("sweep",),
    ("discover", "finetune", "items", "__main__", "api"),
    ("stories",),
)
"""From the bottom up. A room imports from those below it; rooms of one floor do not know each other."""
FRONT_DOOR = {"harness imports harness.api", "harness imports harness.runtime.environment"}
"""`from harness import evaluate`: the package's own name leads to its API, when somebody asks for that.
`python -m harness…`: what is missing is said before the module of the command is imported."""


def module(file: Path) -> str:
    parts = file.relative_to(HOME).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(file): file for file in (HOME / "harness").rglob("*.py")}


def imports(file: Path) -> set[str]:
    """Return the modules of harness that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            full_names = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in MODULES else node.module for name in full_names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.partition(".")[0] == "harness"}


def room(name: str) -> str:
    return [*name.split("."), "__init__"][1]


def test_every_room_has_its_floor():
    there = {
        path.stem for path in (HOME / "harness").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"data"} == {name for floor in ROOMS for name in floor}


def test_imports_run_downwards():
    floor = {name: number for number, names in enumerate(ROOMS) for name in names}
    upward = [
        f"{name} imports {other}"
        for name, file in MODULES.items()
        for other in imports(file)
        if room(other) != room(name)
        and not {room(name), room(other)} <= set(VOCABULARY)
        and floor[room(other)] >= floor[room(name)]
    ]
    assert set(upward) == FRONT_DOOR, "\n".join({*upward} ^ FRONT_DOOR)


def test_no_file_imports_itself_by_way_of_others():
    try:
        TopologicalSorter({name: imports(file) - {name, "harness"} for name, file in MODULES.items()}).prepare()
    except CycleError as circle:
        pytest.fail(" imports ".join(reversed(circle.args[1])))


def test_the_top_of_the_package_is_a_screen():
    top = list((HOME / "harness").iterdir())
    files = [path.name for path in top if path.suffix == ".py"]
    folders = [path.name for path in top if path.is_dir() and path.name != "__pycache__"]
    assert len(files) <= 17 and len(folders) <= 24, (files, folders)


BENCHMARKS = {path.parent.name for path in (HOME / "harness" / "tasks").glob("*/benchmark.py")}


def test_no_view_knows_a_benchmark():
    """Outside of its own package nothing imports a benchmark or compares with its name: views ask its Benchmark."""
    knowing = []
    for name, file in MODULES.items():
        if name.startswith(tuple(f"harness.tasks.{benchmark}" for benchmark in BENCHMARKS)):
            continue
        knowing += [
            f"{name} imports {other}" for other in imports(file) if other.split(".")[2:3] in [[b] for b in BENCHMARKS]
        ]
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        constants = (node for node in nodes if isinstance(node, ast.Constant))
        words = ((node.lineno, node.value) for node in constants if isinstance(node.value, str))
        knowing += [f"{name}, line {line}: {word!r}" for line, word in words if word.lower().strip("/ ") in BENCHMARKS]
    assert {"corr2cause", "causalbench"} <= BENCHMARKS
    assert not knowing, "\n".join(knowing)
