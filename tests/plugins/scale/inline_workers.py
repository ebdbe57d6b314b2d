"""An engine whose workers run in the process of the test, one after the other, and can be lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.plugins.scale.engine import State
from harness.plugins.scale.worker import work

LOST: set[str] = set()
"""Orders by their names that end without a word before they have begun, once."""
SEEN: list[Path] = []


@dataclass(frozen=True)
class Inline:
    count: int = 3
    name = "inline"

    def check(self) -> int:
        return self.count

    def start(self, orders: Sequence[Path], log: Path) -> Started:
        return Started(orders)

    def cancel_named(self, names: Sequence[str]) -> None:
        pass


class Started:
    names = ()

    def __init__(self, orders: Sequence[Path]) -> None:
        self._orders, self._cancelled = orders, False
        self._ended: list[Path] = []

    def states(self) -> Mapping[Path, State]:
        left = [order for order in self._orders if order not in self._ended]
        if left:
            if left[0].stem not in LOST and not self._cancelled:
                work(left[0])
            LOST.discard(left[0].stem)
            SEEN.append(left[0])
            self._ended.append(left[0])
        return {order: "ended" if order in self._ended else "waiting" for order in self._orders}

    def end_of(self, order: Path) -> str:
        return "lost by the test"

    def cancel(self) -> None:
        self._cancelled = True
