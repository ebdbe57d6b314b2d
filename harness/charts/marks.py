"""The mark of each kind of run, the same on the page and in figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.storage.runs import Kind


@dataclass(frozen=True)
class Mark:
    """How a kind of run is marked; its shape tells it apart for those who do not see colours."""

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
    """Return the marks as JSON, with the fields of Mark."""
    return {role: asdict(mark) for role, mark in MARKS.items()}
