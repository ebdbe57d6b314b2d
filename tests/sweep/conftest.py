"""What the tests of sweeps share."""

from __future__ import annotations

import sys

import pytest

from harness import __main__ as main_command
from harness.cli import hydra_app


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Return a function that runs `harness …` here: its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        code = hydra_app.launch(main_command.job, "config", main_command.sweep)
        return code, *capsys.readouterr()

    return run
