"""The floor plan: a core whose imports run one way, a wall around it, and plug-ins that do not know each other.

docs/architecture.md draws it. What is imported inside of a function, or for a type alone, counts as any other import.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from harness.cli import commands

HOME = Path(__file__).resolve().parents[2]
VOCABULARY = ("__init__", "gone", "errors", "types", "protocols", "codec", "plugin", "engine", "config_files",
              "settings")  # fmt: skip
ROOMS = (
    VOCABULARY,
    ("runtime",),
    ("causal", "prompting"),
    ("scoring",),
    ("tasks",),
    ("storage",),
    ("tables",),
    ("cli",),
    ("models",),
    ("judge",),
    ("cache", "cost"),
    ("run",),
    ("prepare",),
    ("compare",),
    ("leaderboard",),
    ("recorded",),
    ("plot", "export", "show"),
    ("exports",),
    ("report", "verify"),
    ("reread", "sweep"),
    ("items", "__main__", "api"),
)
"""The core from the bottom up. A room imports from those below it; rooms of one floor do not know each other."""
FRONT_DOOR = {
    "harness imports harness.api",
    "harness imports harness.runtime.environment",
    "harness imports harness.tasks.question",
    "harness.storage.runs imports harness.tables.write",
    "harness.storage.runs imports harness.tables.results",
}
"""`from harness import evaluate, questions`: the package's own name leads to its API, when somebody asks for that.
A run shows itself as its tables.
`python -m harness…`: what is missing is said before the module of the command is imported."""


def module(file: Path) -> str:
    parts = file.relative_to(HOME).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(file): file for file in (HOME / "harness").rglob("*.py")}
CORE = list(MODULES)
PACKAGES = {file.parts[-2]: file for file in sorted(HOME.glob("packages/*/harness_*/__init__.py"))}
"""The packages beside the main distribution, by the names that Python imports them by."""


@cache
def nodes(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


@cache
def imported(file: Path) -> set[str]:
    """Return the modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in nodes(file):
        if isinstance(node, ast.ImportFrom) and node.module:
            full_names = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in MODULES else node.module for name in full_names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def imports(file: Path) -> set[str]:
    return {name for name in imported(file) if name.partition(".")[0] == "harness"}


def room(name: str) -> str:
    return [*name.split("."), "__init__"][1]


def test_every_room_has_its_floor():
    there = {room(name) for name in CORE}
    assert there - {"data"} == {name for floor in ROOMS for name in floor}
    drawn = (HOME / "docs/architecture.md").read_text(encoding="utf-8")
    assert not [name for floor in ROOMS[1:] for name in floor if name not in drawn]


def test_imports_run_downwards():
    floor = {name: number for number, names in enumerate(ROOMS) for name in names}
    upward = [
        f"{name} imports {other}"
        for name in CORE
        for other in imports(MODULES[name]) - {"harness"}
        if room(other) != room(name)
        and not {room(name), room(other)} <= set(VOCABULARY)
        and floor[room(other)] >= floor[room(name)]
    ]
    assert set(upward) == FRONT_DOOR, "\n".join({*upward} ^ FRONT_DOOR)


def test_packages_are_known_to_nobody_but_themselves():
    """The core imports no package, and packages do not import each other."""
    files = [(name, file) for name, place in PACKAGES.items() for file in place.parent.rglob("*.py")]
    files += [("harness", file) for file in MODULES.values()]
    across = [
        f"{file.relative_to(HOME)} imports {other}"
        for name, file in files
        for other in {module_.partition(".")[0] for module_ in imported(file)} & PACKAGES.keys() - {name}
    ]
    assert not across, "\n".join(across)


def test_no_path_of_a_package_is_written_in_the_core():
    """A module that is named in a text is imported by it too, only later."""
    written = [
        f"{name}, line {node.lineno}: {node.value!r}"
        for name in CORE
        for node in nodes(MODULES[name])
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.partition(".")[0] in PACKAGES and not re.search(r"\s", node.value)
    ]
    # The one table of classes that stood elsewhere when results were made.
    assert not [line for line in written if not line.startswith("harness.storage.manifest,")], "\n".join(written)


def test_every_file_of_the_core_has_a_user_in_it():
    """A file that no other imports, no config names and no command starts is somebody else's."""
    used = {other for file in MODULES.values() for other in imports(file)}
    texts = [file.read_text(encoding="utf-8") for file in (HOME / "configs").rglob("*.yaml")]
    texts += [file.read_text(encoding="utf-8") for file in MODULES.values()]
    named = {name for text in texts for name in re.findall(r"harness(?:\.\w+)+", text)}
    named |= {name.rpartition(".")[0] for name in named}
    command = {f"harness.{name}" for name in commands.COMMANDS}
    unused = {
        name
        for name, file in MODULES.items()
        if not {name, f"{name}.__main__"} & (used | named | command) and file.name not in ("__init__.py", "__main__.py")
    }
    assert not unused


def test_no_file_imports_itself_by_way_of_others():
    try:
        TopologicalSorter({name: imports(file) - {name, "harness"} for name, file in MODULES.items()}).prepare()
    except CycleError as circle:
        pytest.fail(" imports ".join(reversed(circle.args[1])))


BENCHMARKS = {path.parent.name for path in (HOME / "harness" / "tasks").glob("*/__init__.py")}


def of_a_benchmark(name: str) -> bool:
    """Tell whether a module is of a benchmark's package: any room may have a module that is called as one."""
    return name.startswith("harness.tasks.") and name.split(".")[2] in BENCHMARKS


def test_no_view_knows_a_benchmark():
    """Outside of its own package nothing of the core imports a benchmark or compares with its name."""
    knowing = []
    for name in CORE:
        file = MODULES[name]
        if of_a_benchmark(name) or name == "harness":
            continue  # the package's own name offers a function that is called as one of them
        knowing += [f"{name} imports {other}" for other in imports(file) if of_a_benchmark(other)]
        constants = (node for node in nodes(file) if isinstance(node, ast.Constant))
        words = ((node.lineno, node.value) for node in constants if isinstance(node.value, str))
        knowing += [f"{name}, line {line}: {word!r}" for line, word in words if word.lower().strip("/ ") in BENCHMARKS]
    assert {"corr2cause", "causalbench"} <= BENCHMARKS
    assert not knowing, "\n".join(knowing)


TESTS = HOME / "tests"
BESIDES = {"plugins", "project", "support", "long", "data", "published", "browser", "tools"}
"""Folders of tests that are of no room: what they look at is the whole."""


def test_the_tests_mirror_the_house():
    rooms = {room(name) for name in CORE} | BESIDES
    tested = {file.relative_to(TESTS).parts for file in TESTS.rglob("test_*.py")}
    assert {parts[0] for parts in tested} <= rooms
    assert {parts[1] for parts in tested if parts[0] == "plugins"} == {"test_door.py"}
