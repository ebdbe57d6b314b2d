"""What baselines that were fitted have in common: an answer by log-odds, and boosted trees as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.protocols import as_text
from harness.tasks.text_reasoner import UnreadableText
from harness.types import ChatRequest, PairRequest, Request, Response


def respond(request: Request, log_odds: Callable[[str], float]) -> Response:
    """Return the answer to a request, of whose users' words `log_odds` gives the logarithm of P(Yes) / P(No).

    Where that raises UnreadableText the response says why, in words that no parser takes for an answer.
    """
    assert not isinstance(request, PairRequest)
    words = as_text(tuple(message for message in request.messages if message.role == "user"))
    try:
        value = log_odds(words)
    except UnreadableText as departure:
        return Response(text=f"Unreadable: {departure}.")
    if isinstance(request, ChatRequest):
        return Response(text="Yes" if value > 0 else "No")
    yes, no = request.choices
    return Response(text=yes if value > 0 else no, logprobs={yes: log_share(value), no: log_share(-value)})


def log_share(log_odds: float) -> float:
    """Return the logarithm of the probability that these log-odds are, without overflow."""
    return -(math.log1p(math.exp(-abs(log_odds))) + max(-log_odds, 0.0))


@dataclass(frozen=True)
class Forest:
    """Boosted trees: a node is [feature, threshold, left, right], left up to the threshold; a leaf is its log-odds."""

    base: float
    trees: Sequence[Sequence[Any]]

    def log_odds(self, row: Sequence[int]) -> float:
        total = self.base
        for nodes in self.trees:  # sum() would add up otherwise than scikit-learn does
            total += _leaf(nodes, row)
        return total


def _leaf(nodes: Sequence[Any], row: Sequence[int]) -> float:
    node = nodes[0]
    while isinstance(node, list):
        feature, threshold, left, right = node
        node = nodes[left if row[feature] <= threshold else right]
    return float(node)
