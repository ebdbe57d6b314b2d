"""Whether prompts can share what they begin with in a model: by what its settings say, then by a trial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from transformers import DynamicCache

from harness.errors import ConfigError
from harness.models.local.engine import same_up_to
from harness.models.local.key_value_cache import Memory
from harness.models.local.loading import brings_code
from harness.models.local.prefix_sharing import ForwardPass, grow

EXACT = {torch.float32: 1e-4, torch.float64: 1e-4}
"""How far the trial may be off, as a share of how much logits differ; in other dtypes see FLOOR."""
FLOOR, ROUNDINGS, MOST = 0.005, 3.0, 0.15
"""How far it may be off in low precision: FLOOR, and so many times what rounding alone does, but no more than MOST.

Measured on tiny models of every kind that transformers 5.23 builds, in bfloat16 and float16: those that share exactly
in float32 were at most 0.0015 beyond three roundings, those that do not at least 0.03 (RoFormer). MOST, because
recurrent models read in pieces are wrong even without a tree, and would pass that for rounding.
"""
PIECE = 7
"""Nodes of the trial read at once."""
_UNFIT = {
    "gpt_neo": "its local layers look back by place, not by mask",
    "mpt": "its biases go by place, not by position",
}


def obstacle(model: Any, limit: int) -> str | None:
    """Return why prompts and replies of up to `limit` tokens cannot share anything; None where they can."""
    if brings_code(model):
        return "its code came with it"
    config = model.config.get_text_config(decoder=True)
    if reason := _UNFIT.get(config.model_type):
        return reason
    # The trial is too short to see these. Doge counts the places of the whole row, not those that a token looks at.
    if getattr(config, "keep_window_size", None):
        return "what it looks at depends on the length of the whole text"
    length = same_up_to(config)
    if length is not None and length < limit:
        return f"its positions depend on the length of the whole text; with model.max_length={length} they do not"
    try:
        off, tolerance = _trial(model)
    except ConfigError as error:
        return str(error)
    except Exception as error:  # whatever a model's code makes of a mask and of positions that it does not expect
        return f"a trial failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    if not off <= tolerance:  # so that it is no number is an obstacle, too
        return f"a trial was {off:.2g} off"
    return None


def _trial(model: Any) -> tuple[float, float]:
    """Return how far a small tree's logits are from each sequence's own, and the tolerance.

    Both are means over the leaves, as shares of how much the logits differ from each other.
    """
    sequences = _sequences(model.get_input_embeddings().weight.shape[0])
    shared = _shared(model, sequences)
    off = noise = 0.0
    for sequence, logits in zip(sequences, shared, strict=True):
        ids = torch.tensor([sequence], device=model.device)
        with torch.inference_mode():
            alone = model(input_ids=ids, use_cache=False).logits[0, -1].float()
        off += _distance(logits, alone) / len(sequences)
        if model.dtype not in EXACT:
            noise += _distance(_in_pieces(model, ids), alone) / len(sequences)
    return off, EXACT.get(model.dtype, min(MOST, FLOOR + ROUNDINGS * noise))


def _shared(model: Any, sequences: list[tuple[int, ...]]) -> list[Any]:
    """Return the logits (vocabulary,) after each sequence, as `Sharing` computes them."""
    tree = grow(sequences)
    memory = Memory(model)
    reading = ForwardPass(tree, memory)
    logits_by_node: dict[int, Any] = {}
    while reading.at < len(tree.tokens):
        stop = min(reading.at + PIECE, len(tree.tokens))
        nodes = [node for node in tree.last if reading.at <= node < stop]
        logits_by_node |= zip(nodes, reading.read(stop, nodes), strict=True)
        reading.keep(stop)
    return [logits_by_node[node] for node in tree.last]


def _in_pieces(model: Any, ids: Any) -> Any:
    """Return the logits (vocabulary,) after ids (1, tokens) read piece by piece: not shared, rounded anew."""
    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        for piece in ids.split(PIECE, 1):
            logits = model(input_ids=piece, past_key_values=cache, use_cache=True).logits[0, -1]
    return logits


def _distance(logits: Any, expected: Any) -> float:
    return float((logits.float() - expected).norm() / (expected - expected.mean()).norm())


def _sequences(vocabulary: int) -> list[tuple[int, ...]]:
    """Return prompts with a beginning in common, some with a longer one; their tokens are as good as random."""

    def tokens(seed: int, count: int) -> Iterator[int]:
        return ((seed * 7919 + k * k * 104729 + k * 1299709) % vocabulary for k in range(1, count + 1))

    root, branch = tuple(tokens(1, 12)), tuple(tokens(2, 9))
    ends = [(*branch, *tokens(3, 5)), (*branch, *tokens(4, 8)), tuple(tokens(5, 10)), tuple(tokens(6, 6))]
    return [root + end for end in ends]
