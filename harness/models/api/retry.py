"""One policy for calls that fail: what is tried again, when, and what a failure is called in the end."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from harness.errors import Interrupted, RunStopped
from harness.models.api import faults
from harness.models.api.faults import PageError, RefusedError, TooLargeError, message_of, retry_after, status, timed_out
from harness.models.api.replies import InvalidReplyError, LostError, NoLogprobsError, UnsupportedError
from harness.runtime.signals import STOP
from harness.runtime.under_way import RETRIES, Waiting
from harness.types import FINAL_FAILURES, Failure, Response

if TYPE_CHECKING:
    from tenacity import RetryCallState

FUTILE_AFTER = 8
"""Stop the run after this many identical failures in a row before any success."""
LOST_AFTER = 32
"""The same after a success; connections that are lost while nobody gets a reply stay at FUTILE_AFTER."""
UNREACHED_AFTER = 3
"""Stop the run after this many tries of a call without a connection, if the server was never reached."""
TIMEOUTS = 2
"""Tries of a call that times out: the server may well have worked on each of them, and bill it."""
EARLY = 5
"""Tries of a call before anything was ever answered, unless the server says that it is busy or is not there: an error
that comes five times then comes of what is asked (a model's name, a path) rather than of the moment."""
AWAY, NEVER_THERE = 30.0, 2.0
"""The longest wait for a server that is away, and for one that has never been there. Ten tries wait for a server that
was there for 73 to 122 seconds: long enough for it to be started anew."""
LATEST = 32
"""Replies by which it is judged what share of the calls a server refuses."""
_LONGEST_BACKOFF = 60.0
MOSTLY, CHANCE = 0.6, 1e-6
"""Where a larger share is refused, or refusals in a row are less likely than this, they are held to be no chance."""
_DOUBTED = (401, 402, 403, 404)
"""Statuses that end a run and that one more try has to confirm where they stand inside of a success: the gateway took
the key, and what stands behind it may have failed for a moment."""
_REACHED: set[str] = set()
"""Servers that this process has had a reply of: each turn of an opening has a Policy of its own."""


def _is_doubtful(error: RefusedError) -> bool:
    return error.inside and error.status in _DOUBTED and error.rule.fault != "item"


@dataclass(eq=False)
class _Trouble:
    """A call that has failed, and how many replies and answers others had had by then."""

    replies: int
    answers: int
    answers_at_try: int = -1
    """Answers to others when it was last tried."""
    doubted: bool = False
    """Whether a refusal inside of a success was tried again."""


@dataclass
class Policy:
    """Retries for the calls of one run. `where` names the server in messages."""

    where: str
    attempts: int
    max_wait: float
    max_total_wait: float
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    time_left: Callable[[], float] = lambda: math.inf
    """Seconds until the run's time is over: no call waits longer for its retry."""
    unsent: int = 0
    """Open calls that have never gone out: those of a block wait for their turn."""
    _replies: int = 0
    """HTTP replies of any kind, to any call."""
    _pages: int = 0
    """Of the replies, those that something else than the API gave."""
    _answers: int = 0
    _refusals: deque[bool] = field(default_factory=lambda: deque(maxlen=LATEST))
    """Which of the latest replies were refusals for now (429)."""
    _open: int = 0
    _lost: set[_Trouble] = field(default_factory=set)
    """Open calls whose latest try ended without a reply."""
    _failing: set[_Trouble] = field(default_factory=set)
    """Open calls that have failed at least once."""
    _ever_lost: int = 0
    _in_a_row: list[str] = field(default_factory=list)

    async def call(self, attempt: Callable[[], Awaitable[Response | Failure]]) -> Response | Failure:
        """Return the outcome of a call, tried again as often as makes sense. Raises RunStopped."""
        self._open += 1
        try:
            outcome = await attempt()
        except Exception as error:
            outcome = await self._again(attempt, error)
        else:
            self._note_reply()
        finally:
            self._open -= 1
        if isinstance(outcome, Response):
            self._answers += 1
            self._in_a_row.clear()
        return outcome

    async def _again(
        self, attempt: Callable[[], Awaitable[Response | Failure]], first: Exception
    ) -> Response | Failure:
        """Return the outcome of a call that failed once. Only those pay for tenacity, which costs as much as a call."""
        from tenacity import AsyncRetrying, retry_if_exception

        errors = [first]
        trouble = _Trouble(self._replies, self._answers)
        self._failing.add(trouble)
        if isinstance(first, PageError) or (status(first) or 400) < 400:
            await self._until_others_know()

        async def next_attempt() -> Response | Failure:
            if errors:
                raise errors.pop()
            RETRIES.end(trouble)
            return await attempt()

        retrying = AsyncRetrying(
            stop=partial(self._enough, trouble),
            wait=self._wait,
            retry=retry_if_exception(partial(self._passes, trouble)),
            sleep=self._sleep,
            before_sleep=partial(self._before_wait, trouble),
            reraise=True,
        )
        try:
            outcome: Response | Failure = await retrying(next_attempt)
        except Exception as error:
            failure = self._failure(error, trouble, waited=retrying.statistics.get("idle_for", 0.0))
            self._count(failure, trouble)
            return failure
        finally:
            self._lost.discard(trouble)
            self._failing.discard(trouble)
            RETRIES.end(trouble)
        self._note_reply()
        return outcome

    def _note_reply(self, *, refused: bool = False) -> None:
        if not self._replies:
            _REACHED.add(self.where)
        self._replies += 1
        self._refusals.append(refused)

    def _enough(self, trouble: _Trouble, state: RetryCallState) -> bool:
        """Test whether a call is not tried again; a limit ends none by its tries while others are answered."""
        error = state.outcome.exception() if state.outcome else None
        too_long = state.idle_for + state.upcoming_sleep > self.max_total_wait
        in_turn = error is not None and status(error) == 429 and 0 <= trouble.answers_at_try < self._answers
        trouble.answers_at_try = self._answers
        too_often = state.attempt_number >= self._most_tries(error) and not in_turn
        return self.stopping.is_set() or STOP.requested or too_long or too_often

    def _most_tries(self, error: BaseException | None) -> int:
        if error is None:
            return self.attempts
        if timed_out(error) or isinstance(error, TooLargeError):
            return min(self.attempts, TIMEOUTS)
        early = not self._answers and not faults.says_not_yet(error)
        return min(self.attempts, EARLY) if early else self.attempts

    def _passes(self, trouble: _Trouble, error: BaseException) -> bool:
        """Test whether the same call may succeed later."""
        self._note(trouble, error)
        if (retry_after(error) or 0) > self.max_wait:
            return False
        if isinstance(error, UnsupportedError):
            return isinstance(error, NoLogprobsError) and self._answers > 0
        if isinstance(error, PageError) and self._pages >= self._replies:
            return False
        if isinstance(error, RefusedError) and _is_doubtful(error) and not trouble.doubted:
            trouble.doubted = True
            return faults.header(error, "x-should-retry") != "false"
        return faults.may_pass(error)

    def _note(self, trouble: _Trouble, error: BaseException) -> None:
        """Remember what a failed try says about the server."""
        if isinstance(error, LostError):
            self._ever_lost += trouble not in self._lost
            self._lost.add(trouble)
            return
        self._lost.discard(trouble)
        if isinstance(error, InvalidReplyError):
            # Tracebacks hold the reply, which may be large, for as long as the call waits for its retry.
            error.__traceback__ = error.__cause__ = error.__context__ = None
        self._pages += isinstance(error, PageError)
        if status(error) is not None or isinstance(error, InvalidReplyError):
            self._note_reply(refused=status(error) == 429)

    def _wait(self, state: RetryCallState) -> float:
        """Return what the server asks for and a little more, so that not all come back at once; else what is usual."""
        error = state.outcome.exception() if state.outcome else None
        if (requested := faults.asked_pause(error)) is not None:
            return requested
        if isinstance(error, LostError):
            wait = faults.growing_pause(state.attempt_number, AWAY if self._reached else NEVER_THERE)
        elif error and status(error) == 429 and self._by_chance(state.attempt_number):
            wait = random.random()
        else:
            wait = _backoff(state.attempt_number)
        return min(wait, self.max_wait)

    def _by_chance(self, tries: int) -> bool:
        """Test whether a server that refuses calls whatever their rate may well have refused one so often.

        Then it is soon answered, and a longer wait helps nobody. Where most calls are refused, or this one again
        and again while others are not, time has to pass.
        """
        share = (sum(self._refusals) + 2) / (len(self._refusals) + 4)  # few replies say little
        return share <= MOSTLY and share**tries >= CHANCE

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless the run ends meanwhile."""
        until = time.monotonic() + seconds
        while (remaining := min(until - time.monotonic(), self.time_left())) > 0:
            if STOP.requested:
                raise Interrupted("interrupted while a call waited for its retry.")
            if self.stopping.is_set():
                raise RunStopped("the run was stopped while a call waited for its retry.")
            RETRIES.show()
            await asyncio.sleep(min(remaining, 0.2))

    async def _until_others_know(self) -> None:
        """Wait for the calls under way: where one is answered, a page or redirect was its own, else it is the address.

        So a run at a wrong address ends with its first calls, and one page among answers ends nothing. A failure lets
        those go that waited for the pace of the opening, hence a moment for them to be under way.
        """
        all_failed = False
        while not self._answers and not all_failed and not self.stopping.is_set():
            await self._sleep(0.02)
            all_failed = len(self._failing) >= self._open - self.unsent

    async def until(self, may_go: Callable[[], bool]) -> None:
        """Wait until a call may be tried again, unless the run ends meanwhile."""
        while not may_go():
            await self._sleep(0.05)

    def ended(self, last: Exception | Failure | None) -> Failure:
        """Return the outcome of a call that a budget ends: its last try's, which says nothing of other calls."""
        if last is None:
            return Failure("unanswered", "the time was over before the call went out")
        return last if isinstance(last, Failure) else self._failure(last, _Trouble(-1, -1), waited=0.0)

    @property
    def _reached(self) -> bool:
        return self._replies > 0 or self.where in _REACHED

    def _before_wait(self, trouble: _Trouble, state: RetryCallState) -> None:
        """Show that a call waits. Stop a run whose server has never been there: no reply yet, and nobody waits for one.

        Connections that break may be the fault of single items, and are held to be the server's when many do.
        """
        error = state.outcome.exception() if state.outcome else None
        if error is None:
            return
        if isinstance(error, LostError) and not self._reached and state.attempt_number >= UNREACHED_AFTER:
            all_lost = len(self._lost) == self._open - self.unsent
            if all_lost and (not error.connected or self._ever_lost >= FUTILE_AFTER):
                raise faults.unreachable(error, self.where, any_more=False)
        next_try = state.attempt_number + 1
        RETRIES.begin(trouble, Waiting(faults.why_waiting(error), next_try, max(next_try, self._most_tries(error))))

    def _failure(self, error: Exception, trouble: _Trouble, waited: float) -> Failure:
        """Return the name of what went wrong with one item; raises RunStopped where it concerns all of them."""
        if isinstance(error, RunStopped):
            raise error
        detail = message_of(error) + f" (after {waited:.0f} s of waiting for retries)" * (waited >= 1)
        if timed_out(error):
            return Failure("timeout", f"no answer within model.timeout, {TIMEOUTS} times over")
        if isinstance(error, LostError):
            alone = self._replies == trouble.replies and len(self._lost) == self._open - self.unsent
            if alone and not error.connected:
                raise faults.unreachable(error, self.where, any_more=self._reached)
            return Failure("connection_lost", detail)
        if isinstance(error, UnsupportedError) and not self._answers:
            raise RunStopped(str(error))
        if isinstance(error, PageError) and self._pages >= self._replies:
            raise faults.page(error, self.where)
        if isinstance(error, InvalidReplyError):
            return Failure("invalid_reply", detail)
        if (http_status := status(error)) is None:
            raise error  # no fault of the server's, nor of the network's: a bug, which ends the run
        if (stopped := faults.ends_the_run(error, self.where, detail)) is not None:
            raise stopped
        if http_status < 400:
            sentence = faults.redirect(error, self.where)
            # Where nobody is answered it is the address that is wrong; one among others was sent elsewhere by itself.
            if not self._answers:
                raise RunStopped(f"{sentence} {faults.KEPT}")
            return Failure("redirect", sentence)
        return faults.failure_of(error, detail, self.max_wait)

    def _count(self, failure: Failure, trouble: _Trouble) -> None:
        """Stop a run in which everything fails in the same way.

        A call says nothing about the others where one of them was answered while this one was tried again.
        """
        lost = failure.kind == "connection_lost"
        alone = self._replies == trouble.replies if lost else self._answers == trouble.answers
        if failure.kind in FINAL_FAILURES or not alone:
            return
        if self._in_a_row and self._in_a_row[-1] != failure.kind:
            self._in_a_row.clear()
        self._in_a_row.append(failure.kind)
        limit = LOST_AFTER if self._answers and not lost else FUTILE_AFTER
        if len(self._in_a_row) >= limit:
            raise faults.all_alike(failure, limit, self.where)


def _backoff(tries: int) -> float:
    """Return the seconds to wait where the server asks for none: up to half a second, doubled with each try."""
    return random.uniform(0, min(0.5 * 2.0 ** min(tries - 1, 30), _LONGEST_BACKOFF))
