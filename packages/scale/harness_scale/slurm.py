"""Work as tasks of an array job of Slurm, through submitit.

submitit writes the batch script and requeues tasks that reach their time limit or are preempted. States come from
squeue, not from submitit, which asks the accounting and waits for ever on a cluster without one.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from harness.engine import Work
from harness.errors import ConfigError
from harness_scale.processes import perform, python_path
from harness_scale.watching import Taken, wait


@dataclass(frozen=True)
class Slurm:
    """configs/hydra/launcher/slurm.yaml says what each setting means."""

    count: Annotated[int, Field(ge=1)] = 4
    minutes: Annotated[int, Field(ge=1)] = 60
    requeues: Annotated[int, Field(ge=0)] = 20
    gpus: Annotated[int, Field(ge=0)] = 0
    signal_seconds: Annotated[int, Field(ge=1)] = 120
    setup: tuple[str, ...] = ()
    additional: dict[str, Any] = field(default_factory=dict)
    tells: ClassVar[bool] = False

    def check(self, setting: str) -> int:
        """Return the number of array tasks at a time. Raises ConfigError where Slurm or submitit is not there."""
        if find_spec("submitit") is None or shutil.which("sbatch") is None:
            raise ConfigError(f"{setting} needs submitit (pip install submitit), and a login node of Slurm (sbatch).")
        return self.count

    def carry_out(self, work: Sequence[Work], folder: Path, has_ended: Callable[[str], bool]) -> Mapping[str, str]:
        """Submit an array job with a task for each piece, and wait. Raises ConfigError where it is refused."""
        self.check("hydra/launcher=slurm")
        import submitit

        try:
            with handed_on():
                executor = submitit.SlurmExecutor(
                    folder / ".submitit", max_num_timeout=self.requeues, python=f"{shlex.quote(sys.executable)} -P"
                )
                executor.update_parameters(
                    job_name="harness",
                    time=self.minutes,
                    ntasks_per_node=1,
                    array_parallelism=self.count,
                    signal_delay_s=self.signal_seconds,
                    setup=list(self.setup),
                    additional_parameters={**self.additional} | ({"gpus_per_node": self.gpus} if self.gpus else {}),
                )
                jobs = executor.map_array(Requeueable(), *zip(*((w.function, w.argument) for w in work), strict=True))
        except Exception as error:  # of submitit, which has no class for what sbatch refuses
            message = " ".join(str(error).split()).rpartition("sbatch: error: ")[2]
            reason = message.removeprefix("Batch job submission failed: ")[:300].rstrip(".")
            raise ConfigError(f"Slurm does not take the jobs: {reason}.") from error
        array = str(jobs[0].job_id).partition("_")[0]
        tasks = {piece.name: f"{array}_{number}" for number, piece in enumerate(work)}
        lost = f"no longer in the queue; {folder / '.submitit'} has what it printed"

        def ends() -> dict[str, str]:
            """Return the tasks that squeue does not list; where it does not answer, none."""
            command = ["squeue", "--noheader", "--array", "--format=%i", f"--jobs={array}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode and "Invalid job id" not in done.stderr:
                return {}
            there = {*done.stdout.split()}
            return {name: lost for name, task in tasks.items() if not {task, array} & there}

        def cancel() -> None:
            """Have Slurm send SIGTERM, and kill what has not ended after its KillWait, half a minute mostly."""
            subprocess.run(["scancel", array], capture_output=True, check=False)

        return wait(Taken(f"Slurm job {array}", ends, cancel, 15.0, 30.0, outlives=True), [*tasks], has_ended)


class Requeueable:
    """A piece of work in the form in which submitit has it done again after its time limit."""

    def __call__(self, function: str, argument: Any) -> int:
        return perform(function, argument)

    def checkpoint(self, function: str, argument: Any) -> Any:
        """Return the same work: begun again, it finds its answers in the cache."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, function, argument)


@contextmanager
def handed_on() -> Iterator[None]:
    """Set the environment that sbatch hands on to the tasks, within the context.

    Within a job of Slurm's the variables that describe it are left out: another job would take its binding, memory and
    array numbers for its own.
    """
    before = dict(os.environ)
    os.environ.update(PYTHONPATH=python_path(), PYTHONSAFEPATH="1")
    if "SLURM_JOB_ID" in before:
        for name in before:
            if name.startswith(("SLURM_", "SLURMD_", "SRUN_")) and name not in ("SLURM_CONF", "SLURM_JWT"):
                del os.environ[name]
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
