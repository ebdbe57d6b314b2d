from __future__ import annotations

import os
from pathlib import Path

import pytest
from support import forks


@pytest.fixture(scope="module")
def finished_runs(tmp_path_factory) -> Path:
    """Two runs of a model."""
    folder = tmp_path_factory.mktemp("made")
    for module, *arguments in (
        ("harness", "task.limit=12"),
        ("harness", "task.limit=12", "model=random_uniform"),
    ):
        forks.run(module, arguments, folder, os.environ).check_returncode()
    return folder / "results"
