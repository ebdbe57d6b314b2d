"""Work as tasks of an array job of Slurm, through submitit; or, to try that out, as processes of this machine.

submitit writes the batch script and requeues tasks that reach their time limit or are preempted. States come from
squeue, not from submitit, which asks the accounting and waits for ever on a cluster without one.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.engine import State, Work
from harness.errors import ConfigError
from harness.plugins.scale.processes import perform, python_path
from harness.runtime.environment import installing

Name = Annotated[str, Field(min_length=1)] | None
_PATIENCE = 60
"""Seconds that a command of Slurm's may take."""
_OVER = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED"}
) | {"TIMEOUT"}
_GONE = "gone from the queue"
"""The state of a task that neither squeue nor the accounting knows any more."""
_ADVICE = {
    "TIMEOUT": "minutes= gives more time, requeues= more turns",
    "OUT_OF_MEMORY": "memory= gives more",
}


@dataclass(frozen=True)
class Slurm:
    """configs/workers/slurm.yaml says what each setting means."""

    count: Annotated[int, Field(ge=1)] = 4
    partition: Name = None
    account: Name = None
    minutes: Annotated[int, Field(ge=1)] = 60
    requeues: Annotated[int, Field(ge=0)] = 20
    gpus: Annotated[int, Field(ge=0)] | None = None
    cpus: Annotated[int, Field(ge=1)] | None = None
    memory: Annotated[float, Field(gt=0)] | None = None
    signal_seconds: Annotated[int, Field(ge=1)] = 120
    setup: tuple[str, ...] = ()
    python: Name = None
    additional: dict[str, Any] = field(default_factory=dict)
    cluster: Literal["slurm", "local"] = "slurm"

    @property
    def name(self) -> str:
        return "slurm"

    def check(self, setting: str) -> int:
        """Return the number of array tasks at a time. Raises ConfigError where Slurm or submitit is not there."""
        chosen = "workers=slurm" if setting == "workers" else f"hydra/launcher=submitit_{self.cluster}"
        try:
            import submitit  # noqa: F401
        except ImportError:
            raise ConfigError(f"{chosen} needs submitit: {installing('slurm')}.") from None
        if self.cluster == "slurm":
            self._check_partition(setting, chosen)
        return self.count

    def _check_partition(self, setting: str, chosen: str) -> None:
        if missing := [tool for tool in ("sbatch", "squeue", "sinfo", "scancel") if shutil.which(tool) is None]:
            here = "workers=processes" if setting == "workers" else "parallel=N"
            raise ConfigError(
                f"{chosen}: there is no Slurm on this machine ({missing[0]} is not found): start the command on a "
                f"login node, or choose {here}."
            )
        try:
            names = _output("sinfo", "--noheader", "--format=%R").split()
            default = [name for name in _output("sinfo", "--noheader", "--format=%P").split() if name.endswith("*")]
        except subprocess.SubprocessError as error:
            message = (getattr(error, "stderr", None) or str(error)).strip().partition("\n")[0]
            raise ConfigError(f"{chosen}: Slurm does not answer ({message}): is slurmctld running?") from None
        listing = ", ".join(sorted(set(names)))
        if not names:
            raise ConfigError(f"{chosen}: the cluster has no partition that you may see: ask who runs it (sinfo).")
        if self.partition is None and not default and "SBATCH_PARTITION" not in os.environ:
            raise ConfigError(
                f"{chosen}: the cluster has no default partition: choose {setting}.partition= of {listing}."
            )
        if self.partition is not None and self.partition not in names:
            raise ConfigError(
                f"{setting}.partition={self.partition}: the cluster has no such partition, only {listing}."
            )

    def start(self, work: Sequence[Work], folder: Path) -> _ArrayTasks:
        """Submit an array job with a task for each piece. Raises ConfigError where it is refused."""
        import submitit

        python = self.python or f"{shlex.quote(sys.executable)} -P"
        before = signal.getsignal(signal.SIGINT)
        try:
            kind = submitit.SlurmExecutor if self.cluster == "slurm" else submitit.LocalExecutor
            executor = kind(folder, max_num_timeout=self.requeues, python=python)
            executor.update_parameters(**self._parameters())
            if self.cluster == "local":  # Ctrl-C is handed on by `cancel`, and to be obeyed once
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            with _inherited():
                jobs = executor.map_array(Requeueable(), *zip(*((w.function, w.argument) for w in work), strict=True))
        except Exception as error:  # of submitit, which has no class for what sbatch refuses
            message = " ".join(str(error).split()).rpartition("sbatch: error: ")[2]
            reason = message.removeprefix("Batch job submission failed: ")[:300].rstrip(".")
            raise ConfigError(f"Slurm does not take the jobs: {reason}.") from error
        finally:
            signal.signal(signal.SIGINT, before)
        names = [piece.name for piece in work]
        return _ArrayTasks(dict(zip(names, jobs, strict=True)), by_squeue=self.cluster == "slurm")

    def cancel_named(self, names: Sequence[str]) -> None:
        if names and shutil.which("scancel"):
            subprocess.run(["scancel", *names], capture_output=True, timeout=_PATIENCE, check=False)

    def _parameters(self) -> dict[str, Any]:
        """Return submitit's parameters; settings that are null are left to sbatch."""
        shared = {"gpus_per_node": self.gpus, "setup": list(self.setup) or None, "signal_delay_s": self.signal_seconds}
        if self.cluster == "local":
            parameters: dict[str, Any] = {"timeout_min": self.minutes, **shared}
        else:
            parameters = {
                "job_name": "harness",
                "time": self.minutes,
                "ntasks_per_node": 1,
                "array_parallelism": self.count,
                "partition": self.partition,
                "account": self.account,
                "cpus_per_task": self.cpus,
                "mem": None if self.memory is None else f"{self.memory:g}GB",
                "additional_parameters": dict(self.additional),
                **shared,
            }
        return {name: value for name, value in parameters.items() if value is not None}


class Requeueable:
    """A piece of work in the form in which submitit has it done again after its time limit."""

    def __call__(self, function: str, argument: Any) -> int:
        return perform(function, argument)

    def checkpoint(self, function: str, argument: Any) -> Any:
        """Return the same work: begun again, it finds its answers in the cache."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, function, argument)


@contextmanager
def _inherited() -> Iterator[None]:
    """Set the environment that submitit's processes inherit, within the context."""
    before = dict(os.environ)
    os.environ.update(PYTHONPATH=python_path(), PYTHONSAFEPATH="1")
    try:
        yield
    finally:
        for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
            os.environ.pop(name, None)
            os.environ |= {name: before[name]} if name in before else {}


class _ArrayTasks:
    """Tasks of one array job."""

    outlives = True

    def __init__(self, jobs: Mapping[str, Any], *, by_squeue: bool) -> None:
        self._jobs, self._by_squeue = jobs, by_squeue
        self._array = str(next(iter(jobs.values())).job_id).partition("_")[0]
        self._words: Mapping[int, tuple[str, str]] = {}
        self.title = f"Slurm job {self._array}" if by_squeue else "submitit_local"
        self.names = [job.job_id for job in jobs.values()] if by_squeue else []
        self.grace = 30.0 if by_squeue else 0.0

    def states(self) -> Mapping[str, State] | None:
        """Return the states of the tasks; None where Slurm does not answer."""
        if not self._by_squeue:
            return {name: "ended" if job.done() else "running" for name, job in self._jobs.items()}
        words = slurm_states(self._array, len(self._jobs))
        self._words = words or self._words
        return None if words is None else {name: _state(words[k][0]) for k, name in enumerate(self._jobs)}

    def end_of(self, name: str) -> str:
        """Return Slurm's word for a task's state, or the file with what its process printed."""
        job = self._jobs[name]
        if not self._by_squeue:
            return f"process {job.job_id} has ended; what it printed is in {job.paths.stderr}"
        word, _ = self._words.get(list(self._jobs).index(name), ("", ""))
        task = self._array if len(self._jobs) == 1 else job.job_id
        return f"Slurm job {task}" + f": {word}" * bool(word) + (f"; {_ADVICE[word]}" if word in _ADVICE else "")

    def waiting(self) -> str:
        reasons = [reason for word, reason in self._words.values() if word in ("PENDING", "REQUEUE_HOLD")]
        kinds = ", ".join(sorted({reason for reason in reasons if reason not in ("", "None")}))
        return f"{len(reasons)} wait{'s' * (len(reasons) == 1)} in the queue ({kinds})" if kinds else ""

    def cancel(self, *, at_once: bool = False) -> None:
        """Cancel the job. Slurm sends its tasks SIGTERM, and kills them after its KillWait, half a minute mostly."""
        if self._by_squeue:
            subprocess.run(["scancel", self._array], capture_output=True, timeout=_PATIENCE, check=False)
            return
        for job in self._jobs.values():
            if not job.done():
                os.kill(int(job.job_id), signal.SIGTERM)


def _state(word: str) -> State:
    if word in _OVER or word == _GONE:
        return "ended"
    return "running" if word in ("RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT") else "waiting"


def slurm_states(array: str, tasks: int) -> dict[int, tuple[str, str]] | None:
    """Return Slurm's word for the state of each task of an array job and why it waits; None if Slurm does not answer.

    squeue knows a task until a few minutes after its end (MinJobAge); later only the accounting does, if there is one.
    """
    listed = _lines("squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r", f"--jobs={array}")
    if listed is None:
        return None
    words = _by_number(listed)
    if len(words) < tasks:
        accounts = _lines("sacct", "--noheader", "--allocations", "--parsable2", "--format=JobID,State", f"-j{array}")
        words = _by_number(accounts or []) | words
    return {number: words.get(number, (_GONE, "")) for number in range(tasks)}


def _by_number(lines: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return the states by the tasks' numbers, of lines such as `18_3|RUNNING|None`; 18 alone has one task, 0."""
    words = {}
    for line in lines:
        name, word, *reason = line.split("|")
        number = name.partition("_")[2] or "0"
        if number.isdigit():  # tasks that wait may stand together, as 18_[3-7], in the accounts
            words[int(number)] = word.partition(" ")[0], reason[0] if reason else ""
    return words


def _lines(*command: str) -> list[str] | None:
    """Return the lines a Slurm command prints; [] for a job it does not know, None if it failed."""
    try:
        return _output(*command).split("\n")[:-1]
    except subprocess.CalledProcessError as error:
        return [] if "Invalid job id" in error.stderr else None
    except (OSError, subprocess.TimeoutExpired):
        return None


def _output(*command: str) -> str:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SACCT_"))}
    return subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=True, env=variables).stdout
