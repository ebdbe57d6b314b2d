"""A package that is missing or broken is one sentence: which Python ran, and what to do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.runtime import environment

HOME = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("module", ["harness", "harness.leaderboard"])
def test_without_packages_a_command_is_one_sentence_with_the_way_out(module):
    """A Python that has the standard library and the harness, and no other package."""
    command, variables = [sys.executable, "-S", "-m", module, "task.limit=1"], os.environ | {"PYTHONPATH": str(HOME)}
    process = subprocess.run(command, cwd=HOME, env=variables, capture_output=True, text=True)
    assert process.returncode == 1 and not process.stdout
    assert re.match(r"error: the package \w+ is not installed in this Python \(.*\): ", process.stderr)
    assert process.stderr.count("\n") == 1 and sys.executable in process.stderr


@pytest.mark.parametrize("arguments", [["-m", "harness"], ["-m", "harness.leaderboard"]])
def test_a_package_that_is_there_and_cannot_be_imported_is_one_sentence(tmp_path, arguments):
    for name in ("pydantic", "msgspec"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('libssl.so: cannot open it', name=__name__)\n")
    variables = os.environ | {"PYTHONPATH": f"{tmp_path}:{HOME}"}
    process = subprocess.run([sys.executable, *arguments], env=variables, cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 1 and process.stderr.count("\n") == 1, process.stderr
    assert re.match(r"error: (pydantic|msgspec) cannot be imported in this Python \(.*\): libssl", process.stderr)


def test_the_way_out_depends_on_what_is_there(tmp_path, monkeypatch):
    missing = ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environment, "_HOME", tmp_path)
    assert "python -m pip install causal-harness puts there" in environment.failed_import(missing)  # a wheel's
    assert environment.installing("local") == "python -m pip install 'causal-harness[local]'"
    (tmp_path / "pyproject.toml").touch()
    assert environment.installing("local") == f"python -m pip install -e '{tmp_path}[local]'"
    assert f"python -m pip install -e {tmp_path} puts there" in environment.failed_import(missing)
