"""What the replies of an OpenAI-compatible server have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.types import Response, Usage


class InvalidReplyError(Exception):
    """A reply that is no answer: not JSON, a proxy's page, no choices. `usage` is what it cost all the same."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


def response(reply: Mapping[str, Any], text: str, seconds: float, finish_reason: str | None) -> Response:
    """A reply's text with what every reply tells besides."""
    # Servers that cut by tokens send halves of characters: those become �.
    whole = text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Response(whole, None, usage_of(reply), finish_reason or "", reply.get("model") or "", seconds)


def first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of a reply. Raises InvalidReplyError where there is none."""
    if not reply.get("choices"):
        raise InvalidReplyError("the reply has no choices", usage_of(reply))
    choice: Mapping[str, Any] = reply["choices"][0]
    return choice


def usage_of(reply: Mapping[str, Any]) -> Usage:
    """The tokens that the server counted."""
    usage = reply.get("usage") or {}
    prompt, completion = (usage.get(f"{part}_tokens_details") or {} for part in ("prompt", "completion"))
    return Usage(
        input=usage.get("prompt_tokens"),
        output=usage.get("completion_tokens"),
        cached_input=prompt.get("cached_tokens"),
        reasoning=completion.get("reasoning_tokens"),
        cache_write=prompt.get("cache_write_tokens"),
    )
