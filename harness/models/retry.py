"""One policy for calls that fail: what is tried again, when, and what a failure is called in the end.

The OpenAI SDK's own retries are off. Its exceptions are recognised by what they carry (status, body, headers),
not by class, so that this file needs no import of it.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_random_exponential

from harness.errors import Interrupted, RunStopped
from harness.models.replies import InvalidReplyError
from harness.stop import STOP
from harness.types import FINAL_FAILURES, Failure, Response

_BACKOFF = wait_random_exponential(multiplier=0.5, max=60)
_TRANSIENT = {408, 409, 429}
_QUOTA = "says that the quota is used up ({}): run the same command again once there is more"
_FATAL = {
    401: "refuses the key ({}): check the key and that it belongs to this server",
    402: _QUOTA,
    403: "refuses access ({}): check what the key may use",
    404: "does not know this model or address ({}): check model.model and model.base_url",
}
FUTILE_AFTER = 8
"""So many calls in a row that failed in the same way, with no success before them, and the run is stopped."""
LOST_AFTER = 32
"""The same once there has been a success."""
UNREACHED_AFTER = 3
"""So many refused connections before the server was ever reached, and the run is stopped."""
TIMEOUTS = 2
"""Tries of a call that times out: the server may well have worked on each of them, and bill it."""


@dataclass
class Policy:
    """Retries for the calls of one run. `where` names the server in messages."""

    where: str
    attempts: int
    max_wait: float
    max_total_wait: float
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    left: Callable[[], float] = lambda: math.inf
    """Seconds until the run's time is over: no call waits longer for its retry."""
    _reached: bool = False
    _succeeded: bool = False
    _in_a_row: list[str] = field(default_factory=list)

    async def call(self, attempt: Callable[[], Awaitable[Response | Failure]]) -> Response | Failure:
        """The outcome of a call, tried again as often as makes sense. Raises RunStopped."""
        try:
            outcome = await attempt()
        except Exception as error:
            outcome = await self._again(attempt, error)
        if isinstance(outcome, Response):
            self._succeeded = True
            self._in_a_row.clear()
        else:
            self._count(outcome)
        return outcome

    async def _again(
        self, attempt: Callable[[], Awaitable[Response | Failure]], first: Exception
    ) -> Response | Failure:
        """The outcome of a call that has failed once. Only those pay for tenacity, which costs as much as a call."""
        errors = [first]

        async def next_attempt() -> Response | Failure:
            if errors:
                raise errors.pop()
            return await attempt()

        retrying = AsyncRetrying(
            stop=self._enough,
            wait=self._wait,
            retry=retry_if_exception(self._passes),
            sleep=self._sleep,
            before_sleep=self._give_up_unreached,
            reraise=True,
        )
        try:
            return await retrying(next_attempt)
        except Exception as error:
            return self._failure(error, waited=retrying.statistics.get("idle_for", 0.0))

    def _enough(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        limit = min(self.attempts, TIMEOUTS) if error and timed_out(error) else self.attempts
        too_long = state.idle_for + state.upcoming_sleep > self.max_total_wait
        return self.stopping.is_set() or STOP.requested or too_long or state.attempt_number >= limit

    def _passes(self, error: BaseException) -> bool:
        """Whether the same call may succeed later."""
        if status(error) is not None:
            self._reached = True
        if "insufficient_quota" in code(error) or _header(error, "x-should-retry") == "false":
            return False
        if (retry_after(error) or 0) > self.max_wait:
            return False
        got = status(error) or 0
        return isinstance(error, InvalidReplyError) or _lost(error) or got in _TRANSIENT or got >= 500

    def _wait(self, state: RetryCallState) -> float:
        """What the server asks for and a little more, so that not all come back at once; else exponential."""
        error = state.outcome.exception() if state.outcome else None
        asked = retry_after(error) if error else None
        if asked:
            return asked + random.random() * min(0.25 * asked, 1.0)
        return min(_BACKOFF(state), self.max_wait)

    async def _sleep(self, seconds: float) -> None:
        """Sleeps, unless the run ends meanwhile."""
        until = time.monotonic() + seconds
        while (left := min(until - time.monotonic(), self.left())) > 0:
            if STOP.requested:
                raise Interrupted("interrupted while a call waited for its retry.")
            if self.stopping.is_set():
                raise RunStopped("the run was stopped while a call waited for its retry.")
            await asyncio.sleep(min(left, 0.2))

    async def until(self, allowed: Callable[[], bool]) -> None:
        """Waits until a call may be tried again, unless the run ends meanwhile."""
        while not allowed():
            await self._sleep(0.05)

    def ended(self, last: Exception | Failure | None) -> Failure:
        """The outcome of a call that a budget ends: its last try's, which says nothing of the calls after it."""
        if last is None:
            return Failure("unanswered", "the time was over before the call went out")
        return last if isinstance(last, Failure) else self._failure(last, waited=0.0)

    def _give_up_unreached(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        refused = error is not None and _lost(error) and not timed_out(error)
        if error and refused and not self._reached and state.attempt_number >= UNREACHED_AFTER:
            raise self._unreachable(error)

    def _failure(self, error: Exception, waited: float) -> Failure:
        """The name of what went wrong with one item, or RunStopped where it concerns all of them."""
        if isinstance(error, RunStopped):
            raise error
        detail = _said(error) + f" (after {waited:.0f} s of waiting for retries)" * (waited >= 1)
        if timed_out(error):
            return Failure("timeout", f"no answer within model.timeout, {TIMEOUTS} times over")
        if _lost(error):
            if self._reached or self._succeeded:
                return Failure("connection_lost", detail)
            raise self._unreachable(error) from error
        got, why = status(error), code(error)
        if isinstance(error, InvalidReplyError):
            return Failure("invalid_reply", detail)
        if got is None:
            raise error
        if got in _FATAL or "insufficient_quota" in why:
            sentence = _FATAL.get(got, _QUOTA).format(f"{got}: {detail}")
            raise RunStopped(f"{self.where} {sentence}. Answers so far are kept.")
        if "context_length" in why or "maximum context length" in detail:
            return Failure("context_length", detail)
        if "content_filter" in why or "content_policy" in why:
            return Failure("content_filter", detail)
        if got == 429:
            asked = retry_after(error) or 0
            too_long = f" (it asks to wait {asked:.0f} s, model.max_wait is {self.max_wait:g} s)"
            return Failure("rate_limit", detail + too_long * (asked > self.max_wait))
        return Failure("server_error" if got >= 500 else "bad_request", f"{got}: {detail}")

    def _count(self, failure: Failure) -> None:
        """Stops a run in which everything fails in the same way."""
        if failure.kind in FINAL_FAILURES:
            return
        if self._in_a_row and self._in_a_row[-1] != failure.kind:
            self._in_a_row.clear()
        self._in_a_row.append(failure.kind)
        limit = LOST_AFTER if self._succeeded else FUTILE_AFTER
        if len(self._in_a_row) >= limit:
            raise RunStopped(
                f"{limit} calls to {self.where} in a row failed with {failure.kind}: {failure.detail}. Answers so far "
                "are kept."
            )

    def _unreachable(self, error: BaseException) -> RunStopped:
        return RunStopped(
            f"{self.where} cannot be reached ({_said(error)}): check model.base_url, the network and that the server "
            "runs. Answers so far are kept."
        )


def status(error: BaseException) -> int | None:
    """The HTTP status of a refused call."""
    got = getattr(error, "status_code", None)
    return got if isinstance(got, int) else None


def code(error: BaseException) -> str:
    """The API's own name for what went wrong: its code and type."""
    return " ".join(str(getattr(error, name, None) or "") for name in ("code", "type"))


def retry_after(error: BaseException) -> float | None:
    """Seconds that the server asks to wait: retry-after-ms, or Retry-After in seconds or as a date."""
    milliseconds, given = _header(error, "retry-after-ms"), _header(error, "retry-after")
    for text, scale in ((milliseconds, 0.001), (given, 1.0)):
        try:
            return max(0.0, float(text or "") * scale)
        except ValueError:
            continue
    try:
        return max(0.0, email.utils.parsedate_to_datetime(given or "").timestamp() - time.time())
    except ValueError:
        return None


def _header(error: BaseException, name: str) -> str | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers.get(name) if headers is not None else None


def _lost(error: BaseException) -> bool:
    """Whether no HTTP reply came at all."""
    return isinstance(error, TimeoutError) or _is(error, "APIConnectionError")


def timed_out(error: BaseException) -> bool:
    """Whether the server took the call and did not answer in time.

    The aiohttp transport reports a refused connection as a timeout too, of connecting: that is not meant here.
    """
    return (isinstance(error, TimeoutError) or _is(error, "APITimeoutError")) and not (
        error.__cause__ is not None and _is(error.__cause__, "ConnectTimeout")
    )


def _is(error: BaseException, name: str) -> bool:
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _said(error: BaseException) -> str:
    """The server's message, else the exception's, on one line."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    if not message and error.__cause__ is not None:
        message = error.__cause__
    return " ".join(str(message or error or type(error).__name__).split())[:300]
