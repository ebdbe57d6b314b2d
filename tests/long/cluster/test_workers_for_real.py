"""Shards on a real Slurm, and on a real Ray cluster of a head and two more nodes on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from slurm_runs import array, ended, records, settings, wait_until
from support.openai_server import KEY

pytestmark = pytest.mark.cluster
RAY = Path(os.environ.get("RAY", ".servers/ray")).absolute() / "bin" / "python"
"""The Python of an environment with Ray; it has no place beside what other tests need."""
ROOT = Path(__file__).resolve().parents[3]


def scored_alone(begin, run: tuple[str, ...], folder: Path) -> list[dict[str, object]]:
    """Return the records of the same run in one process, with a cache of its own."""
    code, _, err = ended(begin(*run, f"results={folder}", f"cache.path={folder}.sqlite"))
    assert code == 0, err
    return records(folder)


def test_a_cancelled_task_of_slurm_leaves_its_part_to_the_same_command(slurm, begin, serve, tmp_path):
    server = serve(delay=0.2)
    run = settings(server, "task.limit=300")
    scale = ("scale", "workers=slurm", "workers.count=2", "workers.minutes=10", *run)
    process = begin(*scale)
    wait_until(lambda: len(server.calls) > 60)
    slurm.says("scancel", "--signal=KILL", f"{array(slurm)}_1")
    code, _, err = ended(process)
    assert code == 1 and "The same command asks for the rest." in err, err  # killed, or told before to end in order
    code, _, err = ended(begin(*scale))
    assert code == 0 and 300 <= len(server.calls) <= 302, err  # what two calls at a time may lose
    assert records(tmp_path / "results" / "corr2cause") == scored_alone(begin, run, tmp_path / "alone")


CLUSTER = """\
import time
from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
for _ in range(2):
    cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
input()
cluster.shutdown()
"""


@pytest.fixture
def ray(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that begins `python -m harness …` beside a head and two nodes of Ray, of one processor each."""
    if not RAY.exists():
        pytest.skip(f"{RAY} is not there")
    variables = {
        "RAY_AUTH_MODE": "disabled",
        "OPENAI_API_KEY": KEY,
        "PYTHONPATH": str(ROOT),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    environment = os.environ | variables
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    cluster = subprocess.Popen([str(RAY), "-c", CLUSTER], env=environment, start_new_session=True, **pipes)
    assert cluster.stdout is not None and cluster.stdin is not None
    address = cluster.stdout.readline().strip()
    assert address
    begun: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        more = {"env": environment | {"RAY_ADDRESS": address}, "cwd": tmp_path, "text": True}
        command = [str(RAY), "-m", "harness", *arguments]
        begun.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more))
        return begun[-1]

    yield start
    for process in begun:
        process.kill()
        process.communicate()
    cluster.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        cluster.wait(60)
    with suppress(ProcessLookupError):
        os.killpg(cluster.pid, signal.SIGKILL)
    cluster.wait()


def tasks_of_ray(folder: Path) -> list[int]:
    """Return the processes that run a task of Ray in a folder."""
    found = []
    for place in Path("/proc").iterdir():
        with suppress(OSError):
            if place.name.isdigit() and b"ray::" in place.joinpath("cmdline").read_bytes():
                found += [int(place.name)] if place.joinpath("cwd").resolve() == folder.resolve() else []
    return found


def test_sweeps_and_workers_on_ray_lose_nothing_where_processes_are_killed(ray, serve, tmp_path):
    server = serve(delay=0.2)
    process = ray("-m", "hydra/launcher=ray", *settings(server, 'model.name="m${task.limit}"', "task.limit=60,61"))
    wait_until(lambda: len(server.calls) > 20)
    os.kill(tasks_of_ray(tmp_path)[0], signal.SIGKILL)  # Ray begins its job again, by itself
    code, out, err = ended(process)
    assert code == 0 and "| m60 " in out and "| m61 " in out and len(server.calls) <= 125, err
    asked = len(server.calls)
    process = ray("scale", "workers=ray", "shards=2", *settings(server, "task.limit=240", "cache.path=workers.sqlite"))
    wait_until(lambda: len(server.calls) > asked + 60)
    os.kill(tasks_of_ray(tmp_path)[0], signal.SIGKILL)
    code, out, err = ended(process)
    assert code == 0 and asked + 240 <= len(server.calls) <= asked + 244, err
