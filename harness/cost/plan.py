"""What a run would ask, before it asks: items, calls, what the cache knows, tokens, cost, time.

One pass over the items that holds 64 bits a distinct request. The turns of an opening are followed as far as the cache
has the replies; from there on a reply that nobody knows yet stands as an empty one, and its length is the uncertainty.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields

from harness.codec import request_digest
from harness.cost.token_estimate import Size, size
from harness.judge.question import prompt as judge_prompt
from harness.judge.question import question, statement
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Service, Task
from harness.runtime.signals import STOP
from harness.types import ChatRequest, Item, Message, Request, Response, Transcript

Peek = Callable[[Request], Response | None]
"""What the cache knows of a request, without asking."""
SAY_AFTER, SAY_EVERY = 2.0, 10.0
"""Seconds after which the pass is worth a line, and between two of them."""


@dataclass
class Asked:
    """Sums over distinct requests that the cache does not know."""

    calls: int = 0
    input: int = 0
    input_more: int = 0
    """Tokens that replies to earlier turns may add to the input, at most."""
    output_least: int = 0
    output_most: int = 0

    def add(self, one: Size, input_more: int) -> None:
        """One request more."""
        self.calls += one.calls
        self.input += one.input
        self.input_more += input_more
        self.output_least += one.output_least
        self.output_most += one.output_most

    def __add__(self, other: Asked) -> Asked:
        return Asked(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Asked)))


@dataclass
class Plan:
    """What the pass has found. Calls are those that go over the wire: a ranked request is one for each choice."""

    items: int = 0
    answered: int = 0
    """Distinct requests that the cache knows, openings included."""
    declined: int = 0
    """Distinct requests that do not fit the model's context and are not sent."""
    turns: Asked = field(default_factory=Asked)
    """Of openings and second turns: what the model writes before the question."""
    questions: Asked = field(default_factory=Asked)
    judged: Asked = field(default_factory=Asked)
    """What a judge is asked at most: about each reply that nobody knows yet, and each that is known and unreadable."""
    examples: list[Request] = field(default_factory=list)
    """The requests about the first items."""

    @property
    def asked(self) -> Asked:
        """All that is to be asked."""
        return self.turns + self.questions


@dataclass
class _Pass:
    """The state of one pass."""

    prompt: Prompt
    service: Service | None
    peek: Peek
    plan: Plan
    seen: set[int] = field(default_factory=set)
    openings: dict[tuple[tuple[str, ...], int], tuple[Transcript, int]] = field(default_factory=dict)

    def enter(self, request: Request, asked: Asked, unknown: int) -> Response | None:
        """Counts a request the first time; what the cache knows of it. `unknown` replies are in its transcript."""
        known = None if unknown else self.peek(request)
        name = int(request_digest(request)[:16], 16)
        if name in self.seen:
            return known
        self.seen.add(name)
        if known is not None:
            self.plan.answered += 1
        elif self.service is not None and self.service.declines(request):
            self.plan.declined += 1
        else:
            asked.add(size(request, self.service), unknown * self.prompt.words.opening_max_tokens)
        return known

    def judge(self, item: Item, request: ChatRequest, known: Response | None, service: Service | None) -> None:
        """Counts what a judge would be asked about the reply to a request, if it is unreadable."""
        if known is not None and self.prompt.parse(known, item.fields).label is not None:
            return
        asked = question(judge_prompt(), statement(item.fields), "" if known is None else known.text)
        name = int(request_digest(request)[:16], 16) ^ int(request_digest(asked)[:16], 16)
        if name not in self.seen:
            self.seen.add(name)
            self.plan.judged.add(size(asked, service), request.max_tokens if known is None else 0)

    def transcript(self, opening: tuple[str, ...], draw: int) -> tuple[Transcript, int]:
        """An opening as far as the cache has its replies, and how many it has not."""
        if (opening, draw) in self.openings:
            return self.openings[opening, draw]
        said: list[Message] = []
        unknown = 0
        for k, turn in enumerate(opening):
            if self.prompt.replies == "fixed":
                reply = self.prompt.words.opening_reply or ""
            else:
                request = self.prompt.turn(tuple(said), opening, k, draw)
                known = self.enter(request, self.plan.turns, unknown)
                unknown += known is None
                reply = "" if known is None else known.text
            said += [Message("user", turn), Message("assistant", reply)]
        if len(self.openings) >= 256:  # items that share an opening come together
            self.openings.clear()
        self.openings[opening, draw] = tuple(said), unknown
        return self.openings[opening, draw]


def plan_of(
    task: Task,
    prompt: Prompt,
    kind: type[Request],
    model: Model,
    peek: Peek = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
    *,
    samples: int = 1,
    examples: int = 0,
    judge: Model | None = None,
) -> Plan:
    """Walks the items once, `samples` answers to each; `say` is told how far it is when that takes long.

    The requests about the first `examples` items are kept to be shown.
    """
    plan = Plan()
    walk = _Pass(prompt, model.traits.service, peek, plan)
    for item in _told(task, plan, say):
        opening = prompt.opening(item.fields)
        for draw in range(samples):
            transcript, unknown = walk.transcript(opening, draw)
            request = prompt.render(item.fields, transcript, kind, draw)
            known = walk.enter(request, plan.questions, unknown)
            if judge is not None and isinstance(request, ChatRequest):
                walk.judge(item, request, known, judge.traits.service)
            if draw == 0 and len(plan.examples) < examples:
                plan.examples.append(request)
    return plan


def _told(task: Task, plan: Plan, say: Callable[[str], None]) -> Iterator[Item]:
    started = said = time.monotonic()
    for item in task.items():
        if STOP.requested:
            return
        plan.items += 1
        yield item
        now = time.monotonic()
        if now - started > SAY_AFTER and (said == started or now - said > SAY_EVERY):
            said = now
            say(f"counting what is to be asked: {plan.items:,} items so far")
