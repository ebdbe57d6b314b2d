"""What is read in the replies of a run today, and by which rules it was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.prompting.version import VERSION
from harness.types import Answer, Item, Record, Response

if TYPE_CHECKING:
    from harness.prompting.prompts import Prompt
    from harness.verify.judge import JudgeCheck


class Readings:
    """The answers that records should have."""

    def __init__(self, prompt: Prompt | None, judge: JudgeCheck | None) -> None:
        """`prompt` reads the replies, `judge` those in which it finds nothing; None where there is none."""
        self.as_recorded = False
        """Whether the records' own readings are taken, having been made by other rules than today's,"""
        self.read_otherwise = 0
        """and how many of them are others today."""
        self._prompt, self._judge = prompt, judge

    def answer(self, record: Record, response: Response, item: Item) -> Answer | None:
        """Return the answer of a record, by the rules or else by the judge; None where its response has none."""
        by_rules = self._by_rules(response, item)
        if self.as_recorded:
            recorded = record.answer if record.judgement is None else Answer(label=None)
            self.read_otherwise += _label(by_rules) != _label(recorded)
            by_rules = recorded
        return self._judge.answer(record, by_rules) if self._judge is not None else by_rules

    def problems(self, folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
        """Yield that the replies were read by other rules than today's, where that can make a difference."""
        version, otherwise = (manifest.get("reading") or {}).get("version", 0), self.read_otherwise
        if self.as_recorded and (version != VERSION or otherwise):
            replies = f" and {otherwise:,} read otherwise today" if otherwise else ""
            yield (
                f"its replies were read by rules of version {version}, today's are of version {VERSION}{replies}: "
                f"python -m harness.reread {folder} reads them again."
            )

    def _by_rules(self, response: Response, item: Item) -> Answer | None:
        """Return what the prompt reads; None where the response is none that it can have had."""
        assert self._prompt is not None
        try:
            return self._prompt.parse(response, item.fields)
        except (KeyError, ValueError, ArithmeticError):
            return None


def _label(answer: Answer | None) -> int | None:
    return None if answer is None else answer.label
