"""Jobs of a sweep in processes of their own: one is killed, the others go on, and the leaderboard is made of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from support.thinned import few

KILLED = """\
import os, signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.models.baselines import Baseline


@dataclass(frozen=True)
class Killed(Baseline):
    def respond(self, requests):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    ("launcher", "said"),
    [
        pytest.param("parallel=2", "exit code -9; killed, or out of memory", marks=pytest.mark.slow),
        pytest.param(
            "hydra/launcher=submitit_local",
            r"process \d+ has ended; what it printed is in \S+_log.err",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_killed_job_is_told_with_its_state_and_the_others_are_on_the_leaderboard(command, launcher, said):
    if "submitit" in launcher:
        pytest.importorskip("submitit")
    Path("my_models.py").write_text(KILLED)
    Path("configs/model").mkdir(parents=True)
    Path("configs/model/killed.yaml").write_text("_target_: my_models.Killed\nname: killed\np_yes: 1\n")
    code, out, err = command("-m", launcher, "model=always_yes,killed", "task.limit=4")
    assert code == 1 and "| always_yes " in out, err
    assert re.search(rf"error in job 1: its process ended without a word \({said}\)", err), err
    (place,) = Path("results/.sweeps").iterdir()
    assert "always_yes" in (place / "LEADERBOARD.md").read_text()
    assert [(place / str(number) / "outcome.json").exists() for number in range(2)] == [True, False]


@pytest.mark.parametrize(
    ("settings", "said"),
    few(
        [
            (("hydra/launcher=submitit_slurm",), "there is no Slurm on this machine"),
            (("hydra/launcher=submitit_slurm", "hydra.launcher.minutes=soon"), "hydra.launcher.minutes=soon: "),
            (("hydra/launcher=submitit_slurm", "hydra.launcher.partion=x"), "hydra.launcher.partion"),
            (("hydra/launcher=ray",), "hydra/launcher=ray needs Ray: "),
            (("hydra/launcher=slrum",), "slrum"),
            (("hydra/launcher=submitit_local", "parallel=2"), "would both begin the jobs"),
        ],
        1,
    ),
)
def test_an_engine_that_is_not_there_is_one_sentence_before_anything_is_asked(command, monkeypatch, settings, said):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "ray", None)
    code, out, err = command("-m", *settings, "model=always_yes,always_no", "task.limit=4")
    assert code == 1 and not out and said in err and err.count("\n") == 1, err


@pytest.mark.slow
def test_the_plan_says_where_a_budget_of_several_nodes_stands(command):
    sweep = ("-m", "hydra/launcher=submitit_slurm", "model=always_yes,always_no", "budget.requests=4", "dry_run=true")
    assert "whose file locks hold" in " ".join(command(*sweep)[1].split())
    assert "file locks" not in command(*sweep, "budget.of=part")[1]
