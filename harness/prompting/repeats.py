"""Different items with the same prompt: many of them suggest a prompt that leaves out the question."""

from __future__ import annotations

from collections.abc import Mapping

from harness.codec import request_digest
from harness.types import JSON, Request

TOLD = 0.75
"""The share of distinct prompts among the items up to which it is told: some repetitions are the data's own, as 16% of
Corr2Cause's first test set."""
_KEPT = 200
"""Prompts of which the first item is kept, to say in what its repetitions differ."""
_SHOWN = 3


class RepeatedPrompts:
    """Counts of items and of their distinct prompts, and the fields in which items of one prompt differ."""

    def __init__(self) -> None:
        self.items = self.distinct = 0
        self._first: dict[str, Mapping[str, JSON]] = {}
        self._differing: dict[str, None] = {}

    def add(self, fields: Mapping[str, JSON], request: Request, *, new: bool) -> None:
        """Count an item and its request; `new` says that no earlier item made the same request."""
        self.items += 1
        self.distinct += new
        if len(self._differing) >= _SHOWN or (new and len(self._first) >= _KEPT):
            return
        first = self._first.setdefault(request_digest(request), fields)
        self._differing |= {name: None for name, value in fields.items() if first.get(name) != value}

    def remark(self) -> str:
        """Return the sentence for many items of one prompt, with the likely reason; empty where there are few."""
        differing = "".join(f"{{{name}}}, " for name in list(self._differing)[:_SHOWN]).rstrip(", ")
        why = f": the prompt's words do not name {differing}, in which they differ" if differing else ""
        return sentence(self.distinct, self.items, why)


def sentence(distinct: int, items: int, why: str = "") -> str:
    """Return that items share prompts, and so answers; empty where few do."""
    if not items or distinct > TOLD * items:
        return ""
    prompts = "1 distinct prompt" if distinct == 1 else f"{distinct:,} distinct prompts"
    return f"{prompts} for {items:,} items: items of one prompt share one answer{why}."
