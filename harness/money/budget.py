"""A limit on what a run may take, kept call by call.

Before a call goes out, the most that it may take is set aside: its bytes as tokens of input, max_tokens (and the room
to think) of output, at the dearest price. A call goes out only if what was spent and what is set aside for the calls
under way leave room for it; when its answer lands, what it really took replaces what was set aside. So the limit holds
whatever the calls under way come to, as long as the server obeys max_tokens, and with fewer and fewer calls at once
near it. A failed call that the server may have billed keeps what was set aside, once: its retries are in no usage.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, fields
from operator import length_hint

from harness.errors import ConfigError, RunStopped
from harness.models.protocol import Landing, Model, Outcome
from harness.money.price import Price, dollars
from harness.money.size import size
from harness.stop import STOP
from harness.types import Failure, Request, Response

_UNBILLED = frozenset({"context_length", "rate_limit", "bad_request", "unanswered", "empty_prompt"})
"""Kinds of failure in which the server has done no work."""


@dataclass(frozen=True)
class Budget:
    """The limits of one run on what is asked now; answers from the cache take nothing. None: no limit."""

    usd: float | None = None
    tokens: float | None = None
    requests: float | None = None
    minutes: float | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, limit.name) is not None for limit in fields(self))

    def __str__(self) -> str:
        found = {limit.name: getattr(self, limit.name) for limit in fields(self)}
        return ", ".join(f"budget.{name}={value:g}" for name, value in found.items() if value is not None)

    def needs(self, price: Price | None) -> None:
        """Refuses a limit in USD where nobody could keep it. Raises ConfigError."""
        if self.usd is not None and price is None:
            raise ConfigError(
                "budget.usd needs the model's price, which is unknown: give model.price.input=… and "
                "model.price.output=… in USD per million tokens, or set budget.tokens instead."
            )


@dataclass(slots=True)
class Amounts:
    """What calls take: of each limit's unit but time."""

    usd: float = 0.0
    tokens: float = 0.0
    requests: float = 0.0

    def add(self, other: Amounts, sign: int = 1) -> None:
        """Adds, or takes away."""
        self.usd += sign * other.usd
        self.tokens += sign * other.tokens
        self.requests += sign * other.requests


class Till:
    """What one run has spent, and what is set aside for its calls under way."""

    def __init__(self, budget: Budget, price: Price | None, model: Model) -> None:
        """The clock of budget.minutes begins with the first request that is asked."""
        self.budget = budget
        self.spent = Amounts()
        self._price = price
        self._model = model
        self._aside = Amounts()
        self._under_way: dict[Request, Amounts] = {}
        self._began: float | None = None

    def begin(self) -> None:
        """Starts the clock, the first time."""
        self._began = self._began or time.monotonic()

    def room(self, request: Request) -> bool:
        """Whether a request may go out beside those under way."""
        return self._over(request, self._aside) is None

    def take(self, request: Request) -> None:
        """Sets aside what a request may take."""
        most = self._under_way[request] = self._most(request)
        self._aside.add(most)

    def settle(self, request: Request, outcome: Response | Failure) -> None:
        """Enters what a request took."""
        most = self._under_way.pop(request, Amounts())
        self._aside.add(most, -1)
        took = Amounts(most.usd, most.tokens, most.requests)
        if isinstance(outcome, Response):
            usage = outcome.usage
            if usage.input is not None and usage.output is not None:
                took.tokens = usage.input + usage.output
                took.usd = (self._price.cost(usage) or 0.0) if self._price else 0.0
        elif outcome.kind in _UNBILLED:
            took.tokens = took.usd = 0.0
        self.spent.add(took)

    def forfeit(self) -> None:
        """Takes what is set aside for requests that a model has left without an outcome as spent."""
        for most in self._under_way.values():
            self.spent.add(most)
            self._aside.add(most, -1)
        self._under_way.clear()

    def stopped(self, request: Request) -> RunStopped | None:
        """Why a request may not go out even alone."""
        if (limit := self._over(request, Amounts())) is None:
            return None
        next_one = self._most(request)
        spent = {
            "usd": f"{dollars(self.spent.usd)} spent, and the next call may cost {dollars(next_one.usd)}",
            "tokens": f"{self.spent.tokens:,.0f} used, and the next call may take {next_one.tokens:,.0f}",
            "requests": f"{self.spent.requests:,.0f} asked",
            "minutes": "the time is over",
        }
        return RunStopped(
            f"budget.{limit}={getattr(self.budget, limit):g} is reached ({spent[limit]}): every answer so far is kept, "
            "and the same command with a new budget asks for the rest."
        )

    def _over(self, request: Request, aside: Amounts) -> str | None:
        """The limit that a request may pass."""
        minutes = 0.0 if self._began is None else (time.monotonic() - self._began) / 60
        if self.budget.minutes is not None and minutes >= self.budget.minutes:
            return "minutes"
        most = self._most(request)
        for limit in ("requests", "tokens", "usd"):
            allowed = getattr(self.budget, limit)
            taken = sum(getattr(amounts, limit) for amounts in (self.spent, aside, most))
            # Sums of cents are not exact: the last digits must not stop a run.
            if allowed is not None and taken > allowed * (1 + 1e-9):
                return limit
        return None

    def _most(self, request: Request) -> Amounts:
        declines: Callable[[Request], Failure | None] | None = getattr(self._model, "declines", None)
        if declines is not None and declines(request):  # it will not be sent
            return Amounts()
        most = size(request, self._model)
        usd = self._price.most(most.input_most, most.output_most) if self._price else 0.0
        return Amounts(usd, most.tokens_most, most.calls)


class Admitted(Iterator[Request]):
    """Requests as long as the till has room. A model that asks `ready` first can wait for room; others find an end."""

    def __init__(self, source: Iterator[Request], till: Till) -> None:
        """Wraps the requests of one call of `respond`."""
        self._source = source
        self._till = till
        self.next: Request | None = None
        """The request that is waiting for room; None at the end, too."""
        self.ended = False

    @property
    def ready(self) -> bool:
        """Whether next() has a request, or knows that there is none."""
        if self.next is None and not self.ended:
            self.next = next(self._source, None)
            self.ended = self.next is None
        return self.next is None or self._till.room(self.next)

    def __next__(self) -> Request:
        # A request that waited for room is not asked any more once a stop is requested.
        if not self.ready or self.next is None or STOP.requested:
            raise StopIteration
        request, self.next = self.next, None
        self._till.take(request)
        return request


class Budgeted:
    """A model that is asked nothing more once a limit is reached. It goes directly around the model."""

    def __init__(self, model: Model, till: Till, before: Callable[[], None] | None = None) -> None:
        """Wraps `model`; `before` is called once, before the first request is asked."""
        self._model = model
        self._till = till
        self._before = before
        self.name = model.name
        self.identity = model.identity
        self.accepts = model.accepts

    def respond(self, requests: Iterable[Request]) -> Iterator[Outcome]:
        """The model's outcomes. Raises RunStopped once no further request may go out, after those under way."""
        if (before := self._before) is not None:
            self._before = None
            before()
        self._till.begin()
        if not self._till.budget:
            return self._model.respond(requests)
        at_hand: list[Iterator[Outcome]] = []
        return Landing(self._within(iter(requests), at_hand), lambda: length_hint(at_hand[-1]) if at_hand else 0)

    def _within(self, source: Iterator[Request], at_hand: list[Iterator[Outcome]]) -> Generator[Outcome]:
        admitted = Admitted(source, self._till)
        while True:
            outcomes = self._model.respond(admitted)
            at_hand[:] = [outcomes]
            try:
                for request, outcome in outcomes:
                    self._till.settle(request, outcome)
                    yield request, outcome
            finally:
                if isinstance(outcomes, Landing | Generator):
                    outcomes.close()
            self._till.forfeit()
            if admitted.next is None or STOP.requested:
                return
            # All that were under way have landed: the next one either has room now, or never will.
            if (stopped := self._till.stopped(admitted.next)) is not None:
                raise stopped
