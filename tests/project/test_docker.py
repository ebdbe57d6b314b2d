"""The Dockerfile: built and run, where a Docker daemon is at hand; and what it gets to build from."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], cwd=ROOT, capture_output=True, text=True)


def test_the_image_gets_what_a_wheel_is_made_of():
    """Every file that pyproject.toml names for the wheel passes .dockerignore."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["packages"], *wheel["force-include"], project["project"]["readme"], "LICENSE", "pyproject.toml"}
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "*" and needed == {line[1:] for line in lines if line.startswith("!")}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("docker") or docker("info").returncode != 0, reason="no Docker daemon is at hand")
def test_the_image_runs_the_main_job(tmp_path):
    built = docker("build", "--quiet", "--tag", "harness-test", ".")
    assert built.returncode == 0, built.stderr
    try:
        ran = docker("run", "--rm", "--volume", f"{tmp_path}:/work", "harness-test", "task.limit=20")
        assert ran.returncode == 0, ran.stderr
        assert list(tmp_path.glob("results/corr2cause/*/plain/reasoner/result.json"))
    finally:
        docker("rmi", "--force", "harness-test")
