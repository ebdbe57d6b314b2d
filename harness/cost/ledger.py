"""The account of a run: tokens and cost of the answers it rests on, and of those that were asked now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import closing

from harness.codec import request_digest
from harness.cost.price import Price, cost_of, costs_money, dollars, price_of
from harness.errors import ConfigError
from harness.protocols import Model, Outcomes, Service, Wrapper
from harness.settings import Limits
from harness.types import JSON, TOKENS, Request, Response, Usage


class Ledger:
    """An account that counts each distinct request once: items that share a request or opening pay for it once.

    So the sums are less than those over the records where items share requests, and more by the openings, which no
    record holds. Replies that were no answer are shown when they are paid for but left out of the sums, which are
    the same whether the answers were asked now or came from the cache.
    """

    def __init__(self, price: Price | None, *, paid: bool) -> None:
        """Begin an account; `price` is None where unknown, `paid` says whether answers may cost money at all.

        A server that says what it charges (Usage.usd) knows better than both.
        """
        self.price, self._paid = price, paid
        self.usd = self.usd_now = self.usd_discarded = 0.0
        self.calls = self.calls_now = self.uncounted = self.charged = 0
        """Answers in all, asked now, without a known cost, and with a cost that the server reported."""
        self._tokens: Counter[str] = Counter()
        self._digests: set[int] = set()

    @classmethod
    def of(cls, service: Service | None, limits: Limits, group: str = "model") -> Ledger:
        """Begin the account of a model that a server answers for; `group` is where it is set.

        Raises ConfigError for a limit in USD without a known price. A server on this machine may stand before one that
        is paid for; who says that it costs nothing is believed.
        """
        paid = costs_money(service)
        ledger = cls(price_of(service) if paid else None, paid=paid)
        if limits.usd is None or service is None or ledger.price is not None:
            return ledger
        why, nothing = "which is unknown", ""
        if not paid:
            why = f"and what runs on this machine ({service.base_url}) is taken to cost nothing"
            nothing = f" ({group}.price.input=0 {group}.price.output=0 if it is free)"
        raise ConfigError(
            f"budget.usd needs the {group}'s price, {why}: give {group}.price.input=… and {group}.price.output=… in "
            f"USD per million tokens{nothing}, or set budget.requests instead."
        )

    def add(self, request: Request, response: Response) -> None:
        """Enter an answer. 64 bits of its request's digest are kept: some 15 MB for 200,000 answers."""
        name = int(request_digest(request)[:16], 16)
        if name in self._digests:
            return
        self._digests.add(name)
        self.calls += 1
        self.calls_now += not response.cached
        for kind in TOKENS:
            if (count := getattr(response.usage, kind)) is not None:
                self._tokens[kind] += count
        self.charged += response.usage.usd is not None
        cost = self.cost(response)
        self.uncounted += cost is None
        self.usd += cost or 0.0
        self.usd_now += 0.0 if response.cached else cost or 0.0

    def discard(self, usage: Usage) -> None:
        self.usd_discarded += cost_of(usage, self.price) or 0.0

    @property
    def paid(self) -> bool:
        """Whether answers may cost money: by what they are, or because the server says that they did."""
        return self._paid or self.usd > 0 or self.usd_discarded > 0

    @property
    def spent_now(self) -> float:
        """USD of what was asked now, replies that were no answer included."""
        return self.usd_now + self.usd_discarded

    def cost(self, response: Response) -> float | None:
        """Return the cost of one answer in USD; None where its price or its tokens are unknown."""
        return cost_of(response.usage, self.price)

    @property
    def usage(self) -> Usage:
        return Usage(**{kind: self._tokens[kind] for kind in TOKENS if kind in self._tokens})

    @property
    def price_json(self) -> dict[str, JSON]:
        """The price for the manifest; {} where free or unknown."""
        return {} if self.price is None else {"price": self.price.to_json()}

    @property
    def cost_json(self) -> dict[str, JSON]:
        """The cost for result.json: the same whether the answers were asked now or came from the cache."""
        if not self.paid:
            return {}
        cost = {
            "usd": None if self._unknown else round(self.usd, 9),
            "answers": self.calls,
            "answers_without_cost": self.uncounted,
            "price": None if self.price is None else str(self.price),
        }
        return {"cost": cost}

    def lines(self) -> list[str]:
        """Return the lines that the command prints at its end; none for free answers."""
        if not self.paid or not (self.calls or self.usd_discarded):
            return []
        if self._unknown:
            return ["Cost of these answers: unknown, as the model's price is (model.price tells it)."]
        rest = ", the rest came from the cache" * (self.calls_now < self.calls)
        without = "a price" if self.price is None else "a count of tokens"
        missing = f" {self.uncounted:,} answers came without {without} and are not in it." * (self.uncounted > 0)
        discarded = f", {dollars(self.usd_discarded)} of it for replies that were no answer" * (self.usd_discarded > 0)
        them = "it" if self.charged == 1 else "them"
        prices = [f"as the server told {them} with {self.charged:,} replies (usage.cost)"] * bool(self.charged)
        if self.price is not None and (self.charged < self.calls or not prices):
            prices.append(str(self.price))
        now = f"{dollars(self.spent_now)}{discarded}{rest}"
        return [
            f"Cost of these answers: {dollars(self.usd)}; asked now: {now}.{missing}",
            f"Prices: {', '.join(prices)}.",
        ]

    @property
    def _unknown(self) -> bool:
        return self.price is None and not self.charged


class Metered(Wrapper):
    """A model whose answers are entered into a ledger as they pass. It goes outside the cache."""

    def __init__(self, model: Model, ledger: Ledger) -> None:
        super().__init__(model)
        self._ledger = ledger

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield the model's outcomes as they are."""
        with closing(self.model.respond(requests)) as landing:
            for outcomes in landing:
                for request, outcome in outcomes:
                    if isinstance(outcome, Response):
                        self._ledger.add(request, outcome)
                yield outcomes
