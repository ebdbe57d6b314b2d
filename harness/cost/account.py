"""What one run has to do with money, put together: price, plan, budget, ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cost import price_lookup
from harness.cost.admission import Budgeted
from harness.cost.budget import Budget
from harness.cost.ledger import Ledger, Metered
from harness.cost.price import Price, dollars
from harness.cost.till import Till
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Task
from harness.runtime.signals import STOP
from harness.storage.json_files import object_in
from harness.types import JSON, Request, Response

Peek = Callable[[Request], Response | None]
"""What the cache knows of a request, without asking."""
Say = Callable[[str], None]
"""Shows a line on stderr."""


@dataclass(frozen=True)
class Spending:
    """The wrappers of one run's model, and what is said of its cost before and after."""

    task: Task
    prompt: Prompt
    model: Model
    samples: int
    budget: Budget
    paid: bool
    """Whether the answers may cost money at all."""
    price: Price | None
    """What tokens cost; None where it is unknown."""
    ledger: Ledger
    till: Till

    @classmethod
    def of(
        cls,
        task: Task,
        prompt: Prompt,
        model: Model,
        samples: int,
        limits: Mapping[Any, float | None],
        manifest: Path,
    ) -> Spending:
        """Return the account of a run with `samples` answers to each item.

        `manifest` is where an earlier run may have written the price down.
        """
        service = model.traits.service
        paid = price_lookup.costs_money(service)
        price = price_lookup.price_of(service, _price_in(manifest)) if paid else price_lookup.FREE
        budget = Budget(**limits)
        ledger = Ledger(price if paid else None, paid=paid)
        till = Till(budget, price, model, ledger.discard)
        return cls(task, prompt, model, samples, budget, paid, price, ledger, till)

    @property
    def provenance(self) -> dict[str, JSON]:
        """The prices and by what they were looked up, for the manifest."""
        service = self.model.traits.service
        if service is None or not self.paid or self.price is None:
            return {}
        key = {"key": price_lookup.key_of(service)} if self.price.source.startswith(price_lookup.PACKAGE) else {}
        return {"price": {**self.price.to_json(), **key}}

    def check(self) -> None:
        """Refuse a limit in USD that nobody could keep. Raises ConfigError."""
        if self.budget.usd is not None:
            self.budget.needs(self.price)

    def within_budget(self, peek: Peek, say: Say) -> Model:
        """Return the model, asked only as far as the budget goes.

        The plan is shown before a paid model is first asked. A run that the cache answers alone never comes to that,
        and does not wait for a pass over the items.
        """

        def announce() -> None:
            plan = self._plan(peek, say)
            for line in self._lines(plan) if not STOP.requested else ():
                say(line)

        return Budgeted(self.model, self.till, announce if self.paid else None, count=self.paid)

    def metered(self, model: Model) -> Model:
        """Return a model whose answers are entered into the ledger; `model` is the one behind its cache."""
        return Metered(model, self.ledger)

    def so_far(self) -> str:
        """Return what this run has cost so far and used of its limits; "" where neither is known."""
        limits = self.budget
        parts = [dollars(self.ledger.spent_now)] if self.ledger.spent_now else []
        if limits.usd is not None and self.ledger.price is not None:
            parts = [f"{dollars(self.ledger.spent_now)} of ${limits.usd:g}"]
        amounts = self.till.spent
        if limits.tokens is not None:
            parts.append(f"{amounts.tokens:,.0f} of {limits.tokens:,.0f} tokens")
        if limits.requests is not None:
            parts.append(f"{amounts.requests:,.0f} of {limits.requests:,.0f} calls")
        return " · ".join(parts)

    def rehearsal(self, peek: Peek, say: Say) -> Iterator[str]:
        """Yield the plan and two prompts, for dry_run."""
        from harness.cost import plan_text

        plan = self._plan(peek, say, examples=2)
        yield from self._lines(plan)
        yield from plan_text.prompts(plan)
        yield "\nNothing was asked (dry_run=true)."

    def _plan(self, peek: Peek, say: Say, examples: int = 0) -> Any:
        from harness.cost.plan import plan_of
        from harness.prompting.fit import fitting

        kind = fitting(self.prompt, self.model)
        arguments = self.task, self.prompt, kind, self.model, peek, say
        return plan_of(*arguments, samples=self.samples, examples=examples)

    def _lines(self, plan: Any) -> Iterator[str]:
        from harness.cost import plan_text

        return plan_text.lines(plan, self.model, self.price, self.budget, paid=self.paid)


def _price_in(manifest: Path) -> Mapping[str, Any]:
    """Return the price in a manifest; nothing where there is none."""
    try:
        price = object_in(manifest).get("price")
    except OSError:
        return {}
    return price if isinstance(price, dict) else {}
