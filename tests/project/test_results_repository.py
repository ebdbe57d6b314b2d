"""The template of a results repository, played through with git: what is submitted is checked, or refused and why."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import evaluate

TEMPLATE = Path(__file__).parents[2] / "examples" / "results-repository"


class Repository:
    """A clone of the template with a branch that submits something."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(TEMPLATE, folder)
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("the template")
        self.git("switch", "--quiet", "--create", "submission")

    def git(self, *arguments: str) -> None:
        name = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        subprocess.run(["git", *name, *arguments], cwd=self.folder, check=True)

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def check(self) -> tuple[int, str]:
        """Return the exit code of the check of the base branch, as in CI, and all that it printed."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        process = subprocess.run(
            ["sh", str(TEMPLATE / "check"), "main"],
            cwd=self.folder,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
        )
        return process.returncode, process.stdout + process.stderr


@pytest.fixture(scope="module")
def submitted(tmp_path_factory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("submission") / "repository")
    cache = {"cache": "off"}
    evaluate(model="always_no", task="corr2cause", results=str(repository.folder / "results"), **cache)
    repository.commit("always_no on the public test split")
    return repository


@pytest.fixture
def copy(submitted, tmp_path) -> Repository:
    repository = Repository.__new__(Repository)
    repository.folder = tmp_path / "repository"
    shutil.copytree(submitted.folder, repository.folder)
    return repository


@pytest.mark.slow
def test_a_run_that_holds_is_in_the_leaderboard_and_on_the_page(copy):
    code, printed = copy.check()
    assert code == 0 and "All new runs hold.\n" in printed, printed
    assert "| always_no |" in (copy.folder / "LEADERBOARD.md").read_text()
    assert "report.html: 1 run," in printed


def test_a_run_with_a_better_score_than_its_records_have_is_refused(copy):
    file = next(copy.folder.rglob("result.json"))
    result = json.loads(file.read_text())
    result["scores"][result["headline"]]["overall"]["all"]["accuracy"] = 0.99
    file.write_text(json.dumps(result))
    copy.commit("a better one")
    code, printed = copy.check()
    assert code == 1 and "accuracy" in printed and "All new runs hold" not in printed, printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder: (folder / "check").write_text("exit 0\n"), "and nothing else. It also changes:\ncheck"),
        (lambda folder: (folder / "results/code.py").write_text("1\n"), "results/code.py is no part of a run"),
        (lambda folder: next(folder.rglob("records.jsonl")).unlink(), "has no records, so that nothing of it"),
        (lambda folder: (folder / "results/there").symlink_to("/etc"), "links are no runs:\nresults/there"),
    ],
    ids=["the check itself", "code", "no records", "a link"],
)
def test_what_is_no_run_is_refused(copy, change, reason):
    change(copy.folder)
    copy.commit("something else")
    code, printed = copy.check()
    assert code == 1 and reason in printed, printed
