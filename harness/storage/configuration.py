"""What tells a run from others: its place below results/, its configuration, and how two of these differ."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.codec import text_digest
from harness.settings import chosen
from harness.types import JSON, ChatRequest, ChoiceRequest, Request

if TYPE_CHECKING:
    from harness.causal.learned_graph import Identified
    from harness.prompting.prompts import Prompt
    from harness.protocols import Model, Task

Configuration = dict[str, Any]
METHODS: Mapping[type[Request], str] = {ChoiceRequest: "rank", ChatRequest: "generate"}
"""What model.method= calls the kinds of request."""
_OPTIONS = {"observations": "samples"}
"""Settings of `harness discover` that are called otherwise on its command line."""


def of_model(
    task: Task,
    prompt: Prompt,
    name: str,
    answerer: Mapping[str, JSON],
    samples: int,
    judge: Mapping[str, JSON] | None = None,
) -> tuple[dict[str, str], Configuration]:
    """Return (place, configuration) of a run that asks the model of that name.

    The place has task, variant, prompt and model; the configuration all that decides what is asked and how it is read.
    `answerer` is the part of it that says what answers (`of_answerer`), `judge` the one that says who reads what the
    rules cannot (`of_judge`).
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
        "model": dict(answerer),
        **({"judge": dict(judge)} if judge is not None else {}),
    }


def of_answerer(model: Model, prompt: Prompt, kind: type[Request]) -> Configuration:
    """Return the part of a configuration that says what answers requests of a kind, and how the prompt has it asked.

    Answers are stored by the model's identity and the request; two runs of one identity may differ in the request.
    """
    method = {"method": METHODS[kind]} if model.traits.ranks_and_writes else {}
    return {**model.identity, **method, **prompt.model_settings}


def of_judge(name: str, identity: Mapping[str, JSON], prompt: Prompt) -> Configuration:
    """Return the part of a configuration that says who reads what the rules cannot, and in what words it is asked."""
    return {
        "name": name,
        "prompt": {"name": prompt.name, "digest": prompt.digest},
        "model": {**identity, **prompt.model_settings},
    }


def of_algorithm(
    task: Task, algorithm: Identified, observations: int, seed: int
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


def folder_of(results: str, place: Mapping[str, str]) -> Path:
    return Path(results, *place["task"].split("/"), *(safe(place[part]) for part in ("variant", "prompt", "model")))


def safe(name: str) -> str:
    """Return a name as one part of a path: a/b becomes a__b; one that is too long ends in a digest."""
    part = re.sub(r"[^\w.,=+()\[\]-]", "-", name.replace("/", "__")).strip(".") or "-"
    return part if len(part.encode()) <= 160 else f"{part[:100]}-{text_digest(name)[:12]}"


def variant(settings: Mapping[str, Any]) -> str:
    """Return settings as one name, such as limit=100,split=dev; `default` if there are none."""
    return ",".join(f"{name}={setting_text(value)}" for name, value in settings.items()) or "default"


def setting_text(value: Any) -> str:
    """Return the value of a setting as it stands in the name of a variant."""
    if isinstance(value, Mapping):
        return "+".join(f"{safe(str(name))}={setting_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "+".join(map(setting_text, value))
    return safe(str(value))


_ABSENT = object()


def difference(there: Any, mine: Any, renamed_by: str = "model.name") -> str:
    """Return how the configuration in a folder differs from another one, and the way out, as the end of a sentence."""
    if isinstance(there, Mapping) and {**there, "prompt": None} == {**mine, "prompt": None}:
        shown, name = f"other words of the prompt {mine['prompt'].get('name')}", "the prompt another name"
    else:
        at, old, new = _first(there, mine)
        shown = f"another configuration ({at.replace('.sampling.', '.')}: {_json(old)} there, {_json(new)} now)"
        name = f"this one another name ({renamed_by}=…)"
    way = "take overwrite=true" if renamed_by == "model.name" else "remove the folder"
    return f"a run with {shown}: give {name}, or another place (results=…), or {way}."


def _first(there: Any, mine: Any, at: str = "") -> tuple[str, Any, Any]:
    """Return the first setting in which two configurations differ, with both values."""
    if isinstance(there, dict) and isinstance(mine, dict):
        for name in {**there, **mine}:
            if name not in there or name not in mine or there[name] != mine[name]:
                return _first(there.get(name, _ABSENT), mine.get(name, _ABSENT), f"{at}.{name}" if at else name)
    return at, there, mine


def _json(value: Any) -> str:
    return "nothing" if value is _ABSENT else json.dumps(value)
