"""Models that read a request's text as any other would: by logic, a benchmark's ceiling, or by fitted numbers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.protocols import Outcomes, as_text
from harness.types import ChatRequest, ChoiceRequest, PairRequest, Request, Response

DIGITS = 4
"""Of log-odds: fewer than machines agree on, more than a score can show."""


class UnreadableText(ValueError):
    """A text is not in the benchmark's words; the message says where it departs from them."""


class TextModel(ABC):
    """Answers each request by the words of its user's messages alone.

    Where they cannot be read the reply says why, in words that no parser takes for an answer.
    """

    accepts: ClassVar[tuple[type[Request], ...]] = (ChatRequest,)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the answer to each request."""
        for request in requests:
            assert not isinstance(request, PairRequest)
            words = as_text(tuple(message for message in request.messages if message.role == "user"))
            try:
                response = self.response(words, request)
            except UnreadableText as departure:
                response = Response(text=f"Unreadable: {departure}.")
            yield [(request, response)]

    @abstractmethod
    def response(self, words: str, request: ChatRequest | ChoiceRequest) -> Response:
        """Return the answer to a text. Raises UnreadableText."""


class TextReasoner(TextModel):
    """Answers by logic."""

    def response(self, words: str, request: ChatRequest | ChoiceRequest) -> Response:
        return Response(text=self.answer(words))

    @abstractmethod
    def answer(self, words: str) -> str:
        """Return the reply to a text. Raises UnreadableText."""


class FittedModel(TextModel):
    """Says how likely Yes is, by numbers that were fitted once and ship."""

    accepts: ClassVar[tuple[type[Request], ...]] = (ChoiceRequest, ChatRequest)

    def response(self, words: str, request: ChatRequest | ChoiceRequest) -> Response:
        value = round(self.log_odds(words), DIGITS) or -(10**-DIGITS)  # as likely as not is a No, and not unread
        if isinstance(request, ChatRequest):
            return Response(text="Yes" if value > 0 else "No")
        yes, no = request.choices
        return Response(text=yes if value > 0 else no, logprobs={yes: log_share(value), no: log_share(-value)})

    @abstractmethod
    def log_odds(self, words: str) -> float:
        """Return the logarithm of P(Yes) / P(No). Raises UnreadableText."""


def log_share(log_odds: float) -> float:
    """Return the logarithm of the probability that these log-odds are, without overflow."""
    return -(math.log1p(math.exp(-abs(log_odds))) + max(-log_odds, 0.0))


@dataclass(frozen=True)
class Weights:
    """A logistic regression over which words or sentences there are; unknown ones count for nothing."""

    intercept: float
    weights: Mapping[str, float]

    def log_odds(self, seen: Iterable[str]) -> float:
        return self.intercept + sum(self.weights.get(one, 0) for one in seen)


@dataclass(frozen=True)
class Forest:
    """Boosted trees: a node is [feature, threshold, left, right], left up to the threshold; a leaf is its log-odds."""

    base: float
    trees: Sequence[Sequence[Any]]

    def log_odds(self, row: Sequence[int]) -> float:
        total = self.base
        for nodes in self.trees:  # sum() would add up otherwise than scikit-learn does
            node = nodes[0]
            while isinstance(node, list):
                feature, threshold, left, right = node
                node = nodes[left if row[feature] <= threshold else right]
            total += float(node)
        return total
