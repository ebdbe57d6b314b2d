"""What a model answers, one by one, for tests that do not ask what landed together."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any

from harness.models.api.openai import Chat
from harness.protocols import Outcome, Outcomes
from harness.types import ChatRequest, Failure, Message, Response


def each(landing: Generator[Outcomes]) -> Generator[Outcome]:
    """Yield the outcomes of `respond` one by one. Closing this iterator closes that of the model."""
    with closing(landing):
        for batch in landing:
            yield from batch


def asked(url: str, *questions: str, model: type = Chat, **settings: Any) -> dict[str, Response | Failure]:
    """Return what a server's model answers to each question."""
    endpoint = model(**{"name": "m", "model": "m-1", "base_url": url, **settings})
    requests = (ChatRequest((Message("user", question),), max_tokens=16) for question in questions)
    return {request.messages[-1].content: outcome for request, outcome in each(endpoint.respond(requests))}
