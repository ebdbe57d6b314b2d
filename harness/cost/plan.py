"""The plan of a run before anything is asked: items, calls, cached answers, tokens, cost and time.

One pass over the items, holding 64 bits per distinct request. The turns of an opening are followed as far as the cache
has the replies; beyond that a reply counts as empty, and its possible length is the uncertainty of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from heapq import nlargest
from itertools import takewhile

from harness.codec import request_digest
from harness.cost.ledger import Ledger
from harness.cost.price import Price, dollars
from harness.cost.size import NOTHING, Size, size
from harness.judge import Judge, request_to_judge
from harness.prompting.prompts import Prompt
from harness.protocols import Model, Service, Task
from harness.runtime.signals import STOP
from harness.scoring.replies import few_prompts
from harness.settings import Limits
from harness.types import ChatRequest, ChoiceRequest, Item, Message, PairRequest, Request, Response, Transcript

Peek = Callable[[Request], Response | None]
"""Returns the cached answer to a request; asks nothing."""
SAY_EVERY = 50_000
"""Items after which a long pass says how far it is."""
LONGEST_TEXT = 6000
"""Characters up to which a dry run shows a text of a prompt in full; of a longer one it shows both ends."""


class Plan:
    """Counts of one pass over the items."""

    def __init__(self, prompt: Prompt, model: Model, peek: Peek = lambda _: None, elsewhere: set[int] | None = None):
        """Begin with nothing. `elsewhere` holds what jobs before this one ask the same model, and takes up its own."""
        self._prompt, self._service, self._peek, self._elsewhere = prompt, model.traits.service, peek, elsewhere
        self.items = self.answered = self.shared = self.prompts = 0
        """Items; distinct requests that the cache knows, openings included, and those that another job of the sweep
        asks, which come from the cache then; distinct prompts of the items, of the first of their samples."""
        self.turns = self.questions = self.judged = NOTHING
        """Openings, which the model answers before the question; questions; what a judge is asked at most: about each
        reply that is still to come, each stored one that is unreadable, and as many others as it audits."""
        self.examples: list[Request] = []
        """The requests about the first items."""
        self._digests: set[int] = set()
        self.readable: list[Size] = []
        """What a judge would be asked about stored replies that the rules can read: the longest."""
        self._openings: dict[tuple[tuple[str, ...], int], tuple[Transcript, int]] = {}

    @property
    def total(self) -> Size:
        return self.turns.plus(self.questions)

    def add(self, item: Item, kind: type[Request], samples: int, judge: Judge | None) -> Request:
        """Count an item; return the request about it, that of its first sample."""
        self.items += 1
        opening, first = self._prompt.opening(item.fields), None
        for draw in range(samples):
            transcript, unknown = self._transcript(opening, draw)
            request = self._prompt.render(item.fields, transcript, kind, draw)
            before = len(self._digests)
            known, asked = self._enter(request, unknown)
            self.questions = self.questions.plus(asked)
            if first is None:
                first = request
                self.prompts += len(self._digests) > before
            if judge is not None and isinstance(request, ChatRequest):
                self._judge(item, request, known, judge)
        assert first is not None
        return first

    def _enter(self, request: Request, unknown: int) -> tuple[Response | None, Size]:
        """Return the cache's response to a request, and what it takes if it is to be asked, the first time.

        `unknown` replies are in its transcript.
        """
        response = None if unknown else self._peek(request)
        name = _name(request)
        if name in self._digests:
            return response, NOTHING
        self._digests.add(name)
        if response is not None:
            self.answered += 1
            return response, NOTHING
        if self._elsewhere is not None and name in self._elsewhere:
            self.shared += 1
            return None, NOTHING
        if self._elsewhere is not None:
            self._elsewhere.add(name)
        return None, size(request, self._service)._replace(input_more=unknown * self._prompt.words.opening_max_tokens)

    def _judge(self, item: Item, request: ChatRequest, known: Response | None, judge: Judge) -> None:
        """Count what a judge would be asked about the reply to a request, if it is unreadable or may be drawn."""
        question = request_to_judge(judge.words, item.fields, "" if known is None else known.text)
        asked = size(question, judge.model.traits.service)
        if known is not None and self._prompt.parse(known, item.fields).label is not None:
            self.readable = nlargest(judge.sample, [*self.readable, asked])
            return
        name = _name(request) ^ _name(question)
        if name not in self._digests:
            self._digests.add(name)
            self.judged = self.judged.plus(asked._replace(input_more=request.max_tokens if known is None else 0))

    def _transcript(self, opening: tuple[str, ...], draw: int) -> tuple[Transcript, int]:
        """Return an opening with its cached replies, and the number of missing ones."""
        if (opening, draw) in self._openings:
            return self._openings[opening, draw]
        turns: list[Message] = []
        unknown = 0
        for k, turn in enumerate(opening):
            reply = self._prompt.words.opening_reply or ""
            if self._prompt.replies != "fixed":
                response, asked = self._enter(self._prompt.turn(tuple(turns), opening, k, draw), unknown)
                self.turns = self.turns.plus(asked)
                unknown += response is None
                reply = "" if response is None else response.text
            turns += [Message("user", turn), Message("assistant", reply)]
        if len(self._openings) >= 256:  # items that share an opening come together
            self._openings.clear()
        self._openings[opening, draw] = tuple(turns), unknown
        return self._openings[opening, draw]


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

    The requests about the first `examples` items are kept to be shown.
    """
    plan = Plan(prompt, model, peek, elsewhere)
    for item in takewhile(lambda _: not STOP.requested, task.items()):
        request = plan.add(item, kind, samples, judge)
        plan.examples += [request] * (plan.items <= examples)
        if plan.items % SAY_EVERY == 0:
            say(f"counting what is to be asked: {plan.items:,} items so far")
    plan.judged = reduce(Size.plus, plan.readable, plan.judged)
    return plan


def _name(request: Request) -> int:
    return int(request_digest(request)[:16], 16)


def plan_lines(plan: Plan, model: Model, ledger: Ledger, limits: Limits) -> Iterator[str]:
    """Yield the lines of a plan: what is asked, of whom, for how much, how long, within which limit."""
    total, service = plan.total, model.traits.service
    openings = f", {plan.turns.calls:,} of them before the questions (openings)" * (plan.turns.calls > 0)
    batches = " in batches" if service is not None and service.batch_window is not None else ""
    where = f" at {service.base_url}" if service else ""
    yield (
        f"Plan: {plan.items:,} items; {plan.answered:,} answers in the cache already; {total.calls:,} calls"
        f"{batches} to {model.name}{where}{openings}."
    )
    if remark := few_prompts(plan.prompts, plan.items):
        yield remark
    if not total.calls:
        return
    tokens_in, tokens_out = tokens(total)
    yield f"Tokens of these calls: about {tokens_in} in, {tokens_out} out."
    if ledger.paid:
        span = costs(total, ledger.price)
        if span is None:
            yield "Cost: unknown, as the model's price is (model.price.input=… and model.price.output=… tell it)."
        else:
            yield f"Cost: {dollar_range(*span)} ({ledger.price})."
    yield f"Time: {_time(total, service, turns=plan.turns.calls > 0)}."
    if limits:
        yield f"Limit of this run: {limits}."


def judge_line(plan: Plan, judge: Judge, ledger: Ledger) -> str:
    """Return what a judge is asked at most: how many replies are unreadable is not known before they are there."""
    total, cost = plan.judged, ""
    if ledger.paid and total.calls:
        span = costs(total, ledger.price)
        cost = ", its price unknown" if span is None else f", for at most {dollars(span[1])} ({ledger.price})"
    replies = "reply" if total.calls == 1 else "replies"
    those = f"those in which no answer is read, and {judge.sample:,} of the others"
    return f"Judge: at most {total.calls:,} {replies} judged by {judge.name}, {those}{cost}."


def costs(total: Size, price: Price | None) -> tuple[float, float] | None:
    """Return the cost in USD with the shortest and the longest replies, with nothing cached by the server."""
    if price is None:
        return None
    calls, more = max(total.calls, 1), total.input + total.input_more  # tiers go by the input of a call
    least = price.uncached(total.input, total.output_least, total.input // calls)
    return least, price.uncached(more, total.output_most, more // calls)


def tokens(total: Size) -> tuple[str, str]:
    """Return the tokens in and out as text."""
    spans = (total.input, total.input + total.input_more), (total.output_least, total.output_most)
    into, out = (f"{least:,}" if least == most else f"{least:,} to {most:,}" for least, most in spans)
    return into, out


def dollar_range(least: float, most: float) -> str:
    return dollars(least) if most - least < 1e-9 else f"{dollars(least)} to {dollars(most)}"


def _time(total: Size, service: Service | None, *, turns: bool) -> str:
    """Return how long it takes at the user's rates; the server's own are known only while it is asked."""
    if service is None:
        return "unknown"
    if service.batch_window is not None:
        rounds = " (each turn of an opening, then the questions, is a round of batches of its own)" * turns
        return f"a batch is answered within {service.batch_window}{rounds}"
    if not (rate := service.requests_per_minute):
        return "unknown (model.requests_per_minute is not set)"
    minutes = total.calls / rate
    span = f"{60 * minutes:,.0f} seconds" if minutes < 2 else f"{minutes:,.0f} minutes"
    span = f"{minutes / 60:,.1f} hours" if minutes >= 120 else span
    return f"{span} at model.requests_per_minute={rate:g}"


def prompts(plan: Plan, service: Service | None) -> Iterator[str]:
    """Yield the example requests, a line before each message, with the limit that is sent."""
    for number, request in enumerate(plan.examples, start=1):
        yield f"\n── prompt {number} of {plan.items:,} ──"
        if isinstance(request, PairRequest):
            yield f"[premise]\n{_text(request.premise)}\n[hypothesis]\n{_text(request.hypothesis)}"
            continue
        for message in request.messages:
            yield f"[{message.role}]\n{_text(message.content) or '(the reply, not known yet)'}"
        yield (
            f"[ranked] {' | '.join(request.choices)}" if isinstance(request, ChoiceRequest) else _how(request, service)
        )


def _how(request: ChatRequest, service: Service | None) -> str:
    """Return the limit of a reply as it is sent, for a model that thinks with the room for that, and its form."""
    room = service.room_to_think if service is not None else 0
    parts = [f"{request.max_tokens} for the answer and {room} to think (model.reasoning_tokens)"] if room else []
    parts += [f"sent as {service.limit}"] if service is not None and service.limit != "max_tokens" else []
    form = ""
    if request.form is not None:
        first = "reasoning, then " * request.form.reasoning
        form = f" [held to {first}{' | '.join(request.form.choices)} by {request.form.means}]"
    return f"[max_tokens {request.max_tokens + room}]" + f" ({', '.join(parts)})" * bool(parts) + form


def _text(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[: LONGEST_TEXT // 2]}\n… ({len(text):,} characters in all) …\n{text[-LONGEST_TEXT // 2 :]}"
