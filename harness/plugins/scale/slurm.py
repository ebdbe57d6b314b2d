"""Workers as tasks of an array job of Slurm, by way of submitit.

submitit writes the batch script, and has what runs into its time limit, or is preempted, go into the queue again. Who
lives is asked of squeue, not of submitit: that asks the accounting, and where a cluster has none it waits for ever.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.errors import ConfigError
from harness.plugins.scale import slurm_queue
from harness.plugins.scale.engine import State
from harness.plugins.scale.surroundings import handed_on
from harness.runtime.environment import installing

Name = Annotated[str, Field(min_length=1)] | None
_PATIENCE = 60
"""Seconds that a command of Slurm's may take."""


@dataclass(frozen=True)
class Slurm:
    """configs/workers/slurm.yaml says what each setting means."""

    count: Annotated[int, Field(ge=1)] = 4
    partition: Name = None
    account: Name = None
    qos: Name = None
    minutes: Annotated[int, Field(ge=1)] = 60
    requeues: Annotated[int, Field(ge=0)] = 20
    gpus: Annotated[int, Field(ge=0)] = 0
    cpus: Annotated[int, Field(ge=1)] = 1
    memory: Annotated[float, Field(gt=0)] | None = None
    signal_seconds: Annotated[int, Field(ge=1)] = 90
    setup: tuple[str, ...] = ()
    additional: dict[str, Any] = field(default_factory=dict)
    cluster: Literal["slurm", "local"] = "slurm"

    @property
    def name(self) -> str:
        """What it is called."""
        return "slurm"

    def check(self) -> int:
        """Return the number of array tasks at a time. Raises ConfigError where Slurm or submitit is not there."""
        try:
            import submitit  # noqa: F401
        except ImportError:
            raise ConfigError(f"workers=slurm needs submitit: {installing('slurm')}.") from None
        if self.cluster == "slurm":
            self._check_partition()
        return self.count

    def _check_partition(self) -> None:
        if missing := [tool for tool in ("sbatch", "squeue", "sinfo", "scancel") if shutil.which(tool) is None]:
            raise ConfigError(
                f"workers=slurm: there is no Slurm on this machine ({missing[0]} is not found): start the command on a "
                "login node, or choose workers=processes."
            )
        try:
            names = _output("sinfo", "--noheader", "--format=%R").split()
            default = [name for name in _output("sinfo", "--noheader", "--format=%P").split() if name.endswith("*")]
        except subprocess.SubprocessError as error:
            said = (getattr(error, "stderr", None) or str(error)).strip().partition("\n")[0]
            raise ConfigError(f"workers=slurm: Slurm does not answer ({said}): is slurmctld running?") from None
        if not names:
            raise ConfigError("workers=slurm: the cluster has no partition that you may see: ask who runs it (sinfo).")
        if self.partition is None and not default:
            raise ConfigError(
                f"workers=slurm: the cluster has no default partition: choose workers.partition= of {_listing(names)}."
            )
        if self.partition is not None and self.partition not in names:
            raise ConfigError(
                f"workers.partition={self.partition}: the cluster has no such partition, only {_listing(names)}."
            )

    def start(self, orders: Sequence[Path], log: Path) -> _Started:
        """Submit an array job with a task for each order. Raises ConfigError where it is refused."""
        import submitit

        python = f"{shlex.quote(sys.executable)} -P"
        settings = {"slurm_max_num_timeout": self.requeues, "slurm_python": python, "local_python": python}
        executor = submitit.AutoExecutor(folder=log, cluster=self.cluster, **settings)
        executor.update_parameters(**(self._parameters() if self.cluster == "slurm" else {"timeout_min": self.minutes}))
        try:
            with handed_on():
                jobs = executor.map_array(Work(), [str(order) for order in orders])
        except Exception as error:  # of submitit, which has no class for what sbatch refuses
            said = " ".join(str(error).split())
            raise ConfigError(f"workers=slurm: the job was refused: {said[:300]}") from error
        return _Started(dict(zip(orders, jobs, strict=True)), by_squeue=self.cluster == "slurm")

    def cancel_named(self, names: Sequence[str]) -> None:
        """Cancel tasks by their ids."""
        if names and shutil.which("scancel"):
            subprocess.run(["scancel", *names], capture_output=True, timeout=_PATIENCE, check=False)

    def _parameters(self) -> dict[str, Any]:
        named = {
            "slurm_partition": self.partition,
            "slurm_account": self.account,
            "slurm_qos": self.qos,
            "mem_gb": self.memory,
            "slurm_setup": list(self.setup) or None,
            "gpus_per_node": self.gpus or None,
        }
        return {
            "name": "harness",
            "timeout_min": self.minutes,
            "cpus_per_task": self.cpus,
            "tasks_per_node": 1,
            "slurm_array_parallelism": self.count,
            "slurm_signal_delay_s": self.signal_seconds,
            "slurm_additional_parameters": dict(self.additional),
            **{name: value for name, value in named.items() if value is not None},
        }


class _Started:
    """Tasks of one array job."""

    def __init__(self, jobs: Mapping[Path, Any], *, by_squeue: bool) -> None:
        self._jobs, self._by_squeue = jobs, by_squeue
        self._array = next(iter(jobs.values())).job_id.partition("_")[0]
        self._found: Mapping[int, slurm_queue.State] = {}

    @property
    def names(self) -> Sequence[str]:
        """The ids of the tasks."""
        return [job.job_id for job in self._jobs.values()] if self._by_squeue else []

    def states(self) -> Mapping[Path, State]:
        """Return the state of each worker; all of them run as far as anybody knows while Slurm does not answer."""
        if not self._by_squeue:
            return {order: "ended" if job.done() else "running" for order, job in self._jobs.items()}
        found = slurm_queue.states(self._array, len(self._jobs))
        self._found = found or self._found
        if found is None:
            return dict.fromkeys(self._jobs, "running")
        return {order: _state(found[number]) for number, order in enumerate(self._jobs)}

    def end_of(self, order: Path) -> str:
        """Return Slurm's word for its state."""
        if not self._by_squeue:
            return ""
        state = self._found.get(list(self._jobs).index(order))
        return f"Slurm job {self._jobs[order].job_id}" + (f": {state.word}" if state else "")

    def cancel(self) -> None:
        """Cancel the job. Slurm asks its tasks to end, and kills them after its KillWait, half a minute mostly."""
        for job in self._jobs.values():
            job.cancel(check=False)


class Work:
    """What a task does, in the form in which submitit has it do it again after its time limit."""

    def __call__(self, order: str) -> int:
        """Carry out an order; return its exit code."""
        from harness.plugins.scale.worker import work

        return work(Path(order))

    def checkpoint(self, order: str) -> Any:
        """Return what is to be done when the task is begun again: the same, which goes on from its cache."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, order)


def _state(state: slurm_queue.State) -> State:
    if state.over:
        return "ended"
    return "running" if state.word in ("RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT") else "waiting"


def _output(*command: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SQUEUE_")}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=_PATIENCE, check=True, env=environment
    ).stdout


def _listing(names: Sequence[str]) -> str:
    return ", ".join(sorted(set(names)))
