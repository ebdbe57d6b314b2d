"""All that concerns the money of one run: price, plan, budget, ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cost.admission import Budgeted
from harness.cost.budget import Budget
from harness.cost.ledger import Ledger, Metered
from harness.cost.plan import Peek, Plan, judge_lines, plan_lines, plan_of
from harness.cost.price import FREE, PACKAGE, Price, costs_money, dollars, key_of, price_of
from harness.cost.shared_budget import Book, till_of
from harness.cost.till import Till
from harness.judge import Judge
from harness.prompting.fit import fitting
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Service, Task, remarks_of
from harness.runtime.signals import STOP
from harness.storage.atomic_write import object_in
from harness.types import JSON, ChatRequest, ChoiceRequest, PairRequest, Request

LONGEST_TEXT = 6000
"""Characters up to which a dry run shows a text of a prompt in full; of a longer one it shows both ends."""
Say = Callable[[str], None]
"""Shows a line on stderr."""


@dataclass(frozen=True)
class JudgeSpending:
    """What a judge costs: out of the same budget as the model, and in an account of its own."""

    judge: Judge
    """By itself, without what goes around it."""
    budget: Budget
    paid: bool
    price: Price | None
    ledger: Ledger
    till: Till
    before: Till | None
    """The model's, where it has been asked before."""

    @classmethod
    def of(
        cls, judge: Judge, budget: Budget, before: Till | None, manifest: Path, book: Book | None = None
    ) -> JudgeSpending:
        """Return the account of a judge; `manifest` is where an earlier run may have written the price down.

        `book`: where other jobs take from the same budget.
        """
        model = judge.model
        service = model.traits.service
        paid = costs_money(service)
        price = price_of(service, _price_in(manifest, "judge")) if paid else FREE
        ledger = Ledger(price if paid else None, paid=paid)
        till = till_of(budget, price, model, ledger.discard, None if book is None else book.of_judge())
        return cls(judge, budget, paid, price, ledger, till, before)

    @property
    def model(self) -> Model:
        return self.judge.model

    def within_rest(self, wrapped: Model | None = None) -> Model:
        """Return the judge, within what the model has left of the budget; `wrapped`: in wrappers of plug-ins."""
        before = self.before
        follow = None if before is None else lambda: self.till.follow(before)
        return Budgeted(wrapped or self.model, self.till, follow, count=self.paid)

    def metered(self, model: Model) -> Model:
        """Return the judge behind its cache, its answers entered into its ledger."""
        return Metered(model, self.ledger)

    @property
    def provenance(self) -> dict[str, JSON]:
        return _price_json(self.model, self.price) if self.paid else {}


@dataclass(frozen=True)
class Spending:
    """The wrappers of one run's model, and the reports on its cost before and after."""

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
    judge: JudgeSpending | None
    notes: tuple[str, ...] = ()
    """Lines that belong to the plan."""

    @classmethod
    def of(
        cls,
        task: Task,
        prompt: Prompt,
        model: Model,
        samples: int,
        limits: Mapping[Any, float | None],
        manifest: Path,
        judge: Judge | None = None,
        book: Book | None = None,
        notes: tuple[str, ...] = (),
    ) -> Spending:
        """Return the account of a run with `samples` answers to each item.

        `manifest` is where an earlier run may have written the price down. `book`: where other jobs take from the same
        budget.
        """
        service = model.traits.service
        paid = costs_money(service)
        price = price_of(service, _price_in(manifest)) if paid else FREE
        budget = Budget(**limits)
        ledger = Ledger(price if paid else None, paid=paid)
        till = till_of(budget, price, model, ledger.discard, book)
        judge_spending = None if judge is None else JudgeSpending.of(judge, budget, till, manifest, book)
        return cls(task, prompt, model, samples, budget, paid, price, ledger, till, judge_spending, notes)

    @property
    def provenance(self) -> dict[str, JSON]:
        return _price_json(self.model, self.price) if self.paid else {}

    def check(self) -> None:
        """Raise ConfigError for a limit in USD without a known price."""
        self.budget.needs(self.price, self.model.traits.service)
        if self.judge is not None:
            self.budget.needs(self.judge.price, self.judge.model.traits.service, "judge")

    def within_budget(self, peek: Peek, say: Say, wrapped: Model | None = None, *, announced: bool = False) -> Model:
        """Return the model within its budget; `wrapped`: the model in wrappers of plug-ins, such as batches.

        The plan is shown before a paid model's first call, unless it was `announced` with those of other jobs. A run
        answered from the cache alone makes no call, and does not wait for a pass over the items.
        """
        before = (lambda: self.announce(peek, say)) if self.paid and not announced else None
        return Budgeted(wrapped or self.model, self.till, before, count=self.paid)

    def announce(self, peek: Peek, say: Say) -> None:
        """Show the plan, unless a stop has been requested meanwhile."""
        plan = self.plan(peek, say)
        for line in self._lines(plan) if not STOP.requested else ():
            say(line)

    def metered(self, model: Model) -> Model:
        """Return the model, already behind its cache, with its answers entered into the ledger."""
        return Metered(model, self.ledger)

    def so_far(self) -> str:
        """Return what this run has cost so far and used of its limits; "" if neither is known."""
        limits = self.budget
        parts = [dollars(self.ledger.spent_now)] if self.ledger.spent_now else []
        if limits.usd is not None and self.ledger.price is not None:
            parts = [f"{dollars(self.ledger.spent_now)} of ${limits.usd:g}"]
        amounts = self.till.spent
        if limits.requests is not None:
            parts.append(f"{amounts.requests:,.0f} of {limits.requests:,.0f} calls")
        return " · ".join(parts)

    def rehearsal(self, peek: Peek, say: Say) -> Iterator[str]:
        """Yield the plan and two prompts, for dry_run."""
        plan = self.plan(peek, say, examples=2)
        yield from self._lines(plan)
        yield from remarks_of(self.task)
        if self.judge is not None:
            yield from judge_lines(plan, self.judge.judge, self.judge.price, paid=self.judge.paid)
        yield from _prompts(plan, self.model.traits.service)
        yield "\nNothing was asked (dry_run=true)."

    def plan(self, peek: Peek, say: Say, examples: int = 0, elsewhere: set[int] | None = None) -> Plan:
        """Return what will be asked; `elsewhere` holds what other jobs ask the same model."""
        kind = fitting(self.prompt, self.model)
        arguments = self.task, self.prompt, kind, self.model, peek, say
        judge = None if self.judge is None else self.judge.judge
        return plan_of(*arguments, samples=self.samples, examples=examples, judge=judge, elsewhere=elsewhere)

    def _lines(self, plan: Plan) -> Iterator[str]:
        yield from plan_lines(plan, self.model, self.price, self.budget, paid=self.paid)
        yield from self.notes


def _prompts(plan: Plan, service: Service | None) -> Iterator[str]:
    """Yield the example requests, a line before each message, with the limit that is sent."""
    for number, request in enumerate(plan.examples, start=1):
        yield f"\n── prompt {number} of {plan.items:,} ──"
        yield from _request(request, service)


def _request(request: Request, service: Service | None) -> Iterator[str]:
    if isinstance(request, PairRequest):
        yield f"[premise]\n{_text(request.premise)}\n[hypothesis]\n{_text(request.hypothesis)}"
        return
    for message in request.messages:
        yield f"[{message.role}]\n{_text(message.content) or '(the reply, not known yet)'}"
    if isinstance(request, ChoiceRequest):
        yield f"[ranked] {' | '.join(request.choices)}"
    if isinstance(request, ChatRequest):
        yield _limit(request, service) + _form(request)


def _limit(request: ChatRequest, service: Service | None) -> str:
    """Return the limit of a reply as it is sent: for a model that thinks, with the room for that."""
    room = service.room_to_think if service is not None else 0
    parts = [f"{request.max_tokens} for the answer and {room} to think (model.reasoning_tokens)"] if room else []
    parts += [f"sent as {service.limit}"] if service is not None and service.limit != "max_tokens" else []
    return f"[max_tokens {request.max_tokens + room}]" + f" ({', '.join(parts)})" * bool(parts)


def _form(request: ChatRequest) -> str:
    if request.form is None:
        return ""
    first = "reasoning, then " * request.form.reasoning
    return f" [held to {first}{' | '.join(request.form.choices)} by {request.form.means}]"


def _text(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[: LONGEST_TEXT // 2]}\n… ({len(text):,} characters in all) …\n{text[-LONGEST_TEXT // 2 :]}"


def _price_json(model: Model, price: Price | None) -> dict[str, JSON]:
    """Return the price of a model for the manifest, and its key in the table; {} where unknown."""
    service = model.traits.service
    if service is None or price is None:
        return {}
    key = {"key": key_of(service)} if price.source.startswith(PACKAGE) else {}
    return {"price": {**price.to_json(), **key}}


def _price_in(manifest: Path, *parts: str) -> Mapping[str, Any]:
    """Return the price in a manifest or in a part of it, or {}."""
    try:
        content: Any = object_in(manifest)
    except OSError:
        return {}
    for name in (*parts, "price"):
        content = content.get(name) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}
