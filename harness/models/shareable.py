"""Whether prompts can share what they begin with in a model: by what its settings say, then by a trial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from harness.errors import ConfigError
from harness.models.kv import Memory
from harness.models.own_code import brings_code
from harness.models.prefix import grow
from harness.models.sharing import Reading

TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-4}
"""How far the trial may be off, as a share of how much logits differ; where nothing is said, LOW_TOLERANCE."""
LOW_TOLERANCE = 0.15
PIECE = 7
"""Nodes of the trial read at once."""


def obstacle(model: Any) -> str | None:
    """Why the prompts of a model cannot share anything; None where they can."""
    if brings_code(model):
        return "its code came with it"
    config = model.config.get_text_config(decoder=True)
    if config.model_type == "gpt_neo":
        return "its local layers look back by place, not by mask"
    if changing := sorted(_rope_types(config) & {"dynamic", "longrope"}):
        return f"its positions ({changing[0]}) depend on the length of the whole text"
    try:
        off = _trial(model)
    except ConfigError as error:
        return str(error)
    except Exception as error:  # whatever a model's code makes of a mask and of positions that it does not expect
        return f"a trial failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    if off > TOLERANCE.get(model.dtype, LOW_TOLERANCE):
        return f"a trial was {off:.2g} off"
    return None


def _rope_types(config: Any) -> set[str]:
    """The kinds of rotary positions that a configuration names, for all layers or by kind of layer."""
    found = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    each = [found, *(value for value in found.values() if isinstance(value, dict))]
    return {str(value.get("rope_type") or value.get("type")) for value in each}


def _trial(model: Any) -> float:
    """How far logits after a small tree's leaves are from those of each of its sequences alone: the mean over them."""
    sequences = _sequences(model.get_input_embeddings().weight.shape[0])
    tree = grow(sequences)
    memory = Memory(model)
    reading = Reading(tree, memory)
    shared: dict[int, Any] = {}
    while reading.at < len(tree.tokens):
        stop = min(reading.at + PIECE, len(tree.tokens))
        wanted = [node for node in tree.last if reading.at <= node < stop]
        shared |= zip(wanted, reading.read(stop, wanted), strict=True)
        reading.keep(stop)
    off = 0.0
    for node, sequence in zip(tree.last, sequences, strict=True):
        with torch.inference_mode():
            ids = torch.tensor([sequence], device=model.device)
            alone = model(input_ids=ids, use_cache=False).logits[0, -1].float()
        difference = shared[node].float() - alone
        off += float(difference.norm() / (alone - alone.mean()).norm()) / len(sequences)
    memory.clear()
    return off


def _sequences(vocabulary: int) -> list[tuple[int, ...]]:
    """Prompts with a beginning in common, some of them with a longer one; their tokens are as good as drawn."""

    def drawn(seed: int, count: int) -> Iterator[int]:
        return ((seed * 7919 + k * k * 104729 + k * 1299709) % vocabulary for k in range(1, count + 1))

    root, branch = tuple(drawn(1, 12)), tuple(drawn(2, 9))
    ends = [(*branch, *drawn(3, 5)), (*branch, *drawn(4, 8)), tuple(drawn(5, 10)), tuple(drawn(6, 6))]
    return [root + end for end in ends]
