"""Work as tasks on a Ray cluster. Ray itself restarts a task whose process or node has gone."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from harness.engine import State, Work
from harness.errors import ConfigError
from harness.plugins.scale.processes import perform, python_path
from harness.runtime.environment import installing

Amount = Annotated[float, Field(ge=0)]
_PATIENCE = 10.0
"""Seconds for a cluster to answer."""


@dataclass(frozen=True)
class RayTasks:
    """configs/workers/ray.yaml says what each setting means."""

    address: Annotated[str, Field(min_length=1)] | None = "auto"
    count: Annotated[int, Field(ge=1)] | None = None
    cpus: Amount = 1
    gpus: Amount = 0
    resources: dict[str, Amount] = field(default_factory=dict)
    retries: Annotated[int, Field(ge=0)] = 3

    @property
    def name(self) -> str:
        return "ray"

    def check(self, setting: str) -> int:
        """Return the number of tasks at a time. Raises ConfigError without Ray, or without a cluster that has room."""
        chosen = f"{setting.replace('.', '/')}=ray"
        try:
            import ray
        except ImportError:
            raise ConfigError(f"{chosen} needs Ray: {installing('ray')}, in the version of its cluster.") from None
        if not ray.is_initialized():
            self._connect(ray, setting, chosen)
        there = ray.cluster_resources()
        needs = {
            name: amount for name, amount in {"CPU": self.cpus, "GPU": self.gpus, **self.resources}.items() if amount
        }
        for name, amount in needs.items():
            if there.get(name, 0) < amount:
                raise ConfigError(
                    f"{chosen}: a task needs {amount:g} {name}, and the cluster has {there.get(name, 0):g}: it "
                    "would wait for ever."
                )
        fit = min((int(there[name] // amount) for name, amount in needs.items()), default=1)
        return self.count or max(1, fit)

    def _connect(self, ray: Any, setting: str, chosen: str) -> None:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        address = self.address or os.environ.get("RAY_ADDRESS", "")
        try:
            _knock(address)
            ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # Ray has a class of its own for each, in other modules with each version
            message = " ".join(str(error).split())
            if "ersion mismatch" in message:
                raise ConfigError(
                    f"{chosen}: the cluster runs another version of Ray or Python ({message[:200]})."
                ) from None
            token = "" if address == "auto" else ", or export RAY_AUTH_MODE=token where it asks for its token"
            raise ConfigError(
                f"{chosen}: no Ray cluster answers at {setting}.address={address}: begin one with `ray start "
                f"--head`, or give the address of one{token} ({type(error).__name__}: {message[:80]})."
            ) from None

    def start(self, work: Sequence[Work], folder: Path) -> _RayTasks:
        """Begin as many as there may be at a time; the others begin when these have ended."""
        import ray

        options: dict[str, Any] = {
            "num_cpus": self.cpus,
            "num_gpus": self.gpus,
            "resources": self.resources or None,
            "max_retries": self.retries,
            "runtime_env": {"env_vars": {"PYTHONPATH": python_path()}},  # as here, where none is installed
        }
        return _RayTasks(ray, ray.remote(_carry_out).options(**options), work, self.count or len(work))

    def cancel_named(self, names: Sequence[str]) -> None:
        """Do nothing: Ray ends tasks with the process that began them."""


class _RayTasks:
    """Tasks, of which some run or wait for Ray, and others wait for their turn."""

    title, names, grace, outlives = "Ray", (), 5.0, False

    def __init__(self, ray: Any, task: Any, work: Sequence[Work], count: int) -> None:
        self._ray, self._task, self._count = ray, task, count
        self._begun: dict[str, Any] = {}
        """Ray's references to what they will return."""
        self._queue = deque(work)
        self._ended: set[str] = set()
        self._fill()

    def states(self) -> Mapping[str, State]:
        """Return the states, after beginning others in the place of those that have ended."""
        running = {task: name for name, task in self._begun.items() if name not in self._ended}
        if running:
            done, _ = self._ray.wait(list(running), num_returns=len(running), timeout=0)
            self._ended |= {running[task] for task in done}
        self._fill()
        states: dict[str, State] = {work.name: "waiting" for work in self._queue}
        return states | {name: "ended" if name in self._ended else "running" for name in self._begun}

    def end_of(self, name: str) -> str:
        """Return the exit code, or the last line of the exception that Ray has for it."""
        try:
            return f"exit code {self._ray.get(self._begun[name], timeout=0)}"
        except Exception as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            return f"{type(error).__name__}: {lines[-1].strip()[:200]}" if lines else type(error).__name__

    def waiting(self) -> str:
        return ""  # Ray says itself where a task cannot be placed

    def cancel(self, *, at_once: bool = False) -> None:
        """Have Ray interrupt the tasks, which end in order; drop those that have not begun."""
        self._begun |= {work.name: None for work in self._queue}
        self._ended |= {work.name for work in self._queue}
        self._queue.clear()
        for name, task in self._begun.items():
            if name not in self._ended:
                with suppress(Exception):  # it has ended meanwhile
                    self._ray.cancel(task)

    def _fill(self) -> None:
        while self._queue and len(self._begun) - len(self._ended) < self._count:
            work = self._queue.popleft()
            # Not in the runtime environment, which Ray shows to every user of the cluster.
            keys = {name: os.environ[name] for name in work.keys if name in os.environ}
            self._begun[work.name] = self._task.remote(work.function, work.argument, keys)


def _carry_out(function: str, argument: Any, keys: Mapping[str, str]) -> int:
    os.environ.update(keys)
    return perform(function, argument)


def _knock(address: str) -> None:
    """Raise OSError if nothing listens at an address: Ray would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), _PATIENCE).close()
