"""Servers of all kinds in virtual time: the real policy, gate and search beside what nobody could do better."""

from __future__ import annotations

import random

import pytest
from support.simulated_servers import Bucket, Run, Server, Window, ask
from support.thinned import few

FALLS = [[(200, 0), (50, 10), (400, 25)], [(300, 0), (30, 10)], [(50, 0), (1000, 30)], [(100, 0), (60, 20)]]


def bucket(rate: float, depth: float, **settings) -> Server:
    return Server(limits=[Bucket([(rate, 0)], depth)], **settings)


def drawn(seed: int) -> Server:
    """Return a server with a token bucket of any rate and depth, which answers and refuses after any time."""
    draw = random.Random(seed)
    latency = 10 ** draw.uniform(-1.7, -0.3)
    rate = min(round(10 ** draw.uniform(1.3, 2.4)), round(0.8 * 64 / latency))
    return bucket(
        rate,
        round(10 ** draw.uniform(1, 2.3)),
        latency=latency,
        refusal_delay=10 ** draw.uniform(-2.3, -0.3),
        retry_after=draw.choice([None, "1"]),
        seed=seed,
    )


def check(run: Run, share: float = 0.9, refused: float = 0.05) -> None:
    assert run.lost == 0
    assert run.share >= share
    assert run.refused <= refused


@pytest.mark.parametrize("seed", few(range(8), 1))
def test_a_limit_is_found_and_kept(seed):
    check(ask(drawn(seed), 2500), refused=0.07)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 80))
def test_any_limit_is_found_and_kept(seed):
    check(ask(drawn(seed), 4000), refused=0.065)


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "delay"), [(20, 0.05), (200, 0.2)])
def test_the_edge_of_a_bucket_is_not_taken_for_chance(depth, delay):
    check(ask(bucket(200, depth, refusal_delay=delay, retry_after="1"), 4000))


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.005, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("depth", [10, 20, 200])
@pytest.mark.parametrize("seed", range(3))
def test_the_edge_of_no_bucket_is_taken_for_chance(depth, delay, seed):
    check(ask(bucket(200, depth, refusal_delay=delay, seed=seed), 4000), refused=0.06 if delay < 0.5 else 0.075)


@pytest.mark.slow
@pytest.mark.parametrize(("delay", "share", "refused"), [(0.005, 0.88, 0.05), (0.05, 0.85, 0.05), (0.5, 0.78, 0.065)])
@pytest.mark.parametrize("seed", range(2))
def test_a_bucket_of_a_single_call_is_asked_evenly(delay, share, refused, seed):
    """Of it every other call is refused at one per cent too many, until the first refusal comes: it is met seldom."""
    check(ask(bucket(200, 1, refusal_delay=delay, seed=seed), 4000), share=share, refused=refused)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "depth", "delay"),
    few([(rate, depth, delay) for rate in (10, 20) for depth in (1, 10, 20) for delay in (0.05, 0.5)], 1),
)
def test_slow_limits_are_kept(rate, depth, delay):
    """Up to ninety calls of the first second are refused: so many go out before the first refusals come."""
    run = ask(bucket(rate, depth, refusal_delay=delay), 200 * rate)
    check(run, share=0.82 if depth == 1 else 0.95, refused=0.06 if delay < 0.5 else 0.08)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "delay", "slides"),
    few([(n, delay, slides) for slides in (False, True) for n in (50, 200) for delay in (0.005, 0.05, 0.2)], 1),
)
def test_what_is_left_of_a_second_is_shared_out_evenly(number, delay, slides):
    """So many calls in each second, not so many at once: the few calls of fifty a second are refused at the start."""
    run = ask(Server(limits=[Window(number, 1, slides)], refusal_delay=delay), 60 * number)
    check(run, share=0.88, refused=0.05 if number > 50 else 0.08)


@pytest.mark.slow
def test_a_limit_that_falls_and_rises_is_followed():
    check(ask(Server(limits=[Bucket(FALLS[0], 10)], refusal_delay=0.02), 8000))


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.005, 0.05, 0.5])
@pytest.mark.parametrize("rates", FALLS)
def test_limits_that_fall_and_rise_are_followed(rates, delay):
    """What goes out before the first refusal can be known is refused."""
    check(
        ask(Server(limits=[Bucket(rates, 10)], refusal_delay=delay), 8000),
        share=0.9 if delay < 0.5 else 0.78,
        refused=0.05 if delay < 0.5 else 0.075,
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.02])
def test_refusals_by_chance_hardly_slow_the_others(share):
    check(ask(Server(chance=share), 6000), refused=share + 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.2, 0.35])
@pytest.mark.parametrize("seed", range(5))
def test_refusals_by_chance_of_any_share_hardly_slow_the_others(share, seed):
    check(ask(Server(chance=share, seed=seed), 8000), share=0.85, refused=share + 0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "share"),
    [
        (Server(slots=8, latency=0.1), 0.95),
        (Server(service=lambda under_way: max(1, under_way / 16), latency=0.1), 0.95),
        (Server(service=lambda under_way: under_way**0.5, latency=0.1), 0.95),
        (Server(service=lambda under_way: max(1, under_way / 24) ** 1.5, latency=0.1), 0.85),
        (Server(service=lambda under_way: max(1, under_way / 16) ** 2, latency=0.1), 0.8),
        (Server(cap=16, latency=0.1), 0.85),
    ],
    ids=["silent slots", "slower with more", "batches", "less with more", "far less with more", "refuses more at once"],
)
def test_queues_that_grow_are_used(server, share):
    check(ask(server, 8000), share=share)


def test_no_more_slots_are_used_than_bring_more_answers():
    """With all slots it would be a quarter."""
    check(ask(Server(service=lambda under_way: max(1, under_way / 16) ** 2, latency=0.1), 3000), share=0.65)


@pytest.mark.slow
@pytest.mark.parametrize("headers", [True, False])
@pytest.mark.parametrize("depth", [2000, 10_000])
def test_limits_of_tokens_are_kept(depth, headers):
    """Long prompts are refused where short ones are answered: more than of a limit of calls, unless headers tell it."""
    server = bucket(10_000, depth, headers=headers, units=lambda draw: draw.uniform(20, 180), refusal_delay=0.05)
    check(ask(server, 4000), refused=0.03 if headers else 0.075)


@pytest.mark.slow
@pytest.mark.parametrize("slides", [True, False])
def test_a_minute_that_is_used_up_is_waited_for(slides):
    check(ask(Server(limits=[Window(3000, 60, slides)]), 8000), share=0.85)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "depth", "delay", "share", "refused"),
    few(
        [
            (100, 10, 0.005, 0.85, 0.12),
            (200, 20, 0.2, 0.85, 0.07),
            (200, 200, 0.05, 0.9, 0.08),
            (1000, 100, 0.05, 0.9, 0.05),
            (200, 20, 0.5, 0.75, 0.08),
        ],
        1,
    ),
)
@pytest.mark.parametrize("seed", few(range(3), 1))
def test_processes_that_share_a_limit_all_get_some_of_it(rate, depth, delay, share, refused, seed):
    """None knows of the others, whose calls look like a limit that changes: a process cannot tell which of them fell.

    All of them begin at once, each with as many calls as it would make alone.
    """
    run = ask(bucket(rate, depth, refusal_delay=delay, seed=seed), 60 * rate, processes=5)
    check(run, share=share, refused=refused)
