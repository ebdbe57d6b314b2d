"""What a server sends back, checked where it enters: the parts that replies have in common, and calls without a reply.

A server may write anything into any field. What is used of a reply is taken by name and by type here; what is of
another type counts as missing, or the reply is none. So nothing that a server sends can break what comes after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.codec import token_count
from harness.types import Response, Usage

_UNKNOWN = Usage()
LONGEST = 300
"""Characters of a server's words that are shown or recorded beside a failure."""
_LONGEST_NAME = 200


class InvalidReplyError(Exception):
    """A reply that is no answer: not JSON, a proxy's page, no choices."""

    def __init__(self, message: str, usage: Usage = _UNKNOWN) -> None:
        """Say what is wrong.

        `usage`: the tokens that the server counted for this reply all the same.
        """
        super().__init__(message)
        self.usage = usage


class UnsupportedError(InvalidReplyError):
    """What was asked for is nothing that the server gives: where it has answered nothing before, it never will."""


class NoLogprobsError(UnsupportedError):
    """A reply without the log-probabilities that ranking needs; where others had them, the next one may have."""


class LostError(Exception):
    """No reply came: the connection was refused, or broke before the reply was whole."""

    def __init__(self, message: str, *, connected: bool) -> None:
        """Say what happened.

        `connected`: there was a connection, so that the server may have seen the request.
        """
        super().__init__(message)
        self.connected = connected


def response(reply: Mapping[str, Any], text: str, seconds: float, finish_reason: object) -> Response:
    """Return the response for a reply's text, with what every reply says besides."""
    # Servers that cut by tokens send halves of characters: those become �.
    valid_text = text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Response(valid_text, None, usage_of(reply), name_of(finish_reason), name_of(reply.get("model")), seconds)


def first_choice(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice of a reply. Raises InvalidReplyError where there is none."""
    choices = reply.get("choices")
    if not choices:
        # Some servers report their errors with status 200.
        error = reply.get("error")
        why = error.get("message") if isinstance(error, dict) else error
        raise InvalidReplyError("the reply has no choices" + f" ({why})" * (isinstance(why, str) and why != ""))
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise InvalidReplyError("the reply's choices are not a list of objects")
    return choices[0]


def text_of(content: object, where: str) -> str:
    """Return the words of a message: a text, null for none, or a list of parts, of which those that are texts count.

    `where` names the field. Raises InvalidReplyError for anything else.
    """
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "".join(_part(part, where) for part in content)
    raise InvalidReplyError(f"{where} of the reply is neither a text nor a list of parts")


def _part(part: object, where: str) -> str:
    """Return the words of a part; parts of another kind, such as a model's thinking, have none."""
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and isinstance(kind := part.get("type", "text"), str):
        text = part.get("text")
        if kind not in ("text", "output_text"):
            return ""
        if isinstance(text, str):
            return text
    raise InvalidReplyError(f"{where} of the reply has parts that are no texts")


def name_of(value: object) -> str:
    """Return a short text such as the name of a model; "" for what is none."""
    if not isinstance(value, str):
        return ""
    return value if len(value) <= _LONGEST_NAME and value.isprintable() else one_line(value)[:_LONGEST_NAME]


def usage_of(reply: Mapping[str, Any]) -> Usage:
    """Return the tokens that the server counted, each None where it is no count."""
    usage = reply.get("usage")
    if not isinstance(usage, dict):
        return _UNKNOWN
    prompt, completion = (
        details if isinstance(details := usage.get(f"{part}_tokens_details"), dict) else {}
        for part in ("prompt", "completion")
    )
    total, cached = token_count(usage.get("prompt_tokens")), token_count(prompt.get("cached_tokens"))
    cache_write = token_count(prompt.get("cache_write_tokens"))
    # Parts that are more than the whole would make the rest, and its price, negative.
    if total is not None and (cached or 0) > total:
        cached = None
    if total is not None and (cache_write or 0) > total - (cached or 0):
        cache_write = None
    return Usage(
        input=total,
        output=token_count(usage.get("completion_tokens")),
        cached_input=cached,
        reasoning=token_count(completion.get("reasoning_tokens")),
        cache_write=cache_write,
    )


def usage_in_all(replies: Iterable[Mapping[str, Any]]) -> Usage:
    """Return what several replies that were asked for no words count; None where one of them counts no input."""
    counts = [usage_of(reply) for reply in replies]
    inputs = [count.input for count in counts]
    return Usage(
        input=None if None in inputs else sum(filter(None, inputs)), output=sum(count.output or 0 for count in counts)
    )


def one_line(text: str) -> str:
    """Return a server's words on one line, at most LONGEST characters, without what a terminal would obey."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text[: 8 * LONGEST])
    return " ".join(printable.split())[:LONGEST]
