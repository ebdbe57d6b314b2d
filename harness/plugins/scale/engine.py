"""What a run asks of whoever starts its workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

State = Literal["waiting", "running", "ended"]
"""Of a worker. One that waits has not begun, or stands in a queue again; one that has ended may have been killed."""


class Started(Protocol):
    """Workers that were started together. An order is the file that tells a worker what to ask."""

    @property
    def names(self) -> Sequence[str]:
        """By which another process can end them; nothing where they end with the one that started them."""

    def states(self) -> Mapping[Path, State]:
        """Return the state of each worker, by its order."""

    def end_of(self, order: Path) -> str:
        """Return how a worker ended that left no word of its own, in a few words; "" where nobody knows."""

    def cancel(self) -> None:
        """Tell the workers to end in order: what is under way is finished and stored."""


class Engine(Protocol):
    """Settings of whoever starts workers."""

    @property
    def name(self) -> str:
        """What it is called in sentences and in the manifest."""

    def check(self) -> int:
        """Return how many workers there are at a time. Raises ConfigError where there can be none."""

    def start(self, orders: Sequence[Path], log: Path) -> Started:
        """Start a worker for each order, or queue it; `log` is the folder for what they say. Raises ConfigError."""

    def cancel_named(self, names: Sequence[str]) -> None:
        """End the workers of a process that has gone, by their names."""
