"""A model that reads the request's text as any other would, and answers by logic: the ceiling of a benchmark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from typing import ClassVar

from harness.protocols import Outcomes, as_text
from harness.types import ChatRequest, PairRequest, Request, Response


class TextReasoner(ABC):
    """Answers each chat request by the words of its user's messages alone."""

    accepts: ClassVar[tuple[type[Request], ...]] = (ChatRequest,)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the answer to each request."""
        for request in requests:
            assert not isinstance(request, PairRequest)
            words = as_text(tuple(message for message in request.messages if message.role == "user"))
            yield [(request, Response(text=self.answer(words)))]

    @abstractmethod
    def answer(self, words: str) -> str:
        """Return what is said to a text; where it cannot be read, why, in words that no parser takes for an answer."""
