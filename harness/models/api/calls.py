"""The calls of one run: many at once behind a plain generator, and the only event loop there is."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from functools import partial

from harness.models.api.client import Wire
from harness.models.api.endpoint import Endpoint
from harness.models.api.pace import Pace
from harness.models.api.replies import NOBODY_KNOWS, CallError
from harness.models.api.retry import Policy
from harness.protocols import Admission, Outcome, Outcomes
from harness.runtime.progress import RETRIES
from harness.types import ChatRequest, Failure, Request, Response

ALIKE, SMALLEST = 5, 256
"""Prompts of different lengths and equal counts of tokens from which on it is no chance; the smallest context."""


def respond(endpoint: Endpoint, requests: Iterable[Request]) -> Generator[Outcomes]:
    """Send the requests, many at once; yield the outcomes that arrived together, as they arrive.

    Requests are pulled as long as there is room for more. The loop runs only while the caller waits for the next
    outcomes, and in the caller's thread, where requests are pulled too. If a call raises (RunStopped, or a bug of ours)
    or the source of requests does, nothing waits for a retry any more; the outcomes of the calls under way are still
    yielded, then the exception is raised. So whatever was paid for can be stored.
    """
    endpoint.check_key()
    return _outcomes(_Calls(endpoint, requests))


def _outcomes(calls: _Calls) -> Generator[Outcomes]:
    at_hand: list[Outcome] = []
    try:
        while calls.begin():
            calls.wait()
            at_hand.extend(calls.ended())
            outcomes, at_hand = at_hand, []
            if outcomes:
                yield outcomes
            calls.stored(outcomes)
    except GeneratorExit:
        raise
    except BaseException:
        # Interrupted by Ctrl-C or in the loop itself: yield what has arrived before giving up the rest.
        at_hand.extend(calls.ended())
        if at_hand:
            yield at_hand
        raise
    finally:
        calls.end()
    if calls.policy.stopped:
        raise calls.policy.stopped


class _Calls:
    """The open calls, and the loop that runs them."""

    def __init__(self, endpoint: Endpoint, requests: Iterable[Request]) -> None:
        self._endpoint = endpoint
        self._admission = requests if isinstance(requests, Admission) else Admission(requests)
        self._pace = Pace(endpoint.max_concurrency, endpoint.requests_per_minute)
        self.policy = Policy(endpoint.base_url, endpoint.attempts, endpoint.max_wait)
        self._wire = Wire(endpoint, self._pace.learn)
        self._loop = asyncio.new_event_loop()
        self._open: dict[asyncio.Task[Response | Failure], Request] = {}
        self._with_slot: set[Request] = set()
        """Requests whose answer is not stored yet and keeps its slot."""
        self._exhausted, self._waiting = False, True
        self._lengths: dict[int, set[int]] = {}
        """Characters of the prompts, by the tokens that the server counts for them."""
        self._cut_said = False

    def begin(self) -> bool:
        """Begin as many calls as there is room for; return False once none is open."""
        begun = 0
        while (request := self._next(begun)) is not None:
            task = self._loop.create_task(self.policy.call(partial(self._try, request)))
            task.add_done_callback(self._wake)
            self._open[task] = request
            begun += 1
        return bool(self._open)

    def _next(self, begun: int) -> Request | None:
        """Return the next request; None at their end, or while there is no room for it."""
        if self.policy.stopped or self._exhausted or not self._pace.has_room(len(self._open), begun):
            return None
        try:
            if self._open and not self._admission.ready:
                return None
            request = next(self._admission, None)
        except Exception as error:  # from the source of requests, which leaves the calls under way alone
            self.policy.stop(error)
            return None
        self._exhausted = request is None
        return request

    def wait(self) -> None:
        """Wait until a call has ended or there is room for another."""
        self._loop.run_forever()

    def ended(self) -> Iterator[Outcome]:
        """Yield the outcomes of calls that have ended since the last time."""
        for task in [task for task in self._open if task.done() and not task.cancelled()]:
            request, error = self._open.pop(task), task.exception()
            if error is None:
                yield request, task.result()
            elif isinstance(error, Exception):
                self.policy.stop(error)

    def stored(self, outcomes: Iterable[Outcome]) -> None:
        """Free the slots of answers that the caller has stored: until then they may be lost."""
        for request, _ in outcomes:
            if request in self._with_slot:
                self._with_slot.remove(request)
                self._pace.leave()

    def end(self) -> None:
        """Cancel what is under way, and close the loop."""
        self._waiting = False
        for task in self._open:
            task.cancel()
        if self._open:
            self._loop.run_until_complete(asyncio.gather(*self._open, return_exceptions=True))
        with suppress(Exception):  # all outcomes have been yielded: a connection that fails to close loses none
            self._loop.run_until_complete(self._wire.close())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _wake(self, _: object = None) -> None:
        """End the wait for the next outcome, but never the clean-up."""
        if self._waiting:
            self._loop.stop()

    async def _try(self, request: Request, again: bool) -> Response | Failure:
        """Return the outcome of one try, whose slot is kept until it is stored. A retry that waits holds no slot."""
        while again and not self._admission.again(request):
            await asyncio.sleep(0.05)
        await self._pace.enter()
        try:
            outcome, usage = await self._wire.ask(request)
        except BaseException as error:
            self._pace.leave()
            if isinstance(error, Exception):  # others may begin while its call waits
                self._pace.note(answered=False)
                self._admission.failed(request, error.usage if isinstance(error, CallError) else NOBODY_KNOWS)
                self._wake()
            raise
        self._with_slot.add(request)
        self._pace.note(answered=True)
        if isinstance(outcome, Failure):
            self._admission.failed(request, usage)
        else:
            self._watch_prompts(request, outcome)
        return outcome

    def _watch_prompts(self, request: Request, response: Response) -> None:
        """Say once that the server seems to cut prompts: it counts the same tokens for many of different lengths."""
        tokens = response.usage.input or 0
        if self._cut_said or tokens < SMALLEST or not isinstance(request, ChatRequest):
            return
        lengths = self._lengths.setdefault(tokens, set())
        lengths.add(sum(len(message.content) for message in request.messages))
        if len(lengths) >= ALIKE and max(lengths) > max(1.5 * min(lengths), tokens):
            self._cut_said = True
            RETRIES.say(
                f"{self._endpoint.base_url} counts {tokens:,} tokens for prompts of {min(lengths):,} to "
                f"{max(lengths):,} characters: it cuts them to its context, or does not count (num_ctx of Ollama, "
                "--ctx-size of llama.cpp)"
            )
