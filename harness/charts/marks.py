"""How what answered is marked: one choice, which the page and the figures both draw."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.storage.runs import Kind


@dataclass(frozen=True)
class Mark:
    """Shapes differ by themselves, as colours do not for everybody."""

    title: str
    """In legends."""
    colour: Literal["blue", "grey", "green", "orange"]
    """Its name: paper and the page's themes have their own shade of each."""
    shape: Literal["disc", "square", "diamond", "triangle"]
    open: bool = False
    """Whether the mark is an outline."""


MARKS: dict[Kind, Mark] = {
    "model": Mark("model", "blue", "disc"),
    "baseline": Mark("baseline", "grey", "square", open=True),
    "reasoner": Mark("exact reasoner", "green", "diamond"),
    "algorithm": Mark("algorithm on data", "orange", "triangle"),
}
"""In the order of legends."""


def as_json() -> dict[str, Any]:
    """The marks as JSON, fields as they are called here."""
    return {role: asdict(mark) for role, mark in MARKS.items()}
