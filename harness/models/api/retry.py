"""One policy for calls that fail: what is tried again, when, and what a failure is called in the end."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import Interrupted, RunStopped
from harness.models.api import faults
from harness.models.api.families import advice
from harness.models.api.faults import KEPT, Fault, PageError, RefusedError, TooLargeError, in_words
from harness.models.api.replies import InvalidReplyError, LostError, NoLogprobsError, UnsupportedError, one_line
from harness.runtime.signals import STOP
from harness.runtime.under_way import RETRIES, Waiting
from harness.types import FINAL_FAILURES, Failure, Response

if TYPE_CHECKING:
    from tenacity import RetryCallState

ALIKE, ALIKE_LATER = 8, 32
"""Stop the run after so many failures of one kind in a row, before the first answer and after it."""
UNREACHED = 3
"""Tries of a call without a connection, where the server was never reached."""
TWICE = 2
"""Tries of a call that times out, or whose reply is too large: the server may well have worked on each, and bill it.
Pages of a call, where nobody is answered: it is the address."""
EARLY = 5
"""Tries of a call before anything was ever answered, unless the server says that it is busy or is not there: an error
that comes five times then comes of what is asked rather than of the moment."""
FIRST, AWAY, NEVER_THERE, LONGEST = 0.5, 30.0, 2.0, 60.0
"""Seconds of a first wait; the longest for a server that is away, one that has never been there, any other failure. Ten
tries wait for a server that was there for 73 to 122 seconds: long enough for it to be started anew."""
_REACHED: set[str] = set()
"""Servers that this process has had a reply of: each turn of an opening has a Policy of its own."""


@dataclass(eq=False)
class _Trouble:
    """A call that has failed, and how many replies and answers others had had by then."""

    replies: int
    answers: int
    tries: int = 0
    """Those that count: a limit ends none by its tries while others are answered."""
    pages: int = 0


class Policy:
    """Retries for the calls of one run."""

    def __init__(
        self, where: str, attempts: int, max_wait: float, time_left: Callable[[], float] = lambda: math.inf
    ) -> None:
        """Try a call up to `attempts` times, and wait for up to `max_wait` seconds in all; `where` is the server."""
        self.where, self.attempts, self.max_wait, self._time_left = where, attempts, max_wait, time_left
        self.stopping = False
        """Whether nothing is to be tried again, as the run ends."""
        self._replies = self._answers = 0
        self._alike = ("", 0)

    async def call(self, attempt: Callable[[], Awaitable[Response | Failure]]) -> Response | Failure:
        """Return the outcome of a call, tried again as often as makes sense. Raises RunStopped."""
        try:
            outcome = await attempt()
        except Exception as error:
            outcome = await self._again(attempt, error)
        else:
            self._replied()
        if isinstance(outcome, Response):
            self._answers += 1
            self._alike = ("", 0)
        return outcome

    async def _again(
        self, attempt: Callable[[], Awaitable[Response | Failure]], first: Exception
    ) -> Response | Failure:
        """Return the outcome of a call that failed once. Only those pay for tenacity, which costs as much as a call."""
        from tenacity import AsyncRetrying, retry_if_exception

        errors, trouble = [first], _Trouble(self._replies, self._answers)

        async def next_attempt() -> Response | Failure:
            if errors:
                raise errors.pop()
            RETRIES.end(trouble)
            return await attempt()

        retrying = AsyncRetrying(
            stop=lambda state: self._enough(trouble, state),
            wait=lambda state: self._wait(trouble, state),
            retry=retry_if_exception(lambda error: self._passes(trouble, error)),
            sleep=self._sleep,
            before_sleep=lambda state: self._before_wait(trouble, state),
            reraise=True,
        )
        try:
            outcome: Response | Failure = await retrying(next_attempt)
        except Exception as error:
            failure = self._failure(error, trouble, retrying.statistics.get("idle_for", 0.0))
            self._count(failure)
            return failure
        finally:
            RETRIES.end(trouble)
        self._replied()
        return outcome

    def _replied(self) -> None:
        self._replies += 1
        _REACHED.add(self.where)

    def _passes(self, trouble: _Trouble, error: BaseException) -> bool:
        """Test whether the same call may succeed later."""
        if isinstance(error, InvalidReplyError):  # tracebacks hold the reply, for as long as the call waits
            error.__traceback__ = error.__cause__ = error.__context__ = None
        if isinstance(error, RefusedError | InvalidReplyError):
            self._replied()
        trouble.pages += isinstance(error, PageError)
        limit = isinstance(error, RefusedError) and error.fault.kind == "rate_limit"
        if not limit or trouble.answers == self._answers or not trouble.tries:
            trouble.tries += 1
        trouble.answers = self._answers
        if isinstance(error, UnsupportedError):
            return isinstance(error, NoLogprobsError) and self._answers > 0
        if isinstance(error, RefusedError):
            asks = error.headers.get("x-should-retry") != "false" and (error.wait or 0) <= self.max_wait
            # Where nobody is answered it is the address that is wrong; one redirect was its own.
            return asks and error.fault.fault == "moment"
        return faults.fault_of(error) is not None

    def _most_tries(self, error: BaseException) -> int:
        if isinstance(error, TimeoutError | TooLargeError):
            return min(self.attempts, TWICE)
        fault = faults.fault_of(error) or Fault(kind="", fault="moment")
        busy = fault.busy or (isinstance(error, RefusedError) and error.wait is not None)
        return self.attempts if self._answers or busy else min(self.attempts, EARLY)

    def _enough(self, trouble: _Trouble, state: RetryCallState) -> bool:
        """Test whether a call is not tried again."""
        too_long = state.idle_for + state.upcoming_sleep > self.max_wait
        enough = trouble.tries >= self._most_tries(_error(state)) or (trouble.pages >= TWICE and not self._answers)
        return self.stopping or STOP.requested or too_long or enough

    def _wait(self, trouble: _Trouble, state: RetryCallState) -> float:
        """Return what the server asks for and a little more, so that not all come back at once; else what is usual."""
        error = _error(state)
        if isinstance(error, RefusedError) and error.wait:
            return error.wait + random.random() * min(0.25 * error.wait, 1.0)
        if isinstance(error, LostError):
            longest = AWAY if self.where in _REACHED else NEVER_THERE
            return min(FIRST * 2.0 ** min(state.attempt_number - 1, 30), longest) * random.uniform(0.6, 1.0)
        return random.uniform(0, min(FIRST * 2.0 ** min(trouble.tries - 1, 30), LONGEST))

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless the run ends meanwhile."""
        until = time.monotonic() + seconds
        while (remaining := min(until - time.monotonic(), self._time_left())) > 0:
            if STOP.requested:
                raise Interrupted("interrupted while a call waited for its retry.")
            if self.stopping:
                raise RunStopped("the run was stopped while a call waited for its retry.")
            RETRIES.show()
            await asyncio.sleep(min(remaining, 0.2))

    def _before_wait(self, trouble: _Trouble, state: RetryCallState) -> None:
        """Show that a call waits. Stop a run whose server has never been there."""
        error = _error(state)
        never_there = self.where not in _REACHED and state.attempt_number >= UNREACHED
        if never_there and isinstance(error, LostError) and not error.connected:
            raise self._unreachable(error)
        RETRIES.begin(trouble, Waiting(faults.why_waiting(error), trouble.tries + 1, self._most_tries(error)))

    def ended(self, last: Exception | Failure | None) -> Failure:
        """Return the outcome of a call that a budget ends: its last try's, which says nothing of other calls."""
        if last is None:
            return Failure("unanswered", "the time was over before the call went out")
        return last if isinstance(last, Failure) else self._failure(last, _Trouble(-1, -1), 0.0)

    def _failure(self, error: Exception, trouble: _Trouble, waited: float) -> Failure:
        """Return the name of what went wrong with one item; raises RunStopped where it concerns all of them."""
        fault = faults.fault_of(error)
        if fault is None:
            raise error  # RunStopped; or no fault of the server's, nor of the network's: a bug, which ends the run
        after = f" (after {waited:.0f} s of waiting for retries)" * (waited >= 1)
        if isinstance(error, TimeoutError):
            return Failure("timeout", f"no answer within model.timeout, {TWICE} times over")
        if isinstance(error, LostError):
            if not error.connected and self._replies == trouble.replies:
                raise self._unreachable(error)
            return Failure(fault.kind, one_line(str(error)) + after)
        if isinstance(error, UnsupportedError) and not self._answers:
            raise RunStopped(str(error))
        if isinstance(error, PageError) and not self._answers:
            hint = (
                advice(self.where)
                or "is model.base_url right, and does no login page or proxy stand before the server?"
            )
            raise RunStopped(f"{self.where} answers with {one_line(str(error))}: {hint} {KEPT}")
        if not isinstance(error, RefusedError):
            return Failure(fault.kind, one_line(str(error)) + after)
        if fault.fault == "run":
            raise self._stopped(error, fault)
        if error.status < 400:
            said = (
                f"{self.where} redirects to {error} ({error.status}), which is not followed: if that is your server, "
            )
            said += "set model.base_url to it."
            if not self._answers:
                raise RunStopped(f"{said} {KEPT}")
            return Failure("redirect", said)
        failure = faults.failure_of(error, self.max_wait)
        return Failure(failure.kind, failure.detail + after)

    def _stopped(self, error: RefusedError, fault: Fault) -> RunStopped:
        said = fault.says.format(in_words(error))
        if fault.kind == "not_found" and (hint := advice(self.where)):
            said += f"; {hint}"
        if fault.kind == "no_quota" and error.wait:
            until = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + error.wait))
            said += f"; by its own account that is at {until}"
        return RunStopped(f"{self.where} {said.rstrip('.')}. {KEPT}")

    def _unreachable(self, error: LostError) -> RunStopped:
        suffix = " any more" * (self.where in _REACHED)
        return RunStopped(
            f"{self.where} cannot be reached{suffix} ({one_line(str(error))}): check model.base_url, the network and "
            f"that the server runs. {KEPT}"
        )

    def _count(self, failure: Failure) -> None:
        """Stop a run in which everything fails in the same way."""
        if failure.kind in FINAL_FAILURES:
            return
        kind, number = self._alike
        self._alike = failure.kind, number + 1 if failure.kind == kind else 1
        if self._alike[1] >= (ALIKE_LATER if self._answers else ALIKE):
            said = failure.detail.rstrip(".")
            raise RunStopped(
                f"{self._alike[1]} calls to {self.where} in a row failed with {failure.kind}: {said}. {KEPT}"
            )


def _error(state: RetryCallState) -> BaseException:
    return (state.outcome and state.outcome.exception()) or RuntimeError()
