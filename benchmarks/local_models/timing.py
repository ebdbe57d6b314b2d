"""Ways of doing the same that take turns in one process."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

R = TypeVar("R", bound=Hashable)
Scores = dict[R, dict[str, float]]


@dataclass(frozen=True)
class Way(Generic[R]):
    """`ask` gives (what it found for each request, seconds by the row of the table that they belong to)."""

    ask: Callable[[list[R]], tuple[Scores[R], dict[str, float]]]


def here(row: str, ask: Callable[[list[R]], Scores[R]]) -> Way[R]:
    """A way that computes in this process."""

    def timed(requests: list[R]) -> tuple[Scores[R], dict[str, float]]:
        started = time.perf_counter()
        found = ask(requests)
        return found, {row: time.perf_counter() - started}

    return Way(timed)


def turns(requests: list[R], ways: list[Way[R]], runs: int) -> tuple[dict[str, list[float]], list[Scores[R]]]:
    """(seconds of each run by row, what each way found in the last run)."""
    times: dict[str, list[float]] = {}
    found: list[Scores[R]] = []
    for _ in range(runs):
        found = []
        for way in ways:
            scores, seconds = way.ask(requests)
            assert set(scores) == set(requests)
            found.append(scores)
            for row, took in seconds.items():
                times.setdefault(row, []).append(round(took, 3))
    return times, found


def off(some: Scores[Any], others: Scores[Any]) -> float:
    """How far two ways are apart at most."""
    return max(abs(some[request][word] - others[request][word]) for request in some for word in others[request])


def table(times: dict[str, list[float]], count: int, unit: str) -> Iterator[str]:
    """Medians; the first row is what the others are compared with. `count`: how many `unit` were asked in each run."""
    yield f"\n| way | seconds (median) | {unit} a second | times the first |\n| --- | ---: | ---: | ---: |"
    medians = {way: statistics.median(took) for way, took in times.items()}
    first = next(iter(medians.values()))
    for way, took in medians.items():
        yield f"| {way} | {took:.2f} | {count / took:.2f} | {took / first:.2f} |"
