"""What a server sends back, checked where it enters: the parts that all replies have, and the errors of calls.

A server may write anything into any field. Whatever is used of a reply is checked for its type here: values of another
type count as missing, or make the reply invalid. So nothing that a server sends can break what comes after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from harness.codec import charge, token_count
from harness.types import Failure, Response, Usage
from harness.types import ended as ended

LONGEST = 300
"""Characters of a server's words that are shown and recorded with a failure."""
_LONGEST_NAME = 200
_DEEPEST = 5
"""Levels of parts within parts that are read."""
NOBODY_KNOWS = Usage()
TWICE = 2
"""Tries of a call that times out, or whose reply is too large: the server may well have worked on each, and bill it."""
Scope = Literal["item", "run", "moment", "busy", "request"]
"""What a failure concerns: this item alone, every call of the run, or the moment (of which busy servers say that they
are); or this way of asking."""


class CallError(Exception):
    """A call without an answer: what that is called, and whether the same call may succeed later."""

    kind = "invalid_reply"
    scope: Scope = "moment"
    tries: int | None = None
    """How often it is tried at most, where that is less than model.attempts."""
    wait: float | None = None
    """The seconds to wait that the server asks for."""

    def __init__(self, words: str, usage: Usage | None = NOBODY_KNOWS) -> None:
        """`usage`: the tokens that the server has counted all the same; None where it has certainly done no work."""
        super().__init__(words)
        self.usage = usage

    def in_words(self) -> str:
        """Return what was wrong, on one line."""
        return one_line(str(self))

    def failure(self, max_wait: float) -> Failure:
        """Return what becomes of the item; `max_wait`: the seconds for which the run waits at most."""
        return Failure(self.kind, self.in_words())


class InvalidReplyError(CallError):
    """A reply without an answer: not JSON, a proxy's page, no choices."""


class TooLargeError(InvalidReplyError):
    """A reply too large to make sense."""

    tries = TWICE


class UnsupportedError(InvalidReplyError):
    """The server does not provide what was asked for. If it has answered no call before, it never will."""

    scope = "request"


class LateError(CallError):
    """No answer came in time."""

    kind, scope, tries = "timeout", "busy", TWICE


class LostError(CallError):
    """No reply came: the connection was refused, or broke before the reply was whole."""

    kind, scope = "connection_lost", "busy"

    def __init__(self, words: str, *, connected: bool) -> None:
        """`connected`: there was a connection, so the server may have seen the request."""
        super().__init__(words, NOBODY_KNOWS if connected else None)
        self.connected = connected


def response(
    reply: Mapping[str, Any], text: str, seconds: float, finish_reason: object, reasoning: str = ""
) -> Response:
    """Return the response for a reply's text, with the usage, model and other fields that every reply has."""
    provider = reply.get("provider")
    return Response(
        whole(text),
        usage=usage_of(reply),
        # One name for all that is no end.
        finish_reason="length" if ended(finish_reason) == "cut off" else name_of(finish_reason),
        served_model=name_of(reply.get("model")),
        seconds=seconds,
        reasoning=whole(reasoning),
        provider=name_of(provider.get("name") if isinstance(provider, dict) else provider),
        system_fingerprint=name_of(reply.get("system_fingerprint")),
    )


def whole(text: str) -> str:
    """Return a text with half characters, as servers that cut by tokens send them, replaced by �."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice of a reply. Raises InvalidReplyError if it has no choice."""
    choices = reply.get("choices")
    if not choices:
        raise InvalidReplyError("the reply has no choices")
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise InvalidReplyError("the reply's choices are not a list of objects")
    return choices[0]


def text_of(content: object, where: str) -> str:
    """Return the words of a message: a text, null for "", or a list of parts, of which only texts count.

    `where` names the field in messages. Raises InvalidReplyError for anything else.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(_part(part, where) for part in content)
    raise InvalidReplyError(f"{where} of the reply is neither a text nor a list of parts")


def _part(part: object, where: str) -> str:
    """Return the words of a part; "" for parts that are no texts, such as a model's thinking."""
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and isinstance(kind := part.get("type", "text"), str):
        if kind not in ("text", "output_text"):
            return ""
        if isinstance(text := part.get("text"), str):
            return text
    raise InvalidReplyError(f"{where} of the reply has parts that are no texts")


def refusal_of(message: Mapping[str, Any]) -> str:
    """Return the words with which a model refuses, from a field of their own or from parts of the content."""
    if refusal := text_of(message.get("refusal") or None, "the refusal"):
        return refusal
    refusals = (part.get("refusal") for part in _parts(message) if part.get("type") == "refusal")
    return "".join(refusal for refusal in refusals if isinstance(refusal, str))


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Fields of a message or completion that hold thoughts: DeepSeek's and vLLM's, OpenRouter's, Ollama's. If there are
several, they repeat each other."""
_OF_THOUGHTS = ("text", "thinking", "reasoning", "summary", "content")
"""Fields of one part of the thoughts."""


def thoughts_of(message: Mapping[str, Any]) -> str:
    """Return a model's thoughts, if the server separates them from the answer; else "".

    They are a field of the message, which is a text or parts, or parts of its content of type thinking or reasoning.
    Anything else counts as missing: no answer depends on it.
    """
    parts = [part for part in _parts(message) if str(part.get("type")).startswith(("thinking", "reasoning"))]
    return next(filter(None, map(_thoughts, (*(message.get(name) for name in _THOUGHTS), parts))), "")


def _thoughts(value: object, depth: int = 0) -> str:
    """Return the words of thoughts: of a text, of a part that has them in a field, or of a list of these."""
    if isinstance(value, str) or depth > _DEEPEST:
        return value if isinstance(value, str) else ""
    if isinstance(value, dict):
        return next((words for name in _OF_THOUGHTS if (words := _thoughts(value.get(name), depth + 1))), "")
    return "".join(_thoughts(part, depth + 1) for part in value) if isinstance(value, list) else ""


def name_of(value: object) -> str:
    """Return a short text, such as the name of a model; "" for anything else."""
    return one_line(value)[:_LONGEST_NAME] if isinstance(value, str) else ""


def usage_of(reply: Mapping[str, Any]) -> Usage:
    """Return the tokens that the server counted; None for what is missing or no count."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    prompt, completion = (
        details if isinstance(details := usage.get(f"{part}_tokens_details"), dict) else {}
        for part in ("prompt", "completion")
    )
    total, cached = token_count(usage.get("prompt_tokens")), token_count(prompt.get("cached_tokens"))
    written = token_count(prompt.get("cache_write_tokens"))
    if total is not None:  # parts larger than the whole would make the rest, and its price, negative
        cached = cached if (cached or 0) <= total else None
        written = written if (written or 0) <= total - (cached or 0) else None
    output, reasoning = token_count(usage.get("completion_tokens")), token_count(completion.get("reasoning_tokens"))
    # With the user's own key for the provider behind it, OpenRouter's `cost` is only its own share.
    charged = None if usage.get("is_byok") is True else charge(usage.get("cost"))
    return Usage(total, output, cached, reasoning, written, charged)


def one_line(text: str) -> str:
    """Return a server's words on one line, at most LONGEST characters, without control characters."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text[: 8 * LONGEST])
    return " ".join(printable.split())[:LONGEST]
