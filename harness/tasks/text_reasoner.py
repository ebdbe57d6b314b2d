"""A model that reads the request's text as any other would, and answers by logic: the ceiling of a benchmark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from typing import ClassVar

from harness.protocols import Outcomes, as_text
from harness.types import ChatRequest, PairRequest, Request, Response


class UnreadableText(ValueError):
    """A text is not in the benchmark's words; the message says where it departs from them."""


class TextReasoner(ABC):
    """Answers each chat request by the words of its user's messages alone."""

    accepts: ClassVar[tuple[type[Request], ...]] = (ChatRequest,)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the answer to each request."""
        for request in requests:
            assert not isinstance(request, PairRequest)
            words = as_text(tuple(message for message in request.messages if message.role == "user"))
            try:
                text = self.answer(words)
            except UnreadableText as departure:
                text = f"Unreadable: {departure}."
            yield [(request, Response(text=text))]

    @abstractmethod
    def answer(self, words: str) -> str:
        """Return the reply to a text.

        Raises UnreadableText where it cannot be read: the reply then says why, and no parser takes that for an answer.
        """
