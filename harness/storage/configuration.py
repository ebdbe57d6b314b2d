"""The place and the configuration of a run: written by the commands that run, made again by the one that verifies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.settings import chosen
from harness.storage.places import variant
from harness.types import JSON

if TYPE_CHECKING:
    from harness.causal.learned_graph import Algorithm
    from harness.prompting.prompts import Prompt
    from harness.protocols import Task

Configuration = dict[str, Any]
_OPTIONS = {"observations": "samples"}
"""Settings of harness.discover that are called otherwise on its command line."""


def of_model(
    task: Task,
    prompt: Prompt,
    name: str,
    identity: Mapping[str, JSON],
    samples: int,
    judge: Mapping[str, JSON] | None = None,
) -> tuple[dict[str, str], Configuration]:
    """Return (place, configuration) of a run that asks the model of that name and identity.

    The place has task, variant, prompt and model; the configuration all that can change records or scores. `judge` is
    the part of it that says who reads what the rules cannot (`of_judge`).
    """
    settings = {**chosen(task), **prompt.settings}
    if samples > 1:
        settings["samples"] = samples
    if judge is not None:
        settings["judge"] = judge["name"]
    place = {"task": task.name, "variant": variant(settings), "prompt": prompt.name, "model": name}
    return place, {
        "task": settings,
        "data": dict(task.data),
        "prompt": {"name": prompt.name, "digest": prompt.digest},
        "model": {**identity, **prompt.model_settings},
        **({"judge": dict(judge)} if judge is not None else {}),
    }


def of_judge(name: str, identity: Mapping[str, JSON], prompt: Prompt) -> Configuration:
    """Return the part of a configuration that says who reads what the rules cannot, and in what words it is asked."""
    return {"name": name, "prompt": {"name": prompt.name, "digest": prompt.digest}, "model": dict(identity)}


def of_algorithm(
    task: Task, algorithm: Algorithm, observations: int, seed: int
) -> tuple[dict[str, str], Configuration]:
    """Return (place, configuration) of a run in which an algorithm learns from observations, drawn by the seed.

    It reads no words: what its data are stands where a model has its prompt.
    """
    data = {"observations": observations, "seed": seed}
    settings, prompt_name = chosen(task), variant(as_options(data))
    place = {"task": task.name, "variant": variant(settings), "prompt": prompt_name, "model": algorithm.name}
    return place, {"task": settings, "data": {**task.data, **data}, "prompt": {}, "model": dict(algorithm.identity)}


def as_options(data: Mapping[str, int]) -> dict[str, int]:
    """Return the settings of an algorithm's data under the names that the command has for them."""
    return {_OPTIONS.get(name, name): value for name, value in data.items()}
