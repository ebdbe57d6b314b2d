"""Jobs of a sweep in processes of their own: one budget, whole lines, one that is killed, a stop that loses nothing."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from support.openai_server import WAIT
from support_scale import begin

from harness import __main__ as main_command
from harness.cli import hydra_app

KILLED = """\
import os, signal
from dataclasses import dataclass

from harness.models.baselines import Baseline


@dataclass(frozen=True)
class Killed(Baseline):
    def respond(self, requests):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Return a function that runs `harness …` here: its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        code = hydra_app.launch(main_command.job, "config", main_command.sweep)
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("hydra/launcher=slurm",), "needs submitit (pip install submitit), and a login node"),
        (("hydra/launcher=slurm", "hydra.launcher.minutes=soon"), "hydra.launcher.minutes=soon: "),
        (("hydra/launcher=slurm", "hydra.launcher.partion=x"), "hydra.launcher.partion"),
        (("hydra/launcher=ray",), "hydra/launcher=ray: no Ray cluster answers"),
    ],
)
def test_an_engine_that_is_not_there_is_one_sentence_before_anything_is_asked(command, monkeypatch, settings, said):
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "ray", None)
    code, out, err = command("-m", *settings, "model=always_yes,always_no", "task.limit=4")
    assert code == 1 and not out and said in err and err.count("\n") == 1, err


@pytest.mark.slow
def test_a_killed_job_is_told_with_its_state_and_the_others_are_on_the_leaderboard(command):
    Path("my_models.py").write_text(KILLED)
    Path("configs/model").mkdir(parents=True)
    Path("configs/model/killed.yaml").write_text("_target_: my_models.Killed\nname: killed\np_yes: 1\n")
    code, out, err = command("-m", *side_by_side(2), "model=always_yes,killed", "task.limit=4")
    assert code == 1 and "| always_yes " in out, err
    assert "error in job 1: its process ended without a word (exit code -9; killed, or out of memory)" in err, err
    (place,) = Path("results/.sweeps").iterdir()
    assert [(place / str(number) / "outcome.json").exists() for number in range(2)] == [True, False]


def side_by_side(jobs: int) -> tuple[str, str]:
    return "hydra/launcher=processes", f"hydra.launcher.count={jobs}"


@pytest.mark.slow
def test_jobs_side_by_side_keep_one_budget_speak_in_whole_lines_and_lose_nothing_when_stopped(serve, tmp_path):
    server = serve(held=12)
    sweep = ("-m", "model=gpt35,gpt4", f"model.base_url={server.url}", "task.limit=20", *side_by_side(2))
    stopped = begin(tmp_path, *sweep, "model.max_concurrency=2")
    server.wait_for_calls(13)
    stopped.send_signal(signal.SIGINT)
    server.held = 10**9
    _, err = stopped.communicate(WAIT)
    assert stopped.wait() == 130 and err.count("stopping:") == 1 and err.count("interrupted") == 1, err
    asked = len(server.calls)
    budget = begin(tmp_path, *sweep, f"budget.requests={30 - asked}")
    _, err = budget.communicate(WAIT)
    assert budget.wait() == 1 and len(server.calls) == 30
    assert all(line.startswith(("[", "sweep: ")) for line in err.splitlines() if line), err
    again = begin(tmp_path, *sweep)
    out, err = again.communicate(WAIT)
    assert again.wait() == 0 and len(server.calls) == 40 and "2 of 2 jobs are done" in err, err
    assert all(f"| {name} " in out for name in ("gpt35", "gpt4"))
