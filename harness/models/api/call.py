"""How the calls of one run go out: each in its turn, tried again as the policy says, read when its reply is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Coroutine, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.errors import BudgetReached, RunStopped
from harness.models.api.endpoint import Endpoint
from harness.models.api.event_loop import answer_all
from harness.models.api.faults import gone, usage_of_failed
from harness.models.api.fleet import Address, Fleet
from harness.models.api.replies import InvalidReplyError, usage_in_all, usage_of
from harness.models.api.retry import Policy
from harness.protocols import Admission, Outcomes
from harness.runtime.signals import STOP
from harness.runtime.under_way import RETRIES
from harness.types import Failure, Request, Response, Usage

GRACE = 60.0
"""Seconds for which calls under way are waited for once the time is over, or twice what the slowest answer took."""


class _DownError(Exception):
    """A call got its turn at an address that has gone down meanwhile, and has another one now."""


class _UnsentError(RunStopped):
    """A call of a block that waited for its turn when the run was stopped: it does not go out any more."""


def respond(endpoint: Endpoint, requests: Iterable[Request]) -> Generator[Outcomes]:
    """Send the requests, many at once, and yield the answers that landed together, as they land."""
    endpoint.check_key()
    admission = requests if isinstance(requests, Admission) else Admission(requests)
    policy = Policy(
        endpoint.base_url,
        attempts=endpoint.attempts,
        max_wait=endpoint.max_wait,
        max_total_wait=endpoint.max_total_wait,
        time_left=lambda: admission.left,
    )
    return _outcomes(_Calls(endpoint, admission, policy, Fleet(endpoint, RETRIES.say)), admission, policy)


def _outcomes(calls: _Calls, admission: Admission, policy: Policy) -> Generator[Outcomes]:
    fleet = calls.fleet
    try:
        yield from answer_all(admission, calls.call, gate=fleet, stopping=policy.stopping, close=fleet.close)
    except _UnsentError:
        if not STOP.requested:  # whoever wraps the model says what a Ctrl-C leaves
            raise


class _Calls:
    """The calls of one run: each is given to an address, and tried again as the policy says."""

    def __init__(self, endpoint: Endpoint, admission: Admission, policy: Policy, fleet: Fleet) -> None:
        self._endpoint, self._admission, self._policy, self.fleet = endpoint, admission, policy, fleet
        self._slowest = 0.0
        """Seconds of the slowest answer."""

    def call(self, request: Request) -> Coroutine[Any, Any, Response | Failure]:
        """Return what awaits the outcome of a request, which has its address from now on."""
        address = self.fleet.give()
        address.open += 1
        address.unsent += 1
        return self._outcome(request, address)

    async def _outcome(self, request: Request, address: Address) -> Response | Failure:
        call = _Call(request, address)
        if declined := self._endpoint.declines(request):
            call.leave()
            self.fleet.hold_slot(address)
            return declined
        self._policy.unsent += 1
        try:
            outcome = await self._policy.call(partial(self._attempt, call))
        except BudgetReached:
            outcome = self._policy.ended(call.last)
        finally:
            self._policy.unsent -= call.unsent
            call.leave()
        if isinstance(outcome, Response):
            self._slowest = max(self._slowest, outcome.seconds)
        if not call.slot_held:
            self.fleet.hold_slot(call.address)
        return outcome

    async def _attempt(self, call: _Call) -> Response | Failure:
        """Return the outcome of one try; it goes on to another address where its own is down."""
        tried: set[Address] = set()
        while True:
            call.tries += 1
            if call.tries > 1:
                await self._policy.until(partial(self._admission.again, call.request))
            try:
                return await self._try(call)
            except _DownError:
                call.tries -= 1
            except Exception as error:
                tried.add(call.address)
                if not self.fleet.is_down(call.address, error) or not self._move(call, tried):
                    raise

    def _move(self, call: _Call, tried: Collection[Address]) -> bool:
        """Give a call to another address than those tried; return whether there is one."""
        if (other := self.fleet.other(tried)) is None:
            return False
        call.leave()
        call.address = other
        other.open += 1
        other.unsent += call.unsent
        return True

    async def _try(self, call: _Call) -> Response | Failure:
        address, admission = call.address, self._admission
        tokens = self._endpoint.tokens(call.request)
        # A call that waits for its retry is outside, and holds no slot.
        async with address.gate.turn(tokens=tokens, again=call.tries > 1, within=admission.left):
            if len(self.fleet.addresses) > 1:
                self._check_turn(call)
            self._policy.unsent -= call.unsent
            address.unsent -= call.unsent
            call.unsent = False
            try:
                limit = min(self._endpoint.timeout, admission.left + max(GRACE, 2 * self._slowest))
                outcome = await _attempt(self._endpoint, address, call.request, admission, limit)
            except Exception as error:
                call.last = error
                admission.failed(call.request, usage_of_failed(error))
                if isinstance(error, TimeoutError) and admission.left <= 0:
                    call.last = Failure("timeout", "no answer came, and the run's time is over")
                    raise BudgetReached(call.last.detail) from error
                raise
            self.fleet.note_answer(address)
            self.fleet.hold_slot(address)
            call.slot_held = True
        return outcome

    def _check_turn(self, call: _Call) -> None:
        """Leave a gate whose address has gone down meanwhile, or where the run has ended: much waits for its turn."""
        if call.unsent and (STOP.requested or self._policy.stopping.is_set()):
            raise _UnsentError("the run was stopped before a call went out.")
        if call.address.down and self._move(call, ()):
            raise _DownError


@dataclass
class _Call:
    """One request on its way."""

    request: Request
    address: Address
    tries: int = 0
    unsent: bool = True
    slot_held: bool = False
    last: Exception | Failure | None = None
    """What came of its last try, where that was no answer."""

    def leave(self) -> None:
        """Take it off its address: it has its outcome, or goes to another one."""
        self.address.open -= 1
        self.address.unsent -= self.unsent


async def _attempt(
    endpoint: Endpoint, address: Address, request: Request, admission: Admission, limit: float
) -> Response | Failure:
    started = time.perf_counter()
    try:
        # A limit of our own: the transport's counts from the last byte, so a slow drip would pass it.
        async with asyncio.timeout(limit):
            reply = await endpoint.send(address.wire, request)
    except Exception as error:
        address.gate.note_failure(error)
        if sentence := gone(error, endpoint.model, endpoint.base_url):
            raise RunStopped(sentence) from None
        raise
    address.gate.note_success()
    try:
        outcome = endpoint.read(reply, request, round(time.perf_counter() - started, 4))
    except Exception as error:
        # What is read is the server's. `read` checks what it takes; should a reply break it all the same, it is that
        # reply which cannot be used. A bug of ours breaks every reply: the run stops with the name of the error.
        why = str(error) if isinstance(error, InvalidReplyError) else f"{type(error).__name__}: {error}"
        kind = type(error) if isinstance(error, InvalidReplyError) else InvalidReplyError
        raise kind(why, _usage(reply)) from error
    if isinstance(outcome, Failure):
        admission.failed(request, _usage(reply))
    return outcome


def _usage(reply: Any) -> Usage:
    return usage_of(reply) if isinstance(reply, dict) else usage_in_all(reply)
