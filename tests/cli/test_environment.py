"""Without what it needs, every command is one sentence: which Python ran, and what to do."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.thinned import few

from harness.cli.commands import summaries
from harness.runtime import environment

HOME = Path(__file__).resolve().parents[2]
MODULES = ["harness", *(f"harness.{name}" for name in summaries() if name != "run")]


def without_packages(*arguments: str, cwd: Path = HOME) -> subprocess.CompletedProcess[str]:
    """Run a Python that has the standard library and the harness, and no other package."""
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, cwd=cwd, env=os.environ | {"PYTHONPATH": str(HOME)}, capture_output=True, text=True)


@pytest.mark.parametrize("module", few(MODULES, 6))
def test_without_packages_every_command_is_one_sentence_with_the_way_out(module):
    process = without_packages("-m", module, "--help")
    assert process.returncode == 1 and not process.stdout
    assert process.stderr.startswith("error: packages that harness needs are not installed (hydra, ")
    assert process.stderr.count("\n") == 1 and sys.executable in process.stderr
    assert ".venv/bin/activate" in process.stderr


def test_the_script_says_it_too(tmp_path):
    code = "import sys; sys.argv = ['harness', 'cache', 'stats']; from harness.__main__ import main; main()"
    process = without_packages("-c", code, cwd=tmp_path)
    assert (
        process.returncode == 1 and process.stderr.startswith("error: packages that") and "Trace" not in process.stderr
    )


@pytest.mark.parametrize("arguments", [["-m", "harness"], ["-m", "harness.cache", "stats"], ["-m", "harness.plot"]])
def test_a_package_that_is_there_and_cannot_be_imported_is_one_sentence(tmp_path, arguments):
    for name in ("pydantic", "tenacity"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('libssl.so: cannot open it', name=__name__)\n")
    variables = os.environ | {"PYTHONPATH": f"{tmp_path}:{HOME}"}
    process = subprocess.run([sys.executable, *arguments], env=variables, cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 1 and process.stderr.count("\n") == 1, process.stderr
    assert re.match(r"error: (pydantic|tenacity) cannot be imported in this Python \(.*\): libssl", process.stderr)


def test_an_old_python_is_told_and_understands_the_file_that_tells_it(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    assert re.match(r"harness needs Python 3\.11 or later; this is Python 3\.10\.4, /.*: ", environment.problem())
    for file in ("harness/__init__.py", "harness/runtime/__init__.py", "harness/runtime/environment.py"):
        ast.parse((HOME / file).read_text(), feature_version=(3, 6))


def test_the_way_out_depends_on_what_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environment, "_HOME", tmp_path)
    monkeypatch.setattr(environment, "_is_there", lambda name: name != "sklearn")
    assert environment.problem().endswith("-m pip install scikit-learn puts them there.")  # a wheel's
    assert environment.installing("local") == "python -m pip install 'causal-harness[local]'"
    (tmp_path / "harness-0.1.0.dist-info").mkdir()
    assert environment.problem().startswith("another package, which pip calls harness, is installed")
    (tmp_path / "pyproject.toml").touch()
    assert environment.installing("local") == "python -m pip install -e '.[local]'"
    assert environment.problem().endswith("pip install -e . puts them there.")  # in an environment that is not whole
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert ". .venv/bin/activate && pip install -e . makes an" in environment.problem()
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/activate").touch()
    assert environment.problem().endswith("activate the environment first (. .venv/bin/activate).")


def test_every_dependency_is_looked_for():
    project = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[^\w-]", line)[0] for line in project["dependencies"]}
    assert names <= {*environment.PACKAGES.values()}
    assert environment.problem() == ""


def test_the_distribution_is_called_what_pip_is_told():
    project = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
    assert project["name"] == environment.DISTRIBUTION
    extras = {line for lines in project["optional-dependencies"].values() for line in lines if "harness" in line}
    assert extras and all(line.startswith(f"{environment.DISTRIBUTION}[") for line in extras)
