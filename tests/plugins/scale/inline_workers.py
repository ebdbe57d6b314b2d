"""An engine whose workers run in the process of the test, one after the other, and can be lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.engine import State, Work
from harness.plugins.scale.shard import work

LOST: set[str] = set()
"""Orders by their names that end without a word before they have begun, once."""
SEEN: list[str] = []


@dataclass(frozen=True)
class Inline:
    count: int = 3
    name = "inline"

    def check(self, setting: str) -> int:
        return self.count

    def start(self, work: Sequence[Work], folder: Path) -> Started:
        return Started(work)

    def cancel_named(self, names: Sequence[str]) -> None:
        pass


class Started:
    title, names, grace, outlives = "inline", (), 0.0, False

    def __init__(self, pieces: Sequence[Work]) -> None:
        self._pieces, self._cancelled = pieces, False
        self._ended: list[str] = []

    def states(self) -> Mapping[str, State]:
        left = [piece for piece in self._pieces if piece.name not in self._ended]
        if left:
            if left[0].name not in LOST and not self._cancelled:
                work(left[0].argument)
            LOST.discard(left[0].name)
            SEEN.append(left[0].name)
            self._ended.append(left[0].name)
        return {piece.name: "ended" if piece.name in self._ended else "waiting" for piece in self._pieces}

    def end_of(self, name: str) -> str:
        return "lost by the test"

    def waiting(self) -> str:
        return ""

    def cancel(self, *, at_once: bool = False) -> None:
        self._cancelled = True


ROWS = [f"Is {k} odd?,{'Yes' if k % 2 else 'No'},c{k // 3}" for k in range(23)]


TASKS = {
    "corr2cause": ("task.limit=24",),
    "conversations": (
        "task=causalbench/causality",
        "task.networks=[asia,cancer,earthquake,sachs]",
        "task.format=data",
        "task.limit=20",
    ),
    "steps": ("task=corr2cause/steps", "task.num_nodes=[4]", "task.limit=12"),
    "samples": ("task=questions", "task.path=q.csv", "prompt=q.yaml", "samples=3", "model.temperature=1"),
}
