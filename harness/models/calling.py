"""How the calls of one run go out: each in its turn, tried again as the policy says, read when its reply is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.models.concurrent import answer_all
from harness.models.pace import Pace
from harness.models.protocol import Landing
from harness.models.replies import InvalidReplyError, usage_in_all, usage_of
from harness.models.retry import Policy
from harness.models.wire import Wire
from harness.types import Failure, Request, Response

if TYPE_CHECKING:
    from harness.models.endpoint import Endpoint


def respond(endpoint: Endpoint, requests: Iterable[Request]) -> Landing:
    """Calls in flight, answers as they land."""
    endpoint.check_key()
    policy = Policy(
        endpoint.base_url,
        attempts=endpoint.attempts,
        max_wait=endpoint.max_wait,
        max_total_wait=endpoint.max_total_wait,
    )
    pace = Pace(
        endpoint.max_concurrency,
        requests_per_minute=endpoint.requests_per_minute,
        tokens_per_minute=endpoint.tokens_per_minute,
    )
    wire = Wire(endpoint.base_url, endpoint.key, endpoint.timeout, pace)

    async def call(request: Request) -> Response | Failure:
        if declined := endpoint.declines(request):
            pace.landed()
            return declined
        tries, landed = 0, False

        async def attempt() -> Response | Failure:
            nonlocal tries, landed
            tries += 1
            # A call that waits for its retry is outside, and holds no slot.
            async with pace.turn(tokens=endpoint.tokens(request), again=tries > 1):
                outcome = await _attempt(endpoint, wire, pace, request)
                pace.landed()
                landed = True
            return outcome

        outcome = await policy.call(attempt)
        if not landed:
            pace.landed()
        return outcome

    return answer_all(requests, call, pace=pace, stopping=policy.stopping, close=wire.close)


async def _attempt(endpoint: Endpoint, wire: Wire, pace: Pace, request: Request) -> Response | Failure:
    started = time.perf_counter()
    try:
        # A limit of our own: the transport's counts from the last byte, so a slow drip would pass it.
        async with asyncio.timeout(endpoint.timeout):
            reply = await endpoint.send(wire, request)
    except Exception as error:
        pace.failed(error)
        raise
    pace.succeeded()
    try:
        return endpoint.read(reply, request, round(time.perf_counter() - started, 4))
    except Exception as error:
        # What is read is the server's. `read` checks what it takes; should a reply break it all the same, it is that
        # reply which cannot be used. A bug of ours breaks every reply: the run stops with the name of the error.
        why = str(error) if isinstance(error, InvalidReplyError) else f"{type(error).__name__}: {error}"
        kind = type(error) if isinstance(error, InvalidReplyError) else InvalidReplyError
        raise kind(why, usage_of(reply) if isinstance(reply, dict) else usage_in_all(reply)) from error
