"""The calls of one run: each goes out when its turn comes, is retried as the policy says, and its reply is read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.errors import BudgetReached
from harness.models.api.bodies import secret_of
from harness.models.api.client import Wire
from harness.models.api.endpoint import Endpoint
from harness.models.api.event_loop import answer_all
from harness.models.api.faults import usage_of_failed
from harness.models.api.gate import Gate
from harness.models.api.replies import InvalidReplyError, usage_in_all, usage_of
from harness.models.api.retry import Policy
from harness.models.api.sent_calls import Sent
from harness.protocols import Admission, Outcomes
from harness.types import Failure, Request, Response, Usage

GRACE = 60.0
"""Seconds to wait for calls under way once the run's time is over; or twice the slowest answer's, if that is longer."""


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
    gate = Gate(
        endpoint.max_concurrency,
        requests_per_minute=endpoint.requests_per_minute,
    )
    wire = Wire(endpoint.base_url, endpoint.key, endpoint.timeout, gate, endpoint.speaks)
    calls = _Calls(endpoint, admission, policy, gate, wire)
    return answer_all(admission, calls.call, gate=gate, stopping=policy.stopping, close=wire.close)


class _Calls:
    """The calls of one run: each waits for its turn, and is tried again as the policy says."""

    def __init__(self, endpoint: Endpoint, admission: Admission, policy: Policy, gate: Gate, wire: Wire) -> None:
        self._endpoint, self._admission, self._policy = endpoint, admission, policy
        self._gate, self._wire = gate, wire
        self._slowest = 0.0
        """Seconds of the slowest answer."""

    async def call(self, request: Request) -> Response | Failure:
        """Return the outcome of a request."""
        call = _Call(request)
        self._policy.unsent += 1
        try:
            outcome = await self._policy.call(partial(self._try, call))
        except BudgetReached:
            outcome = self._policy.ended(call.last)
        finally:
            self._policy.unsent -= call.unsent
        if isinstance(outcome, Response):
            self._slowest = max(self._slowest, outcome.seconds)
        if not call.slot_held:
            self._gate.hold_slot()
        return outcome

    async def _try(self, call: _Call) -> Response | Failure:
        """Return the outcome of one try."""
        admission = self._admission
        call.tries += 1
        if call.tries > 1:
            await self._policy.until(partial(admission.again, call.request))
        # A call that waits for its retry is outside, and holds no slot.
        async with self._gate.turn(again=call.tries > 1, within=admission.left) as sent:
            self._policy.unsent -= call.unsent
            call.unsent = False
            try:
                limit = min(self._endpoint.timeout, admission.left + max(GRACE, 2 * self._slowest))
                outcome = await self._exchange(call.request, limit, sent)
            except Exception as error:
                call.last = error
                admission.failed(call.request, usage_of_failed(error))
                if isinstance(error, TimeoutError) and admission.left <= 0:
                    call.last = Failure("timeout", "no answer came, and the run's time is over")
                    raise BudgetReached(call.last.detail) from error
                raise
            self._gate.hold_slot()
            call.slot_held = True
        return outcome

    async def _exchange(self, request: Request, limit: float, sent: Sent) -> Response | Failure:
        """Send a request, and return what its reply says."""
        endpoint, started = self._endpoint, time.perf_counter()
        try:
            # The transport's own limit counts from the last byte: a slow drip of bytes would never exceed it.
            async with asyncio.timeout(limit):
                reply = await endpoint.send(self._wire, request)
        except Exception as error:
            self._gate.note_failure(error, sent)
            raise
        self._gate.note_success(sent)
        try:
            outcome = endpoint.read(reply, request, round(time.perf_counter() - started, 4))
            outcome = secret_of(endpoint.key).cleared(outcome)
        except Exception as error:
            # `read` checks what it takes from a reply. If a reply breaks it all the same, only that reply is lost. A
            # bug of ours would break every reply, and the run stops with the name of the error.
            why = str(error) if isinstance(error, InvalidReplyError) else f"{type(error).__name__}: {error}"
            kind = type(error) if isinstance(error, InvalidReplyError) else InvalidReplyError
            raise kind(why, _usage(reply)) from error
        if isinstance(outcome, Failure):
            self._admission.failed(request, _usage(reply))
        return outcome


@dataclass
class _Call:
    """One request on its way."""

    request: Request
    tries: int = 0
    unsent: bool = True
    slot_held: bool = False
    last: Exception | Failure | None = None
    """The outcome of its last try, unless that was an answer."""


def _usage(reply: Any) -> Usage:
    return usage_of(reply) if isinstance(reply, dict) else usage_in_all(reply)
