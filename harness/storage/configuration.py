"""The place and the configuration of a run: written by the commands that run, made again by the one that verifies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.codec import digest
from harness.settings import chosen
from harness.storage.run_folder import variant
from harness.types import JSON

if TYPE_CHECKING:
    from harness.causal.discovery.protocol import Algorithm
    from harness.prompting.prompts import Prompt
    from harness.protocols import Task

Configuration = dict[str, Any]


def of_model(
    task: Task, prompt: Prompt, name: str, identity: Mapping[str, JSON], samples: int
) -> tuple[dict[str, str], Configuration]:
    """Return (place, configuration) of a run that asks the model of that name and identity.

    The place has task, variant, prompt and model; the configuration all that can change records or scores.
    """
    settings = chosen(task)
    if prompt.words.opening and prompt.replies != "model":
        settings["replies"] = prompt.replies
    if samples > 1:
        settings["samples"] = samples
    place = {"task": task.name, "variant": variant(settings), "prompt": prompt.name, "model": name}
    return place, {
        "task": settings,
        "data": dict(task.data),
        "prompt": {"name": prompt.name, "digest": prompt.digest},
        "model": dict(identity),
    }


def of_algorithm(task: Task, algorithm: Algorithm, samples: int, seed: int) -> tuple[dict[str, str], Configuration]:
    """Return (place, configuration) of a run in which an algorithm learns from so many samples, drawn by the seed."""
    data = {"samples": samples, "seed": seed}
    settings = chosen(task)
    place = {"task": task.name, "variant": variant(settings), "prompt": variant(data), "model": algorithm.name}
    return place, {
        "task": settings,
        "data": dict(task.data),
        "prompt": {"name": place["prompt"], "digest": digest(data)},
        "model": dict(algorithm.identity),
    }
