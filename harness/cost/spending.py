"""What a model of a run costs, the one that is evaluated or its judge: price, account, and the budget of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.cost.budget import Budget
from harness.cost.budgeted import Budgeted
from harness.cost.ledger import Ledger
from harness.cost.price import PACKAGE, Price, costs_money, dollars, key_of, price_of
from harness.errors import ConfigError
from harness.protocols import Model
from harness.settings import CacheMode
from harness.types import JSON


@dataclass(frozen=True)
class Spending:
    """What a model costs."""

    model: Model
    """By itself, without what goes around it."""
    budget: Budget
    """That of the run: model and judge take from the same one."""
    ledger: Ledger
    group: str = "model"
    """The config group that the model is set by."""

    @classmethod
    def of(cls, model: Model, budget: Budget, group: str = "model") -> Spending:
        """Return what a model costs."""
        paid = costs_money(model.traits.service)
        return cls(model, budget, Ledger(price_of(model.traits.service) if paid else None, paid=paid), group)

    @property
    def paid(self) -> bool:
        """Whether the answers may cost money."""
        return self.ledger.paid

    @property
    def price(self) -> Price | None:
        """What tokens cost; None where it is unknown, or nothing."""
        return self.ledger.price

    def check(self) -> None:
        """Raise ConfigError for a limit in USD without a known price.

        A server on this machine may stand before one that is paid for; who says that it costs nothing is believed.
        """
        service, why, nothing = self.model.traits.service, "which is unknown", ""
        if self.budget.limits.usd is None or service is None or self.price is not None:
            return
        if not self.paid:
            why = f"and what runs on this machine ({service.base_url}) is taken to cost nothing"
            nothing = f" ({self.group}.price.input=0 {self.group}.price.output=0 if it is free)"
        raise ConfigError(
            f"budget.usd needs the {self.group}'s price, {why}: give {self.group}.price.input=… and "
            f"{self.group}.price.output=… in USD per million tokens{nothing}, or set budget.requests instead."
        )

    def around(self, model: Model, cache: CacheMode, before: Callable[[], None] | None = None) -> Model:
        """Return the model, in whatever plug-ins have put around it, within the budget."""
        return Budgeted(model, self.budget, self.price, cache=cache, before=before, discard=self.ledger.discard)

    def so_far(self) -> str:
        """Return what this run has cost so far and used of its limits; "" if neither is known."""
        limits, usd = self.budget.limits, self.ledger.spent_now
        parts = [dollars(usd)] if usd else []
        if limits.usd is not None and self.price is not None:
            parts = [f"{dollars(usd)} of ${limits.usd:g}"]
        if limits.requests is not None:
            parts.append(f"{self.budget.spent.requests:,} of {limits.requests:,.0f} calls")
        return " · ".join(parts)

    @property
    def provenance(self) -> dict[str, JSON]:
        """The price of the model for the manifest, and its key in the table; {} where free or unknown."""
        service = self.model.traits.service
        if service is None or self.price is None:
            return {}
        key = {"key": key_of(service)} if self.price.source.startswith(PACKAGE) else {}
        return {"price": {**self.price.to_json(), **key}}
