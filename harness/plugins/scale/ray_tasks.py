"""Workers as tasks on a Ray cluster that is running. Ray itself starts one again whose process or node has gone."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from harness.errors import ConfigError
from harness.plugins.scale import orders
from harness.plugins.scale.engine import State
from harness.plugins.scale.surroundings import python_path
from harness.runtime.environment import installing

Amount = Annotated[float, Field(ge=0)]


@dataclass(frozen=True)
class RayTasks:
    """configs/workers/ray.yaml says what each setting means."""

    address: Annotated[str, Field(min_length=1)] = "auto"
    count: Annotated[int, Field(ge=1)] | None = None
    cpus: Amount = 1
    gpus: Amount = 0
    resources: dict[str, Amount] = field(default_factory=dict)
    retries: Annotated[int, Field(ge=0)] = 3

    @property
    def name(self) -> str:
        """What it is called."""
        return "ray"

    def check(self) -> int:
        """Return the number of tasks at a time. Raises ConfigError where there is no Ray, or none that has room."""
        try:
            import ray
        except ImportError:
            raise ConfigError(f"workers=ray needs Ray, of the version of its cluster: {installing('ray')}.") from None
        if not ray.is_initialized():
            self._connect(ray)
        there = ray.cluster_resources()
        needs = {
            name: amount for name, amount in {"CPU": self.cpus, "GPU": self.gpus, **self.resources}.items() if amount
        }
        for name, amount in needs.items():
            if there.get(name, 0) < amount:
                raise ConfigError(
                    f"workers=ray: a task needs {amount:g} {name}, and the cluster has {there.get(name, 0):g}: it "
                    "would wait for ever."
                )
        fit = min((int(there[name] // amount) for name, amount in needs.items()), default=1)
        return self.count or max(1, fit)

    def _connect(self, ray: Any) -> None:
        try:
            ray.init(address=self.address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:  # Ray has a class of its own for each, in other modules with each version
            said = " ".join(str(error).split())
            if "ersion mismatch" in said:
                raise ConfigError(
                    f"workers=ray: the cluster runs another version of Ray or Python ({said[:200]})."
                ) from None
            token = "" if self.address == "auto" else ", or export RAY_AUTH_MODE=token where it asks for its token"
            raise ConfigError(
                f"workers=ray: no Ray cluster answers at workers.address={self.address}: begin one with `ray start "
                f"--head`, or give the address of one{token} ({type(error).__name__}: {said[:80]})."
            ) from None

    def start(self, orders: Sequence[Path], log: Path) -> _Started:
        """Begin as many as there may be at a time; the others begin when these have ended."""
        import ray

        options: dict[str, Any] = {
            "num_cpus": self.cpus,
            "num_gpus": self.gpus,
            "resources": self.resources or None,
            "max_retries": self.retries,
            "runtime_env": {
                "env_vars": {"PYTHONPATH": python_path()}
            },  # as here, where the package is no installed one
        }
        task = ray.remote(_work).options(**options)
        return _Started(ray, task, orders, self.check())

    def cancel_named(self, names: Sequence[str]) -> None:
        """Do nothing: Ray ends tasks with the process that began them."""


class _Started:
    """Tasks, of which some run or wait for Ray, and others wait for their turn."""

    names = ()

    def __init__(self, ray: Any, task: Any, orders: Sequence[Path], count: int) -> None:
        self._ray, self._task, self._count = ray, task, count
        self._begun: dict[Path, Any] = {}
        """Ray's references to what they will return."""
        self._waiting = deque(orders)
        self._ended: set[Path] = set()
        self._begin()

    def states(self) -> Mapping[Path, State]:
        """Return the state of each worker, after beginning others in the place of those that have ended."""
        running = {task: order for order, task in self._begun.items() if order not in self._ended}
        if running:
            done, _ = self._ray.wait(list(running), num_returns=len(running), timeout=0)
            self._ended |= {running[task] for task in done}
        self._begin()
        states: dict[Path, State] = dict.fromkeys(self._waiting, "waiting")
        return states | {order: "ended" if order in self._ended else "running" for order in self._begun}

    def end_of(self, order: Path) -> str:
        """Return the first line of the exception that Ray has for it."""
        try:
            self._ray.get(self._begun[order], timeout=0)
        except Exception as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            return f"{type(error).__name__}: {lines[-1].strip()[:200]}" if lines else type(error).__name__
        return ""

    def cancel(self) -> None:
        """Have Ray interrupt the tasks, which end in order; those that have not begun never do."""
        self._begun |= dict.fromkeys(self._waiting)
        self._ended |= set(self._waiting)
        self._waiting.clear()
        for order, task in self._begun.items():
            if order not in self._ended:
                with suppress(Exception):  # it has ended meanwhile
                    self._ray.cancel(task)

    def _begin(self) -> None:
        while self._waiting and len(self._begun) - len(self._ended) < self._count:
            order = self._waiting.popleft()
            # Not by way of the runtime's environment, which Ray shows to whoever looks at the cluster.
            name = orders.read(order).config["model"].get("api_key_env") or ""
            key = {name: os.environ[name]} if name in os.environ else {}
            self._begun[order] = self._task.remote(str(order), key)


def _work(order: str, key: Mapping[str, str]) -> int:
    from harness.plugins.scale.worker import work

    os.environ.update(key)
    return work(Path(order))
