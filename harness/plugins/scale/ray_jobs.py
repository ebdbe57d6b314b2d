"""Jobs of a sweep as tasks of a Ray cluster (hydra/launcher=ray)."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.errors import ConfigError, HarnessError
from harness.plugins.scale.surroundings import python_path
from harness.runtime import environment, secrets
from harness.sweep.order import Order

_PATIENCE = 10.0
"""Seconds for a cluster to answer."""


@dataclass(frozen=True)
class _Settings:
    """What is handed to Ray's functions of these names; configs/hydra/launcher/ray.yaml has the defaults."""

    init: dict[str, Any] = field(default_factory=dict)
    remote: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RayEngine:
    """Hands the jobs to a Ray cluster, or to a Ray that it starts on this machine."""

    ray: _Settings = field(default_factory=_Settings)

    def launch(self, orders: Sequence[Order]) -> RayTasks:
        """Hand over the jobs. Raises ConfigError where Ray is not there, or does not take them."""
        try:
            import ray
        except ImportError:
            raise ConfigError(f"hydra/launcher=ray needs Ray: {environment.installing('ray')}.") from None
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        settings = {name: value for name, value in self.ray.init.items() if value is not None}
        _check_address(str(settings.get("address") or os.environ.get("RAY_ADDRESS", "")))
        try:
            if not ray.is_initialized():
                defaults = {"log_to_driver": False, "configure_logging": False}
                ray.init(**{**defaults, "runtime_env": {"env_vars": _environment()}, **settings})
            carry_out = ray.remote(**self.ray.remote)(_carry_out)
            keys = secrets.in_environment()
            tasks = [carry_out.remote(asdict(order), keys) for order in orders]
        except Exception as error:  # Ray has a class of its own for each, in other modules with each version
            raise ConfigError(f"Ray does not take the jobs: {_first_line(error)}") from error
        return RayTasks(tasks)


class RayTasks:
    """The jobs of a sweep as tasks of Ray."""

    grace = 5.0
    outlives = False  # Ray ends what nobody waits for

    def __init__(self, tasks: Sequence[Any]) -> None:
        """Wait for tasks, one for each job, in their order."""
        self._tasks = list(tasks)
        self.name = "Ray"

    def ended(self) -> Mapping[int, str] | None:
        """Return the tasks that run no more, with what Ray says of each. Ray has begun them again as often as told."""
        import ray

        ready, _ = ray.wait(self._tasks, num_returns=len(self._tasks), timeout=0)
        ends = {}
        for task in ready:
            number = self._tasks.index(task)
            try:
                ends[number] = ray.get(task)
            except ray.exceptions.RayError as error:
                ends[number] = f"Ray: {type(error).__name__}"
        return ends

    def waiting(self) -> str:
        """Return nothing: Ray says itself where a task cannot be placed."""
        return ""

    def cancel(self) -> None:
        """Interrupt the tasks: each gets a Ctrl-C."""
        import ray

        for task in self._tasks:
            ray.cancel(task)


def _carry_out(order: dict[str, Any], keys: Mapping[str, str]) -> str:
    """Carry out a job in a process of Ray's; return in words how it has ended.

    The keys come beside it: Ray shows the settings of processes to whoever looks at the cluster.
    """
    os.environ.update(keys)
    try:
        return f"exit code {Order(**order).carry_out()}"
    except (HarnessError, OSError) as error:  # before the job had begun: the node has not the same disk
        return str(error)


def _check_address(address: str) -> None:
    """Refuse an address where nobody answers: Ray would try for minutes. Raises ConfigError."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), _PATIENCE).close()
    except OSError as error:
        raise ConfigError(
            f"no Ray cluster answers at {address} ({error.strerror or 'timed out'}): begin one (`ray start --head`) or "
            "give the address of another (hydra.launcher.ray.init.address=, else RAY_ADDRESS)."
        ) from None


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": python_path()}


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".") + "."
