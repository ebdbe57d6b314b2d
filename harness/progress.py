"""How far a run is: a bar on a terminal, a line every ten seconds elsewhere. All of it on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from operator import length_hint
from typing import TypeVar

from harness.types import Failure, Record

T = TypeVar("T")
EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
DRAWN = 0.1
"""Seconds between two states of the bar."""


class Progress:
    """Counts records as they come: done, from the cache, failed, unreadable."""

    def __init__(self, title: str) -> None:
        """`title` says what is running."""
        self.title = title
        self.done = self.cached = self.failed = self.unreadable = 0

    def track(
        self, records: Iterable[tuple[Record, T]], items: Iterable[object], samples: int = 1
    ) -> Iterator[tuple[Record, T]]:
        """The records as they are, `samples` of each item, watched, and counted by what became of them."""
        for record, request in self.watch(records, items, samples):
            if isinstance(record.outcome, Failure):
                self.failed += 1
            else:
                self.cached += record.outcome.cached
                self.unreadable += record.answer is not None and record.answer.label is None
            yield record, request

    def watch(self, values: Iterable[T], items: Iterable[object], each: int = 1) -> Iterator[T]:
        """The values as they are, shown while they pass; so many for each of the `items`, whose length is known."""
        return (self._bar if sys.stderr.isatty() else self._lines)(values, lambda: each * length_hint(items))

    def say(self, sentence: str) -> None:
        """A line for the user, beside the bar."""
        print(sentence, file=sys.stderr, flush=True)

    @property
    def _counts(self) -> str:
        shown = {"from the cache": self.cached, "unreadable": self.unreadable, "failed": self.failed}
        return ", ".join(f"{count:,} {what}" for what, count in shown.items() if count)

    def _lines(self, values: Iterable[T], length: Callable[[], int]) -> Iterator[T]:
        started = said = time.monotonic()
        total = length()
        for value in values:
            self.done += 1
            yield value
            now = time.monotonic()
            if now - said >= EVERY:
                said = now
                rate = self.done / (now - started)
                of = f" of {total:,}, {(total - self.done) / rate:,.0f} s left" if total else ""
                counts = f", {self._counts}" if self._counts else ""
                self.say(f"{self.title}: {self.done:,}{of}, {rate:,.1f} a second{counts}")

    def _bar(self, values: Iterable[T], length: Callable[[], int]) -> Iterator[T]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[counts]}"),
        )
        with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
            job = bar.add_task(self.title, total=None, counts="")
            bar.update(job, total=length() or None)  # with the bar in sight: making items can take seconds
            shown = 0.0
            for value in values:
                self.done += 1
                yield value
                if (now := time.monotonic()) - shown >= DRAWN:  # an update costs more than making an item
                    shown = now
                    bar.update(job, completed=self.done, counts=self._counts)
            bar.update(job, completed=self.done, counts=self._counts)
