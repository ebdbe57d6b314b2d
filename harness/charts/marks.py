"""The mark of each role, the same on the page and in figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.types import Role


@dataclass(frozen=True)
class Mark:
    """How a role is marked; its shape tells it apart for those who do not see colours."""

    title: str
    """In legends."""
    colour: Literal["blue", "grey", "green", "orange"]
    """Its name: paper and the page's themes have their own shade of each."""
    shape: Literal["disc", "square", "diamond", "triangle"]
    open: bool = False
    """Whether the mark is an outline."""


MARKS: dict[Role, Mark] = {
    "model": Mark("model", "blue", "disc"),
    "baseline": Mark("baseline", "grey", "square", open=True),
    "solver": Mark("exact solver", "green", "diamond"),
    "algorithm": Mark("algorithm on data", "orange", "triangle"),
    "cheat": Mark("cheat", "grey", "diamond", open=True),
}
"""In the order of legends."""


def as_json() -> dict[str, Any]:
    """Return the marks as JSON, with the fields of Mark."""
    return {role: asdict(mark) for role, mark in MARKS.items()}
