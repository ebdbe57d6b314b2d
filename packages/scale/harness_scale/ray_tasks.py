"""Work as tasks on a Ray cluster. Ray itself queues them, and restarts one whose process or node has gone."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from harness.engine import Work
from harness.errors import ConfigError
from harness_scale.processes import perform, python_path
from harness_scale.watching import Taken, wait

Amount = Annotated[float, Field(ge=0)]


@dataclass(frozen=True)
class RayTasks:
    """configs/hydra/launcher/ray.yaml says what each setting means."""

    address: str | None = "auto"
    cpus: Amount = 1
    gpus: Amount = 0
    resources: Mapping[str, Amount] = field(default_factory=dict)
    retries: Annotated[int, Field(ge=0)] = 3
    tells: ClassVar[bool] = False

    def check(self, setting: str) -> int:
        """Return the number of tasks that the cluster has room for. Raises ConfigError without one."""
        try:
            import ray

            ray.init(self.address, ignore_reinit_error=True, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # Ray has a class of its own for each, in other modules with each version
            message = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ConfigError(f"{setting}: no Ray cluster answers at address={self.address} ({message}).") from None
        there, needs = ray.cluster_resources(), {"CPU": self.cpus, "GPU": self.gpus, **self.resources}
        if missing := [name for name, amount in needs.items() if there.get(name, 0) < amount]:
            raise ConfigError(f"{setting}: the cluster has too little {missing[0]} for a task: it would wait for ever.")
        return max(1, min((int(there[name] / n) for name, n in needs.items() if n), default=1))

    def carry_out(self, work: Sequence[Work], folder: Path, has_ended: Callable[[str], bool]) -> Mapping[str, str]:
        """Hand all of it to Ray, and wait."""
        self.check("hydra/launcher=ray")
        import ray

        task = ray.remote(_carry_out).options(
            num_cpus=self.cpus,
            num_gpus=self.gpus,
            resources=self.resources or None,
            max_retries=self.retries,
            runtime_env={"env_vars": {"PYTHONPATH": python_path()}},  # as here, where none is installed
        )
        # Keys go as arguments: every user of the cluster is shown the runtime environment.
        keys = [{name: os.environ[name] for name in piece.keys if name in os.environ} for piece in work]
        tasks = {w.name: task.remote(w.function, w.argument, own) for w, own in zip(work, keys, strict=True)}

        def ends() -> Mapping[str, str]:
            done, _ = ray.wait([*tasks.values()], num_returns=len(tasks), timeout=0)
            return {name: _end_of(ray, task) for name, task in tasks.items() if task in done}

        def cancel() -> None:
            for task in tasks.values():
                ray.cancel(task)

        return wait(Taken("Ray", ends, cancel, pause=1.0, grace=5.0), [*tasks], has_ended)


def _end_of(ray: Any, task: Any) -> str:
    """Return a task's exit code, or what Ray has for its exception."""
    try:
        return f"exit code {ray.get(task, timeout=0)}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip()[-200:]}"


def _carry_out(function: str, argument: Any, keys: Mapping[str, str]) -> int:
    os.environ.update(keys)
    return perform(function, argument)
