"""What a model of a run costs, the one that is evaluated or its judge: price, account, and the budget of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cost.budget import Budget, needs_price
from harness.cost.budgeted import Budgeted
from harness.cost.ledger import Ledger
from harness.cost.price import FREE, PACKAGE, Price, costs_money, dollars, key_of, price_of
from harness.protocols import Model
from harness.settings import CacheMode
from harness.storage.atomic_write import object_in
from harness.types import JSON


@dataclass(frozen=True)
class Spending:
    """What a model costs."""

    model: Model
    """By itself, without what goes around it."""
    budget: Budget
    """That of the run: model and judge take from the same one."""
    paid: bool
    """Whether the answers may cost money at all."""
    price: Price | None
    """What tokens cost; None where it is unknown."""
    ledger: Ledger
    group: str = "model"
    """The config group that the model is set by."""

    @classmethod
    def of(cls, model: Model, budget: Budget, manifest: Path, group: str = "model") -> Spending:
        """Return what a model costs; `manifest` is where an earlier run may have written its price down."""
        service = model.traits.service
        paid = costs_money(service)
        price = price_of(service, _price_in(manifest, group)) if paid else FREE
        return cls(model, budget, paid, price, Ledger(price if paid else None, paid=paid), group)

    def check(self) -> None:
        """Raise ConfigError for a limit in USD without a known price."""
        needs_price(self.budget.limits, self.price, self.model.traits.service, self.group)

    def around(self, model: Model, cache: CacheMode, before: Callable[[], None] | None = None) -> Model:
        """Return the model, in whatever plug-ins have put around it, within the budget."""
        return Budgeted(model, self.budget, self.price, cache=cache, before=before, discard=self.ledger.discard)

    def so_far(self) -> str:
        """Return what this run has cost so far and used of its limits; "" if neither is known."""
        limits, usd = self.budget.limits, self.ledger.spent_now
        parts = [dollars(usd)] if usd else []
        if limits.usd is not None and self.ledger.price is not None:
            parts = [f"{dollars(usd)} of ${limits.usd:g}"]
        if limits.requests is not None:
            parts.append(f"{self.budget.spent.requests:,} of {limits.requests:,.0f} calls")
        return " · ".join(parts)

    @property
    def provenance(self) -> dict[str, JSON]:
        """The price of the model for the manifest, and its key in the table; {} where free or unknown."""
        service = self.model.traits.service
        if service is None or self.price is None or not self.paid:
            return {}
        key = {"key": key_of(service)} if self.price.source.startswith(PACKAGE) else {}
        return {"price": {**self.price.to_json(), **key}}


def _price_in(manifest: Path, group: str) -> Mapping[str, Any]:
    """Return the price in a manifest, or in its part on the judge; {} where there is none."""
    try:
        content: Any = object_in(manifest)
    except OSError:
        return {}
    for name in ("price",) if group == "model" else (group, "price"):
        content = content.get(name) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}
