"""Whoever starts workers: what cannot be is told before anything is asked; and real tasks where engines are there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from harness.engine import Work
from harness.errors import ConfigError
from harness.plugins.scale.asking import WorkWatch
from harness.plugins.scale.processes import Processes
from harness.plugins.scale.ray_tasks import RayTasks
from harness.plugins.scale.slurm import Slurm
from harness.plugins.scale.slurm import _ArrayTasks as SlurmTasks


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """Return a function that makes Slurm's commands, each of which runs some lines of sh; submitit counts as there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setitem(sys.modules, "submitit", ModuleType("submitit"))

    def make(**scripts: str) -> None:
        for name in ("sbatch", "squeue", "sinfo", "scancel", "sacct"):
            (folder / name).write_text(f"#!/bin/sh\n{scripts.get(name, 'exit 1')}\n")
            (folder / name).chmod(0o755)

    return make


def test_without_the_package_of_an_engine_its_extra_is_named(monkeypatch):
    for engine, package in ((Slurm(), "submitit"), (RayTasks(), "ray")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ConfigError, match=rf"workers={engine.name} needs .*\[{engine.name}\]"):
            engine.check("workers")


@pytest.mark.parametrize(
    ("sinfo", "settings", "said"),
    [
        ("echo 'error: no controller' >&2; exit 1", {}, r"Slurm does not answer \(error: no controller\)"),
        ("true", {}, "the cluster has no partition that you may see"),
        ("printf 'gpu\\ncpu\\n'", {}, r"no default partition: choose workers.partition= of cpu, gpu"),
        ("printf 'gpu*\\ncpu\\n'", {"partition": "gqu"}, r"workers.partition=gqu: the cluster has no such partition"),
    ],
)
def test_a_slurm_that_could_not_run_the_job_is_told_first(on_path, sinfo, settings, said):
    on_path(sinfo=sinfo)
    with pytest.raises(ConfigError, match=said):
        Slurm(**settings).check("workers")


def test_without_slurm_on_the_machine_that_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "submitit", ModuleType("submitit"))
    with pytest.raises(ConfigError, match="no Slurm on this machine"):
        Slurm().check("workers")


def test_who_lives_is_asked_of_squeue_and_while_it_is_silent_all_do(on_path, tmp_path):
    jobs = {f"1-{k}": SimpleNamespace(job_id=f"7_{k}") for k in range(4)}
    started = SlurmTasks(jobs, by_squeue=True)
    watch = WorkWatch(started, jobs, lambda name: False)
    on_path(squeue="printf '7_0|RUNNING|None\\n7_1|PENDING|Priority\\n7_2|COMPLETING|None\\n'", sacct="true")
    assert list(started.states().values()) == ["running", "waiting", "running", "ended"]
    assert started.end_of("1-3") == "Slurm job 7_3: gone from the queue"
    on_path(squeue="echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert set(started.states().values()) == {"ended"}
    on_path(squeue="echo 'Unable to contact slurm controller' >&2; exit 1")
    assert started.states() is None and not watch.look() and watch.open == {*jobs} and not watch.answered


def test_a_ray_cluster_that_could_not_run_the_tasks_is_told_first(monkeypatch):
    def ray(error: Exception | None = None, **there: float) -> None:
        def init(**settings: object) -> None:
            if error is not None:
                raise error

        module = SimpleNamespace(is_initialized=lambda: False, init=init, cluster_resources=lambda: there)
        monkeypatch.setitem(sys.modules, "ray", module)

    ray(ConnectionError("Could not find any running Ray instance."))
    with pytest.raises(ConfigError, match=r"no Ray cluster answers at workers.address=auto: begin one with `ray start"):
        RayTasks().check("workers")
    ray(RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n    Python: 3.10.1"))
    with pytest.raises(ConfigError, match=r"another version of Ray or Python \(.*Ray: 2.9.0 Python: 3.10.1"):
        RayTasks().check("workers")
    ray(CPU=4)
    with pytest.raises(ConfigError, match="a task needs 1 GPU, and the cluster has 0: it would wait for ever"):
        RayTasks(gpus=1).check("workers")
    ray(CPU=8, GPU=3)
    assert (
        RayTasks(gpus=0.5).check("workers"),
        RayTasks(gpus=1).check("workers"),
        RayTasks(count=2).check("workers"),
    ) == (6, 3, 2)


def test_each_process_has_a_gpu_or_its_part_of_the_cores(monkeypatch, tmp_path):
    begun = []
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(
        subprocess, "Popen", lambda *_, env, **__: begun.append(env) or SimpleNamespace(poll=lambda: None)
    )
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert Processes().check("workers") == 2
    work = [Work(f"1-{k}", "x:y", "") for k in range(3)]
    assert list(Processes().start(work, tmp_path).states().values()).count("running") == 2
    assert [environment["CUDA_VISIBLE_DEVICES"] for environment in begun] == ["3", "5"]
    begun.clear()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    Processes(count=2).start(work, tmp_path)
    assert all(int(environment["OMP_NUM_THREADS"]) >= 1 for environment in begun) and len(begun) == 2


def _whole(folder: Path, engine: str, started: int) -> None:
    (file,) = folder.rglob("manifest.json")
    said = json.loads(file.read_text())
    assert said["complete"] is True and said["workers"]["engine"] == engine and said["workers"]["started"] == started


@pytest.mark.slow
def test_tasks_by_way_of_submitit(harness, serve, decided, key, tmp_path):
    pytest.importorskip("submitit", reason="submitit is not installed (pip install -e '.[slurm]')")
    server = serve(decided)
    run = ("model=openai", "model.model=m", f"model.base_url={server.url}", "task.limit=20", "workers=slurm")
    done = harness(*run, "workers.cluster=local", "workers.count=2", fresh=True)
    assert done.returncode == 0 and len(server.calls) == 20, done.stderr
    _whole(tmp_path, "slurm", 2)


@pytest.mark.slow
def test_tasks_on_a_ray_cluster(harness, serve, decided, key, tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed (pip install -e '.[ray]')")
    server = serve(decided)
    ray.init("local", num_cpus=2, include_dashboard=False, logging_level="ERROR")
    try:
        run = ("model=openai", "model.model=m", f"model.base_url={server.url}", "task.limit=20", "workers=ray")
        address = f"workers.address={ray.get_runtime_context().gcs_address}"
        done = harness(*run, address, fresh=True, RAY_AUTH_MODE="token")
    finally:
        ray.shutdown()
    assert done.returncode == 0 and len(server.calls) == 20, done.stderr
    _whole(tmp_path, "ray", 2)
