"""The plan of a run before anything is asked: items, calls, cached answers, tokens, cost and time.

One pass over the items, holding 64 bits per distinct request. The turns of an opening are followed as far as the cache
has the replies; beyond that a reply counts as empty, and its possible length is the uncertainty of the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from heapq import nlargest
from itertools import takewhile

from harness.codec import request_digest
from harness.cost.size import NOTHING, Size, size
from harness.judge import Judge, request_to_judge
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Service, Task
from harness.runtime.signals import STOP
from harness.types import ChatRequest, Item, Message, Request, Response, Transcript

Peek = Callable[[Request], Response | None]
"""Returns the cached answer to a request; asks nothing."""
SAY_EVERY = 50_000
"""Items after which a long pass says how far it is."""


@dataclass
class Plan:
    """Counts of one pass over the items."""

    items: int = 0
    answered: int = 0
    """Distinct requests that the cache knows, openings included."""
    shared: int = 0
    """Distinct requests that another job of the sweep asks, and that come from the cache then."""
    turns: Size = NOTHING
    """Of openings and second turns: what the model writes before the question."""
    questions: Size = NOTHING
    judged: Size = NOTHING
    """What a judge is asked at most: about each reply that is still to come, each stored one that is unreadable, and as
    many others as it audits."""
    prompts: int = 0
    """Distinct ones of the items, of the first of their samples."""
    examples: list[Request] = field(default_factory=list)
    """The requests about the first items."""

    @property
    def total(self) -> Size:
        return self.turns.plus(self.questions)


@dataclass
class _Pass:
    """The state of one pass."""

    prompt: Prompt
    service: Service | None
    peek: Peek
    plan: Plan
    elsewhere: set[int] | None
    digests: set[int] = field(default_factory=set)
    readable: list[Size] = field(default_factory=list)
    """What a judge would be asked about stored replies that the rules can read: the longest."""
    openings: dict[tuple[tuple[str, ...], int], tuple[Transcript, int]] = field(default_factory=dict)

    def enter(self, request: Request, unknown: int) -> tuple[Response | None, Size]:
        """Return the cache's response to a request, and what it takes if it is to be asked, the first time.

        `unknown` replies are in its transcript.
        """
        response = None if unknown else self.peek(request)
        name = _name(request)
        if name in self.digests:
            return response, NOTHING
        self.digests.add(name)
        if response is not None:
            self.plan.answered += 1
            return response, NOTHING
        if self.elsewhere is not None and name in self.elsewhere:
            self.plan.shared += 1
            return None, NOTHING
        if self.elsewhere is not None:
            self.elsewhere.add(name)
        return None, size(request, self.service)._replace(input_more=unknown * self.prompt.words.opening_max_tokens)

    def judge(self, item: Item, request: ChatRequest, known: Response | None, judge: Judge) -> None:
        """Count what a judge would be asked about the reply to a request, if it is unreadable or may be drawn."""
        question = request_to_judge(judge.words, item.fields, "" if known is None else known.text)
        asked = size(question, judge.model.traits.service)
        if known is not None and self.prompt.parse(known, item.fields).label is not None:
            self.readable = nlargest(judge.sample, [*self.readable, asked])
            return
        name = _name(request) ^ _name(question)
        if name not in self.digests:
            self.digests.add(name)
            more = request.max_tokens if known is None else 0
            self.plan.judged = self.plan.judged.plus(asked._replace(input_more=more))

    def transcript(self, opening: tuple[str, ...], draw: int) -> tuple[Transcript, int]:
        """Return an opening with its cached replies, and the number of missing ones."""
        if (opening, draw) in self.openings:
            return self.openings[opening, draw]
        turns: list[Message] = []
        unknown = 0
        for k, turn in enumerate(opening):
            reply = self.prompt.words.opening_reply or ""
            if self.prompt.replies != "fixed":
                response, asked = self.enter(self.prompt.turn(tuple(turns), opening, k, draw), unknown)
                self.plan.turns = self.plan.turns.plus(asked)
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
    """Return the plan of a run with `samples` answers to each item; `say` gets a line now and then.

    The requests about the first `examples` items are kept to be shown. `elsewhere` holds what jobs before this one ask
    the same model, and takes up what this one asks.
    """
    plan = Plan()
    walk = _Pass(prompt, model.traits.service, peek, plan, elsewhere)
    for item in takewhile(lambda _: not STOP.requested, task.items()):
        plan.items += 1
        if plan.items % SAY_EVERY == 0:
            say(f"counting what is to be asked: {plan.items:,} items so far")
        opening = prompt.opening(item.fields)
        for draw in range(samples):
            transcript, unknown = walk.transcript(opening, draw)
            request = prompt.render(item.fields, transcript, kind, draw)
            before = len(walk.digests)
            known, asked = walk.enter(request, unknown)
            plan.questions = plan.questions.plus(asked)
            if draw == 0:
                plan.prompts += len(walk.digests) > before
                plan.examples += [request] * (len(plan.examples) < examples)
            if judge is not None and isinstance(request, ChatRequest):
                walk.judge(item, request, known, judge)
    plan.judged = reduce(Size.plus, walk.readable, plan.judged)
    return plan


def _name(request: Request) -> int:
    return int(request_digest(request)[:16], 16)
