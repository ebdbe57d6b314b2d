"""The gate alone: who goes when, and how many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest
from support.clocks import Clock, Virtual

from harness.models.api.faults import RefusedError
from harness.models.api.gate import Gate, pause, seconds
from harness.models.api.opening import MORE, Opening
from harness.models.api.rate_search import LOWER
from harness.models.api.sent_calls import Sent
from harness.models.api.slot_search import START, SlotSearch


@pytest.mark.parametrize(
    ("text", "span"),
    [("1s", 1.0), ("6m0s", 360.0), ("250ms", 0.25), ("1h2m3.5s", 3723.5), ("1d", 86400.0), ("", 0.0), ("soon", 0.0)],
)
def test_spans_are_read_as_the_headers_write_them(text, span):
    assert seconds(text) == pytest.approx(span)


def test_a_retry_that_is_due_goes_before_calls_that_have_not_been_tried():
    order: list[str] = []

    async def go() -> None:
        gate = Gate(1)

        async def call(name: str, again: bool) -> None:
            async with gate.turn(again=again):
                order.append(name)
                await asyncio.sleep(0.01)

        await asyncio.gather(call("first", False), call("second", False), call("third", False), call("retry", True))

    asyncio.run(go())
    assert order == ["first", "retry", "second", "third"]


def test_a_cancelled_call_gives_its_slot_back():
    async def go() -> int:
        gate = Gate(1)

        async def call() -> None:
            async with gate.turn(again=False):
                await asyncio.sleep(10)

        running, waiting = asyncio.create_task(call()), asyncio.create_task(call())
        await asyncio.sleep(0.01)
        waiting.cancel()
        running.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        done = 0
        async with gate.turn(again=False):
            done += 1
        return done

    assert asyncio.run(asyncio.wait_for(go(), 120)) == 1


def test_and_then_all_may_go():
    loop, at = Virtual(), []

    async def go() -> None:
        gate = Gate(1, clock=loop.time)
        for k in range(4):
            async with gate.turn(again=False):
                at.append(loop.time())
            if k == 1:
                gate.read_rate_limit_headers(
                    {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400ms"}
                )

    loop.run_until_complete(go())
    loop.close()
    assert at == pytest.approx([0, 0, 0.4, 0.4], abs=0.001)


def test_timeouts_halve_the_calls_at_once_but_not_all_of_them_together():
    clock = Clock()
    gate = Gate(64, clock=clock)
    clock.now += 5
    gate._slot_search.slots = 40.0
    for _ in range(10):
        gate.note_timeout()
    assert gate.slots == 20
    clock.now += 2
    gate.note_timeout()
    assert gate.slots == 10


async def take(gate: Gate, clock: Clock, taken: AsyncExitStack) -> Sent:
    """Return a call that has its turn: the first ones go out one after the other."""
    clock.now += 0.01
    return await taken.enter_async_context(gate.turn(again=False))


def test_the_first_calls_are_spread_until_all_slots_are_in_use_or_one_is_refused():
    few, refused, used = Opening(START), Opening(64), Opening(64)
    for opening in (few, refused, used):
        opening.add_answer(0.0, 0.05, START + 1)
    assert few.rate is None and refused.rate == used.rate
    assert used.rate == pytest.approx(MORE / 0.05)
    for k in range(4):
        used.add_answer(0.05, 0.1 + 0.001 * k, START + 2 + k)
    assert used.rate == pytest.approx(5 * MORE / 0.05, rel=0.05)
    used.add_answer(0.1, 0.15, 64)
    refused.end()
    assert used.rate is refused.rate is None


def test_slots_grow_by_one_with_each_success_and_slowly_once_a_call_has_timed_out():
    clock = Clock()

    async def go() -> list[float]:
        gate, slots = Gate(20, clock=clock), []
        async with AsyncExitStack() as taken:
            calls = [await take(gate, clock, taken) for _ in range(START)]
            for _ in range(3):
                gate.note_success(calls[0])
                slots.append(gate.slots)
            clock.now += 2
            for call in calls:  # or they would be overdue
                call.replied = True
            gate.note_timeout()
            gate.note_success(calls[0])
            return [*slots, gate.slots]

    # The third is of no use: two slots are free.
    assert asyncio.run(go()) == [START + 1, START + 2, START + 2, 5.2]


def test_calls_wait_for_the_rate_that_refusals_lead_to():
    loop, at = Virtual(), []

    async def go() -> None:
        gate = Gate(64, clock=loop.time)
        for k in range(100):
            await asyncio.sleep(0.01)
            async with gate.turn(again=False) as sent:
                if k > 30 and k % 2:
                    gate.note_failure(RefusedError(429, "slow down", {}), sent)
                else:
                    gate.note_success(sent)
            if gate.rate is not None:
                break
        for _ in range(10):
            async with gate.turn(again=False):
                at.append(loop.time())

    loop.run_until_complete(go())
    loop.close()
    # A share of what came through of the hundred a second.
    assert LOWER * 50 * 0.9 < (len(at) - 1) / (at[-1] - at[0]) < LOWER * 75


@pytest.mark.parametrize("fails", [False, True])
def test_slots_do_not_grow_while_calls_have_no_answer_although_they_should(fails):
    """They may have been refused by a server that says so late; but a call that has failed is not waited for."""
    clock = Clock()

    async def go() -> float:
        gate = Gate(20, clock=clock)
        async with AsyncExitStack() as taken:
            first, *others = [await take(gate, clock, taken) for _ in range(START)]
            clock.now += 0.1
            gate.note_success(first)
            slots = gate.slots
            clock.now += 0.3
            for sent in others:
                if fails:
                    gate.note_failure(ConnectionError(), sent)
            late = await taken.enter_async_context(gate.turn(again=False))
            clock.now += 0.1
            gate.note_success(late)
            return gate.slots - slots

    assert asyncio.run(go()) == fails


def test_an_answer_that_is_not_stored_yet_keeps_its_slot():
    order: list[str] = []

    async def go() -> None:
        gate = Gate(1)
        async with gate.turn(again=False):
            gate.hold_slot()

        async def call() -> None:
            async with gate.turn(again=False):
                order.append("call")

        waiting = asyncio.create_task(call())
        for _ in range(5):
            await asyncio.sleep(0)
        order.append("stored")
        gate.release_slot()
        await waiting

    asyncio.run(asyncio.wait_for(go(), 120))
    assert order == ["stored", "call"]


def test_while_nobody_is_answered_calls_that_wait_for_a_retry_take_room():
    gate = Gate(64)
    assert [gate.has_room(7), gate.has_room(8)] == [True, False]
    gate.note_success(Sent(0.0, None))
    assert gate.has_room(8)
    for _ in range(16):
        gate.note_failure(ConnectionError(), Sent(0.0, None))
    assert not gate.has_room(8)


def slots_at(latency: Callable[[float], float], rounds: int = 60) -> list[float]:
    """Return the slots that are come to, round by round, where all are in use and answers take so long."""
    search, at, slots = SlotSearch(64), 0.0, []
    for _ in range(rounds):
        sent = [Sent(at, None) for _ in range(int(search.slots))]
        at += latency(search.slots)
        for call in sent:
            search.add_answer(call, at, int(search.slots))
        slots.append(search.slots)
    return slots


def test_as_many_slots_are_used_as_bring_most_answers():
    assert min(slots_at(lambda slots: 0.1)[-40:]) == 64
    assert sum(slots_at(lambda slots: slots**0.5)[-40:]) / 40 > 60, "answers take longer, and more come"
    later = slots_at(lambda slots: max(1.0, slots / 16) ** 2)[-40:]
    assert 12 <= sorted(later)[20] <= 20, "beyond sixteen fewer come"


def test_slots_that_were_given_up_are_tried_again():
    """The server is slow at first."""
    spent = [0]

    def latency(slots: float) -> float:
        spent[0] += 1
        return max(1.0, slots / 16) ** 2 if spent[0] < 40 else 1.0

    slots = slots_at(latency, 300)
    assert slots[39] < 30 and slots[-1] == 64


@pytest.mark.parametrize("names", ["x-ratelimit-{}-tokens", "anthropic-ratelimit-input-tokens-{}"])
def test_the_last_of_a_limit_is_left_to_the_calls_under_way(names):
    """A tenth of 1,000, of which what is missing comes back evenly in 30 s."""

    def waits(left, most="1000"):
        told = {"remaining": left, "limit": most, "reset": "30s"}
        return pause({names.format(what): text for what, text in told.items() if text})

    assert waits("0") == waits("0", "") == 30
    assert waits("50") == pytest.approx(30 * 50 / 950) and waits("1") == pytest.approx(30 * 99 / 999)
    assert not any(map(waits, ("100", "999", "1e-9", "nan", "-1", "", "all")))
    assert not waits("50", "") and not waits("50", "inf")
