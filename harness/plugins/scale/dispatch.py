"""What the core asks of this plug-in (`harness.engine.Dispatch`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.plugins.scale import carry_out as workers
from harness.plugins.scale import launched, parallel, shard
from harness.plugins.scale.shard import next_step
from harness.plugins.scale.share import Share, check_shard
from harness.prepare import Prepared
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Task
from harness.run import Outcome
from harness.settings import Main
from harness.types import JSON

__all__ = ["carry_out", "check", "next_step", "shard_of", "wait"]


def shard_of(task: Task, prompt: Prompt, model: Model, settings: Main) -> Task:
    """Return the part of a task that shard= asks for; with workers= the task. Raises ConfigError."""
    check_shard(settings, model)
    return task if settings.shard is None else Share(task, prompt, settings.shard, settings.shards)


def check(prepared: Prepared) -> None:
    """Raise ConfigError where a prepared run cannot be asked in shards."""
    workers.check(prepared)


def carry_out(prepared: Prepared, config: Mapping[str, JSON], *, announced: bool) -> Outcome | None:
    """Return how a run with workers= ended; None for a shard, which is asked into the cache and not scored."""
    found = workers.check(prepared)
    if found is None:
        shard.run(prepared, brief=announced)
        return None
    return workers.carry_out(prepared, found, config, announced=announced)


def wait(engine: Any, work: Sequence[Any], place: Path) -> Mapping[int, str]:
    """Have the jobs of a sweep carried out; return how those ended that left no outcome."""
    if isinstance(engine, int):
        return parallel.carry_out(work, engine)
    return launched.wait(engine.launch(work), work, place)
