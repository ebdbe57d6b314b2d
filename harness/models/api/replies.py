"""What a server sends back, checked where it enters: the parts that replies have in common, and calls without a reply.

A server may write anything into any field. What is used of a reply is taken by name and by type here; what is of
another type counts as missing, or the reply is none. So nothing that a server sends can break what comes after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.codec import charge, token_count
from harness.types import Response, Usage

_UNKNOWN = Usage()
LONGEST = 300
"""Characters of a server's words that are shown or recorded beside a failure."""
_LIMIT = ("max_tokens", "max_output_tokens", "max_completion_tokens", "model_length")
"""What Anthropic, Gemini, OpenAI's newer endpoint and Mistral call the reason to finish "length"."""
_LONGEST_NAME = 200
_DEEPEST = 5
"""Parts within parts that are looked at."""


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


def response(
    reply: Mapping[str, Any], text: str, seconds: float, finish_reason: object, reasoning: str = ""
) -> Response:
    """Return the response for a reply's text, with what every reply says besides."""
    provider = reply.get("provider")
    return Response(
        _whole(text),
        usage=usage_of(reply),
        finish_reason=_reason_of(finish_reason),
        served_model=name_of(reply.get("model")),
        seconds=seconds,
        reasoning=_whole(reasoning),
        provider=name_of(provider.get("name") if isinstance(provider, dict) else provider),
        system_fingerprint=name_of(reply.get("system_fingerprint")),
    )


def _reason_of(value: object) -> str:
    """Return why a reply ended: "length" for its limit, however the server calls that."""
    name = name_of(value)
    return "length" if name.lower() in _LIMIT else name


def _whole(text: str) -> str:
    """Return a text that can be written: servers that cut by tokens send halves of characters, which become �."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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


def refusal_of(message: Mapping[str, Any]) -> str:
    """Return the words with which a model refuses: a field of their own, or parts of the content."""
    if refusal := text_of(message.get("refusal") or None, "the refusal"):
        return refusal
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    refusals = (part.get("refusal") for part in parts if isinstance(part, dict) and part.get("type") == "refusal")
    return "".join(refusal for refusal in refusals if isinstance(refusal, str))


_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Fields of a message, or of a completion, that hold thoughts: DeepSeek's and vLLM's, OpenRouter's, Ollama's. Several
of them say the same."""
_OF_THOUGHTS = ("text", "thinking", "reasoning", "summary", "content")
"""Fields of a part of them."""


def thoughts_of(message: Mapping[str, Any]) -> str:
    """Return a model's thoughts where the server tells them apart from what it says; "" where there are none.

    They are a field of the message, a text or parts, or parts of its content that are of the kind thinking or
    reasoning. Anything else counts as missing: an answer does not hang on it.
    """
    for name in _THOUGHTS:
        if thoughts := _thoughts(message.get(name)):
            return thoughts
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return _thoughts([part for part in parts if isinstance(part, dict) and _is_thought(part)])


def _is_thought(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    return isinstance(kind, str) and kind.startswith(("thinking", "reasoning"))


def _thoughts(value: object, depth: int = 0) -> str:
    """Return the words of thoughts: a text, a part that holds them in a field, or a list of these."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, dict):
        return next((words for name in _OF_THOUGHTS if (words := _thoughts(value.get(name), depth + 1))), "")
    if isinstance(value, list):
        return "".join(_thoughts(part, depth + 1) for part in value)
    return ""


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
    """Return a short text such as the name of a model; "" for anything else."""
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
        usd=_charged(usage),
    )


def _charged(usage: Mapping[str, Any]) -> float | None:
    """Return what the server says that the call cost: OpenRouter's `cost`, in USD.

    With a key of one's own at the provider behind it, that is OpenRouter's share, and the provider's stands beside it.
    """
    usd, details = charge(usage.get("cost")), usage.get("cost_details")
    if usd is None or usage.get("is_byok") is not True:
        return usd
    upstream = charge(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
    return None if upstream is None else usd + upstream


def usage_in_all(replies: Iterable[Mapping[str, Any]]) -> Usage:
    """Return what several replies that were asked for no words count; None where one of them counts no input."""
    counts = [usage_of(reply) for reply in replies]
    inputs, charges = [count.input for count in counts], [count.usd for count in counts]
    return Usage(
        input=None if None in inputs else sum(filter(None, inputs)),
        output=sum(count.output or 0 for count in counts),
        usd=None if None in charges else sum(filter(None, charges)),
    )


def one_line(text: str) -> str:
    """Return a server's words on one line, at most LONGEST characters, without what a terminal would obey."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text[: 8 * LONGEST])
    return " ".join(printable.split())[:LONGEST]
