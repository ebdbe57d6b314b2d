"""What Tab completes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import evaluate
from harness.cli.commands import completions

DOCUMENT = Path(__file__).parents[2] / "docs/commands.md"


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("harness lea", {"leaderboard "}),
        ("harness model=gp", {"model=gpt4", "model=gpt2"}),
        ("harness -m model=gpt4,alw", {"model=gpt4,always_no", "model=gpt4,always_yes"}),
        ("harness run model=gpt4 model.temper", {"model.temperature="}),
        ("harness mod", {"model=", "model."}),
        ("harness task.pert", {"task.perturbation="}),
        ("harness task.perturbation=p", {"task.perturbation=paraphrase", "task.perturbation=permutation"}),
        ("harness task=causalbench/causality prompt=o", {"prompt=open"}),
        ("harness budget.", {"budget.usd="}),
        ("harness dry_run=t", {"dry_run=true"}),
        ("harness cache ex", {"export "}),
        ("harness cache prune mo", {"model="}),
        ("harness leaderboard intervals=p", {"intervals=pm"}),
        ("OPENAI_API_KEY=none harness model=mine", {"model=mine"}),
        ("harness leaderboard my", {"my\\ runs/"}),
        ("harness task.path=my\\ runs/a", {"task.path=my\\ runs/a.csv"}),
    ],
)
def test_what_the_last_word_may_become(line, some, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my runs").mkdir()
    (tmp_path / "my runs/a.csv").touch()
    (tmp_path / "configs/model").mkdir(parents=True)
    (tmp_path / "configs/model/mine.yaml").write_text("defaults: [openai]\n")
    found = completions(line)
    assert some <= {*found} and len(found) < 40, found


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Return a folder with a file, and with results/ and runs/ of two runs each."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "file.txt").touch()
    for name in ("results", "runs"):
        for model in ("always_no", "always_yes"):
            evaluate(model, "corr2cause", limit=4, results=str(folder / name), cache="off")
    return folder


@pytest.mark.parametrize(
    ("line", "some", "none"),
    [
        ("harness leaderboard by=", {"by=relation", "by=num_nodes", "by=model"}, {"by=file.txt"}),
        ("harness leaderboard runs model=a by=relation,num", {"by=relation,num_nodes"}, set()),
        ("harness leaderboard over=", {"over=model"}, {"over=relation", "over=file.txt"}),
        ("harness compare runs by=r", {"by=relation"}, {"by=runs/"}),
    ],
)
def test_runs_complete_what_they_may_be_grouped_by(line, some, none, runs, monkeypatch):
    monkeypatch.chdir(runs)
    found = {*completions(line)}
    assert some <= found and not none & found, found


def test_bash_completes_the_command_after_the_documented_line(tmp_path):
    script = tmp_path / "harness"
    script.write_text(f"#!{sys.executable} -P\nimport sys\nfrom harness.__main__ import main\nsys.exit(main())\n")
    script.chmod(0o755)
    line = next(line for line in DOCUMENT.read_text().splitlines() if 'eval "' in line)
    lines = [line.strip(), "complete -p harness", 'COMP_LINE="harness model=gpt4o_" COMP_POINT=20']
    lines += ["_harness_completion harness", 'echo "${COMPREPLY[@]}"']
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    process = subprocess.run(["bash", "-c", "\n".join(lines)], env=environment, capture_output=True, text=True)
    assert process.stdout.splitlines()[-1] == "model=gpt4o_mini", process
