"""The grid of servers on which the search for a rate is judged: how each is called, made and asked."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from support.simulated_servers import Bucket, Run, Server, Window, ask

CHANGES = ([(200, 0), (50, 10), (400, 25)], [(300, 0), (30, 10)], [(50, 0), (1000, 30)], [(100, 0), (60, 20)])
"""Calls a second, and the second from which on so many are allowed."""
QUEUES = {
    "silent slots": {"slots": 8},
    "slower with more": {"service": lambda under_way: max(1, under_way / 16)},
    "batches": {"service": lambda under_way: under_way**0.5},
    "less with more": {"service": lambda under_way: max(1, under_way / 24) ** 1.5},
    "far less with more": {"service": lambda under_way: max(1, under_way / 16) ** 2},
    "refuses more than 16 at once": {"cap": 16},
}
SHARED = (
    (100, 10, 0.005),
    (200, 20, 0.05),
    (200, 20, 0.2),
    (200, 20, 0.5),
    (200, 200, 0.05),
    (200, 200, 0.5),
    (1000, 100, 0.05),
)
"""Rate, depth and seconds to a refusal of buckets that five processes share."""


@dataclass(frozen=True)
class Cell:
    """A kind of server, and how many calls are made of it by how many processes."""

    name: str
    make: Callable[..., Server]
    calls: int
    processes: int = 1
    by_chance: float = 0.0
    """The share of calls that is refused however they are sent."""

    def run(self, seed: int) -> Run:
        return ask(self.make(seed=seed), self.calls, self.processes)


def bucket(rate: float, depth: float, **settings) -> Server:
    return Server(limits=[Bucket([(rate, 0)], depth)], **settings)


def changing(rates: list[tuple[float, float]], **settings) -> Server:
    return Server(limits=[Bucket(rates, 10)], **settings)


def window(number: int, seconds: float, slides: bool, **settings) -> Server:
    return Server(limits=[Window(number, seconds, slides)], **settings)


def of_tokens(depth: float, **settings) -> Server:
    return bucket(10_000, depth, units=lambda draw: draw.uniform(20, 180), **settings)


def any_bucket(number: int, seed: int) -> Server:
    """Return a server with a token bucket of any rate and depth, which answers and refuses after any time."""
    draw = random.Random(number + 100 * seed)
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


def cells() -> list[Cell]:
    """Return the whole grid."""
    return [*_limits(), *_others(), *_shared()]


def _limits() -> Iterator[Cell]:
    quick = list(product([200], (1, 10, 20, 200), (0.005, 0.05, 0.2, 0.5)))
    for rate, depth, delay in quick + list(product((10, 20), (1, 10, 20), (0.05, 0.5))):
        calls = min(200 * rate, 4000)
        yield Cell(f"bucket {rate}/s {depth} deep, {delay}", partial(bucket, rate, depth, refusal_delay=delay), calls)
    for slides, word in ((False, ""), (True, " sliding")):
        for number, delay in product((50, 200), (0.005, 0.05, 0.2)):
            make = partial(window, number, 1, slides, refusal_delay=delay)
            yield Cell(f"window {number} a second{word}, {delay}", make, 60 * number)
        yield Cell(f"window 3000 a minute{word}", partial(window, 3000, 60, slides), 8000)
    for rates, delay in product(CHANGES, (0.005, 0.05, 0.5)):
        name = "-".join(str(rate) for rate, _ in rates)
        yield Cell(f"changes {name}, {delay}", partial(changing, rates, refusal_delay=delay), 8000)
    for depth, headers in product((2000, 10_000), (True, False)):
        yield Cell(f"tokens {depth} deep{', headers' * headers}", partial(of_tokens, depth, headers=headers), 4000)
    for number in range(8):
        yield Cell(f"any bucket {number}", partial(any_bucket, number), 4000)


def _others() -> Iterator[Cell]:
    for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.35):
        yield Cell(f"chance {share}", partial(Server, chance=share), 8000, by_chance=share)
    for name, settings in QUEUES.items():
        yield Cell(f"queue: {name}", partial(Server, latency=0.1, **settings), 8000)


def _shared() -> Iterator[Cell]:
    for rate, depth, delay in SHARED:
        make = partial(bucket, rate, depth, refusal_delay=delay)
        yield Cell(f"five on {rate}/s {depth} deep, {delay}", make, 60 * rate, processes=5)
