"""Errors inside of a reply whose status is success.

Routers send the status before the server behind them fails: HTTP 200, and the failure in the body or in the choice.
Read as an answer, such a reply would be stored for good as an empty or broken one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.models.api.faults import RefusedError
from harness.models.api.replies import usage_of

_STATUSES = {
    "rate_limit": 429,
    "too_many": 429,
    "resource_exhausted": 429,
    "overloaded": 529,
    "authentication": 401,
    "invalid_api_key": 401,
    "unauthorized": 401,
    "insufficient": 402,
    "payment": 402,
    "billing": 402,
    "permission": 403,
    "forbidden": 403,
    "not_found": 404,
    "timeout": 408,
    "too_large": 413,
    "invalid": 400,
    "bad_request": 400,
    "context_length": 400,
    "content_filter": 400,
}
"""The status that a name stands for, where an error names none by number."""
_FAILED = {"error": 502, "network_error": 502, "insufficient_system_resource": 503, "abort": 502}
"""Reasons to finish that are failures of the server's (OpenRouter, Z.AI, DeepSeek, vLLM, SGLang)."""
_NO_ERROR: tuple[Any, ...] = (None, False, 0, "", "0", 200, "200", "ok", "OK", "success", [], {})


def error_in(reply: Mapping[str, Any], headers: Mapping[str, str]) -> RefusedError | None:
    """Return the failure inside of a reply whose status is success; None for an answer."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    counts = usage_of(reply)
    # A reply with a choice was begun: whatever its error is called, only a count says how little was done.
    usage = counts if counts.input is not None or choice else None

    def refused(status: int, body: Any) -> RefusedError:
        return RefusedError(status, body, headers, usage=usage)

    for error in (reply.get("error"), choice.get("error") if choice else None):
        if _is_error(error):
            return refused(named_status(error, reply), {"error": error})
    if reply.get("object") == "error":
        return refused(named_status(reply), dict(reply))
    if choice is None:
        said = {name: reply[name] for name in ("message", "detail", "msg", "errors") if reply.get(name)}
        return refused(named_status(reply), said) if said and not choices else None
    reason = choice.get("finish_reason")
    if isinstance(reason, str) and reason.lower() in _FAILED:
        return refused(_FAILED[reason.lower()], f"the reply ended with finish_reason {reason}")
    message = choice.get("message")
    parts = [part for name, part in message.items() if name != "role"] if isinstance(message, dict) else [message]
    if any((*parts, choice.get("text"), choice.get("logprobs"))):  # words, thoughts, a refusal, a tool call
        return None
    if reason == "model_context_window_exceeded":
        return refused(
            400, {"message": f"the reply ended with finish_reason {reason}", "code": "context_length_exceeded"}
        )
    # A server behind a router that has just started (OpenRouter), or fails without a word (Gemini).
    nothing = reason is None and ("message" in choice or "text" in choice)
    if nothing or (reason == "stop" and "message" in choice and counts.output == 0):
        return refused(502, "the reply is empty, and no token was generated")
    return None


def _is_error(error: Any) -> bool:
    """Test whether a field named error holds an error: some servers send it empty, or with code 0 and "success"."""
    if isinstance(error, dict):
        told = [part for name, part in error.items() if name in ("code", "message", "type")]
        return any(part not in _NO_ERROR for part in told) if told else bool(error)
    return bool(error) if isinstance(error, list) else isinstance(error, str) and error.lower() not in _NO_ERROR


def named_status(error: Any, reply: Mapping[str, Any] | None = None) -> int:
    """Return the HTTP status that an error gives itself, by number or by name; 502 if it gives none."""
    fields = error if isinstance(error, dict) else reply or {}
    named = [fields.get(name) for name in ("code", "status", "status_code", "type")]
    for value in named:
        text = str(value)[:4]
        if isinstance(value, int | str) and text.isascii() and text.isdigit() and 400 <= int(text) < 600:
            return int(text)
    names = " ".join(value.lower() for value in named if isinstance(value, str))
    return next((status for part, status in _STATUSES.items() if part in names), 502)
