"""How a local language model computes: what goes in, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from harness.types import ChatRequest, ChoiceRequest


@dataclass(frozen=True)
class Sequence:
    """Tokens to score: how likely is `continuation` after `prompt`, for one choice of a request."""

    request: ChoiceRequest
    choice: str
    prompt: tuple[int, ...]
    continuation: tuple[int, ...]

    @property
    def read(self) -> tuple[int, ...]:
        """The tokens that go into the model: the last one is only predicted."""
        return self.prompt + self.continuation[:-1]


@dataclass(frozen=True)
class Writing:
    """Tokens to continue."""

    request: ChatRequest
    prompt: tuple[int, ...]

    @property
    def length(self) -> int:
        """The most tokens in the end."""
        return len(self.prompt) + self.request.max_tokens


Ended = Callable[[Writing, list[int]], bool]
"""Whether what has been written needs no further token."""


class Backend(Protocol):
    """One way to compute. What has been computed is handed out before more is; nothing is begun after STOP."""

    def score(self, sequences: list[Sequence]) -> Iterator[list[tuple[Sequence, float]]]:
        """Yield the summed log-probability of each continuation, in natural logarithms."""

    def write(self, writings: list[Writing], ended: Ended) -> Iterator[list[tuple[Writing, list[int]]]]:
        """Yield each prompt's greedy continuation until `ended`; tokens beyond that are the caller's to cut."""


def same_up_to(config: Any) -> int | None:
    """Return how many tokens a text may have before its length changes what rotary positions mean; None: any.

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
