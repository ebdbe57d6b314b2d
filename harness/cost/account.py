"""What one run has to do with money, put together: price, plan, budget, ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.cost import price_lookup
from harness.cost.admission import Budgeted
from harness.cost.budget import Amounts, Budget
from harness.cost.ledger import Ledger, Metered
from harness.cost.price import Price, dollars
from harness.cost.till import Till
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Task
from harness.runtime.signals import STOP
from harness.types import JSON, Request, Response


class Spending:
    """The wrappers of one run's model, and what is said of its cost before and after."""

    def __init__(
        self,
        task: Task,
        prompt: Prompt,
        model: Model,
        samples: int,
        budget: Mapping[Any, float | None],
        manifest: Path,
        say: Callable[[str], None],
    ) -> None:
        """`samples` answers to each item; `manifest` is where an earlier run may have told the price.

        `say` shows a line on stderr.
        """
        self.model = model
        self.peek: Callable[[Request], Response | None] = lambda _: None
        """What the cache knows; nothing as long as there is none."""
        self._task, self._prompt, self._samples = task, prompt, samples
        self._budget = Budget(**budget)
        self._manifest = manifest
        self._say = say
        self._paid = price_lookup.paid(model)
        self._till: Till | None = None

    @cached_property
    def price(self) -> Price | None:
        """What tokens cost; None where it is unknown."""
        return price_lookup.price_of(self.model, _told(self._manifest))

    @cached_property
    def ledger(self) -> Ledger:
        """The run's account."""
        return Ledger(self.price if self._paid else None, paid=self._paid)

    @property
    def provenance(self) -> dict[str, JSON]:
        """For the manifest: the prices, and by what they were found."""
        if not self._paid or self.price is None:
            return {}
        key = {"key": price_lookup.key_of(self.model)} if self.price.source.startswith(price_lookup.PACKAGE) else {}
        return {"price": {**self.price.told, **key}}

    def check(self) -> None:
        """Refuses to begin without a key, or with a limit in USD that nobody could keep. Raises ConfigError."""
        check_key: Callable[[], None] = getattr(self.model, "check_key", lambda: None)
        check_key()
        if self._budget.usd is not None:
            self._budget.needs(self.price if self._paid else price_lookup.FREE)

    def within_budget(self) -> Model:
        """The model, asked only as far as the budget goes. The plan is shown before a paid model is first asked.

        A run that the cache answers alone never comes to that, and does not wait for a pass over the items.
        """
        before = self._announce if self._paid else None
        price = self.price if self._paid else price_lookup.FREE
        self._till = Till(self._budget, price, self.model, self.ledger.discard)
        return Budgeted(self.model, self._till, before, count=self._paid)

    def metered(self, model: Model) -> Model:
        """The model behind its cache, its answers entered into the ledger."""
        return Metered(model, self.ledger)

    def so_far(self) -> str:
        """What was asked now has cost, and what was taken of the limits; nothing where neither is known."""
        limits = self._budget
        said = [dollars(self.ledger.spent_now)] if self.ledger.spent_now else []
        if limits.usd is not None and self.ledger.price is not None:
            said = [f"{dollars(self.ledger.spent_now)} of ${limits.usd:g}"]
        spent = self._till.spent if self._till else Amounts()
        if limits.tokens is not None:
            said.append(f"{spent.tokens:,.0f} of {limits.tokens:,.0f} tokens")
        if limits.requests is not None:
            said.append(f"{spent.requests:,.0f} of {limits.requests:,.0f} calls")
        return " · ".join(said)

    def rehearsal(self) -> Iterator[str]:
        """The plan and two prompts, for dry_run."""
        from harness.cost import plan_text

        plan = self._plan(examples=2)
        yield from self._lines(plan)
        yield from plan_text.prompts(plan)
        yield "\nNothing was asked (dry_run=true)."

    def _announce(self) -> None:
        plan = self._plan()
        for line in self._lines(plan) if not STOP.requested else ():
            self._say(line)

    def _plan(self, examples: int = 0) -> Any:
        from harness.cost.plan import plan_of
        from harness.prompting.fit import fitting

        kind = fitting(self._prompt, self.model)
        asked = self._task, self._prompt, kind, self.model, self.peek, self._say
        return plan_of(*asked, samples=self._samples, examples=examples)

    def _lines(self, plan: Any) -> Iterator[str]:
        from harness.cost import plan_text

        price = self.price if self._paid else price_lookup.FREE
        return plan_text.lines(plan, self.model, price, self._budget, paid=self._paid)


def _told(manifest: Path) -> Mapping[str, Any]:
    """The price in a manifest; nothing where there is none."""
    try:
        said = json.loads(manifest.read_text(encoding="utf-8"))["price"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return said if isinstance(said, dict) else {}
