"""What a model answers, one by one, for tests that do not ask what landed together."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from harness.protocols import Outcome, Outcomes


def each(landing: Generator[Outcomes]) -> Generator[Outcome]:
    """Yield the outcomes of `respond` one by one. Closing this iterator closes that of the model."""
    with closing(landing):
        for batch in landing:
            yield from batch
