"""What goes directly around a model: it is asked within a budget, and nothing more once a stop is requested."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing

from harness.cost.budget import Budget
from harness.cost.price import Price, cost_of, countable
from harness.cost.size import size
from harness.errors import BudgetReached, Interrupted
from harness.protocols import Admission, Model, Outcomes, Wrapper
from harness.runtime.signals import STOP
from harness.settings import CacheMode, Limits
from harness.types import Failure, Request, Response, Usage, replace

UNSEEN = 200_000
"""Tokens that a call may take beside those of its request, as long as no reply is known; few contexts are longer."""
_UNBILLED = frozenset({"context_length", "rate_limit", "empty_prompt", "unanswered"})
"""Kinds of failure in which nobody has done any work."""
_KEPT: Mapping[CacheMode, str] = {
    "on": "every answer so far is stored; the same command goes on from there",
    "off": "with cache=off no answer is stored; the same command asks for everything again",
    "refresh": "every answer so far is stored; the same command asks for everything again, cache=on only for the rest",
}
_INSTANT = "this model's answers are not stored, as it is quicker than a cache; the same command begins again"


class Budgeted(Wrapper):
    """A model that is asked nothing more once a stop is requested or a limit is reached.

    What a reply took beyond its most (a proxy's own prompt, a model that ignores max_tokens) is expected of every other
    call from then on, and of those that nobody counted. The fewer replies there were, the less is known of that: near
    a limit in dollars a run begins with one call at a time.
    """

    def __init__(
        self,
        model: Model,
        budget: Budget | None = None,
        price: Price | None = None,
        *,
        cache: CacheMode = "on",
        before: Callable[[], None] | None = None,
        discard: Callable[[Usage], None] = lambda _: None,
    ) -> None:
        """Wrap `model`; `cache` decides what is said of the answers so far where a stop ends the run.

        `before` is called once, before the first request is asked; `discard` gets what a server has counted for replies
        that were no answer.
        """
        super().__init__(model)
        self.budget, self.discard = budget or Budget(Limits()), discard
        self._price, self._service, self._before = price, model.traits.service, before
        self._kept = _INSTANT if model.traits.instant else _KEPT.get(cache, _KEPT["on"])
        self._in_batches = self._service is not None and self._service.batch_window is not None
        self.under_way: dict[Request, float] = {}
        """What each may cost at most, by its request, in USD."""
        self._more = 0.0
        """USD that a call took beyond its most, at most."""
        self._uncounted = 0
        """Calls that nobody counted."""
        self._known = 1.0
        """Replies since the one that took the most and half of those before it, four that nobody counted for one."""

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the model's outcomes. Raises Interrupted or BudgetReached after those under way, if there are more."""
        before, self._before = self._before, None
        if before is not None:
            before()
        tries = Tries(requests, self)
        while True:
            try:
                with closing(self.model.respond(tries)) as landing:
                    for outcomes in landing:
                        for request, outcome in outcomes:
                            self._settle(request, outcome)
                        yield outcomes
            finally:
                tries.forfeit()
            if STOP.requested:
                raise Interrupted(f"interrupted: {self._kept}.")
            if tries.ended():
                return
            self.budget.wait()

    def take(self, request: Request) -> bool:
        """Set aside the most that a try may take, if there is room."""
        if not self.budget.limits or request in self.under_way:
            return True
        usd = self._most(request)
        if not self.budget.take(usd + self._more, self._surprise):
            return False
        self.under_way[request] = usd
        return True

    def enter(self, request: Request, usage: Usage | None, *, sent: bool = True) -> None:
        """Enter what a try took: as the server counted, nothing where it did no work (None), else the most."""
        if (usd := self.under_way.pop(request, None)) is None:
            return
        most = usd + self._more
        if usage is None:
            self.budget.settle(most, 0.0, sent=sent)
            return
        cost = cost_of(_with_reasoning(usage), self._price)
        self.budget.settle(most, most if cost is None else cost)
        if cost is None:
            self._uncounted += 1
            self._known += 0.25
            return
        self._known += 1
        if cost > most:
            self._known /= 2
            more = cost - most
            self._more += more
            self.budget.raise_most(more * len(self.under_way), more * self._uncounted)

    def why_not(self, request: Request) -> BudgetReached | None:
        """Return the error for a try that might pass a limit even with nothing else under way, else None."""
        most = self._most(request) + self._more
        limit = self.budget.limit(most, alone=True)
        return None if limit is None else self.budget.reached(limit, most)

    def _settle(self, request: Request, outcome: Response | Failure) -> None:
        """Enter what the last try of a request took, unless it was entered as failed."""
        usage = outcome.usage if isinstance(outcome, Response) else None if outcome.kind in _UNBILLED else Usage()
        self.enter(request, usage, sent=isinstance(outcome, Response) or outcome.kind != "unanswered")

    @property
    def _surprise(self) -> float:
        """USD that this try and those under way may take beyond their most, for all that is known."""
        # The first reply of a batch comes with all the others: no later try could know more.
        if self._price is None or self._in_batches or not self.under_way:
            return 0.0
        return self._price.most(1, len(self.under_way) * UNSEEN) / self._known**2

    def _most(self, request: Request) -> float:
        """Return what a try may cost at most, by its request."""
        one = size(request, self._service)
        return self._price.most(one.input_most, one.output_most) if self._price else 0.0


class Tries(Admission):
    """The requests of one call, as long as no stop is requested and the budget has room for their tries."""

    def __init__(self, requests: Iterable[Request], around: Budgeted) -> None:
        """Take the requests from `requests`, and room from what goes around their model."""
        super().__init__(requests)
        self._around = around
        self._next: Request | None = None
        """One that waits for room, or has it."""
        self._reached: BudgetReached | None = None

    @property
    def ready(self) -> bool:
        """Whether next() returns a request or ends, without waiting for room."""
        if self._next is None:
            self._next = next(self._source, None)
        return self._next is None or STOP.requested or self._around.take(self._next)

    def __next__(self) -> Request:
        if not self.ready or self._next is None or STOP.requested:
            raise StopIteration
        request, self._next = self._next, None
        return request

    def failed(self, request: Request, usage: Usage | None) -> None:
        """Enter what a try without an answer took."""
        if usage is not None and countable(usage):
            self._around.discard(usage)
        self._around.enter(request, usage)

    def again(self, request: Request) -> bool:
        """Return whether a try may be repeated now. Raises BudgetReached where it never may."""
        if self._around.take(request):
            return True
        self._reached = None if self._around.under_way else self._around.why_not(request)
        if self._reached is not None:
            raise self._reached
        return False

    def forfeit(self) -> None:
        """Count as spent what is set aside for requests that the model has left without an outcome."""
        if self._next is not None:
            self._around.enter(self._next, None, sent=False)
        for request in list(self._around.under_way):
            self._around.enter(request, Usage())

    def ended(self) -> bool:
        """Return whether everything was asked; False where others may give back room. Raises BudgetReached."""
        if self._next is not None:
            self._reached = self._reached or self._around.why_not(self._next)
        if self._reached is not None:
            raise self._reached
        return self._next is None


def _with_reasoning(usage: Usage) -> Usage:
    """Return the counts of a call with its reasoning in its output: some servers count it beside."""
    output, reasoning = usage.output, usage.reasoning
    if isinstance(output, int) and isinstance(reasoning, int) and reasoning > output >= 0:
        return replace(usage, output=output + reasoning)
    return usage
