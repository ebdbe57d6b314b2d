"""The grid of servers on which the search for a rate is judged: what each is called, how it is made, how it is asked."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from support.simulated_servers import Bucket, Run, Server, Window, ask

FALLS = ([(200, 0), (50, 10), (400, 25)], [(300, 0), (30, 10)], [(50, 0), (1000, 30)], [(100, 0), (60, 20)])
SLOW, QUICK = (0.2, 0.5), (0.005, 0.05)


@dataclass(frozen=True)
class Cell:
    """A kind of server, and how many calls are made of it by how many processes."""

    name: str
    make: Callable[[int], Server]
    calls: int
    processes: int = 1
    by_chance: float = 0.0
    """The share of calls that is refused however they are sent."""

    def run(self, seed: int) -> Run:
        return ask(self.make(seed), self.calls, self.processes)


def bucket(rate: float, depth: float, **settings) -> Server:
    return Server(limits=[Bucket([(rate, 0)], depth)], **settings)


def any_bucket(seed: int) -> Server:
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


def cells() -> list[Cell]:
    """Return the whole grid."""
    found = []

    def add(name: str, calls: int, make: Callable[[int], Server], processes: int = 1, by_chance: float = 0.0) -> None:
        found.append(Cell(name, make, calls, processes, by_chance))

    for delay in (*QUICK, *SLOW):
        for depth in (1, 10, 20, 200):
            add(f"bucket 200/s {depth} deep, {delay}", 4000,
                lambda seed, depth=depth, delay=delay: bucket(200, depth, refusal_delay=delay, seed=seed))
    for rate in (10, 20):
        for depth in (1, 10, 20):
            for delay in (0.05, 0.5):
                add(f"bucket {rate}/s {depth} deep, {delay}", 200 * rate,
                    lambda seed, rate=rate, depth=depth, delay=delay: bucket(rate, depth, refusal_delay=delay, seed=seed))
    for slides in (False, True):
        for number in (50, 200):
            for delay in (*QUICK, 0.2):
                add(f"window {number} a second{' sliding' * slides}, {delay}", 60 * number,
                    lambda seed, number=number, slides=slides, delay=delay: Server(
                        limits=[Window(number, 1, slides)], refusal_delay=delay, seed=seed))
        add(f"window 3000 a minute{' sliding' * slides}", 8000,
            lambda seed, slides=slides: Server(limits=[Window(3000, 60, slides)], seed=seed))
    for rates in FALLS:
        for delay in (*QUICK, 0.5):
            add(f"falls {'-'.join(str(rate) for rate, _ in rates)}, {delay}", 8000,
                lambda seed, rates=rates, delay=delay: Server(limits=[Bucket(rates, 10)], refusal_delay=delay, seed=seed))
    for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.35):
        add(f"chance {share}", 8000, lambda seed, share=share: Server(chance=share, seed=seed), by_chance=share)
    queues = {
        "silent slots": {"slots": 8},
        "slower with more": {"service": lambda under_way: max(1, under_way / 16)},
        "batches": {"service": lambda under_way: under_way**0.5},
        "less with more": {"service": lambda under_way: max(1, under_way / 24) ** 1.5},
        "far less with more": {"service": lambda under_way: max(1, under_way / 16) ** 2},
        "refuses more than 16 at once": {"cap": 16},
    }
    for name, settings in queues.items():
        add(f"queue: {name}", 8000, lambda seed, settings=settings: Server(latency=0.1, seed=seed, **settings))
    for headers in (True, False):
        for depth in (2000, 10_000):
            add(f"tokens {depth} deep{', headers' * headers}", 4000, lambda seed, headers=headers, depth=depth: bucket(
                10_000, depth, headers=headers, units=lambda draw: draw.uniform(20, 180), refusal_delay=0.05, seed=seed))
    for rate, depth, delay in ((100, 10, 0.005), (200, 20, 0.05), (200, 20, 0.2), (200, 20, 0.5), (200, 200, 0.05),
                               (200, 200, 0.5), (1000, 100, 0.05)):
        add(f"five on {rate}/s {depth} deep, {delay}", 60 * rate,
            lambda seed, rate=rate, depth=depth, delay=delay: bucket(rate, depth, refusal_delay=delay, seed=seed), 5)
    for number in range(8):
        add(f"any bucket {number}", 4000, lambda seed, number=number: any_bucket(number + 100 * seed))
    return found
