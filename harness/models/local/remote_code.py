"""Checkpoints that bring Python code of their own (model.trust_remote_code), and what transformers 5 does to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def model_class(folder: Path, auto_class: str, *, trusted: bool) -> Any:
    """Return the class to load a checkpoint with: its own for `auto_class` where that is trusted, else `auto_class`.

    Not left to the auto class, which gives a class of 2023 its `generate` only the first time it is loaded.
    """
    import transformers
    from transformers.dynamic_module_utils import get_class_from_dynamic_module

    class_name = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("auto_map", {}).get(auto_class)
    if not (trusted and class_name):
        return getattr(transformers, auto_class)
    own = get_class_from_dynamic_module(class_name, folder)
    if auto_class != "AutoModelForCausalLM" or issubclass(own, transformers.GenerationMixin):
        return own
    return type(own.__name__, (own, transformers.GenerationMixin), {"__module__": own.__module__})


def brings_code(model: Any) -> bool:
    """Return whether a model's class came with its checkpoint."""
    return type(model).__module__.startswith("transformers_modules.")


def restore_buffers(model: Any) -> None:
    """Recompute the tables that a model makes when it is built, such as those of rotary embeddings.

    transformers 5 builds models without memory. It knows how to fill such tables of its own classes afterwards; those
    of a checkpoint's own class it leaves as whatever was in memory. A second model gives them, its weights without
    memory.
    """
    import torch

    register = torch.nn.Module.register_parameter

    def without_memory(module: Any, name: str, weight: Any) -> None:
        register(module, name, weight if weight is None else torch.nn.Parameter(weight.to("meta"), requires_grad=False))

    torch.nn.Module.register_parameter = without_memory  # type: ignore[method-assign, assignment]
    try:
        fresh = type(model)(model.config)
    finally:
        torch.nn.Module.register_parameter = register  # type: ignore[method-assign]
    for name, table in fresh.named_non_persistent_buffers():
        place, _, last = name.rpartition(".")
        table = table.to(model.get_buffer(name).dtype)
        model.get_submodule(place).register_buffer(last, table, persistent=False)
