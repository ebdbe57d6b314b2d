"""The plan of a run before anything is asked: items, calls, cached answers, tokens, cost and time.

One pass over the items, holding 64 bits per distinct request. The turns of an opening are followed as far as the cache
has the replies; beyond that a reply counts as empty, and its possible length is the uncertainty of the plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from heapq import nsmallest
from operator import itemgetter

from harness.codec import request_digest
from harness.cost.size import Size, size
from harness.judge import Judge, request_to_judge
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Service, Task
from harness.runtime.signals import STOP
from harness.scoring.audit import rank
from harness.types import ChatRequest, Item, Message, Request, Response, Transcript

Peek = Callable[[Request], Response | None]
"""Returns the cached answer to a request; asks nothing."""
SAY_AFTER, SAY_EVERY = 2.0, 10.0
"""Seconds until a long pass prints its first line, and between later ones."""


@dataclass
class Totals:
    """Sums over distinct requests that the cache does not know."""

    calls: int = 0
    input: int = 0
    input_more: int = 0
    """Tokens that replies to earlier turns may add to the input, at most."""
    output_least: int = 0
    output_most: int = 0

    def add(self, size: Size, input_more: int) -> None:
        """Add one request of a size."""
        self.calls += size.calls
        self.input += size.input
        self.input_more += input_more
        self.output_least += size.output_least
        self.output_most += size.output_most

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Totals)))


@dataclass
class Plan:
    """Counts of one pass over the items. Calls are those over the wire: a ranked request is one for each choice."""

    items: int = 0
    answered: int = 0
    """Distinct requests that the cache knows, openings included."""
    shared: int = 0
    """Distinct requests that another job of the sweep asks, and that come from the cache then."""
    turns: Totals = field(default_factory=Totals)
    """Of openings and second turns: what the model writes before the question."""
    questions: Totals = field(default_factory=Totals)
    judged: Totals = field(default_factory=Totals)
    """What a judge is asked at most: about each reply that is still to come, each stored one that is unreadable, and as
    many others as it audits."""
    prompts: int = 0
    """Distinct ones of the items, of the first of their samples."""
    examples: list[Request] = field(default_factory=list)
    """The requests about the first items."""

    @property
    def total(self) -> Totals:
        return self.turns + self.questions


@dataclass
class _Pass:
    """The state of one pass."""

    prompt: Prompt
    service: Service | None
    peek: Peek
    plan: Plan
    elsewhere: set[int] | None
    digests: set[int] = field(default_factory=set)
    readable: list[tuple[bytes, Size]] = field(default_factory=list)
    """What a judge is asked about stored replies that the rules can read, those that are drawn among them."""
    openings: dict[tuple[tuple[str, ...], int], tuple[Transcript, int]] = field(default_factory=dict)

    def enter(self, request: Request, totals: Totals, unknown: int) -> Response | None:
        """Count a request the first time; return the cache's response. `unknown` replies are in its transcript."""
        response = None if unknown else self.peek(request)
        name = int(request_digest(request)[:16], 16)
        if name in self.digests:
            return response
        self.digests.add(name)
        if response is not None:
            self.plan.answered += 1
        elif self.elsewhere is not None and name in self.elsewhere:
            self.plan.shared += 1
        else:
            if self.elsewhere is not None:
                self.elsewhere.add(name)
            totals.add(size(request, self.service), unknown * self.prompt.words.opening_max_tokens)
        return response

    def judge(self, item: Item, request: ChatRequest, known: Response | None, judge: Judge) -> None:
        """Count what a judge would be asked about the reply to a request, if it is unreadable or drawn."""
        service = judge.model.traits.service
        question = request_to_judge(judge.words, item.fields, "" if known is None else known.text)
        if known is not None and self.prompt.parse(known, item.fields).label is not None:
            self.readable.append((rank((item.id, request.sample)), size(question, service)))
            if len(self.readable) > 2 * judge.sample:
                self.readable = nsmallest(judge.sample, self.readable, key=itemgetter(0))
            return
        name = int(request_digest(request)[:16], 16) ^ int(request_digest(question)[:16], 16)
        if name not in self.digests:
            self.digests.add(name)
            self.plan.judged.add(size(question, service), request.max_tokens if known is None else 0)

    def transcript(self, opening: tuple[str, ...], draw: int) -> tuple[Transcript, int]:
        """Return an opening with its cached replies, and the number of missing ones."""
        if (opening, draw) in self.openings:
            return self.openings[opening, draw]
        turns: list[Message] = []
        unknown = 0
        for k, turn in enumerate(opening):
            if self.prompt.replies == "fixed":
                reply = self.prompt.words.opening_reply or ""
            else:
                request = self.prompt.turn(tuple(turns), opening, k, draw)
                response = self.enter(request, self.plan.turns, unknown)
                unknown += response is None
                reply = "" if response is None else response.text
            turns += [Message("user", turn), Message("assistant", reply)]
        if len(self.openings) >= 256:  # items that share an opening come together
            self.openings.clear()
        self.openings[opening, draw] = tuple(turns), unknown
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
    judge: Judge | None = None,
    elsewhere: set[int] | None = None,
) -> Plan:
    """Return the plan of a run with `samples` answers to each item; `say` gets a line where counting takes long.

    The requests about the first `examples` items are kept to be shown. `elsewhere` holds what jobs before this one ask
    the same model, and takes up what this one asks.
    """
    plan = Plan()
    walk = _Pass(prompt, model.traits.service, peek, plan, elsewhere)
    for item in _counted(task.items(), plan, say):
        opening = prompt.opening(item.fields)
        for draw in range(samples):
            transcript, unknown = walk.transcript(opening, draw)
            request = prompt.render(item.fields, transcript, kind, draw)
            before = len(walk.digests)
            known = walk.enter(request, plan.questions, unknown)
            if draw == 0:
                plan.prompts += len(walk.digests) > before
            if judge is not None and isinstance(request, ChatRequest):
                walk.judge(item, request, known, judge)
            if draw == 0 and len(plan.examples) < examples:
                plan.examples.append(request)
    for _, question in nsmallest(judge.sample if judge is not None else 0, walk.readable, key=itemgetter(0)):
        plan.judged.add(question, 0)
    return plan


def _counted(items: Iterable[Item], plan: Plan, say: Callable[[str], None]) -> Iterator[Item]:
    started = last_line = time.monotonic()
    for item in items:
        if STOP.requested:
            return
        plan.items += 1
        yield item
        now = time.monotonic()
        if now - started > SAY_AFTER and (last_line == started or now - last_line > SAY_EVERY):
            last_line = now
            say(f"counting what is to be asked: {plan.items:,} items so far")
