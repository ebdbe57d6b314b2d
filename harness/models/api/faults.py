"""What a failed call means: what its failure is called, whether it may pass, how long it is to wait.

What a status and words mean is data: the first row of harness/data/server_errors.yaml that fits decides. How often and
when a call is tried again is the policy's (retry.py). Routers send the status before the server behind them fails: an
error inside of a success is one as well, since read as an answer it would be stored for good.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

from harness.models.api.families import shipped_rows
from harness.models.api.replies import NOBODY_KNOWS, CallError, Scope, one_line, usage_of
from harness.runtime.secrets import mask_keys
from harness.types import Failure, Usage

_MARKUP = re.compile(r"<(script|style|svg)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_MESSAGES = ("message", "msg", "error", "detail", "errors", "error_message", "description", "reason", "title")
"""Fields that hold a server's words, the most telling first; what they hold may be an object in turn."""
_CODES = ("code", "type", "status", "error_type", "error_code", "__type", "quotaid")
_DEEPEST, _LONGEST, _HOUR = 8, 4000, 3600.0


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A row of the table of refusals, where its fields are explained."""

    kind: str
    scope: Scope
    status: Sequence[int] = ()
    words: str = ""
    unless: str = ""
    unless_it_waits: bool = False
    says: str = ""

    def fits(self, error: RefusedError) -> bool:
        if self.status and not str(error.status).startswith(tuple(map(str, self.status))):
            return False
        if self.unless_it_waits and error.wait is not None and error.wait < _HOUR:
            return False
        return _found(self.words, error.told) and not (self.unless and _found(self.unless, error.told))


def _found(pattern: str, words: str) -> bool:
    """Test whether a pattern of the table, whose alternatives stand on lines of their own, is found in words."""
    return re.search(pattern.replace(" |", "|"), words, re.IGNORECASE) is not None


@cache
def _faults() -> list[Fault]:
    return [Fault(**row) for row in shipped_rows("server_errors.yaml")["refusals"]]


class RefusedError(CallError):
    """A reply that says that the call has failed, by its status or inside of a success."""

    asked = ""
    """The address that was asked."""

    def __init__(
        self, status: int, body: Any, headers: Mapping[str, str], *, sent: int = 0, usage: Usage | None = None
    ) -> None:
        """Read the words of a body, which is parsed JSON or a text.

        `status` is HTTP's, or what the body gives itself; `sent` is HTTP's, where the body gives none. `usage`: the
        tokens that the server counted nevertheless.
        """
        body = (_parsed(body) or body) if isinstance(body, str) else body
        words = words_of(body)[:_LONGEST].strip() or http.client.responses.get(status, "no explanation")
        super().__init__(one_line(mask_keys(words)), usage)
        self.status, self._sent = status, sent or status
        self.code = one_line(" ".join(dict.fromkeys(values(body, _CODES))))
        """The server's names for what is wrong."""
        self.told = f"{words} {self.code}"
        """All of its words; the text of the exception is their beginning, on one line."""
        self.wait = wait_of(headers, body, words)
        fault = next(fault for fault in _faults() if fault.fits(self))
        self.kind, self.scope = fault.kind, fault.scope
        self.says = fault.says.format(self.in_words())
        """For a failure that concerns the whole run: what the server does, and what is to be done."""
        if usage is None and not (fault.kind in _FREE and status < 500):
            self.usage = NOBODY_KNOWS

    def in_words(self) -> str:
        """Return status and words, on one line; some servers' words have the status already."""
        words = str(self)
        return words if words.startswith(str(self._sent)) else f"{self._sent}: {words}"

    def failure(self, max_wait: float) -> Failure:
        """Return what becomes of the item that was asked for."""
        if self.kind == "rate_limit" and self.wait and self.wait > max_wait:
            return Failure(self.kind, f"{self} (it asks to wait {self.wait:.0f} s, model.max_wait is {max_wait:g} s)")
        return Failure(self.kind, str(self) if self.kind == "rate_limit" or self.scope == "item" else self.in_words())


def words_of(body: Any, depth: int = 0) -> str:
    """Return the words of an error's body, whatever its shape; JSON and pages within a text are read too."""
    if depth > _DEEPEST or body in (None, "", [], {}):
        return ""
    if isinstance(body, str):
        text = body.strip("\ufeff \t\r\n")
        if text[:1] in ("{", "[") and isinstance(inner := _parsed(text), dict | list):
            return words_of(inner, depth + 1)
        return " ".join(_MARKUP.sub(" ", text[: 1 << 16]).split()) if text[:1] == "<" else text
    if isinstance(body, list):
        return "; ".join(filter(None, (words_of(part, depth + 1) for part in body[:3])))
    if not isinstance(body, dict):
        return ""
    said = next((words for name in _MESSAGES if (words := words_of(body.get(name), depth + 1))), "")
    if isinstance(place := body.get("loc"), list):  # FastAPI puts the place beside the words
        said = f"{'.'.join(str(part) for part in place if part != 'body')}: {said}"
    within = words_of(metadata.get("raw"), depth + 1) if isinstance(metadata := body.get("metadata"), dict) else ""
    if within and within not in said:  # a router passes on what the server behind it has said
        said = f"{said}: {within}" if said else within
    return said if said or depth else one_line(json.dumps(body))


def values(body: Any, names: tuple[str, ...], depth: int = 0) -> Iterator[str]:
    """Yield the texts and numbers in fields of these names (in lower case), from the outside in."""
    if depth > _DEEPEST:
        return
    parts = body if isinstance(body, list) else list(body.values()) if isinstance(body, dict) else []
    for name, part in body.items() if isinstance(body, dict) else ():
        if name.lower() in names and isinstance(part, str | int | float) and not isinstance(part, bool):
            yield str(part)[:200]
    for part in parts[:20]:
        yield from values(_parsed(part) if isinstance(part, str) and part[:1] in "{[" else part, names, depth + 1)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_UNIT = r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_SPAN = rf"(?:(?:\d+(?:\.\d+)?|\bone)\s*{_UNIT}(?:\s*(?:,|and)\s*)?\s*)+"
_PART = re.compile(r"(\d+(?:\.\d+)?|one)\s*(ms|mil|s|m|h|d)", re.IGNORECASE)
_UNITS = {"ms": 0.001, "mil": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_CLOCK = re.compile(r"(\d+):([0-5]\d):([0-5]\d)", re.ASCII)
_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_IN_WORDS = re.compile(
    rf"(?:again|retry|retrying|wait|available|resets?|back)\b[^.\d]{{0,30}}?({_SPAN})|retry-after\W*({_NUMBER})"
    r"|(20\d\d-\d\d-\d\d(?:T|,? (?:at )?)\d\d:\d\d(?::\d\d)?)",
    re.IGNORECASE | re.ASCII,
)
_FIELDS = {"retrydelay": 1.0, "retry_after": 1.0, "retryafter": 1.0, "retry_after_seconds": 1.0, "estimated_time": 1.0,
           "resets_in_seconds": 1.0, "retry_after_ms": 0.001, "retryafterms": 0.001}  # fmt: skip
"""Fields of a body that hold a wait, and the unit of their numbers."""
_RESETS = ("x-ratelimit-reset", "ratelimit-reset")


def wait_of(headers: Mapping[str, str], body: Any = None, words: str = "") -> float | None:
    """Return the seconds that a server asks to wait; None where it asks for none, or for what is no time at all.

    By retry-after-ms, Retry-After, fields of the body, words, or X-RateLimit-Reset (OpenRouter's stands in the body).
    """
    told = [(headers.get("retry-after-ms", ""), 0.001), (headers.get("retry-after", ""), 1.0)]
    told += [(text, unit) for name, unit in _FIELDS.items() for text in values(body, (name,))]
    told += [(re.sub(",? at |, ", " ", said), 1.0) for match in _IN_WORDS.findall(words) for said in match if said]
    resets = [headers.get(name, "") for name in _RESETS] + list(values(body, _RESETS))
    told += [(text, 1.0) for text in resets if re.fullmatch(_NUMBER, text.strip())]
    waits = (wait * unit for text, unit in told if (wait := seconds_until(text, headers)) is not None)
    return next(waits, None)


def seconds_until(text: str, headers: Mapping[str, str]) -> float | None:
    """Return the seconds until a moment (a date, or since 1970), or those in a span; None for what is no time.

    Spans are 3, 3.5, 3s, 250ms, 1m30s, PT3S, 00:00:03, `3, 3` and `3;q=1`.
    """
    text = text[:100].strip(" \t\"'")
    if match := _CLOCK.fullmatch(text):
        return sum(int(part) * unit for part, unit in zip(match.groups(), (3600.0, 60.0, 1.0), strict=True))
    first = re.split("[,;]", text)[0].strip()
    if re.fullmatch(_NUMBER, first, re.ASCII):
        number = float(first)
        return number if number < 1.5e9 else max(0.0, (number / 1000 if number > 1e11 else number) - time.time())
    if re.fullmatch(f"(?:PT)?{_SPAN}", text, re.IGNORECASE | re.ASCII):
        parts = _PART.findall(text)
        return sum((1.0 if number.lower() == "one" else float(number)) * _UNITS[unit.lower()] for number, unit in parts)
    if (until := date_of(text)) is None:
        return None
    now = date_of(headers.get("date", ""))  # the server's clock may differ from ours
    return max(0.0, until - (time.time() if now is None else now))


def date_of(text: str) -> float | None:
    """Return a date in seconds since 1970; None if it is not one."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        with suppress(Exception):  # ValueError is documented; odd texts have raised half a dozen others
            date = read(text.strip())
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    return None


_NAMED = {
    429: re.compile("rate_limit|too_many|exhausted"),
    401: re.compile("authentication|api_key|unauthorized"),
    402: re.compile("insufficient|payment|billing"),
    403: re.compile("permission|forbidden"),
    404: re.compile("not_found"),
    400: re.compile("invalid|bad_request|too_large|context_length|content_filter"),
}
"""The status that a name stands for, where an error names none by number."""
_FAILED = ("error", "network_error", "insufficient_system_resource", "abort")
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
        return RefusedError(status or 500, body, headers, sent=status or 200, usage=usage)

    for error in (reply.get("error"), choice.get("error") if choice else None):
        if _is_error(error):
            return refused(named_status(error, reply, unnamed=0), {"error": error})
    if choice is None:
        told = not choices and any(reply.get(name) for name in ("message", "detail", "msg", "errors"))
        return refused(named_status(reply, unnamed=0), dict(reply)) if told else None
    reason = choice.get("finish_reason")
    if isinstance(reason, str) and reason.lower() in _FAILED:
        return refused(502, f"the reply ended with finish_reason {reason}")
    message = choice.get("message")
    parts = [part for name, part in message.items() if name != "role"] if isinstance(message, dict) else [message]
    if any((*parts, choice.get("text"), choice.get("logprobs"))):  # words, thoughts, a refusal, a tool call
        return None
    if reason == "model_context_window_exceeded":
        return refused(400, {"message": f"the reply ended with {reason}", "code": "context_length_exceeded"})
    # A server behind a router that has just started (OpenRouter), or fails without a word (Gemini).
    nothing = reason is None and ("message" in choice or "text" in choice)
    if nothing or (reason == "stop" and "message" in choice and counts.output == 0):
        return refused(502, "the reply is empty, and no token was generated")
    return None


def _is_error(error: Any) -> bool:
    """Test whether a field named error holds an error: some servers send it empty, or with code 0 and "success"."""
    told = [error.get(name) for name in ("code", "message", "type")] if isinstance(error, dict) else [error]
    return any(part not in _NO_ERROR for part in told)


def named_status(error: Any, reply: Mapping[str, Any] | None = None, *, unnamed: int = 500) -> int:
    """Return the HTTP status that an error gives itself, by number or by name; `unnamed` if it gives none."""
    fields = error if isinstance(error, dict) else reply or {}
    named = [str(fields.get(name)).lower() for name in ("code", "status", "status_code", "type")]
    if number := next((text for text in named if re.fullmatch("[45][0-9][0-9]", text)), ""):
        return int(number)
    return next((status for status, names in _NAMED.items() if names.search(" ".join(named))), unnamed)


_FREE = frozenset(("context_length", "rate_limit", "no_quota", "no_access", "not_found"))
"""Refusals of a call on which no work was done."""
