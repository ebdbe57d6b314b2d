"""Errors inside of replies that call themselves a success: HTTP 200, and the failure in the body or in the choice.

Routers have sent the status before the server behind them fails. Read as an answer, such a reply is an empty or a
broken one, stored for good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.models.api.faults import RefusedError, table
from harness.models.api.replies import usage_of

_NO_ERROR: tuple[Any, ...] = (None, False, 0, "", "0", 200, "200", "ok", "OK", "success", [], {})


def error_in(reply: Mapping[str, Any], headers: Mapping[str, str]) -> RefusedError | None:
    """Return the failure that a reply with a status of success tells of; None for an answer."""
    usage = counts if (counts := usage_of(reply)).input is not None else None

    def refused(status: int, body: Any) -> RefusedError:
        return RefusedError(status, body, headers, usage=usage)

    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    for error in (reply.get("error"), choice.get("error") if choice else None):
        if _is_error(error):
            return refused(named_status(error, reply), {"error": error})
    if reply.get("object") == "error":
        return refused(named_status(reply, reply), dict(reply))
    if choice is None:
        said = {name: reply[name] for name in ("message", "detail", "msg", "errors") if reply.get(name)}
        return refused(named_status(reply, reply), said) if said and not choices else None
    return _finished(choice, refused, generated=usage_of(reply).output != 0)


def _finished(
    choice: Mapping[str, Any], refused: Callable[[int, Any], RefusedError], *, generated: bool
) -> RefusedError | None:
    """Return the failure that a choice tells of by how it ended.

    `generated`: whether a token was, if only the one that ends a reply. None is where a server behind a router has
    just started (OpenRouter), or fails without a word (Gemini).
    """
    reason = choice.get("finish_reason")
    name = reason.lower() if isinstance(reason, str) else ""
    failed, withheld = table()["failed_replies"], table()["withheld_replies"]
    if name in failed:
        return refused(failed[name], f"the reply ended with finish_reason {name}")
    if _says_something(choice):
        return None
    if name in withheld:
        return refused(400, {"message": f"the reply ended with finish_reason {name}", "code": withheld[name]})
    if reason is None and ("message" in choice or "text" in choice):
        return refused(502, "the reply is empty and says no reason for its end")
    if name == "stop" and "message" in choice and not generated:
        return refused(502, "the reply is empty, and no token was generated")
    return None


def _says_something(choice: Mapping[str, Any]) -> bool:
    """Test whether a choice holds anything beside its place: words, thoughts, a refusal, a call, probabilities."""
    message = choice.get("message")
    parts = [part for name, part in message.items() if name != "role"] if isinstance(message, dict) else [message]
    return any((*parts, choice.get("text"), choice.get("logprobs")))


def _is_error(error: Any) -> bool:
    """Test whether a field named error holds one: some servers send it empty, or with code 0 and "success"."""
    if isinstance(error, dict):
        return any(part not in _NO_ERROR for name, part in error.items() if name in ("code", "message", "type")) or (
            bool(error) and not {"code", "message", "type"} & set(error)
        )
    return bool(error) if isinstance(error, list) else isinstance(error, str) and error.lower() not in _NO_ERROR


def named_status(error: Any, reply: Mapping[str, Any] | None = None) -> int:
    """Return the status that an error gives itself, by number or by name; that of a bad gateway where it gives none."""
    fields = error if isinstance(error, dict) else reply or {}
    named = [fields.get(name) for name in ("code", "status", "status_code", "type")]
    for value in named:
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:4])
        if isinstance(value, int) and 400 <= value < 600:
            return value
    names = " ".join(value.lower() for value in named if isinstance(value, str))
    rows: dict[str, int] = table()["named_statuses"]
    return next((status for parts, status in rows.items() if any(part in names for part in parts.split("|"))), 502)
