"""An engine whose workers run in the process of the test and can be lost; and commands in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_scale.processes import perform
from support import forks
from support.openai_server import KEY, Server

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


def run_at(server: Server, *more: str) -> tuple[str, ...]:
    """Return the settings of a run at a server."""
    return ("model=openai", "model.model=m", f"model.base_url={server.url}", *more)


def begin(folder: Path, *arguments: str) -> forks.Command:
    return forks.Command("harness", arguments, folder, os.environ | {"OPENAI_API_KEY": KEY})
