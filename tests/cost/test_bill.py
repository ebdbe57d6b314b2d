"""A limit against a server's own bill: dishonest and unlucky servers, real HTTP, 64 calls at once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from billing_server import PRICE, BillingServer, Done, Habit
from support.outcomes import each
from support.thinned import few

from harness.cost.admission import Budgeted
from harness.cost.budget import Budget
from harness.cost.till import Till
from harness.errors import RunStopped
from harness.models.api.openai import Chat
from harness.types import ChatRequest, Message, Response

LIMITS = {"usd": 0.3, "requests": 130}
"""Some 130 honest calls; three to six of those that bring thousands of hidden tokens."""
WORDS = "The premise says that A causes B, and that nothing else does. " * 5


def sometimes(share: float, habit: Habit) -> Habit:
    """Return a habit of some calls only."""

    def now_and_then(done: Done) -> None:
        if done.random.random() < share:
            habit(done)

    return now_and_then


def reports(**change: object) -> Habit:
    return lambda done: done.counted(**change)


def usage(value: object) -> Habit:
    return lambda done: setattr(done, "usage", value)


def hidden(done: Done) -> None:
    """Add a proxy's own prompt to each call."""
    done.input += 5000
    done.counted()


def hidden_by_chance(done: Done) -> None:
    done.input += done.random.randint(0, 5000)
    done.counted()


def hidden_more_and_more(done: Done) -> None:
    done.input += 40 * done.number
    done.counted()


def writes_on(done: Done) -> None:
    """Write ten times max_tokens, and more."""
    done.output = 2000
    done.counted()


def thinks_beside(done: Done) -> None:
    """Bill reasoning as output without counting it as such."""
    wrote = done.output
    done.output += 900
    done.counted(completion_tokens=wrote, completion_tokens_details={"reasoning_tokens": 900})


def above_input(done: Done) -> None:
    done.counted(prompt_tokens_details={"cached_tokens": done.input + 1})


def no_choices(done: Done) -> None:
    done.choices = []


def odd_choices(done: Done) -> None:
    done.choices = [{"text": "No"}]


def no_json(done: Done) -> None:
    done.text = "<html>Bad gateway</html>"


def cut_in_body(done: Done) -> None:
    done.cut = 120


def cut_before(done: Done) -> None:
    done.cut = 0


def server_error(done: Done) -> None:
    done.status = 500


def bad_request(done: Done) -> None:
    done.status = 422


def slow_down(done: Done) -> None:
    done.status, done.billed = 429, False


def wait(done: Done) -> None:
    done.status, done.billed, done.headers = 429, False, {"retry-after-ms": "3"}


def refuses(done: Done) -> None:
    done.choices = [{"index": 0, "message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]


def withholds(done: Done) -> None:
    done.choices = [{"index": 0, "message": {"content": ""}, "finish_reason": "content_filter"}]


def hangs(done: Done) -> None:
    done.hangs = True


HABITS: dict[str, tuple[Habit, ...]] = {
    "honest": (),
    "usage missing": (usage(None),),
    "usage missing now and then": (sometimes(0.5, usage(None)),),
    "usage a list": (usage([1, 2]),),
    "zero": (reports(prompt_tokens=0, completion_tokens=0),),
    "input zero": (reports(prompt_tokens=0),),
    "one token": (reports(prompt_tokens=1, completion_tokens=1),),
    "negative": (reports(prompt_tokens=-5000, completion_tokens=-100),),
    "output negative": (reports(completion_tokens=-100),),
    "cached negative": (reports(prompt_tokens_details={"cached_tokens": -100_000}),),
    "cached above input": (above_input,),
    "cache writes above input": (reports(prompt_tokens_details={"cache_write_tokens": 10**6}),),
    "reasoning beside output": (thinks_beside,),
    "texts": (reports(prompt_tokens="9", completion_tokens="many"),),
    "NaN": (reports(prompt_tokens=float("nan"), completion_tokens=float("inf")),),
    "true": (reports(prompt_tokens=True, completion_tokens=False),),
    "absurd": (sometimes(0.1, reports(completion_tokens=10**15)),),
    "much too high": (sometimes(0.1, reports(prompt_tokens=10**6)),),
    "no choices": (no_choices,),
    "no choices now and then": (sometimes(0.4, no_choices),),
    "no choices, nothing counted": (sometimes(0.4, no_choices), sometimes(0.5, usage(None))),
    "odd choices": (sometimes(0.5, odd_choices),),
    "no JSON": (sometimes(0.4, no_json),),
    "cut in the body": (sometimes(0.3, cut_in_body),),
    "cut before the body": (sometimes(0.3, cut_before),),
    "server errors after the work": (sometimes(0.4, server_error),),
    "refused requests after the work": (sometimes(0.3, bad_request),),
    "429": (sometimes(0.4, slow_down),),
    "429, wait": (sometimes(0.4, wait),),
    "refusals": (refuses,),
    "content filter": (withholds,),
    "hidden prompt": (hidden,),
    "hidden prompt, now and then": (sometimes(0.1, hidden),),
    "hidden prompt by chance": (hidden_by_chance,),
    "hidden prompt grows": (hidden_more_and_more,),
    "hidden prompt, often not counted": (hidden, sometimes(0.5, usage(None))),
    "hidden prompt, refusals": (hidden, refuses),
    "hidden prompt, 429": (hidden, sometimes(0.4, slow_down)),
    "hidden prompt, no choices": (hidden, sometimes(0.4, no_choices)),
    "hidden prompt, cut": (hidden, sometimes(0.3, cut_in_body)),
    "writes on": (writes_on,),
    "hidden and writes on": (hidden, writes_on, sometimes(0.2, usage(None))),
}


@contextmanager
def server_with(*habits: Habit, seed: int = 0) -> Iterator[BillingServer]:
    server = BillingServer(*habits, seed=seed)
    try:
        yield server
    finally:
        server.close()


def ask(server: BillingServer, *, number: int = 3000, at_once: int = 64, **limits: float) -> tuple[int, str]:
    """Return how many answers there are, and why there are no more."""
    model = Chat(name="m", model="m", base_url=server.url, max_wait=0.02, timeout=30.0, max_concurrency=at_once)
    requests = (ChatRequest((Message("user", f"{WORDS}{k}"),), max_tokens=16) for k in range(number))
    answers = 0
    try:
        for _, outcome in each(Budgeted(model, Till(Budget(**limits), PRICE, model)).respond(requests)):
            answers += isinstance(outcome, Response)
    except RunStopped as stopped:
        return answers, str(stopped)
    return answers, ""


TRIED_AGAIN = [
    "no choices now and then",
    "no JSON",
    "cut in the body",
    "server errors after the work",
    "429",
    "429, wait",
]


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        *few(((name, "usd") for name in HABITS), 1),
        # The waits that a server asks for make the last a quarter of a minute.
        *few(((name, "requests") for name in ("honest", *TRIED_AGAIN)), 2),
    ],
)
def test_a_server_bills_no_more_than_the_limit_and_one_call(name, limit, key):
    with server_with(*HABITS[name], seed=len(name)) as server:
        answers, why = ask(server, **{limit: LIMITS[limit]})
    assert server.bill[limit] <= LIMITS[limit] + server.most[limit] * (limit != "requests"), why
    assert f"budget.{limit}" in why or "in a row" in why
    if name == "honest":
        assert server.bill[limit] >= 0.91 * LIMITS[limit] and answers == server.number


@pytest.mark.parametrize("seed", few(range(60), 2))
def test_the_limit_holds_whatever_comes_together(seed, key):
    if seed == 21:
        pytest.xfail("replies that hide much and count nothing come before any that tells of it: two calls too many")
    draw = random.Random(seed)
    names = draw.sample([name for name in HABITS if name != "absurd"], 3)
    habits = [sometimes(draw.choice((0.3, 0.5)), habit) for name in names for habit in HABITS[name]]
    limit = draw.choice(list(LIMITS))
    allowed = draw.choice((1, 3)) * LIMITS[limit]
    # What is hidden is often not counted either here: whether a run can know in time depends on the order then.
    at_once = 1 if any("hidden" in name for name in names) else 64
    with server_with(*habits, seed=seed) as server:
        _, why = ask(server, at_once=at_once, **{limit: allowed})
    assert server.bill[limit] <= allowed + server.most[limit] * (limit != "requests"), (names, why)
    assert "budget." in why or "in a row" in why


def test_calls_begin_one_at_a_time_where_the_limit_would_not_bear_what_they_may_hide(key):
    under_way_at_first: list[int] = []

    def notes(done: Done) -> None:
        if done.number <= 2:  # the second comes when the first has been answered
            under_way_at_first.append(server.most_under_way)

    with server_with(notes) as server:
        ask(server, usd=LIMITS["usd"])
    assert under_way_at_first == [1, 1] and server.most_under_way > 4


def test_calls_begin_together_where_the_limit_is_far(serve, key):
    server = serve(together=8)  # nobody is answered before so many have come
    model = Chat(name="m", model="m", base_url=server.url)
    requests = [ChatRequest((Message("user", f"{WORDS}{k}"),), max_tokens=16) for k in range(20)]
    till = Till(Budget(usd=500), PRICE, model)
    assert len(list(each(Budgeted(model, till).respond(requests)))) == 20
    assert server.together == 8
