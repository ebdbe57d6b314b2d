"""What a failed call means: whether it may pass, what its failure is called, and whether it ends the run.

What a status, words and names mean is data: the first row of harness/data/server_errors.yaml that fits decides. How
often and when a call is tried again is the policy's (retry.py).
"""

from __future__ import annotations

import email.utils
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any, Literal

from harness.errors import RunStopped
from harness.models.api.bodies import delay_of, names_of, parameter_of, reason, words_of
from harness.models.api.families import advice, shipped_rows
from harness.models.api.replies import InvalidReplyError, LostError, one_line
from harness.types import Failure, Usage

KEPT = "Answers so far are kept."
_FEW = 80
"""Characters of a server's words beside a progress bar."""
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


def pattern(text: str) -> re.Pattern[str]:
    """Compile a regular expression of a table, which has its alternatives on lines of their own."""
    return re.compile(text.replace(" |", "|"), re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A row of the table of refusals, where its fields are explained."""

    kind: str
    fault: Literal["item", "run", "moment", "request"]
    status: frozenset[int] = frozenset()
    at_least: int = 0
    words: re.Pattern[str] | None = None
    names: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    unless_at: frozenset[int] = frozenset()
    unless_both: bool = False
    asks_to_wait: bool = False
    says: str = ""
    busy: bool = False
    free: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Rule:
        patterns = {name: pattern(row[name]) for name in ("words", "names", "unless") if name in row}
        statuses = {name: frozenset(row[name]) for name in ("status", "unless_at") if name in row}
        return cls(**{**row, **patterns, **statuses})

    def fits(self, error: RefusedError) -> bool:
        if error.status < self.at_least or (self.status and error.status not in self.status):
            return False
        if self.asks_to_wait and retry_after(error) is None:
            return False
        if self.names is not None and not self.names.search(error.code):
            return False
        if self.words is None:
            return True
        at_status = error.status in self.unless_at
        excepted = self.unless is not None and self.unless.search(error.words) is not None
        excepted = (at_status and excepted) if self.unless_both else (at_status or excepted)
        return not excepted and self.words.search(error.words) is not None


@cache
def table() -> dict[str, Any]:
    rows: dict[str, Any] = shipped_rows("server_errors.yaml")
    return rows


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(Rule.of(row) for row in table()["refusals"])


class RefusedError(Exception):
    """A reply that says that the call has failed, by its status or inside of a success."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str], *, usage: Usage | None = None) -> None:
        """Read the words of a body, which is parsed JSON or text.

        `status` is HTTP's, or what the body gives itself. `usage`: the tokens that the server counted nevertheless.
        """
        self.words = words_of(body, status)
        """All of its words; the text of the exception is their beginning, on one line."""
        super().__init__(one_line(self.words) or reason(status))
        self.status = status
        self.headers = headers
        self.code = names_of(body)
        """The server's names for what is wrong."""
        self.parameter = parameter_of(body)
        """The parameter that it blames in a field of its own; "" if none."""
        self.delay = delay_of(body)
        """The seconds to wait that the body asks for (Google's RetryInfo); None if it does not."""
        self.usage = usage
        self.inside = False
        """Whether it stood inside of a reply whose own status is success."""

    @cached_property
    def rule(self) -> Rule:
        return next(rule for rule in _rules() if rule.fits(self))

    @property
    def kind(self) -> str | None:
        """context_length or content_filter if the item is at fault by the words, whatever the status; else None."""
        return self.rule.kind if self.rule.fault == "item" else None


class PageError(InvalidReplyError):
    """A page, or other text that cannot be the API's: something else answers at this address."""


class TooLargeError(InvalidReplyError):
    """A reply too large to make sense: the call is tried a second time, not a tenth."""


def status(error: BaseException) -> int | None:
    return error.status if isinstance(error, RefusedError) else None


def retry_after(error: BaseException) -> float | None:
    """Return the seconds that the server asks to wait, by retry-after-ms, Retry-After (seconds, a date) or its body."""
    milliseconds, after = header(error, "retry-after-ms"), header(error, "retry-after")
    for text, scale in ((milliseconds, 0.001), (after, 1.0)):
        if text is not None and _SECONDS.fullmatch(text.strip()):
            return float(text) * scale
    if after is None or (until := date_of(after)) is None:
        return error.delay if isinstance(error, RefusedError) else None
    # A date is by the server's clock, which may differ from ours.
    now = date_of(header(error, "date") or "")
    return max(0.0, until - (time.time() if now is None else now))


def date_of(text: str) -> float | None:
    """Return a header's date in seconds since 1970; None if it is not a date."""
    try:
        date: datetime = email.utils.parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except Exception:  # ValueError is documented; odd texts have raised half a dozen others
        return None


def header(error: BaseException, name: str) -> str | None:
    return error.headers.get(name) if isinstance(error, RefusedError) else None


def timed_out(error: BaseException) -> bool:
    """Test whether the server took the call and did not answer in time."""
    return isinstance(error, TimeoutError)


def message_of(error: BaseException) -> str:
    """Return the server's message, or the exception's, on one line."""
    return one_line(str(error) or type(error).__name__)


def in_words(error: BaseException) -> str:
    """Return status and message; some servers' words have the status already."""
    return _with_status(status(error), message_of(error))


def _with_status(http_status: int | None, detail: str) -> str:
    return detail if http_status is None or detail.startswith(str(http_status)) else f"{http_status}: {detail}"


def may_pass(error: BaseException) -> bool:
    """Test whether the same call may succeed later."""
    if isinstance(error, RefusedError):
        return error.rule.fault == "moment" and header(error, "x-should-retry") != "false"
    return isinstance(error, InvalidReplyError | LostError) or timed_out(error)


def says_not_yet(error: BaseException) -> bool:
    """Test whether a server is busy or was not reached, so that waiting is worthwhile.

    As long as no call was ever answered, any other error is as likely to be the fault of the request.
    """
    if isinstance(error, RefusedError):
        return error.rule.busy or retry_after(error) is not None
    return isinstance(error, LostError) or timed_out(error)


def usage_of_failed(error: BaseException) -> Usage | None:
    """Return the tokens that a server has counted for a failed call.

    None if it has certainly done no work: it refused the call, or was never reached. An empty Usage if that is unknown:
    a broken connection, no answer in time, an error of the server's own.
    """
    if isinstance(error, InvalidReplyError):
        return error.usage
    if isinstance(error, RefusedError):
        return error.usage or (None if error.rule.free else Usage())
    return None if isinstance(error, LostError) and not error.connected else Usage()


def asked_pause(error: BaseException | None) -> float | None:
    """Return the wait that a server asks for, in seconds, plus some jitter; None if it asks for none."""
    requested = retry_after(error) if error else None
    return requested + random.random() * min(0.25 * requested, 1.0) if requested else None


def growing_pause(tries: int, longest: float) -> float:
    """Return the seconds to wait before the next try: doubled with each, up to `longest`, with some jitter."""
    return min(0.5 * 2.0 ** min(tries - 1, 30), longest) * random.uniform(0.6, 1.0)


def ends_the_run(error: BaseException, where: str, detail: str) -> RunStopped | None:
    """Return the end of the run for a refusal that concerns every call; None for others."""
    if not isinstance(error, RefusedError) or error.rule.fault != "run":
        return None
    sentence = error.rule.says.format(_with_status(error.status, detail))
    if error.rule.kind == "not_found" and (hint := advice(where)):
        sentence += f"; {hint}"
    return RunStopped(f"{where} {sentence.rstrip('.')}. {KEPT}")


def failure_of(error: BaseException, detail: str, max_wait: float) -> Failure:
    """Return the failure of the item whose call was refused."""
    assert isinstance(error, RefusedError)
    rule = error.rule
    if rule.fault == "item":
        return Failure(rule.kind, detail)
    if rule.kind == "rate_limit":
        requested = retry_after(error) or 0
        too_long = f" (it asks to wait {requested:.0f} s, model.max_wait is {max_wait:g} s)"
        return Failure(rule.kind, detail + too_long * (requested > max_wait))
    return Failure(rule.kind, _with_status(error.status, detail))


def page(error: BaseException, where: str) -> RunStopped:
    hint = advice(where) or "is model.base_url right, and does no login page or proxy stand before the server?"
    return RunStopped(f"{where} answers with {message_of(error)}: {hint} {KEPT}")


def redirect(error: BaseException, where: str) -> str:
    return (
        f"{where} redirects to {message_of(error)} ({status(error)}), which is not followed: if that is your server, "
        "set model.base_url to it."
    )


def unreachable(error: BaseException, where: str, *, any_more: bool) -> RunStopped:
    suffix = " any more" * any_more
    return RunStopped(
        f"{where} cannot be reached{suffix} ({message_of(error)}): check model.base_url, the network and that the "
        f"server runs. {KEPT}"
    )


def all_alike(failure: Failure, number: int, where: str) -> RunStopped:
    detail = failure.detail.rstrip(".")
    return RunStopped(f"{number} calls to {where} in a row failed with {failure.kind}: {detail}. {KEPT}")


def why_waiting(error: BaseException) -> str:
    if timed_out(error):
        return "no answer in time"
    words = in_words(error)
    return words if len(words) <= _FEW else f"{words[:_FEW].rsplit(' ', 1)[0]} …"
