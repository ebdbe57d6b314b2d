"""What one run has spent, and what is set aside for its tries under way: whether another may go out.

Before a try goes out, the most that it may take is set aside: its bytes as tokens of input, max_tokens (and the room
to think) of output, at the dearest price. It goes out only if what was spent and what is set aside leave room for it.
When its reply lands, what the server counted replaces what was set aside; where nobody counted, or no try can have
taken what was counted, the most stays spent.

So a limit is passed by one call at most on a server that bills what it was asked for. What a server adds of its own (a
proxy's prompt, more than max_tokens) counts once its reply tells: a limit is passed by the calls under way at most.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

from harness.codec import token_count
from harness.cost.price import Price, Size, cost_of, countable, dollars, size
from harness.errors import BudgetReached, ConfigError
from harness.protocols import Model, Service
from harness.types import Failure, Request, Response, Usage


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
        limits = {limit.name: getattr(self, limit.name) for limit in fields(self)}
        return ", ".join(f"budget.{name}={value:g}" for name, value in limits.items() if value is not None)

    def needs(self, price: Price | None, service: Service | None, group: str = "model") -> None:
        """Raise ConfigError for a limit in USD without a known price. `group` is the config group that sets the price.

        A server on this machine may stand before one that is paid for; who says that it costs nothing is believed.
        """
        if self.usd is None or service is None:
            return
        if price is None:
            why = "which is unknown"
        elif price.free and all(usd is None for usd in (service.price or {}).values()):
            why = f"and what runs on this machine ({service.base_url}) is taken to cost nothing"
        else:
            return
        nothing = "" if price is None else f" ({group}.price.input=0 {group}.price.output=0 if it is free)"
        raise ConfigError(
            f"budget.usd needs the {group}'s price, {why}: give {group}.price.input=… and {group}.price.output=… in "
            f"USD per million tokens{nothing}, or set budget.tokens instead."
        )


@dataclass(slots=True)
class Amounts:
    """Amounts that calls take, in the unit of each limit but time."""

    usd: float = 0.0
    tokens: float = 0.0
    requests: float = 0.0

    def add(self, other: Amounts, times: int = 1) -> None:
        """Add another amount `times` times; a negative number subtracts it."""
        self.usd += times * other.usd
        self.tokens += times * other.tokens
        self.requests += times * other.requests

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(self.usd + other.usd, self.tokens + other.tokens, self.requests + other.requests)


@dataclass
class Outlay:
    """What one job or several have taken from a budget they share."""

    spent: Amounts = field(default_factory=Amounts)
    aside: Amounts = field(default_factory=Amounts)
    """What is set aside for tries under way; of a job whose process has died it counts as spent."""


_LONGEST = 16
"""Characters a token at most, over a whole text: a count of fewer tokens is none."""
_UNBILLED = frozenset({"context_length", "rate_limit", "empty_prompt"})
"""Kinds of failure in which nobody has done any work."""
_NOTHING = Size(0, 0, 0, 0, 0)


class Till:
    """The account that admits tries."""

    whose: str = ""  # said of a limit that is reached

    def __init__(
        self, budget: Budget, price: Price | None, model: Model, discard: Callable[[Usage], None] = lambda _: None
    ) -> None:
        """Open an account; `discard` gets what a server has counted for replies that were no answer.

        The clock of budget.minutes begins with the first request that is asked.
        """
        self.budget = budget
        self._price = price
        self._service = model.traits.service
        self._in_batches = self._service is not None and self._service.batch_window is not None
        self._discard = discard
        self._counted_sum = Amounts()
        self._uncounted_sum = Amounts()
        self._aside: dict[Request, Size] = {}
        self._aside_sum = Amounts()
        self._beyond = Amounts()
        """The most that a call has taken beyond what was set aside for it, by what its server says."""
        self._under_way: set[Request] = set()
        self._waiting: dict[Request, Size] = {}
        """Tries that are to be repeated and for which nothing could be set aside yet."""
        self._began: float | None = None
        self._others = Outlay()

    @property
    def own(self) -> Amounts:
        """What the server has counted, and the most of the tries for which nobody counted."""
        return self._counted_sum + self._uncounted_sum

    @property
    def spent(self) -> Amounts:
        """What all jobs that share the budget have spent: this one alone, as most do."""
        return self.own + self._others.spent

    def wait(self) -> None:
        """Wait a moment for room that other jobs hold. This till is not shared: nothing to wait for."""

    @property
    def left(self) -> float:
        """Seconds until the time is over; inf without a limit on it, and in batches, which take hours anyway."""
        if self.budget.minutes is None or self._in_batches:
            return math.inf
        return 60 * self.budget.minutes - (0.0 if self._began is None else time.monotonic() - self._began)

    def follow(self, other: Till) -> None:
        """Go on from what another till of the same run has spent, and from when it began."""
        self._counted_sum.add(other.own)
        self._began = other._began

    def begin(self) -> None:
        self._began = time.monotonic() if self._began is None else self._began

    def size(self, request: Request) -> Size:
        """Return the size of one try of a request; zero if it will not be sent or there is no limit."""
        if not self.budget or (self._service is not None and self._service.declines(request)):
            return _NOTHING
        return size(request, self._service)

    def room(self, size: Size) -> bool:
        """Return whether a first try may go out beside those under way. Retries have priority."""
        return not self._waiting and self._limit(size, self._all_aside) is None

    @property
    def _all_aside(self) -> Amounts:
        return self._aside_sum + self._others.aside

    def take(self, request: Request, size: Size) -> None:
        self._set_aside(request, size)
        self._under_way.add(request)

    def failed(self, request: Request, usage: Usage | None) -> None:
        """Enter what a try without an answer took, and set aside what another try may take, if there is room.

        `usage` is None where the server has certainly done no work, and without counts where nobody knows.
        """
        if usage is not None and countable(usage):
            self._discard(usage)
        size = self._release(request)
        self._under_way.discard(request)
        self._enter(size, usage)
        if self._limit(size, self._all_aside) is None:
            self._set_aside(request, size)
        else:
            self._waiting[request] = size

    def again(self, request: Request) -> bool:
        """Return whether a try may be repeated now. Raises BudgetReached where it never may."""
        size = self._aside.get(request) or self._waiting[request]
        if self.left <= 0:
            raise self._reached("minutes", size)
        if request in self._waiting:
            if (limit := self._limit(size, self._all_aside)) is not None:
                # Whether nothing is under way that could give back what was set aside for it.
                if not self._aside and self._limit(size, Amounts()) is not None:
                    raise self._reached(limit, size)
                return False
            del self._waiting[request]
            self._set_aside(request, size)
        self._under_way.add(request)
        return True

    def settle(self, request: Request, outcome: Response | Failure) -> None:
        """Enter what the last try of a request took, unless `failed` already has."""
        self._waiting.pop(request, None)
        size = self._release(request)
        if request not in self._under_way:
            return
        self._under_way.remove(request)
        if isinstance(outcome, Response):
            self._enter(size, outcome.usage, len(outcome.text) if outcome.logprobs is None else 0)
        elif outcome.kind != "unanswered":  # which was not sent
            self._enter(size, None if outcome.kind in _UNBILLED else Usage())

    def enter(self, amounts: Amounts) -> None:
        self._counted_sum.add(amounts)

    def forfeit(self) -> None:
        """Count as spent what is set aside for requests that a model has left without an outcome."""
        for request in self._under_way:
            self._enter(self._release(request), Usage())
        self._under_way.clear()
        self._aside.clear()
        self._waiting.clear()
        self._aside_sum = Amounts()

    def stopped(self, size: Size) -> BudgetReached | None:
        """Return the error for a try that exceeds the limit even alone, or None."""
        limit = self._limit(size, Amounts())
        return None if limit is None else self._reached(limit, size)

    def _reached(self, limit: str, size: Size) -> BudgetReached:
        amounts, next_one = self.spent, self._most(size)
        uncounted = self._uncounted_sum
        usd = f", {dollars(uncounted.usd)} of it the most of calls that nobody counted" * (uncounted.usd > 0)
        tokens = f", {uncounted.tokens:,.0f} of them the most of calls that nobody counted" * (uncounted.tokens > 0)
        reason = {
            "usd": f"{dollars(amounts.usd)} spent{usd}, and the next call may cost {dollars(next_one.usd)}",
            "tokens": f"{amounts.tokens:,.0f} used{tokens}, and the next call may take {next_one.tokens:,.0f}",
            "requests": f"{amounts.requests:,.0f} asked",
            "minutes": "the time is over",
        }[limit]
        return BudgetReached(
            f"budget.{limit}={getattr(self.budget, limit):g}{self.whose} is reached ({reason}): every answer so far is "
            "kept, and the same command with a new budget asks for the rest."
        )

    def _limit(self, size: Size, aside: Amounts) -> str | None:
        """Return the limit that a try might exceed, or None."""
        if self.left <= 0:
            return "minutes"
        most = self._most(size)
        for limit in ("requests", "tokens", "usd"):
            most_allowed = getattr(self.budget, limit)
            if most_allowed is None:
                continue
            parts = (self._counted_sum, self._uncounted_sum, self._others.spent, aside, most)
            # Sums of cents are not exact: the last digits must not stop a run.
            if sum(getattr(amounts, limit) for amounts in parts) > most_allowed * (1 + 1e-9):
                return limit
        return None

    def _enter(self, size: Size, usage: Usage | None, characters: int = 0) -> None:
        """Enter what one try took; `characters` are those of the reply."""
        if usage is None:
            self._counted_sum.requests += min(1, size.calls)
            if size.calls > 1:  # of a ranked request's calls one was refused; of the others nobody knows
                share = (size.calls - 1) / size.calls
                rest = {name: math.ceil(share * getattr(size, name)) for name in ("input", "input_most", "output_most")}
                self._uncounted_sum.add(self._most(replace(size, calls=size.calls - 1, **rest)))
            return
        input, output = token_count(usage.input) or 0, token_count(usage.output) or 0
        if (reasoning := token_count(usage.reasoning) or 0) > output:  # some servers do not count it as output
            output += reasoning
        self._expect(size, cost_of(usage, self._price) or 0.0, input + output)
        enough = _LONGEST * input >= size.characters and _LONGEST * output >= characters
        if size.calls == 0 or (countable(usage) and enough):
            usd = cost_of(usage, self._price) or 0.0
            self._counted_sum.add(Amounts(usd, input + output, size.calls))
        else:
            most, told = self._most(size), self._price.most(input, output) if self._price else 0.0
            self._uncounted_sum.add(Amounts(max(most.usd, told), max(most.tokens, input + output), size.calls))

    def _expect(self, size: Size, usd: float, tokens: int) -> None:
        """Set more aside for every call once one has taken more: the next one may take as much."""
        most, before = self._most(size), self._beyond
        if size.calls and (usd > most.usd or tokens > most.tokens):
            usd, tokens = max(0.0, usd - most.usd), max(0, math.ceil(tokens - most.tokens))
            self._beyond = before + Amounts(usd / size.calls, tokens / size.calls)
            self._aside_sum = Amounts()
            for aside in self._aside.values():
                self._aside_sum.add(self._most(aside))

    def _most(self, size: Size) -> Amounts:
        usd = self._price.most(size.input_most, size.output_most) if self._price else 0.0
        most = Amounts(usd, size.input_most + size.output_most, size.calls)
        most.add(Amounts(self._beyond.usd, self._beyond.tokens), size.calls)
        return most

    def _set_aside(self, request: Request, size: Size) -> None:
        self._aside[request] = size
        self._aside_sum.add(self._most(size))

    def _release(self, request: Request) -> Size:
        size = self._aside.pop(request, None)
        if size is None:
            return _NOTHING
        self._aside_sum.add(self._most(size), -1)
        if not self._aside:  # so that the last digits of many sums do not add up
            self._aside_sum = Amounts()
        return size
