"""An engine whose workers run in the process of the test, one after the other, and can be lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_scale.processes import perform

from harness.engine import Work

LOST: set[str] = set()
"""Pieces by their names that end without a word before they have begun."""
SEEN: list[str] = []


@dataclass(frozen=True)
class Inline:
    count: int = 3

    def check(self, setting: str) -> int:
        return self.count

    def carry_out(self, work: Sequence[Work], folder: Path, has_ended: Callable[[str], bool]) -> Mapping[str, str]:
        for piece in work:
            SEEN.append(piece.name)
            if piece.name not in LOST:
                perform(piece.function, piece.argument)
        return {piece.name: "lost by the test" for piece in work if not has_ended(piece.name)}
