"""Engines: what cannot be is told before anything is asked, and real processes that are killed and interrupted."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import signal
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from harness_scale import slurm
from harness_scale.processes import Processes
from harness_scale.ray_tasks import RayTasks
from harness_scale.slurm import Requeueable, Slurm, handed_on
from harness_scale.watching import Taken, wait
from support.openai_server import WAIT
from support_scale import begin, run_at

from harness.engine import Work
from harness.errors import ConfigError


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """Return a function that makes Slurm's commands, each of which runs some lines of sh."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(**scripts: str) -> None:
        for name, script in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)

    return make


def test_a_task_that_left_the_queue_without_an_outcome_is_lost_and_while_squeue_is_silent_none_is(
    on_path, tmp_path, monkeypatch
):
    pytest.importorskip("submitit")
    monkeypatch.setattr(slurm, "wait", lambda taken, names, has_ended: states.append(taken.ends) or {})
    states = []
    on_path(sbatch="echo 'Submitted batch job 7'", srun="", scancel="")
    Slurm().carry_out([Work(f"{k}", "x:y", {}) for k in range(3)], tmp_path, lambda _: False)
    on_path(squeue="echo 7_0; echo 7_2")
    assert states[0]().keys() == {"1"}
    on_path(squeue="echo 'Unable to contact slurm controller' >&2; exit 1")
    assert not states[0]()
    on_path(squeue="echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert states[0]().keys() == {"0", "1", "2"}


def test_what_is_lost_is_told_after_its_grace_and_one_that_runs_again_is_not():
    looks = itertools.chain([{"0": "gone"}, {}], itertools.repeat({"0": "gone", "1": "gone"}))
    ended = iter([False] * 4 + [True])  # 0 runs again, and leaves its outcome before its grace is over once more
    taken = Taken("Slurm job 7", lambda: next(looks), lambda: None, pause=0.1, grace=0.35)
    assert wait(taken, ["0", "1"], lambda name: name == "0" and next(ended)) == {"1": "gone"}


def test_a_job_within_a_job_gets_nothing_that_slurm_has_said_of_the_outer_one(monkeypatch):
    inherited = {"SLURM_JOB_ID": "1", "SLURM_CPU_BIND": "quiet", "SLURM_MEM_PER_CPU": "1", "SLURM_ARRAY_TASK_ID": "3"}
    users = {"SLURM_CONF": "/etc/slurm.conf", "SBATCH_PARTITION": "gpu"}
    for name, value in {**inherited, **users}.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with handed_on():
        assert not inherited.keys() & os.environ.keys() and users.items() <= os.environ.items()
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert dict(os.environ) == before


def test_what_sbatch_refuses_is_told_in_its_words(on_path, tmp_path):
    pytest.importorskip("submitit")
    on_path(sbatch="echo 'sbatch: error: Batch job submission failed: Invalid partition name' >&2; exit 1", srun="")
    with pytest.raises(ConfigError, match="does not take the jobs: Invalid partition name"):
        Slurm().carry_out([Work("0", "x:y", {}), Work("1", "x:y", {})], tmp_path, lambda _: True)


def test_a_task_that_runs_out_of_time_is_submitted_as_it_was():
    pytest.importorskip("submitit")
    again = pickle.loads(pickle.dumps(Requeueable())).checkpoint("builtins:int", 3)
    assert again.function(*again.args) == 3


def test_a_ray_cluster_that_could_not_run_the_tasks_is_told_first(monkeypatch):
    def ray(error: Exception | None = None, **there: float) -> None:
        def init(*_: object, **__: object) -> None:
            if error is not None:
                raise error

        monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init, cluster_resources=lambda: there))

    ray(ConnectionError("Could not find any running Ray instance."))
    with pytest.raises(ConfigError, match=r"no Ray cluster answers at address=auto \(ConnectionError: Could not find"):
        RayTasks().check("workers=ray")
    ray(CPU=4)
    with pytest.raises(ConfigError, match="too little GPU for a task"):
        RayTasks(gpus=1).check("workers=ray")
    ray(CPU=8, GPU=3)
    assert (RayTasks(gpus=0.5).check(""), RayTasks(gpus=1).check("")) == (6, 3)


def test_each_process_has_a_gpu_or_its_part_of_the_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert Processes().check("workers") == 2
    assert [Processes().environment(slot)["CUDA_VISIBLE_DEVICES"] for slot in range(2)] == ["3", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert int(Processes(count=2).environment(0)["OMP_NUM_THREADS"]) >= 1


def by_two(server, items: int) -> tuple[str, ...]:
    more = ("workers=processes", "workers.count=2", "model.max_concurrency=2")
    return "scale", *run_at(server, f"task.limit={items}", *more)


def workers(folder: Path) -> list[int]:
    """Return the processes of the workers of commands in a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if "harness_scale.processes" in command and str(folder) in command:
            found.append(int(place.name))
    return found


@pytest.mark.slow
def test_a_killed_worker_costs_what_it_had_under_way_and_no_more(serve, decided, tmp_path):
    server = serve(decided, held=4)
    job = begin(tmp_path, *by_two(server, 20))
    server.wait_for_calls(8)  # two of each worker are under way
    os.kill(workers(tmp_path)[0], signal.SIGKILL)
    server.held = 10**9
    _, err = job.communicate(WAIT)
    assert job.wait() == 1 and "killed, or out of memory" in err, err
    job = begin(tmp_path, *by_two(server, 20))
    _, err = job.communicate(WAIT)
    assert job.wait() == 0 and len(server.calls) <= 22 and not workers(tmp_path), err
    assert not list((tmp_path / ".cache/shards").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_was_stopped_goes_on(serve, decided, tmp_path, number):
    server = serve(decided, held=16)
    job = begin(tmp_path, *by_two(server, 40))
    server.wait_for_calls(20)
    job.send_signal(number)
    if number == signal.SIGKILL:
        job.wait(WAIT)
    server.held = 10**9
    _, err = job.communicate(WAIT)
    if number == signal.SIGINT:
        assert job.wait() == 130 and "interrupted: every stored answer is kept" in err, err
        assert not workers(tmp_path)
        with sqlite3.connect(tmp_path / ".cache/answers.sqlite") as db:
            assert db.execute("SELECT count(*) FROM answers").fetchone()[0] == len(server.calls)
    again = begin(tmp_path, *by_two(server, 40))
    _, err = again.communicate(WAIT)
    assert again.wait() == 0 and len(server.calls) == 40, err
    (file,) = tmp_path.rglob("manifest.json")
    assert json.loads(file.read_text())["complete"] is True
