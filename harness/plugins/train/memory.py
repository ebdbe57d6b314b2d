"""What a training takes of a device's memory, worked out from the base's config before its weights are loaded.

Weights, gradients and Adam's moments are counted as they will be stored (Rajbhandari et al. 2020, ZeRO, section 3.1). A
base in 4 bits has a byte for two weights, and for each 64 of them a scale of one byte, whose own scale has 4 for 256
(Dettmers et al. 2023, QLoRA, section 3). Activations are an estimate: 34 · tokens · width bytes a layer at two bytes a
number, or 2 with the layers computed again (Korthikanti et al. 2022, sections 4.1 and 5); attention keeps no matrix of
tokens by tokens.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from harness.errors import ConfigError
from harness.plugins.train.recipe import Recipe

GB = 1e9
OPTIMIZERS = {"8bit": 2, "adafactor": 0, "sgd": 0}
"""Bytes of the optimizer for a weight, where its name has this; else Adam's two moments in float32, 8."""


@dataclass(frozen=True)
class Needed:
    """Bytes on a device; activations of one example at once, 0 where its length or the base's sizes are not known."""

    weights: int
    adapters: int
    gradients: int
    optimizer: int
    activations: int = 0
    """Why nothing could be worked out."""

    @property
    def total(self) -> int:
        return self.weights + self.adapters + self.gradients + self.optimizer + self.activations

    def __str__(self) -> str:
        parts = [*vars(self).items()]
        listed = ", ".join(f"{name} {size / GB:,.2f}" for name, size in parts if size)
        return f"{self.total / GB:,.2f} GB ({listed})"


def needed(learner: Any, recipe: Recipe, dtype: str, tokens: int = 0) -> Needed:
    """Return what training takes with one example of `tokens` at once."""
    from harness.plugins.train.loop import with_lora

    network = _without_weights(learner)
    base = sum(weight.numel() for weight in network.parameters())
    linear = _rounded(network) if recipe.bits else 0
    trained = base
    if recipe.lora.r:
        adapted = with_lora(network, recipe)
        trained = sum(weight.numel() for weight in adapted.parameters() if weight.requires_grad)
    return Needed(
        weights=4 * (base - linear) + linear // 2 + linear // 64 + 4 * linear // (64 * 256),
        adapters=4 * trained if recipe.lora.r else 0,
        # torch.autocast keeps a copy in two bytes of each trained weight until the step ends.
        gradients=(6 if dtype == "bfloat16" else 4) * trained,
        optimizer=_optimizer_bytes(recipe) * trained,
        activations=_activations(network.config, recipe, dtype, tokens),
    )


def check(need: Needed, recipe: Recipe, device: str) -> str:
    """Return a line on what training takes and the device has. Raises ConfigError where a GPU cannot hold it."""
    if any(os.environ.get(f"ACCELERATE_USE_{name}") == "true" for name in ("FSDP", "DEEPSPEED")):
        return f"Memory: {need} with one example at once, divided over the GPUs as accelerate is told."
    has = memory_of(device)
    if device == "cuda" and need.total > has:
        raise ConfigError(
            f"training {recipe.path or recipe.name} takes {need}, the GPU has {has / GB:.1f} GB: {_way_out(recipe)}, "
            "a smaller base, or several GPUs by accelerate (docs/finetuning.md)."
        )
    owner = "machine" if device == "cpu" else "device"
    return f"Memory: {need} with one example at once; the {owner} has {has / GB:.1f}."


def room_needed(need: Needed, recipe: Recipe, kept: int = 3) -> int:
    """Return the bytes on a disk of `kept` checkpoints (what is trained, Adam's two moments) and of merged weights."""
    merged = need.weights if recipe.lora.r and not recipe.bits else 0
    return kept * 3 * (need.adapters or need.weights) + merged


def memory_of(device: str) -> int:
    """Return the bytes of a device's memory."""
    import torch

    if device == "cuda":
        return int(torch.cuda.mem_get_info()[1])
    if device == "mps":
        return int(torch.mps.recommended_max_memory())
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _way_out(recipe: Recipe) -> str:
    steps = [
        "recipe.lora.r=16" if not recipe.lora.r else "",
        "recipe.bits=4" if recipe.kind == "causal_lm" and not recipe.bits else "",
        "" if _checkpointing(recipe) else "'recipe.trainer={gradient_checkpointing: true}'",
        "recipe.max_length=512",
    ]
    return "take " + ", ".join(step for step in steps if step)


def _without_weights(learner: Any) -> Any:
    """Return the base's network on torch's meta device, which counts and stores nothing."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification

    kind = AutoModelForCausalLM if learner.recipe.kind == "causal_lm" else AutoModelForSequenceClassification
    with torch.device("meta"):
        return kind.from_config(AutoConfig.from_pretrained(learner.folder))


def _rounded(network: Any) -> int:
    """Return how many weights bitsandbytes stores in 4 bits: those of the linear layers but the last."""
    import torch

    head = network.get_output_embeddings()
    layers = [layer for layer in network.modules() if isinstance(layer, torch.nn.Linear) and layer is not head]
    return sum(layer.weight.numel() for layer in layers)


def _optimizer_bytes(recipe: Recipe) -> int:
    name = str((recipe.trainer or {}).get("optim", "adamw_torch"))
    return next((size for part, size in OPTIMIZERS.items() if part in name), 8)


def _checkpointing(recipe: Recipe) -> bool:
    return bool((recipe.trainer or {}).get("gradient_checkpointing"))


def _activations(config: Any, recipe: Recipe, dtype: str, tokens: int) -> int:
    config = config.get_text_config()
    try:
        width, layers = int(config.hidden_size), int(config.num_hidden_layers)
    except AttributeError:  # code of somebody's own names its sizes as it likes
        return 0
    layer = 34 * tokens * width * (1 if dtype == "bfloat16" else 2)
    # Computed again layer by layer: the input of each, and all of one.
    return layers * layer // 17 + layer if _checkpointing(recipe) else layers * layer
