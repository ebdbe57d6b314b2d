"""What a failed call means: what its failure is called, whether it may pass, how long it is to wait.

What a status and words mean is data: the first row of harness/data/server_errors.yaml that fits decides. How often and
when a call is tried again is the policy's (retry.py).
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, cached_property
from typing import Any, Literal

from pydantic import TypeAdapter

from harness.models.api.families import shipped_rows
from harness.models.api.replies import InvalidReplyError, LostError, one_line
from harness.runtime.secrets import mask_keys
from harness.types import Failure, Usage

KEPT = "Answers so far are kept."
Scope = Literal["item", "run", "moment", "request"]
_FEW = 80
"""Characters of a server's words beside a progress bar."""
_MARKUP = re.compile(r"<(script|style|svg)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_MESSAGES = ("message", "msg", "error", "detail", "errors", "error_message", "description", "reason", "title")
"""Fields that hold a server's words, the most telling first; what they hold may be an object in turn."""
_CODES = ("code", "type", "status", "error_type", "error_code", "__type")
_DEEPEST, _LONGEST, _HOUR = 8, 4000, 3600.0


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A row of the table of refusals, where its fields are explained."""

    kind: str
    fault: Scope
    status: tuple[int, ...] = ()
    never: tuple[int, ...] = ()
    at_least: int = 0
    words: str = ""
    unless: str = ""
    waits: bool | None = None
    busy: bool = False
    says: str = ""

    def fits(self, error: RefusedError) -> bool:
        if (self.status and error.status not in self.status) or error.status in self.never:
            return False
        if error.status < self.at_least or self.waits not in (None, (error.wait or _HOUR) < _HOUR):
            return False
        return _found(self.words, error.told) and not (self.unless and _found(self.unless, error.told))


def _found(pattern: str, words: str) -> bool:
    """Test whether a pattern of the table, whose alternatives stand on lines of their own, is found in words."""
    return re.search(pattern.replace(" |", "|"), words, re.IGNORECASE) is not None


@cache
def _faults() -> tuple[Fault, ...]:
    return TypeAdapter(tuple[Fault, ...]).validate_python(shipped_rows("server_errors.yaml")["refusals"])


class RefusedError(Exception):
    """A reply that says that the call has failed, by its status or inside of a success."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str], *, usage: Usage | None = None) -> None:
        """Read the words of a body, which is parsed JSON or text.

        `status` is HTTP's, or what the body gives itself. `usage`: the tokens that the server counted nevertheless.
        """
        self.words = words_of(body)[:_LONGEST].strip() or http.client.responses.get(status, "no explanation")
        """All of its words; the text of the exception is their beginning, on one line."""
        super().__init__(one_line(mask_keys(self.words)))
        self.status, self.headers, self.usage = status, headers, usage
        self.code = one_line(" ".join(dict.fromkeys(values(body, _CODES))))
        """The server's names for what is wrong."""
        self.told = f"{self.words} {self.code}"
        self.parameter = next((text.rpartition(".")[2] for text in values(body, ("param",))), "")
        """The parameter that it blames in a field of its own; "" if none."""
        self.wait = wait_of(headers, body, self.words)
        """The seconds to wait that the server asks for; None if it asks for none."""

    @cached_property
    def fault(self) -> Fault:
        return next(fault for fault in _faults() if fault.fits(self))


class PageError(InvalidReplyError):
    """A page, or other text that cannot be the API's: something else answers at this address."""


class TooLargeError(InvalidReplyError):
    """A reply too large to make sense: the call is tried a second time, not a tenth."""


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
    if said or within:  # a router passes on what the server behind it has said
        return f"{said}: {within}" if said and within and within not in said else said or within
    return "" if depth else one_line(json.dumps(body))


def values(body: Any, names: tuple[str, ...], depth: int = 0) -> Iterator[str]:
    """Yield the texts and numbers in fields of these names (in lower case), from the outside in."""
    if depth > _DEEPEST:
        return
    parts = body if isinstance(body, list) else list(body.values()) if isinstance(body, dict) else []
    for name, part in body.items() if isinstance(body, dict) else ():
        if name.lower() in names and isinstance(part, str | int) and not isinstance(part, bool):
            yield str(part)[:200]
    for part in parts[:20]:
        yield from values(_parsed(part) if isinstance(part, str) and part[:1] in "{[" else part, names, depth + 1)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text[: 1 << 16])
    except (ValueError, RecursionError):
        return None


_NUMBER = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:s|sec|seconds?)?\s*(?:[,;].*)?", re.IGNORECASE | re.ASCII)
_AGAIN = re.compile(
    r"(?:try again|retry|wait|available|resets?)\b[^.]{0,30}?\b(?:in|after|for)?\s*((?:\d+(?:\.\d+)?\s*"
    r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])\s*,?\s*)+)",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|mil|s|m|h|d)", re.IGNORECASE)
_UNITS = {"ms": 0.001, "mil": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def wait_of(headers: Mapping[str, str], body: Any = None, words: str = "") -> float | None:
    """Return the seconds that a server asks to wait; None where it asks for none, or for what is no time at all.

    By retry-after-ms, Retry-After, Google's retryDelay, X-RateLimit-Reset (OpenRouter's stands in the body) or words.
    """
    own = {name: next(values(body, (name,)), "") for name in ("retrydelay", "retry_after", "x-ratelimit-reset")}
    if _NUMBER.fullmatch(milliseconds := headers.get("retry-after-ms") or ""):
        return float(_NUMBER.sub(r"\1", milliseconds)) / 1000
    for text in (headers.get("retry-after"), own["retrydelay"], own["retry_after"]):
        if text and (wait := _seconds_until(text, headers)) is not None:
            return wait
    if match := _AGAIN.search(words[:_LONGEST]):
        return span(match[1])
    reset = headers.get("x-ratelimit-reset") or own["x-ratelimit-reset"]
    return _seconds_until(reset, headers) if reset and _NUMBER.fullmatch(reset) else None


def _seconds_until(text: str, headers: Mapping[str, str]) -> float | None:
    """Return the seconds in 3, 3.5, 3s, `3, 3` and `3;q=1`, or until a moment: since 1970, an HTTP or an ISO date."""
    if match := _NUMBER.fullmatch(text[:100]):
        number = float(match[1])
        if number < 1.5e9:
            return number
        return max(0.0, (number / 1000 if number > 1e11 else number) - time.time())
    if (until := date_of(text)) is None:
        return None
    now = date_of(headers.get("date", ""))  # the server's clock may differ from ours
    return max(0.0, until - (time.time() if now is None else now))


def date_of(text: str) -> float | None:
    """Return a date in seconds since 1970; None if it is not one."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            date = read(text.strip())
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
        except Exception:  # ValueError is documented; odd texts have raised half a dozen others
            continue
    return None


def span(text: str) -> float:
    """Return the seconds of a span such as 1s, 6m0s, 250ms, 1 minute; 0 where it is none."""
    return sum(float(number) * _UNITS[unit.lower()] for number, unit in _SPAN.findall(text))


def fault_of(error: BaseException) -> Fault | None:
    """Return what an error means; None for a bug of ours."""
    if isinstance(error, RefusedError):
        return error.fault
    if isinstance(error, LostError):
        return Fault(kind="connection_lost", fault="moment", busy=True)
    if isinstance(error, TimeoutError):
        return Fault(kind="timeout", fault="moment", busy=True)
    return Fault(kind="invalid_reply", fault="moment") if isinstance(error, InvalidReplyError) else None


_FREE = frozenset(("context_length", "rate_limit", "no_quota", "no_access", "not_found"))
"""Refusals of a call on which no work was done."""


def usage_of_failed(error: BaseException) -> Usage | None:
    """Return the tokens that a server has counted for a failed call.

    None if it has certainly done no work: it refused the call, or was never reached. An empty Usage if that is unknown:
    a broken connection, no answer in time, an error of the server's own.
    """
    if isinstance(error, InvalidReplyError):
        return error.usage
    if isinstance(error, RefusedError):
        return error.usage or (None if error.fault.kind in _FREE and error.status < 500 else Usage())
    return None if isinstance(error, LostError) and not error.connected else Usage()


def in_words(error: BaseException) -> str:
    """Return status and message, on one line; some servers' words have the status already."""
    message = one_line(str(error) or type(error).__name__)
    if not isinstance(error, RefusedError) or message.startswith(str(error.status)):
        return message
    return f"{error.status}: {message}"


def failure_of(error: RefusedError, max_wait: float) -> Failure:
    """Return the failure of the item whose call was refused."""
    kind, message = error.fault.kind, one_line(str(error))
    if error.fault.fault == "item":
        return Failure(kind, message)
    if kind != "rate_limit":
        return Failure(kind, in_words(error))
    wait = error.wait or 0
    return Failure(
        kind, message + f" (it asks to wait {wait:.0f} s, model.max_wait is {max_wait:g} s)" * (wait > max_wait)
    )


def why_waiting(error: BaseException) -> str:
    """Return few words for the progress line."""
    words = "no answer in time" if isinstance(error, TimeoutError) else in_words(error)
    return words if len(words) <= _FEW else f"{words[:_FEW].rsplit(' ', 1)[0]} …"
