"""What encoders share: each request is a row of tokens, and rows of nearly one length are a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from harness.models.local.engine import in_batches, sorted_out, timed, windows
from harness.models.local.loading import Checkpoint
from harness.protocols import Outcomes
from harness.types import Failure, Request

R = TypeVar("R", bound=Request)


@dataclass(frozen=True)
class Encoded(Generic[R]):
    """A request in tokens."""

    request: R
    tokens: Mapping[str, list[int]]

    @property
    def length(self) -> int:
        return len(self.tokens["input_ids"])


E = TypeVar("E", bound=Encoded[Any])


@dataclass(frozen=True, kw_only=True)
class Encoder(Checkpoint, ABC, Generic[E]):
    """A model that reads a whole request at once and gives each choice, or class, a log-probability."""

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Answer the requests of a window, sorted by length, in batches, each of them a list."""
        for window in windows(requests, self.window):
            failed, rows = sorted_out(window, self.encode(window))
            if failed:
                yield failed
            for batch, seconds in timed(in_batches(rows, lambda row: row.length, self._budget, self._compute)):
                yield [
                    (row.request, self._likeliest(logprobs, row.length, seconds, self._finish_reason(row)))
                    for row, logprobs in batch
                ]

    @abstractmethod
    def encode(self, requests: Sequence[Any]) -> Iterator[E | Failure]:
        """Yield each request in tokens, or a Failure where it has too many or none."""

    @abstractmethod
    def _compute(self, batch: list[E]) -> list[dict[str, float]]:
        """Return the log-probabilities of each row of a batch."""

    def _finish_reason(self, row: E) -> str:
        return "stop"

    @property
    @abstractmethod
    def _parts(self) -> tuple[Any, ...]:
        """The tokenizer and the model first."""

    @cached_property
    def _limit(self) -> int:
        """The longest input in tokens: the least that tokenizer, model and settings allow."""
        tokenizer, model = self._parts[:2]
        config = model.config
        limits = [self.max_length, tokenizer.model_max_length]
        if positions := getattr(config, "max_position_embeddings", None):
            limits.append(positions - (config.pad_token_id + 1 if config.model_type in _OFFSET else 0))
        return min(int(length) for length in limits if length)


_OFFSET = {"roberta", "xlm-roberta", "camembert", "longformer", "xlm-roberta-xl"}
"""Model types whose positions begin after the padding index."""
