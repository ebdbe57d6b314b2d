"""One policy for calls that fail: what is tried again, when, and what a failure is called in the end."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from harness.errors import Interrupted, RunStopped
from harness.models.api.families import advice
from harness.models.api.faults import Fault, RefusedError, TooLargeError, failure_of, fault_of, in_words
from harness.models.api.replies import InvalidReplyError, LostError, UnsupportedError, one_line
from harness.runtime.signals import STOP
from harness.runtime.under_way import RETRIES, Waiting
from harness.types import FINAL_FAILURES, Failure, Request, Response

if TYPE_CHECKING:
    from tenacity import RetryCallState

KEPT = "Answers so far are kept."
ALIKE, ALIKE_LATER = 8, 32
"""Stop the run after so many failures of one kind in a row, before the first answer and after it."""
UNREACHED = 3
"""Tries of a call without a connection, where the server was never reached."""
TWICE = 2
"""Tries of a call that times out, or whose reply is too large: the server may well have worked on each, and bill it."""
EARLY = 5
"""Tries of a call before anything was ever answered, unless the server says that it is busy or is not there: an error
that comes five times then comes of what is asked rather than of the moment."""
FIRST, LONGEST = 0.5, 30.0
"""Seconds of a first wait and of the longest one, unless the server says. Ten tries wait for a server that was there
for 60 to 121 seconds: long enough for it to be started anew."""
_REACHED: set[str] = set()
"""Servers that this process has had a reply of: each turn of an opening has a Policy of its own."""


@dataclass(eq=False)
class Call:
    """One request on its way, and what has become of it so far."""

    request: Request
    tries: int = 0
    counted: int = 0
    """Tries that count: a limit ends no call while others are answered."""
    answers: int = 0
    """What others had been answered when it began, or last failed."""
    alone: bool = False
    """Whether nobody was answered since then."""
    last: Exception | Failure | None = None
    """The outcome of its last try, unless that was an answer."""


class Policy:
    """Retries for the calls of one run."""

    def __init__(
        self, where: str, attempts: int, max_wait: float, time_left: Callable[[], float] = lambda: math.inf
    ) -> None:
        """Try a call up to `attempts` times, and wait for up to `max_wait` seconds in all; `where` is the server."""
        self.where, self.attempts, self.max_wait, self._time_left = where, attempts, max_wait, time_left
        self.stopping = False
        """Whether nothing is to be tried again, as the run ends."""
        self._answers = 0
        self._alike = ("", 0)

    async def call(self, call: Call, attempt: Callable[[], Awaitable[Response | Failure]]) -> Response | Failure:
        """Return the outcome of a call, tried again as often as makes sense. Raises RunStopped."""
        call.answers = self._answers
        try:
            outcome = await attempt()
        except Exception as error:
            outcome = await self._again(call, attempt, error)
        if isinstance(outcome, Response):
            _REACHED.add(self.where)
            self._answers += 1
            self._alike = ("", 0)
        return outcome

    async def _again(
        self, call: Call, attempt: Callable[[], Awaitable[Response | Failure]], first: Exception
    ) -> Response | Failure:
        """Return the outcome of a call that failed once. Only those pay for tenacity, which costs as much as a call."""
        from tenacity import AsyncRetrying, retry_if_exception

        errors = [first]

        async def next_attempt() -> Response | Failure:
            if errors:
                raise errors.pop()
            RETRIES.end(call)
            return await attempt()

        retrying = AsyncRetrying(
            stop=lambda state: self._enough(call, state),
            wait=lambda state: self._wait(call, _error(state)),
            retry=retry_if_exception(lambda error: self._passes(call, error)),
            sleep=self._sleep,
            before_sleep=lambda state: RETRIES.begin(call, self._waiting(call, _error(state))),
            reraise=True,
        )
        try:
            return await retrying(next_attempt)
        except Exception as error:
            failure = self._failure(call, error, retrying.statistics.get("idle_for", 0.0))
            self._count(failure)
            return failure
        finally:
            RETRIES.end(call)

    def _passes(self, call: Call, error: BaseException) -> bool:
        """Test whether the same call may succeed later."""
        if isinstance(error, InvalidReplyError):  # tracebacks hold the reply, for as long as the call waits
            error.__traceback__ = error.__cause__ = error.__context__ = None
        if isinstance(error, RefusedError | InvalidReplyError):
            _REACHED.add(self.where)
        if (fault := fault_of(error)) is None:
            return False
        call.alone = call.answers == self._answers
        call.answers = self._answers
        call.counted += fault.kind != "rate_limit" or call.alone or not call.counted
        return fault.passes and (_wait_of(error) or 0) <= self.max_wait

    def _most_tries(self, error: BaseException) -> int:
        most, fault = self.attempts, fault_of(error)
        if isinstance(error, LostError) and not error.connected and self.where not in _REACHED:
            most = UNREACHED
        elif isinstance(error, TimeoutError | TooLargeError):
            most = TWICE
        elif not self._answers and _wait_of(error) is None and fault is not None and fault.fault != "busy":
            most = EARLY
        return min(self.attempts, most)

    def _enough(self, call: Call, state: RetryCallState) -> bool:
        """Test whether a call is not tried again."""
        too_long = state.idle_for + state.upcoming_sleep > self.max_wait
        return self.stopping or STOP.requested or too_long or call.counted >= self._most_tries(_error(state))

    def _wait(self, call: Call, error: BaseException) -> float:
        """Return what the server asks for and a little more, so that not all come back at once; else what is usual."""
        if wait := _wait_of(error):
            return wait + random.random() * min(0.25 * wait, 1.0)
        return random.uniform(0.5, 1.0) * min(FIRST * 2.0 ** min(call.counted - 1, 30), LONGEST)

    def _waiting(self, call: Call, error: BaseException) -> Waiting:
        words = "no answer in time" if isinstance(error, TimeoutError) else in_words(error)
        return Waiting(shorten(words, 80, placeholder=" …"), call.counted + 1, self._most_tries(error))

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

    def ended(self, call: Call) -> Failure:
        """Return the outcome of a call that a budget ends: its last try's, which says nothing of other calls."""
        if call.last is None:
            return Failure("unanswered", "the time was over before the call went out")
        call.alone = False
        return call.last if isinstance(call.last, Failure) else self._failure(call, call.last, 0.0)

    def _failure(self, call: Call, error: Exception, waited: float) -> Failure:
        """Return the name of what went wrong with one item; raises RunStopped where it concerns all of them."""
        if (fault := fault_of(error)) is None:
            raise error  # RunStopped; or no fault of the server's, nor of the network's: a bug, which ends the run
        words, where = one_line(str(error)), self.where
        after = f" (after {waited:.0f} s of waiting for retries)" * (waited >= 1)
        if isinstance(error, TimeoutError):
            return Failure("timeout", f"no answer within model.timeout, {TWICE} times over")
        if isinstance(error, LostError) and not error.connected and call.alone:
            raise RunStopped(
                f"{where} cannot be reached{' any more' * (where in _REACHED)} ({words}): check model.base_url, the "
                f"network and that the server runs. {KEPT}"
            )
        if isinstance(error, UnsupportedError) and not self._answers:
            raise RunStopped(str(error))
        if not isinstance(error, RefusedError):
            return Failure(fault.kind, words + after)
        if fault.fault == "run":
            raise self._stopped(error, fault)
        failure = failure_of(error, self.max_wait)
        return Failure(failure.kind, failure.detail + after)

    def _stopped(self, error: RefusedError, fault: Fault) -> RunStopped:
        said = fault.says.format(in_words(error))
        if fault.kind == "not_found" and (hint := advice(self.where)):
            said += f"; {hint}"
        if fault.kind == "no_quota" and error.wait is not None and error.wait > LONGEST:
            until = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + error.wait))
            said += f"; by its own account that is at {until}"
        return RunStopped(f"{self.where} {said.rstrip('.')}. {KEPT}")

    def _count(self, failure: Failure) -> None:
        """Stop a run in which everything fails in the same way."""
        if failure.kind in FINAL_FAILURES:
            return
        kind, number = self._alike
        self._alike = failure.kind, number + 1 if failure.kind == kind else 1
        if self._alike[1] >= (ALIKE_LATER if self._answers else ALIKE):
            raise RunStopped(
                f"{self._alike[1]} calls to {self.where} in a row failed with {failure.kind}: "
                f"{failure.detail.rstrip('.')}. {KEPT}"
            )


def _error(state: RetryCallState) -> BaseException:
    return (state.outcome and state.outcome.exception()) or RuntimeError()


def _wait_of(error: BaseException) -> float | None:
    return error.wait if isinstance(error, RefusedError) else None
