"""The calls of one run: each goes out when its turn comes, is retried as the policy says, and its reply is read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Coroutine, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.errors import BudgetReached, RunStopped
from harness.models.api.bodies import secret_of
from harness.models.api.endpoint import Endpoint
from harness.models.api.event_loop import answer_all
from harness.models.api.faults import shutdown_notice, usage_of_failed
from harness.models.api.fleet import Address, Fleet
from harness.models.api.replies import InvalidReplyError, usage_in_all, usage_of
from harness.models.api.retry import Policy
from harness.models.api.sent_calls import Sent
from harness.protocols import Admission, Outcomes
from harness.runtime.signals import STOP
from harness.runtime.under_way import RETRIES
from harness.types import ChatRequest, Failure, PairRequest, Request, Response, Usage

GRACE = 60.0
"""Seconds to wait for calls under way once the run's time is over; or twice the slowest answer's, if that is longer."""


class _DownError(Exception):
    """A call got its turn at an address that had gone down, and has been moved to another one."""


class _UnsentError(RunStopped):
    """A call was still waiting for its turn when the run was stopped, and does not go out."""


def respond(endpoint: Endpoint, requests: Iterable[Request]) -> Generator[Outcomes]:
    """Send the requests, many at once; yield the answers that arrived together, as they arrive."""
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
        if not STOP.requested:  # after Ctrl-C the wrapper of the model reports what is left
            raise


class _Calls:
    """The calls of one run: each is given to an address, and tried again as the policy says."""

    def __init__(self, endpoint: Endpoint, admission: Admission, policy: Policy, fleet: Fleet) -> None:
        self._endpoint, self._admission, self._policy, self.fleet = endpoint, admission, policy, fleet
        self._slowest = 0.0
        """Seconds of the slowest answer."""

    def call(self, request: Request) -> Coroutine[Any, Any, Response | Failure]:
        """Assign a request to an address, and return the coroutine that awaits its outcome."""
        address = self.fleet.next_address()
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
        """Return the outcome of one try, which moves on to other addresses while its own is down."""
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
        """Move a call to an address that was not tried; return False if all were."""
        if (other := self.fleet.other(tried)) is None:
            return False
        call.leave()
        call.address = other
        other.open += 1
        other.unsent += call.unsent
        return True

    async def _try(self, call: _Call) -> Response | Failure:
        address, admission = call.address, self._admission
        tokens = _estimated_tokens(self._endpoint, call.request)
        # A call that waits for its retry is outside, and holds no slot.
        async with address.gate.turn(tokens=tokens, again=call.tries > 1, within=admission.left) as sent:
            if len(self.fleet.addresses) > 1:
                self._check_turn(call)
            self._policy.unsent -= call.unsent
            address.unsent -= call.unsent
            call.unsent = False
            try:
                limit = min(self._endpoint.timeout, admission.left + max(GRACE, 2 * self._slowest))
                outcome = await _attempt(self._endpoint, address, call.request, admission, limit, sent)
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
        """Raise if, while the call waited for its turn, the run has ended or the address has gone down."""
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
    """The outcome of its last try, unless that was an answer."""

    def leave(self) -> None:
        """Take it off its address, once it has an outcome or moves to another one."""
        self.address.open -= 1
        self.address.unsent -= self.unsent


async def _attempt(
    endpoint: Endpoint, address: Address, request: Request, admission: Admission, limit: float, sent: Sent
) -> Response | Failure:
    started = time.perf_counter()
    try:
        # The transport's own limit counts from the last byte: a slow drip of bytes would never exceed it.
        async with asyncio.timeout(limit):
            reply = await endpoint.send(address.wire, request)
    except Exception as error:
        address.gate.note_failure(error, sent)
        if sentence := shutdown_notice(error, endpoint.model, endpoint.base_url):
            raise RunStopped(sentence) from None
        raise
    address.gate.note_success(sent)
    try:
        outcome = endpoint.read(reply, request, round(time.perf_counter() - started, 4))
        outcome = secret_of(endpoint.key).cleared(outcome)
    except Exception as error:
        # `read` checks what it takes from a reply. If a reply breaks it all the same, only that reply is lost. A bug of
        # ours would break every reply, and the run stops with the name of the error.
        why = str(error) if isinstance(error, InvalidReplyError) else f"{type(error).__name__}: {error}"
        kind = type(error) if isinstance(error, InvalidReplyError) else InvalidReplyError
        raise kind(why, _usage(reply)) from error
    if isinstance(outcome, Failure):
        admission.failed(request, _usage(reply))
    return outcome


def _usage(reply: Any) -> Usage:
    return usage_of(reply) if isinstance(reply, dict) else usage_in_all(reply)


def _estimated_tokens(endpoint: Endpoint, request: Request) -> float:
    """Estimate the tokens of a request and its reply; 0 without tokens_per_minute, the only reader."""
    if endpoint.tokens_per_minute is None or isinstance(request, PairRequest):
        return 0.0
    input_tokens = sum(len(message.content) for message in request.messages) / 4
    return input_tokens + (request.max_tokens if isinstance(request, ChatRequest) else 0)
