"""The page's scripts: bundled as they stand here, and importing downwards only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.report import bundle

ROOT = Path(__file__).parents[2]
PAGE = Path(bundle.__file__).parent / "page"
BELOW = {
    "data": set(),
    "ui": {"data"},
    "charts": {"data", "ui"},
    "graphs": {"data", "ui"},
    "views": {"data", "ui", "charts", "graphs"},
    "main.js": {"data", "ui", "charts", "views"},
}
"""Of each room of the page those that it may import from, besides itself."""
IMPORT = re.compile(r'^(?:import|export)\s[^;]*?from "([^"]+)";$|^import "([^"]+)";$', re.MULTILINE)


def imports() -> dict[str, set[str]]:
    """Return what each module imports, by their paths below the page's folder."""
    modules = {}
    for file in sorted(PAGE.rglob("*.js")):
        if file.name == bundle.SCRIPT:
            continue
        targets = [first or second for first, second in IMPORT.findall(file.read_text(encoding="utf-8"))]
        paths = [(file.parent / target).resolve() for target in targets]
        assert all(path.is_file() for path in paths), file
        modules[file.relative_to(PAGE).as_posix()] = {path.relative_to(PAGE.resolve()).as_posix() for path in paths}
    return modules


def room(module: str) -> str:
    return module.partition("/")[0]


def test_modules_import_downwards_only():
    modules = imports()
    assert {room(module) for module in modules} == BELOW.keys()
    for module, targets in modules.items():
        assert {room(target) for target in targets} <= BELOW[room(module)] | {room(module)}, module


def test_every_module_is_in_the_page():
    modules, reached = imports(), {"main.js"}
    while more := {target for module in reached for target in modules[module]} - reached:
        reached |= more
    assert reached == modules.keys()


def test_the_page_has_one_global_name():
    names = set()
    for module in imports():
        names |= set(re.findall(r"\b(?:window|globalThis|self)\.(\w+) =", (PAGE / module).read_text(encoding="utf-8")))
    assert names == {"harnessChunk"}


@pytest.mark.browser
def test_the_bundle_is_made_of_these_modules(tmp_path):
    if not (shutil.which("node") and (ROOT / "node_modules" / "esbuild").is_dir()):
        required = os.environ.get("BROWSER_TESTS") == "required"
        (pytest.fail if required else pytest.skip)("esbuild is missing: make test-browser installs it, if npm is there")
    subprocess.run(["node", "esbuild.config.js", str(tmp_path)], cwd=ROOT, check=True)
    for name in (bundle.SCRIPT, bundle.STYLE):
        assert (tmp_path / name).read_bytes() == (PAGE / name).read_bytes(), "make page makes it anew"


def test_the_script_ends_where_it_should():
    script = (PAGE / bundle.SCRIPT).read_text(encoding="utf-8").lower()
    assert "</script" not in script and "<!--" not in script and "{{" not in script
