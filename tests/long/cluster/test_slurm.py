"""Sweeps on a real Slurm: jobs are cancelled, nodes fail, time runs out: nothing is lost."""

from __future__ import annotations

import re
import signal

import pytest
from slurm_runs import array, ended, settings, wait_until
from support.openai_server import WAIT

pytestmark = pytest.mark.cluster
LAUNCHER = ("-m", "hydra/launcher=slurm")
NAME = 'model.name="m${task.limit}"'


def test_a_cancelled_job_is_told_and_the_others_go_on_to_the_leaderboard(slurm, begin, serve, tmp_path):
    server = serve(delay=0.2)
    sweep = (*LAUNCHER, *settings(server, NAME, "task.limit=40,60,300", "budget.requests=1000"))
    process = begin(*sweep)
    wait_until(lambda: len(server.calls) > 20)
    slurm.says("scancel", f"{array(slurm)}_2")
    code, out, err = ended(process)
    assert code == 1 and "| m40 " in out and "| m60 " in out and "| m300" not in out, err
    assert re.search(r"error in job 2: its process ended without a word \(no longer in the queue; ", err), err
    asked = len(server.calls)
    code, out, err = ended(begin(*sweep))
    assert code == 0 and "| m300 " in out and len(server.calls) < asked + 300, err


def test_a_node_that_fails_loses_only_what_was_under_way(slurm, begin, serve, tmp_path):
    server = serve(delay=0.2)
    sweep = (*LAUNCHER, *settings(server, NAME, "task.limit=150,151,152,153", "cache.path=caches/${task.limit}.sqlite"))
    process = begin(*sweep, "budget.requests=650")
    wait_until(lambda: sum(state == "RUNNING" for state in slurm.states().values()) >= 4 and len(server.calls) > 40)
    slurm.kill_node("two")
    try:
        wait_until(lambda: any(state == "PENDING" for state in slurm.states().values()), 90, slurm)
        wait_until(lambda: (slurm.release(), process.poll() is not None)[1])
    finally:
        slurm.restore_node("two")
    code, out, err = ended(process)
    assert code == 0 and all(f"| m{items} " in out for items in range(150, 154)), err
    assert len(server.calls) <= 150 + 151 + 152 + 153 + 4 * 2 + 8


def test_what_runs_out_of_time_goes_on_and_keeps_to_its_budget(slurm, begin, serve, tmp_path):
    server = serve(delay=0.5)
    time_limit = ("hydra.launcher.minutes=1", "hydra.launcher.signal_seconds=20")
    process = begin(*LAUNCHER, *time_limit, *settings(server, NAME, "task.limit=300,4", "budget.requests=200"))
    wait_until(lambda: (slurm.release(), process.poll() is not None)[1], 4 * WAIT)
    code, _out, err = ended(process)
    assert code == 1 and len(server.calls) <= 200, err  # several turns, one budget
    assert "budget.requests=200 of all jobs together is reached" in err and "PENDING" not in slurm.states().values()


def test_the_launching_process_may_be_killed(slurm, begin, serve, tmp_path):
    server = serve(delay=0.2)
    sweep = (*LAUNCHER, *settings(server, NAME, "task.limit=30,31"))
    process = begin(*sweep)
    wait_until(lambda: len(server.calls) > 5)
    process.send_signal(signal.SIGKILL)
    wait_until(lambda: len(list(tmp_path.glob("results/.sweeps/*/*/outcome.json"))) == 2)
    asked = len(server.calls)
    code, out, err = ended(begin(*sweep))
    assert code == 0 and "| m31 " in out and len(server.calls) == asked, err


def test_ctrl_c_cancels_the_jobs_and_keeps_their_answers(slurm, begin, serve, tmp_path):
    server = serve(delay=0.2)
    sweep = (*LAUNCHER, *settings(server, NAME, "task.limit=200,201", "cache.path=caches/${task.limit}.sqlite"))
    process = begin(*sweep)
    wait_until(lambda: len(server.calls) > 20)
    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert code == 130 and err.count("stopping: ") == 1, err
    wait_until(lambda: "RUNNING" not in slurm.states().values())
    asked = len(server.calls)
    assert asked < 300
    code, _out, err = ended(begin(*sweep))
    assert code == 0 and len(server.calls) == 401, err  # calls under way were finished, and kept


def test_what_slurm_refuses_is_one_sentence(slurm, begin, serve):
    sweep = (*LAUNCHER, "model=always_yes,always_no", "task.limit=4")
    code, _, err = ended(begin(*sweep, "+hydra.launcher.additional.partition=gpu"))
    assert code == 1 and "Slurm does not take the jobs: Invalid partition name specified" in err
    assert "Traceback" not in err
