"""One policy for calls that fail: what is tried again, when, and what a failure is called in the end."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from harness.errors import BudgetReached, Interrupted, RunStopped
from harness.models.api.families import advice
from harness.models.api.faults import RefusedError
from harness.models.api.replies import CallError, InvalidReplyError, LostError, UnsupportedError
from harness.runtime.progress import RETRIES
from harness.runtime.signals import STOP
from harness.types import FINAL_FAILURES, Failure, Response

if TYPE_CHECKING:
    from tenacity import RetryCallState

KEPT = "Answers so far are kept."
ALIKE, ALIKE_LATER = 8, 32
"""Stop the run after so many failures of one kind in a row, before the first answer and after it."""
UNREACHED = 3
"""Tries of a call without a reply, where the server was never reached."""
EARLY = 5
"""Tries of a call before anything was ever answered, unless the server says that it is busy or is not there: an error
that comes five times then comes of what is asked rather than of the moment."""
FIRST, LONGEST = 0.5, 30.0
"""Seconds of a first wait and of the longest one, unless the server says. Ten tries wait for a server that was there
for 60 to 121 seconds: long enough for it to be started anew."""
_REACHED: set[str] = set()
"""Servers that this process has had a reply of: each turn of an opening has a Policy of its own."""
Attempt = Callable[[bool], Awaitable[Response | Failure]]
"""One try of a call, given whether it is a further one."""


@dataclass(eq=False)
class Call:
    """A call that has failed, and what has become of it so far."""

    error: CallError
    """That of its last try."""
    answers: int
    """What others had been answered when it began, or last failed."""
    counted: int = 0
    """Tries that count: a limit ends no call while others are answered."""
    alone: bool = False
    """Whether nobody was answered since then."""


class Policy:
    """Retries for the calls of one run."""

    def __init__(self, where: str, attempts: int, max_wait: float) -> None:
        """Try a call up to `attempts` times, and wait for up to `max_wait` seconds in all; `where` is the server."""
        self.where, self.attempts, self.max_wait = where, attempts, max_wait
        self.stopped: Exception | None = None
        """Why nothing is tried again nor begun any more: what the run raises in the end."""
        self._answers = 0
        self._alike = ("", 0)

    def stop(self, error: Exception) -> None:
        """Let nothing be tried again; a bug of ours is raised rather than another call's RunStopped."""
        if self.stopped is None or (isinstance(self.stopped, RunStopped) and not isinstance(error, RunStopped)):
            self.stopped = error

    async def call(self, attempt: Attempt) -> Response | Failure:
        """Return the outcome of a call, tried again as often as makes sense. Raises RunStopped."""
        answers = self._answers
        try:
            outcome = await attempt(False)
        except CallError as error:
            outcome = await self._again(Call(error, answers), attempt)
        if isinstance(outcome, Response):
            _REACHED.add(self.where)
            self._answers += 1
            self._alike = ("", 0)
        return outcome

    async def _again(self, call: Call, attempt: Attempt) -> Response | Failure:
        """Return the outcome of a call that failed once. Only those pay for tenacity, which costs as much as a call."""
        from tenacity import AsyncRetrying, retry_if_exception

        errors = [call.error]

        async def next_attempt() -> Response | Failure:
            if errors:
                raise errors.pop()
            RETRIES.end(call)
            return await attempt(True)

        retrying = AsyncRetrying(
            stop=lambda state: self._enough(call, state),
            wait=lambda _: self._wait(call),
            retry=retry_if_exception(lambda error: self._passes(call, error)),
            sleep=self._sleep,
            before_sleep=lambda _: RETRIES.begin(
                call,
                shorten(call.error.in_words(), 80, placeholder=" …")
                + f", which asks to wait {call.error.wait or 0:.0f} s" * ((call.error.wait or 0) >= LONGEST),
                call.counted + 1,
                self._most_tries(call),
            ),
            reraise=True,
        )
        try:
            return await retrying(next_attempt)
        except BudgetReached:  # by the money that another try may cost: the last one says nothing of other calls
            return call.error.failure(self.max_wait)
        except CallError as error:
            failure = self._failure(call, error, retrying.statistics.get("idle_for", 0.0))
            self._count(failure)
            return failure
        finally:
            RETRIES.end(call)

    def _passes(self, call: Call, error: BaseException) -> bool:
        """Test whether the same call may succeed later."""
        if not isinstance(error, CallError):  # RunStopped, or a bug of ours
            return False
        # They hold the reply, for as long as the call waits.
        error.__traceback__ = error.__cause__ = error.__context__ = None
        if isinstance(error, RefusedError | InvalidReplyError):
            _REACHED.add(self.where)
        call.error = error
        call.alone = call.answers == self._answers
        call.answers = self._answers
        call.counted += error.kind != "rate_limit" or call.alone or not call.counted
        return error.scope in ("moment", "busy") and (error.wait or 0) <= self.max_wait

    def _most_tries(self, call: Call) -> int:
        error = call.error
        if isinstance(error, LostError) and self.where not in _REACHED:
            return min(self.attempts, UNREACHED)
        early = not self._answers and error.wait is None and error.scope != "busy"
        return min(self.attempts, error.tries or self.attempts, EARLY if early else self.attempts)

    def _enough(self, call: Call, state: RetryCallState) -> bool:
        """Test whether a call is not tried again."""
        too_long = state.idle_for + state.upcoming_sleep > self.max_wait
        return self.stopped is not None or STOP.requested or too_long or call.counted >= self._most_tries(call)

    def _wait(self, call: Call) -> float:
        """Return what the server asks for and a little more, so that not all come back at once; else what is usual."""
        if wait := call.error.wait:
            return wait + random.random() * min(0.25 * wait, 1.0)
        return random.uniform(0.5, 1.0) * min(FIRST * 2.0 ** min(call.counted - 1, 30), LONGEST)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless the run ends meanwhile."""
        until = time.monotonic() + seconds
        while (remaining := until - time.monotonic()) > 0:
            if STOP.requested:
                raise Interrupted("interrupted while a call waited for its retry.")
            if self.stopped is not None:
                raise RunStopped("the run was stopped while a call waited for its retry.")
            RETRIES.show()
            await asyncio.sleep(min(remaining, 0.2))

    def _failure(self, call: Call, error: CallError, waited: float) -> Failure:
        """Return the name of what went wrong with one item; raises RunStopped where it concerns all of them."""
        if isinstance(error, LostError) and call.alone and not (error.connected and self.where in _REACHED):
            raise RunStopped(
                f"{self.where} cannot be reached{' any more' * (self.where in _REACHED)} ({error.in_words()}): check "
                f"model.base_url (http:// or https://, the port), the network and that the server runs. {KEPT}"
            )
        if isinstance(error, UnsupportedError) and not self._answers:
            raise RunStopped(str(error))
        if isinstance(error, RefusedError) and (error.scope == "run" or (error.says and not self._answers)):
            raise RunStopped(f"{self.where} {self._of_all(error).rstrip('.')}. {KEPT}")
        failure = error.failure(self.max_wait)
        if failure.kind == "rate_limit" and call.alone and (error.wait or 0) > self.max_wait:
            raise RunStopped(f"{self.where} answers no call: {failure.detail.rstrip('.')}. {KEPT}")
        after = f" (after {waited:.0f} s of waiting for retries)" * (waited >= 1)
        return Failure(failure.kind, failure.detail + after)

    def _of_all(self, error: RefusedError) -> str:
        """Return what a refusal says of every call of the run."""
        if error.kind == "not_found":
            asked = f"; asked was {error.asked}" * bool(error.asked)
            return f"{error.says}{asked}; {advice(self.where)}".removesuffix("; ")
        if error.kind == "no_quota" and error.wait is not None and error.wait > LONGEST:
            until = time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(time.time() + error.wait))
            return f"{error.says}; by its own account that is at {until}"
        return error.says

    def _count(self, failure: Failure) -> None:
        """Stop a run in which everything fails in the same way."""
        if failure.kind in FINAL_FAILURES:
            return
        kind, number = self._alike
        self._alike = failure.kind, number + 1 if failure.kind == kind else 1
        if self._alike[1] == (ALIKE_LATER if self._answers else ALIKE):  # those after it end with the run
            raise RunStopped(
                f"{self._alike[1]} calls to {self.where} in a row failed with {failure.kind}: "
                f"{failure.detail.rstrip('.')}. {KEPT}"
            )
