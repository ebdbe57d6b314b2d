"""What a failed call means: its status and words, whether it may pass, what it is called, and what ends the run.

What which status, words and names mean is data: harness/data/server_errors.yaml, whose first row that fits decides.
How often and when a call is tried again is the policy's (retry.py).
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
from harness.models.api.families import advice, retired_note, shipped_rows
from harness.models.api.replies import InvalidReplyError, LostError, one_line
from harness.types import Failure, Usage

KEPT = "Answers so far are kept."
_FEW = 80
"""Characters of a server's words beside a bar."""
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


def pattern(text: str) -> re.Pattern[str]:
    """Return a regular expression of a table, whose alternatives stand on lines of their own."""
    return re.compile(text.replace(" |", "|"), re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A row of the table of refusals, which says what each field means."""

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
        there = error.status in self.unless_at
        excepted = self.unless is not None and self.unless.search(error.words) is not None
        excepted = (there and excepted) if self.unless_both else (there or excepted)
        return not excepted and self.words.search(error.words) is not None


@cache
def table() -> dict[str, Any]:
    rows: dict[str, Any] = shipped_rows("server_errors.yaml")
    return rows


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(Rule.of(row) for row in table()["refusals"])


class RefusedError(Exception):
    """A reply that says that the call has failed, by its status or inside of a reply that calls itself a success."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str], *, usage: Usage | None = None) -> None:
        """Read what the body says: JSON, or the text of what is none.

        `status` is that of HTTP, or what the body says of itself. `usage`: the tokens that were counted all the same.
        """
        self.words = words_of(body, status)
        """All that it says; the error's own text is the beginning, on one line."""
        super().__init__(one_line(self.words) or reason(status))
        self.status = status
        self.headers = headers
        self.code = names_of(body)
        """The names that the server has for what is wrong."""
        self.parameter = parameter_of(body)
        """The parameter that it blames, where it names one in a field of its own."""
        self.delay = delay_of(body)
        """The seconds to wait that the body asks for (Google's RetryInfo); None where it does not."""
        self.usage = usage

    @cached_property
    def rule(self) -> Rule:
        return next(rule for rule in _rules() if rule.fits(self))

    @property
    def kind(self) -> str | None:
        """context_length or content_filter, where the words say so: then the item is at fault, whatever the status."""
        return self.rule.kind if self.rule.fault == "item" else None


class PageError(InvalidReplyError):
    """A page, or other words that nobody would take for a reply of the API: something else answers at this address."""


class TooLargeError(InvalidReplyError):
    """A reply larger than any that makes sense: a second one is asked for, no tenth."""


def status(error: BaseException) -> int | None:
    return error.status if isinstance(error, RefusedError) else None


def kind(error: BaseException) -> str | None:
    """Return context_length or content_filter where a server's words say so."""
    return error.kind if isinstance(error, RefusedError) else None


def retry_after(error: BaseException) -> float | None:
    """Return the seconds that the server asks to wait: retry-after-ms, Retry-After (seconds, a date), or its body."""
    milliseconds, after = header(error, "retry-after-ms"), header(error, "retry-after")
    for text, scale in ((milliseconds, 0.001), (after, 1.0)):
        if text is not None and _SECONDS.fullmatch(text.strip()):
            return float(text) * scale
    if after is None or (until := _date(after)) is None:
        return error.delay if isinstance(error, RefusedError) else None
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
    return error.headers.get(name) if isinstance(error, RefusedError) else None


def timed_out(error: BaseException) -> bool:
    """Test whether the server took the call and did not answer in time."""
    return isinstance(error, TimeoutError)


def message_of(error: BaseException) -> str:
    """Return the server's message, or the exception's, on one line."""
    return one_line(str(error) or type(error).__name__)


def in_words(error: BaseException) -> str:
    """Return status and message, without the status that some servers repeat in their words."""
    return _with_status(status(error), message_of(error))


def _with_status(http_status: int | None, detail: str) -> str:
    return detail if http_status is None or detail.startswith(str(http_status)) else f"{http_status}: {detail}"


def may_pass(error: BaseException) -> bool:
    """Test whether the same call may succeed later, by what the server says."""
    if isinstance(error, RefusedError):
        return error.rule.fault == "moment" and header(error, "x-should-retry") != "false"
    return isinstance(error, InvalidReplyError | LostError) or timed_out(error)


def says_not_yet(error: BaseException) -> bool:
    """Test whether a server says that it is there and cannot answer now, or was not reached: it is worth a wait.

    Any other error is as likely to be the fault of what is asked, as long as nothing was ever answered.
    """
    if isinstance(error, RefusedError):
        return error.rule.busy or retry_after(error) is not None
    return isinstance(error, LostError) or timed_out(error)


def usage_of_failed(error: BaseException) -> Usage | None:
    """Return what a server has counted for a call that failed.

    None where it has certainly done no work: it turned the call away, or was never reached. Without counts where
    nobody knows: a connection that broke, no answer in time, an error of the server's own.
    """
    if isinstance(error, InvalidReplyError):
        return error.usage
    if isinstance(error, RefusedError):
        return error.usage or (None if error.rule.free else Usage())
    return None if isinstance(error, LostError) and not error.connected else Usage()


def asked_pause(error: BaseException | None) -> float | None:
    """Return the wait that a server asks for, in seconds, plus some randomness so that not all return at once."""
    requested = retry_after(error) if error else None
    return requested + random.random() * min(0.25 * requested, 1.0) if requested else None


def growing_pause(tries: int, longest: float) -> float:
    """Return the seconds to wait before the next try: doubled with each, up to `longest`, with some randomness."""
    return min(0.5 * 2.0 ** min(tries - 1, 30), longest) * random.uniform(0.6, 1.0)


def ends_the_run(error: BaseException, where: str, detail: str) -> RunStopped | None:
    """Return the end of the run for a refusal that concerns every call; None for one that concerns one item."""
    if not isinstance(error, RefusedError) or error.rule.fault != "run":
        return None
    sentence = error.rule.says.format(_with_status(error.status, detail))
    if error.rule.kind == "not_found" and (hint := advice(where)):
        sentence += f"; {hint}"
    return RunStopped(f"{where} {sentence.rstrip('.')}. {KEPT}")


def gone(error: BaseException, model: str, where: str) -> str | None:
    """Return the sentence that ends a run whose model was shut down by its maker; None for any other error."""
    if not isinstance(error, RefusedError) or error.rule.kind != "not_found":
        return None
    # A router's 404 may be of what is asked for beside the model.
    if error.status == 404 and "parameter" in f"{error.code} {error}".lower():
        return None
    if (note := retired_note(model, where)) is None:
        return None
    return f"{where} {error.rule.says.format(in_words(error))}. {note} {KEPT}"


def failure_of(error: BaseException, detail: str, max_wait: float) -> Failure:
    """Return the failure that a refusal means for its item."""
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
    """Return the end of a run whose server cannot be reached."""
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
