"""What one run has spent, and what is set aside for its tries under way: whether another may go out.

Before a try goes out, the most that it may take is set aside: its bytes as tokens of input, max_tokens (and the room
to think) of output, at the dearest price. It goes out only if what was spent and what is set aside leave room for it.
When its reply lands, what the server counted replaces what was set aside; where nobody counted, or no try can have
taken what was counted, the most stays spent.

What a server does not tell beforehand (a proxy's own prompt, a model that writes more than max_tokens) is learned from
its replies: the greatest excess of any reply so far is added to what every other try may take. The fewer replies there
are, the less is known: at first each try under way is counted with `UNSEEN` tokens more, with a quarter of them after
one reply, with a ninth after two, and no more tries begin than the limit bears then. So a limit is passed by one call
at most, unless a server begins to bill more than it ever has while many tries are under way, or never counts what it
bills.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from harness.codec import token_count
from harness.cost.budget import Amounts, Budget, Outlay
from harness.cost.price import Price, Size, cost_of, countable, dollars, size
from harness.errors import BudgetReached
from harness.protocols import Model
from harness.types import Failure, Request, Response, Usage

UNSEEN = 200_000
"""Tokens that a call may take beside those of its request, as long as no reply is known; few contexts are longer."""
_UNCOUNTED = 4
"""Tries without a count that say as much as a reply with one: not all of a server's replies may lack it."""
_LONGEST = 16
"""Most characters a token, over a whole text: a server's count below that is taken as missing."""
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
        self._uncounted: Counter[Size] = Counter()
        self._uncounted_sum = Amounts()
        self._aside: dict[Request, Size] = {}
        self._aside_sum = Amounts()
        self._under_way: set[Request] = set()
        self._waiting: dict[Request, Size] = {}
        """Tries that are to be repeated and for which nothing could be set aside yet."""
        self._hidden_input = self._hidden_output = 0
        self._hidden_usd = 0.0
        """What the server has charged for a call beyond its price, at most."""
        self._replies = 0
        """Replies with a count since the one that took the most, and half of those before it."""
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

    @property
    def unseen(self) -> Amounts:
        """What the tries under way may still turn out to take beyond what is set aside for them."""
        # The first reply of a batch comes with all the others: no later try could know more.
        if self._in_batches or not self._under_way or self.budget.usd is None or self._price is None:
            return Amounts()
        replies = 1 + self._replies + self._uncounted.total() // _UNCOUNTED
        tokens = len(self._under_way) * UNSEEN // replies**2
        return Amounts(self._price.most(1, tokens))  # written, which is dearer

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
        """Return the size of one try of a request; zero if there is no limit."""
        if not self.budget:
            return _NOTHING
        return size(request, self._service)

    def room(self, size: Size) -> bool:
        """Return whether a first try may go out beside those under way. Retries have priority."""
        return not self._waiting and self._limit(size, self._all_aside) is None and self._wide(size)

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
        if not self._wide(size):
            return False
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
        reason = {
            "usd": f"{dollars(amounts.usd)} spent{usd}, and the next call may cost {dollars(next_one.usd)}",
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
        for limit in ("requests", "usd"):
            most_allowed = getattr(self.budget, limit)
            if most_allowed is None:
                continue
            parts = (self._counted_sum, self._uncounted_sum, self._others.spent, aside, most)
            # Sums of cents are not exact: the last digits must not stop a run.
            if sum(getattr(amounts, limit) for amounts in parts) > most_allowed * (1 + 1e-9):
                return limit
        return None

    def _wide(self, size: Size) -> bool:
        """Return whether the limit leaves room for what one more try may hide while others are under way."""
        unseen = self.unseen + self._others.unseen
        if not unseen.usd:
            return True
        return self._limit(size, self._all_aside + unseen) is None

    def _enter(self, size: Size, usage: Usage | None, characters: int = 0) -> None:
        """Enter what one try took; `characters` are those of the reply."""
        if usage is None:
            self._counted_sum.requests += min(1, size.calls)
            if size.calls > 1:  # of a ranked request's calls one was refused; of the others nobody knows
                share = (size.calls - 1) / size.calls
                rest = {name: math.ceil(share * getattr(size, name)) for name in ("input", "input_most", "output_most")}
                self._uncount(replace(size, calls=size.calls - 1, **rest))
            return
        input, output = token_count(usage.input) or 0, token_count(usage.output) or 0
        if (reasoning := token_count(usage.reasoning) or 0) > output:  # some servers do not count it as output
            output += reasoning
        self._learn(size, input, output, usage.usd or 0.0)
        enough = _LONGEST * input >= size.characters and _LONGEST * output >= characters
        if size.calls == 0 or (countable(usage) and enough):
            self._replies += 1
            usd = cost_of(usage, self._price) or 0.0
            self._counted_sum.add(Amounts(usd, size.calls))
        else:
            self._uncount(size)

    def _uncount(self, size: Size) -> None:
        self._uncounted[size] += 1
        self._uncounted_sum.add(self._most(size))

    def _learn(self, size: Size, input: int, output: int, charged: float) -> None:
        """Raise what every try may take if a reply took more than was set aside for it."""
        if not size.calls:
            return
        usd = self._price.most(size.input_most, size.output_most) if self._price else 0.0
        more = (charged - usd) / size.calls
        unseen = -(-(input - size.input) // size.calls) if input > size.input_most else 0
        beyond = -(-(output - size.output_most) // size.calls)
        if unseen <= self._hidden_input and beyond <= self._hidden_output and more <= self._hidden_usd:
            return
        self._hidden_usd = max(self._hidden_usd, more)
        self._hidden_input = max(self._hidden_input, unseen)
        self._hidden_output = max(self._hidden_output, beyond)
        self._replies //= 2
        self._aside_sum, self._uncounted_sum = Amounts(), Amounts()
        for tried in self._aside.values():
            self._aside_sum.add(self._most(tried))
        for tried, number in self._uncounted.items():
            self._uncounted_sum.add(self._most(tried), number)

    def _most(self, size: Size) -> Amounts:
        input = size.input_most + size.calls * self._hidden_input
        output = size.output_most + size.calls * self._hidden_output
        usd = self._price.most(input, output) if self._price else 0.0
        return Amounts(usd + size.calls * self._hidden_usd, size.calls)

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
