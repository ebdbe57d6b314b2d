"""A real Slurm on this machine, begun once a session; `make test-cluster` installs and asks for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from slurm_here import Slurm
from support.openai_server import KEY

ROOT = Path(__file__).resolve().parents[3]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these tests out where they were not asked for by their marker."""
    return None if "cluster" in (config.getoption("markexpr") or "") else True


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    if missing := [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    with tempfile.TemporaryDirectory(prefix="slurm") as folder:  # a socket's path may not be long
        slurm = Slurm(Path(folder) / "here")
        yield slurm
        slurm.close()


@pytest.fixture
def begin(slurm: Slurm, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that begins `python -m harness …` beside that Slurm."""
    begun: list[subprocess.Popen[str]] = []

    def start(*arguments: str, module: str = "harness") -> subprocess.Popen[str]:
        variables = {**os.environ, **slurm.variables, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", module, *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        begun.append(subprocess.Popen(command, cwd=tmp_path, env=variables, text=True, **pipes))
        return begun[-1]

    yield start
    for process in begun:
        process.kill()
        process.communicate()
