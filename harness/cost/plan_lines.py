"""What a run says of its plan: in lines before it begins, and with two of its prompts for dry_run."""

from __future__ import annotations

from collections.abc import Iterator

from harness.cost.plan import Plan
from harness.cost.price import Price, dollars
from harness.cost.size import Size
from harness.cost.spending import Spending
from harness.protocols import Service
from harness.scoring.replies import few_prompts
from harness.types import ChatRequest, ChoiceRequest, PairRequest, Request

LONGEST_TEXT = 6000
"""Characters up to which a dry run shows a text of a prompt in full; of a longer one it shows both ends."""


def plan_lines(plan: Plan, spending: Spending) -> Iterator[str]:
    """Yield the lines of a plan: what is asked, of whom, for how much, how long, within which limit."""
    total, model, price = plan.total, spending.model, spending.price
    openings = f", {plan.turns.calls:,} of them before the questions (openings)" * (plan.turns.calls > 0)
    service = model.traits.service
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
    yield f"Tokens of these calls: about {shown_range(total.input, total.input + total.input_more)} in, " + (
        f"{shown_range(total.output_least, total.output_most)} out."
    )
    if spending.paid:
        least, most = costs(total, price)
        if price is None or least is None or most is None:
            yield "Cost: unknown, as the model's price is (model.price.input=… and model.price.output=… tell it)."
        else:
            yield f"Cost: {dollar_range(least, most)} ({price})."
    yield _time(total, service, turns=plan.turns.calls > 0)
    if limits := spending.budget.limits:
        yield f"Limit of this run: {limits}."


def judge_line(plan: Plan, judge: Spending, audited: int) -> str:
    """Return what a judge is asked at most: how many replies are unreadable is not known before they are there."""
    total, cost = plan.judged, ""
    if judge.paid and total.calls:
        _, most = costs(total, judge.price)
        cost = f", for at most {dollars(most)} ({judge.price})" if most is not None else ", its price unknown"
    replies = "reply" if total.calls == 1 else "replies"
    those = f"those in which no answer is read, and {audited:,} of the others"
    return f"Judge: at most {total.calls:,} {replies} judged by {judge.model.name}, {those}{cost}."


def costs(total: Size, price: Price | None) -> tuple[float | None, float | None]:
    """Return the cost in USD with the shortest and the longest replies, with nothing cached by the server."""
    if price is None:
        return None, None
    mean = total.input // max(total.calls, 1)  # tiers go by the input of a call
    least = price.uncached(total.input, total.output_least, mean)
    more = total.input + total.input_more
    return least, price.uncached(more, total.output_most, more // max(total.calls, 1))


def _time(total: Size, service: Service | None, *, turns: bool) -> str:
    """Return how long it takes at the user's rates; the server's own are known only while it is asked."""
    if service is None:
        return "Time: unknown."
    if service.batch_window is not None:
        rounds = " (each turn of an opening, then the questions, is a round of batches of its own)" * turns
        return f"Time: a batch is answered within {service.batch_window}{rounds}."
    if not (rate := service.requests_per_minute):
        return "Time: unknown (model.requests_per_minute is not set)."
    minutes = total.calls / rate
    span = f"{60 * minutes:,.0f} seconds" if minutes < 2 else f"{minutes:,.0f} minutes"
    span = f"{minutes / 60:,.1f} hours" if minutes >= 120 else span
    return f"Time: {span} at model.requests_per_minute={rate:g}."


def shown_range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def dollar_range(least: float, most: float) -> str:
    return dollars(least) if most - least < 1e-9 else f"{dollars(least)} to {dollars(most)}"


def prompts(plan: Plan, service: Service | None) -> Iterator[str]:
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
