"""Jobs of a sweep by submitit: tasks of a Slurm array, or processes of this machine (hydra/launcher=submitit_…)."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import ceil
from typing import Any

from harness.errors import ConfigError
from harness.plugins.scale import slurm_queue
from harness.plugins.scale.surroundings import handed_on
from harness.runtime import environment
from harness.sweep.order import Order

_ADVICE = {
    "TIMEOUT": "hydra.launcher.timeout_min= gives more time, max_num_timeout= more turns",
    "OUT_OF_MEMORY": "hydra.launcher.mem_gb= gives more",
}

_SBATCH = {"name": "job_name", "tasks_per_node": "ntasks_per_node", "mem_gb": "mem"}
"""Settings that submitit calls by sbatch's names."""


class Task:
    """What is carried to a node: a job, which begins again where its time limit has ended it."""

    def __call__(self, order: dict[str, Any]) -> int:
        """Carry out the job; return the exit code."""
        return Order(**order).carry_out()

    def checkpoint(self, order: dict[str, Any]) -> Any:
        """Return what is begun when Slurm has put the task back into its queue: the same, which finds its answers."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, order)


@dataclass(frozen=True)
class _Engine:
    submitit_folder: str
    timeout_min: float
    max_num_timeout: int
    signal_delay_s: int

    def _submit(self, kind: str, orders: Sequence[Order], more: Mapping[str, Any], python: str | None) -> list[Any]:
        """Hand the jobs over to submitit. Raises ConfigError where that cannot be done."""
        try:
            import submitit
        except ImportError:
            raise ConfigError(f"hydra/launcher={kind} needs submitit: {environment.installing('slurm')}.") from None
        command = python or f"{shlex.quote(sys.executable)} -P"
        settings = {name: value for name, value in more.items() if value is not None}
        try:
            executor = {"submitit_slurm": submitit.SlurmExecutor, "submitit_local": submitit.LocalExecutor}[kind](
                self.submitit_folder, max_num_timeout=self.max_num_timeout, python=command
            )
            executor.update_parameters(signal_delay_s=self.signal_delay_s, **settings)
            with handed_on():
                return list(executor.map_array(Task(), [asdict(order) for order in orders]))
        except (RuntimeError, ValueError, subprocess.SubprocessError) as error:
            raise ConfigError(_refusal(error)) from error


@dataclass(frozen=True)
class SlurmEngine(_Engine):
    """Hands the jobs to Slurm as one array. configs/hydra/launcher/submitit_slurm.yaml says what each setting means."""

    name: str = "harness"
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    array_parallelism: int = 256
    nodes: int = 1
    tasks_per_node: int = 1
    cpus_per_task: int | None = None
    gpus_per_node: int | None = None
    mem_gb: float | None = None
    constraint: str | None = None
    gres: str | None = None
    exclude: str | None = None
    nodelist: str | None = None
    exclusive: bool | None = None
    comment: str | None = None
    setup: list[str] | None = None
    srun_args: list[str] | None = None
    python: str | None = None
    additional_parameters: dict[str, Any] = field(default_factory=dict)

    def launch(self, orders: Sequence[Order]) -> SlurmTasks:
        """Hand over the jobs. Raises ConfigError where Slurm is not there, or does not take them."""
        names = [f.name for f in fields(self) if f.name not in _Engine.__dataclass_fields__ and f.name != "python"]
        sbatch = {_SBATCH.get(name, name): getattr(self, name) for name in names}
        sbatch |= {"time": ceil(self.timeout_min), "mem": None if self.mem_gb is None else f"{self.mem_gb:g}GB"}
        submitted = self._submit("submitit_slurm", orders, sbatch, self.python)
        return SlurmTasks(str(submitted[0].job_id).partition("_")[0], len(submitted))


@dataclass(frozen=True)
class LocalEngine(_Engine):
    """Begins the jobs on this machine, all at once."""

    gpus_per_node: int = 0
    setup: list[str] = field(default_factory=list)

    def launch(self, orders: Sequence[Order]) -> LocalProcesses:
        """Begin the jobs. Raises ConfigError where submitit is not there, or refuses a setting."""
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handed on by `cancel`, and to be obeyed once
        try:
            own = {name: getattr(self, name) for name in ("timeout_min", "gpus_per_node", "setup")}
            return LocalProcesses(self._submit("submitit_local", orders, own, None))
        finally:
            signal.signal(signal.SIGINT, before)


class SlurmTasks:
    """The jobs of a sweep as tasks of an array."""

    grace = 30.0
    outlives = True

    def __init__(self, array: str, tasks: int) -> None:
        """Wait for so many tasks of the array with this number."""
        self.name = f"Slurm job {array}"
        self._array, self._tasks = array, tasks
        self._states: Mapping[int, slurm_queue.State] = {}

    def ended(self) -> Mapping[int, str] | None:
        """Return the tasks that run no more, with Slurm's word for each; None where Slurm does not answer."""
        states = slurm_queue.states(self._array, self._tasks)
        self._states = states or self._states
        if states is None:
            return None
        return {number: self._words(number, state.word) for number, state in states.items() if state.over}

    def waiting(self) -> str:
        """Return how many tasks wait, and for what."""
        reasons = [state.reason for state in self._states.values() if state.word in ("PENDING", "REQUEUE_HOLD")]
        kinds = ", ".join(sorted({reason for reason in reasons if reason not in ("", "None")}))
        return f"{len(reasons)} wait{'s' * (len(reasons) == 1)} in the queue ({kinds})" if kinds else ""

    def cancel(self) -> None:
        """Cancel the array: Slurm sends each task SIGTERM first, which ends it in order."""
        subprocess.run(["scancel", self._array], capture_output=True, check=False)

    def _words(self, number: int, word: str) -> str:
        name = self._array if self._tasks == 1 else f"{self._array}_{number}"
        return f"Slurm job {name}: {word}" + (f"; {advice}" if (advice := _ADVICE.get(word)) else "")


class LocalProcesses:
    """The jobs of a sweep as processes of this machine."""

    grace = 0.0
    outlives = True
    name = "submitit_local"

    def __init__(self, submitted: Sequence[Any]) -> None:
        """Wait for what submitit has begun."""
        self._jobs = submitted

    def ended(self) -> Mapping[int, str] | None:
        """Return the processes that have ended, each with the file of what it has printed."""
        return {
            number: f"process {job.job_id} has ended; what it printed is in {job.paths.stderr}"
            for number, job in enumerate(self._jobs)
            if job.done()
        }

    def waiting(self) -> str:
        """Return nothing: all are begun at once."""
        return ""

    def cancel(self) -> None:
        """End them in order."""
        for job in self._jobs:
            if not job.done():
                os.kill(int(job.job_id), signal.SIGTERM)


def _refusal(error: Exception) -> str:
    """Return the sentence for jobs that submitit or Slurm does not take, with what Slurm has said."""
    text = " ".join(str(error).split())
    if "Could not detect" in text:
        return (
            "hydra/launcher=submitit_slurm: there is no Slurm here (srun is not found). Start the sweep on a login "
            "node of the cluster; parallel=N runs its jobs on this machine."
        )
    said = text.rpartition("sbatch: error: ")[2].removeprefix("Batch job submission failed: ")
    partitions = _partitions() if "artition" in said else ""
    return f"Slurm does not take the jobs: {said.rstrip('.')}{partitions}."


def _partitions() -> str:
    try:
        done = subprocess.run(["sinfo", "--noheader", "--format=%R"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    names = sorted(set(done.stdout.split()))
    return f" (hydra.launcher.partition= takes {', '.join(names)})" if names else ""
