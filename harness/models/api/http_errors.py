"""What an error of a call says: its status, the server's name for it, how long to wait, its words.

The exceptions of the OpenAI SDK are recognised by what they carry (status, body, headers), not by class, so that this
file needs no import of it.
"""

from __future__ import annotations

import email.utils
import re
import time
from datetime import UTC, datetime

from harness.models.api.replies import one_line

_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


def status(error: BaseException) -> int | None:
    """Return the HTTP status of a refused call; None where there is none."""
    value = getattr(error, "status_code", None)
    return value if isinstance(value, int) else None


def code(error: BaseException) -> str:
    """Return the API's own name for what went wrong: its code and type."""
    return " ".join(str(getattr(error, name, None) or "") for name in ("code", "type"))


def retry_after(error: BaseException) -> float | None:
    """Return the seconds that the server asks to wait: retry-after-ms, or Retry-After in seconds or as a date."""
    milliseconds, after = header(error, "retry-after-ms"), header(error, "retry-after")
    for text, scale in ((milliseconds, 0.001), (after, 1.0)):
        if text is not None and _SECONDS.fullmatch(text.strip()):
            return float(text) * scale
    if after is None or (until := _date(after)) is None:
        return None
    # A date is one of the server's clock, which need not go as ours does.
    now = _date(header(error, "date") or "")
    return max(0.0, until - (time.time() if now is None else now))


def _date(text: str) -> float | None:
    """Return the time that a header's date names, in seconds since 1970; None where it is no date."""
    try:
        date: datetime = email.utils.parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except Exception:  # ValueError is promised; odd texts have raised half a dozen others
        return None


def header(error: BaseException, name: str) -> str | None:
    """Return a header of the reply that an error stands for; None where there is none."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers.get(name) if headers is not None else None


def timed_out(error: BaseException) -> bool:
    """Test whether the server took the call and did not answer in time."""
    return isinstance(error, TimeoutError)


def message_of(error: BaseException) -> str:
    """Return the server's message, else the exception's, on one line."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    return one_line(str(message or error or type(error).__name__))
