"""What Every Eval Ever wants to know of a run: who made and ran its model, its prompt's words, its items' source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.errors import HarnessError
from harness.models.api.families import on_this_machine
from harness.prompting.prompts import recorded
from harness.storage.manifest import Settings
from harness.storage.runs import Run
from harness.tasks.find import benchmark_of

LIBRARY = "causal-learn"
"""The library of some algorithms: their identities hold its version."""
SERVED = "served.chat"
"""The kind of a checkpoint behind a server that the run has started."""
LOCAL = ("nli", "causal_lm", "masked_lm")
OPENAI = "api.openai.com"

OWNERS = {
    "bert-large-uncased": "google-bert",
    "gpt2": "openai-community",
    "gpt2-large": "openai-community",
    "gpt2-xl": "openai-community",
    "roberta-large": "FacebookAI",
    "roberta-large-mnli": "FacebookAI",
}
"""Where the Hugging Face Hub redirects the names that it once gave without an owner."""

_HUB = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


def model_info(run: Run) -> dict[str, Any]:
    """Return the schema's model_info; the id is `developer/model`, or the model alone without a known developer."""
    config, identity = _model(run.manifest.config), _model(run.configuration)
    kind = str(identity.get("kind"))
    host = _host(config) if "endpoint" in identity else None
    name = _name(run, kind, host, config, identity)
    developer = name.partition("/")[0] if "/" in name else None
    engine = _engine(run, kind, identity)
    details = {key: as_text(value) for key, value in identity.items() if value is not None}
    if kind in LOCAL and config.get("revision"):
        details["revision"] = str(config["revision"])
    return {
        "name": run.place["model"],
        "id": name,
        **({"developer": developer} if developer else {}),
        **({"inference_platform": "openai" if host == OPENAI else host} if host else {}),
        **({"inference_engine": engine} if engine else {}),
        "additional_details": {**details, **_deployment(run, kind, host, developer)},
    }


def relationship(run: Run, developer: str | None) -> str:
    """Return the relationship of the evaluator to the model's developer; `other` if unknown."""
    if _program(run) == "harness":
        return "first_party"
    return "third_party" if developer else "other"


def sampling(run: Run) -> Mapping[str, Any]:
    """Return the sampling parameters that were sent to a server; {} for other models."""
    parameters = _model(run.configuration).get("sampling")
    return parameters if isinstance(parameters, dict) else {}


def reasons(run: Run) -> bool:
    return "reasoning_tokens" in _model(run.configuration)


def _model(part: Mapping[str, Any] | Settings | None) -> Mapping[str, Any]:
    """Return the entry `model` of a part of the manifest; {} where it has none."""
    model = (part or {}).get("model")
    return model if isinstance(model, dict) else {}


def _program(run: Run) -> str:
    """Return the program or library that a baseline, solver, algorithm or cheat is part of; "" for a language model."""
    if run.role == "model":
        return ""
    if LIBRARY in _model(run.configuration):
        return LIBRARY
    config = run.manifest.config or {}
    return str((config.get("model") or config.get("algorithm") or {}).get("_target_") or "").partition(".")[0]


def _name(run: Run, kind: str, host: str | None, config: Mapping[str, Any], identity: Mapping[str, Any]) -> str:
    display_name = run.place["model"]
    if program := _program(run):
        return f"{program}/{_last(display_name)}"
    if kind in LOCAL or kind == SERVED:
        path = str(config.get("path") or display_name)
        if path in OWNERS:
            return f"{OWNERS[path]}/{path}"
        # A folder says nothing of who made what is in it.
        return path if _HUB.fullmatch(path) and not Path(path).exists() else _last(display_name)
    if "endpoint" in identity:
        requested = str(identity.get("model") or display_name)
        if host == OPENAI and "/" not in requested:
            return f"openai/{requested}"
        return requested if _HUB.fullmatch(requested) else _last(requested)
    return _last(display_name)


def _last(name: str) -> str:
    last = name.rstrip("/").rpartition("/")[2].strip()
    return last if last.strip(".") else "unknown"


def _host(config: Mapping[str, Any]) -> str | None:
    """Return the server's host; None on this machine, whose address says nothing."""
    try:
        url = str(config.get("base_url") or "")
        return None if on_this_machine(url) else urlsplit(url).hostname
    except ValueError:
        return None


def _engine(run: Run, kind: str, identity: Mapping[str, Any]) -> dict[str, str] | None:
    versions, harness = run.manifest.versions or {}, run.manifest.harness or {}
    if kind in LOCAL:
        name = "transformers"
        version = versions.get(name)
    elif kind == SERVED:
        name, version = str(identity.get("engine")), identity.get("version")
    elif name := _program(run):
        version = harness.get("version") if name == "harness" else identity.get(name)
    else:
        return None
    return {"name": name, **({"version": str(version)} if version else {})}


def _deployment(run: Run, kind: str, host: str | None, developer: str | None) -> dict[str, str]:
    """Return who ran the model and whether its weights are public; `unknown` unless it is plain."""
    if host == OPENAI:
        return {"deployment_type": "externally_managed", "model_availability": "closed_weights"}
    here = "self_deployed" if kind in LOCAL or _program(run) else "unknown"
    return {
        "deployment_type": here,
        "model_availability": "open_weights" if kind in LOCAL and developer else "unknown",
    }


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def prompt_words(run: Run) -> dict[str, str]:
    """Return `template` and `parser` of the prompt; {} where an algorithm answered, or the words make no prompt.

    Nothing that a manifest names is opened or imported: the names may come from anybody.
    """
    words = run.manifest.words
    if words is None:
        return {}
    try:
        prompt = recorded(run.place["prompt"], words, ()).words
    except HarnessError:
        return {}
    question = prompt.user or f"{prompt.premise}\n\n{prompt.hypothesis}"
    parts = [prompt.system, *prompt.opening, question]
    return {"template": "\n\n".join(part for part in parts if part), "parser": prompt.parser}


def source_data(run: Run) -> dict[str, Any]:
    """Return the source of a run's items: a data set of the Hugging Face Hub, an address, or `other`."""
    task = run.place["task"]
    configuration, items = run.configuration, run.manifest.items or {}
    facts = {
        "settings": configuration.get("task"),
        "data": configuration.get("data") or None,
        "items": items.get("count"),
        "items_sha256": items.get("sha256"),
    }
    details = {name: as_text(value) for name, value in facts.items() if value is not None}
    data_set = {"dataset_name": task}
    settings = (run.manifest.config or {}).get("task") or {}
    origin = benchmark_of(task).origin(settings)
    if origin.addresses:
        return {**data_set, "source_type": "url", "url": [*origin.addresses], "additional_details": details}
    if origin.data_set:
        details |= {"hf_revision": origin.revision} if origin.revision else {}
        return {
            **data_set,
            "source_type": "hf_dataset",
            "hf_repo": origin.data_set,
            "hf_split": origin.split,
            "additional_details": details,
        }
    return {**data_set, "source_type": "other", "additional_details": details}
