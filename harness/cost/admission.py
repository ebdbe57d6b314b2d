"""A model that is asked only within a budget."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing

from harness.cost.price import Size
from harness.cost.till import Till
from harness.errors import BudgetReached
from harness.protocols import Admission, Model, Outcomes, Wrapper
from harness.runtime.signals import STOP
from harness.types import Request, Usage


class Admitted(Admission):
    """Requests as long as the till has room. A model that reads `ready` can wait; for others the iterator ends."""

    def __init__(self, source: Iterator[Request], till: Till) -> None:
        """Wrap the requests of one call of `respond`."""
        super().__init__(source)
        self._till = till
        self._next: tuple[Request, Size] | None = None
        self._ended = False
        self._reached: BudgetReached | None = None

    @property
    def ready(self) -> bool:
        """Whether next() returns a request or ends, without waiting for room."""
        if self._next is None and not self._ended:
            request = next(self._source, None)
            self._ended = request is None
            self._next = None if request is None else (request, self._till.size(request))
        return self._next is None or self._till.room(self._next[1])

    @property
    def left(self) -> float:
        """Seconds until the time is over."""
        return self._till.left

    @property
    def stopped(self) -> BudgetReached | None:
        """Why not everything was asked; set once no call is under way."""
        # With nothing under way the next request has room now or never.
        return self._reached or (self._till.stopped(self._next[1]) if self._next else None)

    @property
    def more(self) -> bool:
        return self._next is not None

    def __next__(self) -> Request:
        # A request that waited for room is not asked any more once a stop is requested.
        if not self.ready or self._next is None or STOP.requested:
            raise StopIteration
        request, size = self._next
        self._next = None
        self._till.take(request, size)
        return request

    def failed(self, request: Request, usage: Usage | None) -> None:
        self._till.failed(request, usage)

    def again(self, request: Request) -> bool:
        """Return whether a try may be repeated now. Raises BudgetReached where it never may."""
        try:
            return self._till.again(request)
        except BudgetReached as reached:
            self._reached = reached
            raise


class Budgeted(Wrapper):
    """A model that is asked nothing more once a limit is reached. It goes directly around the model."""

    def __init__(
        self, model: Model, till: Till, before: Callable[[], None] | None = None, *, count: bool = False
    ) -> None:
        """Wrap `model`; `before` is called once, before the first request is asked.

        `count`: report the usage of replies that were no answer to the till even without a limit.
        """
        super().__init__(model)
        self._till = till
        self._before = before
        self._count = count

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the model's outcomes. Raises BudgetReached, after those under way, where no more may go out."""
        if (before := self._before) is not None:
            self._before = None
            before()
        self._till.begin()
        if not self._till.budget and not self._count:
            return self.model.respond(requests)
        return self._within(iter(requests))

    def _within(self, source: Iterator[Request]) -> Generator[Outcomes]:
        admitted = Admitted(source, self._till)
        while True:
            try:
                with closing(self.model.respond(admitted)) as landing:
                    for outcomes in landing:
                        for request, outcome in outcomes:
                            self._till.settle(request, outcome)
                        yield outcomes
            finally:
                self._till.forfeit()
            if STOP.requested:
                return
            if (stopped := admitted.stopped) is not None:
                raise stopped
            if not admitted.more:
                return
            self._till.wait()
