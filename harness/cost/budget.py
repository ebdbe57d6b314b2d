"""The budget of one run, and what goes directly around its model and its judge to keep within it.

A call goes out if what is spent, what is set aside for calls under way and the most that it may take are within the
limits. What the server counts replaces the most once the call has ended; where it counts nothing, the most stays spent.
So a limit is never passed by more than the calls under way.

Several processes may share a budget. Each may be killed at any moment: what a dead one had set aside stays aside, since
nobody knows what of it was billed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from functools import cached_property
from math import inf
from pathlib import Path
from typing import NamedTuple
from weakref import finalize

from harness.cost.ledger import Ledger
from harness.cost.price import cost_of, countable, dollars
from harness.cost.size import size
from harness.errors import BudgetReached, Interrupted, StoreError
from harness.protocols import Admission, Model, Outcomes, Wrapper
from harness.runtime.signals import STOP
from harness.settings import CacheMode, Limits
from harness.types import Failure, Request, Response, Usage, replace

_SILENT = 900.0
"""Seconds without any change after which whoever has set something aside is taken for dead."""
_UNBILLED = frozenset({"context_length", "rate_limit", "empty_prompt", "unanswered"})
"""Kinds of failure in which nobody has done any work."""
_KEPT: Mapping[CacheMode, str] = {
    "on": "every answer so far is stored; the same command goes on from there",
    "off": "with cache=off no answer is stored; the same command asks for everything again",
    "refresh": "every answer so far is stored; the same command asks for everything again, cache=on only for the rest",
}
_INSTANT = "this model's answers are not stored, as it is quicker than a cache; the same command begins again"


class Taken(NamedTuple):
    """What has been taken from a budget: spent, and set aside for tries under way."""

    usd: float
    requests: int
    usd_aside: float
    requests_aside: int


class Budget:
    """What one run may take, its judge included: a row of SQLite, in memory or in a file that processes share."""

    def __init__(self, limits: Limits, shared: Path | None = None) -> None:
        """Begin with nothing, or with what stands in the `shared` file, if there are limits at all."""
        self.limits = limits
        self._file = shared if limits else None
        # Sums of cents are not exact: the last digits must not stop a run.
        self._most_usd = inf if limits.usd is None else limits.usd * (1 + 1e-9)
        self._most_requests = inf if limits.requests is None else limits.requests
        # What the system loses with the power was spent by processes that are gone with it.
        self._do("PRAGMA synchronous=OFF")
        self._do(
            "CREATE TABLE IF NOT EXISTS taken (usd REAL, requests INTEGER, usd_aside REAL, requests_aside INTEGER)"
        )
        self._do("INSERT INTO taken SELECT 0, 0, 0, 0 WHERE NOT EXISTS (SELECT * FROM taken)")
        self._seen, self._since = self.spent, time.monotonic()

    @property
    def spent(self) -> Taken:
        """What has been spent and set aside, by all that take from it."""
        return Taken(*self._do("SELECT * FROM taken").fetchone())

    def take(self, usd: float) -> bool:
        """Set aside what a try may take at most, if there is room."""
        taken = self._do(
            "UPDATE taken SET usd_aside = usd_aside + :usd, requests_aside = requests_aside + 1 WHERE "
            "usd + usd_aside + :usd <= :most AND requests + requests_aside + 1 <= :tries",
            usd=usd, most=self._most_usd, tries=self._most_requests,
        )  # fmt: skip
        return taken.rowcount == 1

    def settle(self, aside: float, spent: float, *, sent: bool = True) -> None:
        """Give back what was set aside for a try, and enter what it has taken: as the server counted, or the most."""
        self._do(  # exactly nothing once none is under way: the last digits of many sums do not add up
            "UPDATE taken SET usd = usd + :spent, requests = requests + :sent, requests_aside = requests_aside - 1, "
            "usd_aside = CASE requests_aside WHEN 1 THEN 0 ELSE usd_aside - :aside END",
            spent=spent, sent=sent, aside=aside,
        )  # fmt: skip

    def refusal(self, usd: float) -> BudgetReached | None:
        """Return the error for a try that might pass a limit although the caller has nothing under way, else None.

        What other processes have under way may come to nothing, as long as any of them is alive.
        """
        spent = self.spent
        if spent != self._seen:
            self._seen, self._since = spent, time.monotonic()
        dead = time.monotonic() - self._since > _SILENT
        if spent.requests + 1 + dead * spent.requests_aside > self._most_requests:
            limit, reason = "requests", f"{spent.requests:,} asked"
        elif spent.usd + usd + dead * spent.usd_aside > self._most_usd:
            limit, reason = "usd", f"{dollars(spent.usd)} spent, and the next call may cost {dollars(usd)}"
        else:
            return None
        whose = "" if self._file is None else " of all jobs together"
        return BudgetReached(
            f"budget.{limit}={getattr(self.limits, limit):g}{whose} is reached ({reason}): every answer so far is "
            "kept, and the same command with a new budget asks for the rest."
        )

    def so_far(self, ledger: Ledger) -> str:
        """Return what a run has cost so far and used of its limits; "" if neither is known."""
        most = "" if self.limits.usd is None or ledger.price is None else f" of ${self.limits.usd:g}"
        parts = [f"{dollars(ledger.spent_now)}{most}"] if ledger.spent_now or most else []
        if self.limits.requests is not None:
            parts.append(f"{self.spent.requests:,} of {self.limits.requests:,.0f} calls")
        return " · ".join(parts)

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        """The one connection of this process."""
        connection = sqlite3.connect(self._file or ":memory:", 60, isolation_level=None, check_same_thread=False)
        finalize(self, connection.close)
        return connection

    def _do(self, statement: str, **values: float) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise StoreError(
                f"the budget that the jobs share cannot be kept in {self._file} ({error}): choose another results=."
            ) from error


class Budgeted(Wrapper):
    """A model that is asked nothing more once a stop is requested or a limit is reached.

    What a reply took beyond its most (a proxy's own prompt, a model that ignores max_tokens) is expected of every later
    call.
    """

    def __init__(
        self,
        model: Model,
        budget: Budget | None = None,
        ledger: Ledger | None = None,
        *,
        cache: CacheMode = "on",
        before: Callable[[], None] | None = None,
    ) -> None:
        """Wrap `model`, whose prices are those of `ledger`; it gets what was counted for replies that were no answer.

        `cache` decides what is said of the answers so far where a stop ends the run. `before` is called once, before
        the first request is asked.
        """
        super().__init__(model)
        self.budget, self.ledger = budget or Budget(Limits()), ledger or Ledger(None, paid=False)
        self._before = before
        self._kept = _INSTANT if model.traits.instant else _KEPT.get(cache, _KEPT["on"])
        self._more = 0.0  # USD that a call took beyond its most, at most
        self._uncounted = 0  # calls that nobody counted

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
                            tries.landed(request, outcome)
                        yield outcomes
            finally:
                tries.forfeit()
            if STOP.requested:
                raise Interrupted(f"interrupted: {self._kept}.")
            if tries.ended():
                return
            time.sleep(0.1)  # for what other processes may give back

    def most(self, request: Request) -> float:
        """Return what a try may cost at most in USD, for all that is known."""
        one, price = size(request, self.traits.service), self.ledger.price
        return self._more + (price.most(one.input_most, one.output_most) if price else 0.0)

    def spent(self, request: Request, cost: float | None) -> float:
        """Return what is spent with a call, None where nobody counted it: then its most.

        What one took beyond its most is expected of all later ones, and of those that nobody counted.
        """
        most = self.most(request)
        if cost is None:
            self._uncounted += 1
            return most
        self._more += (more := max(0.0, cost - most))
        return cost + more * self._uncounted


class Tries(Admission):
    """The requests of one call, as long as no stop is requested and the budget has room for their tries."""

    def __init__(self, requests: Iterable[Request], around: Budgeted) -> None:
        """Take the requests from `requests`, and room from the budget of what goes around their model."""
        super().__init__(requests)
        self._around, self._budget = around, around.budget
        self._aside: dict[Request, float] = {}
        """What is set aside for each that is under way, in USD."""
        self._next: Request | None = None
        """One that waits for room, or has it."""
        self._reached: BudgetReached | None = None

    @property
    def ready(self) -> bool:
        """Whether next() returns a request or ends, without waiting for room."""
        if self._next is None:
            self._next = next(self._source, None)
        return self._next is None or STOP.requested or self._take(self._next)

    def __next__(self) -> Request:
        if not self.ready or self._next is None or STOP.requested:
            raise StopIteration
        request, self._next = self._next, None
        return request

    def failed(self, request: Request, usage: Usage | None) -> None:
        """Enter what a try without an answer took."""
        if usage is not None and countable(usage):
            self._around.ledger.discard(usage)
        self._enter(request, usage)

    def again(self, request: Request) -> bool:
        """Return whether a try may be repeated now. Raises BudgetReached where it never may."""
        if self._take(request):
            return True
        self._reached = None if self._aside else self._budget.refusal(self._around.most(request))
        if self._reached is not None:
            raise self._reached
        return False

    def landed(self, request: Request, outcome: Response | Failure) -> None:
        """Enter what the last try of a request took, unless it was entered as failed."""
        usage = outcome.usage if isinstance(outcome, Response) else None if outcome.kind in _UNBILLED else Usage()
        self._enter(request, usage, sent=isinstance(outcome, Response) or outcome.kind != "unanswered")

    def forfeit(self) -> None:
        """Count as spent what is set aside for requests that the model has left without an outcome."""
        if self._next is not None:
            self._enter(self._next, None, sent=False)
        for request in list(self._aside):
            self._enter(request, Usage())

    def ended(self) -> bool:
        """Return whether everything was asked; False where others may give back room. Raises BudgetReached."""
        if self._next is not None:
            self._reached = self._reached or self._budget.refusal(self._around.most(self._next))
        if self._reached is not None:
            raise self._reached
        return self._next is None

    def _take(self, request: Request) -> bool:
        """Set aside the most that a try may take, if there is room."""
        if not self._budget.limits or request in self._aside:
            return True
        if not self._budget.take(usd := self._around.most(request)):
            return False
        self._aside[request] = usd
        return True

    def _enter(self, request: Request, usage: Usage | None, *, sent: bool = True) -> None:
        """Enter what a try took: as the server counted, nothing where it did no work (None), else the most."""
        if (aside := self._aside.pop(request, None)) is None:
            return
        cost = 0.0 if usage is None else cost_of(_with_reasoning(usage), self._around.ledger.price)
        self._budget.settle(aside, self._around.spent(request, cost), sent=sent)


def _with_reasoning(usage: Usage) -> Usage:
    """Return the counts of a call with its reasoning in its output: some servers count it beside."""
    output, reasoning = usage.output, usage.reasoning
    if isinstance(output, int) and isinstance(reasoning, int) and reasoning > output >= 0:
        return replace(usage, output=output + reasoning)
    return usage
