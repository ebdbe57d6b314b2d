"""What a model answers, one by one, for tests that do not ask what landed together."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from harness.protocols import Outcome, Outcomes


def each(landing: Generator[Outcomes]) -> Generator[Outcome]:
    """The outcomes that `respond` yields. Closing them closes what it gave."""
    with closing(landing):
        for landed in landing:
            yield from landed
