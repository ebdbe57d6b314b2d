"""Rotary positions that mean something else in a longer text."""

from __future__ import annotations

from typing import Any


def same_up_to(config: Any) -> int | None:
    """Return how many tokens a text may have before its length changes its positions' meaning; None: any.

    `config` is that of the decoder. As transformers computes them (modeling_rope_utils.py): beyond this length
    `longrope` takes other frequencies for the whole text, and `dynamic` such as depend on how long it is.
    """
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    limits = []
    for values in (rope, *(value for value in rope.values() if isinstance(value, dict))):  # some by kind of layer
        kind = str(values.get("rope_type") or values.get("type"))
        if "dynamic" in kind:
            limits.append(getattr(config, "max_position_embeddings", None) or 0)
        elif kind in ("longrope", "su"):  # its first name, which code that came with a checkpoint still uses
            name = "original_max_position_embeddings"
            limits.append(values.get(name) or getattr(config, name, None) or 0)
    return min(limits, default=None)
