"""What the harness asks of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from harness.types import JSON, Item, Record, Result


class Task(Protocol):
    """A benchmark: it gives items and scores the records that a run makes of them."""

    @property
    def name(self) -> str:
        """Its folder under prompts/ and results/, such as corr2cause."""

    @property
    def headline(self) -> str:
        """The label set that the tables show; every item has it."""

    @property
    def prompts(self) -> Sequence[str]:
        """The prompts to try in this order where the user names none."""

    @property
    def prompt_format(self) -> str:
        """Which of a prompt file's `formats` the settings ask for; empty for its plain words."""

    @property
    def data(self) -> Mapping[str, JSON]:
        """What the items come from, where the settings alone do not say it: the digest of a file, a revision."""

    def items(self) -> Iterable[Item]:
        """The questions, the same at every call; a length hint (`__len__`) serves the progress bar."""

    def examples(self) -> Sequence[Mapping[str, JSON]]:
        """Fields of solved items, with an `answer`, for few-shot prompts."""

    def summarize(self, records: Iterable[Record]) -> Result:
        """The scores."""
