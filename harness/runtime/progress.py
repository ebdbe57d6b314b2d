"""How far a run is: a bar on a terminal, a line every ten seconds elsewhere. All of it on stderr."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import timedelta
from math import ceil
from operator import length_hint
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

from harness.runtime import console
from harness.runtime.signals import LAST
from harness.types import Failure, Record, Response

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress as RichProgress


T = TypeVar("T")
EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
BURST = 1.0
"""Seconds after the first answer whose answers are in no rate: calls that went out at once come back together."""
AFTER = 1.0
"""Seconds before the bar is drawn: a shorter run never imports rich."""
LONGEST_WAIT = 2.0
"""Seconds to wait for the bar to be erased: a terminal may be stopped with Ctrl-S."""


class Retries:
    """The calls of this process that wait for a retry."""

    def __init__(self) -> None:
        self._calls: dict[Hashable, tuple[str, int, int]] = {}
        self.show: Callable[[], None] = lambda: None
        """Called now and then while calls wait: without a bar, progress is only shown at such moments."""
        self.say: Callable[[str], None] = lambda _: None
        """Prints a line."""

    def begin(self, call: Hashable, why: str, next_try: int, most: int) -> None:
        """Note why a call waits, which try comes next, and how many there are at most."""
        self._calls[call] = why, next_try, most

    def end(self, call: Hashable) -> None:
        """Remove a call; it need not have waited."""
        self._calls.pop(call, None)

    @property
    def sentence(self) -> str:
        """How many wait and why, such as "7 calls wait: 500: overloaded, try 4 of 10"; else ""."""
        calls = list(self._calls.values())  # a bar reads this in a thread of its own
        if not calls:
            return ""
        ((why, number),) = Counter(why for why, _, _ in calls).most_common(1)
        next_try, most = max(tries for reason, *tries in calls if reason == why)
        others = f"; {len(calls) - number:,} more for other reasons" * (number < len(calls))
        subject = "1 call waits" if number == 1 else f"{number:,} calls wait"
        return f"{subject}: {why}, try {next_try} of {most}{others}"


RETRIES = Retries()


class Progress:
    """Counts of a run's records as they come: done, from the cache, failed, unreadable."""

    def __init__(self, title: str, cost: Callable[[], str] = lambda: "") -> None:
        """Begin at zero.

        `title` says what is running. `cost` returns in words what it has cost so far, nothing where it costs nothing.
        """
        self.title, self.cost = title, cost
        self.total = 0
        """0 where it is not known."""
        self.done = self.cached = self.failed = self.unreadable = 0
        self.shared = 0
        """Of those not from the cache, the ones answered by another item's identical call."""
        self._since: tuple[float, int] | None = None
        """When the first answer was there that was not from the cache, and how many landed with it."""

    def track(self, records: Iterable[Record], items: Iterable[object], samples: int = 1) -> Iterator[Record]:
        """Yield `records` unchanged while showing progress, and count their outcomes; expects `samples` per item."""
        last_request = None
        for record in self.watch(records, items, samples):
            cached = isinstance(record.outcome, Response) and record.outcome.cached
            self.failed += isinstance(record.outcome, Failure)
            self.cached += cached
            self.unreadable += record.answer is not None and record.answer.label is None
            if record.request is not None and not cached:
                # Items that wait for one answer get it one after the other.
                self.shared += record.request.digest == last_request
                last_request = record.request.digest
            yield record

    def where_from(self) -> str:
        """Return how many answers were cached and how many asked for; "" if every item was asked by itself."""
        if not self.cached and not self.shared:
            return ""
        asked = self.done - self.cached - self.shared
        counts = f"{self.cached:,} answers came from the cache, {asked:,} were asked now"
        if not self.shared:
            return f"{counts}."
        return f"{counts}; {self.shared:,} items ask, word for word, what another one was asked, and share its answer."

    def watch(self, values: Iterable[T], items: Iterable[object], each: int = 1) -> Generator[T]:
        """Yield `values` unchanged while showing progress; expects `each` values per item.

        Only the length of `items` is used.
        """
        on_terminal = console.capable(sys.stderr)
        last_line = time.monotonic()

        def show() -> None:
            nonlocal last_line
            self.rate(now := time.monotonic())  # the clock begins with the first answer
            if not on_terminal and now - last_line >= EVERY:
                last_line = now
                self.say(f"{self.title}: {' · '.join(filter(None, [*self.facts(now).values(), self.waiting]))}")

        before = RETRIES.show, RETRIES.say
        RETRIES.show, RETRIES.say = show, self.say
        try:
            with _drawn(self) if on_terminal else nullcontext():
                self.total = each * length_hint(items)  # with the bar in sight: making items can take seconds
                for value in values:
                    self.done += 1
                    yield value
                    show()
        finally:
            RETRIES.show, RETRIES.say = before

    @property
    def waiting(self) -> str:
        """Which calls wait for a retry, and why; else ""."""
        return RETRIES.sentence

    def say(self, sentence: str) -> None:
        """Print a sentence on stderr; on a terminal it stays above the bar."""
        with suppress(OSError):  # the terminal has gone
            print(console.clean(sentence), file=sys.stderr, flush=True)

    def facts(self, now: float) -> dict[str, str]:
        """Return what is known and not zero, in the order in which it is shown; `now` is of time.monotonic.

        The time left assumes that all the rest is asked: with answers from the cache among it, it is shorter.
        """
        rate = self.rate(now)
        rest = max(self.total - self.done, 0)
        counts = {"cached": self.cached, "unreadable": self.unreadable, "failed": self.failed}
        texts = {
            "done": f"{self.done:,}/{self.total:,}" if self.total else f"{self.done:,}",
            "rate": _pace(rate) if rate else "",
            "left": f"{timedelta(seconds=ceil(rest / rate))} left" if rate and rest else "",
            "cost": self.cost(),
            **{name: f"{count:,} {name}" for name, count in counts.items() if count},
        }
        return {name: text for name, text in texts.items() if text}

    def rate(self, now: float) -> float | None:
        """Return answers per second without those from the cache; None until some have followed the first of them.

        A model that is loaded before the first answers says nothing of the pace, nor do those that land with them.
        """
        answers = self.done - self.cached
        if not answers:
            return None
        if self._since is None or now - self._since[0] < BURST:
            self._since = (now if self._since is None else self._since[0]), answers
        began, before = self._since
        return (answers - before) / (now - began) if answers > before else None


def _pace(rate: float) -> str:
    if rate >= 100:
        return f"{rate:,.0f}/s"
    return f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min"


@contextmanager
def _drawn(progress: Progress) -> Iterator[None]:
    """Show a bar within the context, drawn by a thread of its own so that the run only has to count."""
    ended = Event()

    def draw() -> None:
        if not ended.wait(AFTER):
            with suppress(OSError), bar(progress):  # the terminal may be closed
                ended.wait()

    def leave() -> None:
        ended.set()
        thread.join(LONGEST_WAIT)

    thread = Thread(target=draw, name="bar", daemon=True)
    LAST.append(leave)
    thread.start()
    try:
        yield
    finally:
        leave()
        LAST.remove(leave)


def bar(progress: Progress) -> RichProgress:
    """Return Rich's bar with the numbers of a run, and below it what waits."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress
    from rich.table import Column
    from rich.text import Text

    class Drawn(RichProgress):
        def get_renderables(self) -> Iterator[RenderableType]:
            for task in self.tasks:
                task.total, task.completed = progress.total or None, progress.done
                task.fields["numbers"] = " · ".join(progress.facts(time.monotonic()).values())
            yield self.make_tasks_table(self.tasks)
            if waiting := console.clean(progress.waiting):
                yield Text(waiting, no_wrap=True, overflow="ellipsis")

    def words(field: str, share: int) -> TextColumn:
        column = Column(no_wrap=True, overflow="ellipsis", ratio=share)
        return TextColumn(f"{{task.{field}}}", markup=False, table_column=column)

    # Lines on stderr go above the bar; stdout may be a pipe, so leave it alone.
    drawn = Drawn(
        words("description", 1),
        BarColumn(20),
        words("fields[numbers]", 2),
        console=console.rich_console(sys.stderr),
        transient=True,
        redirect_stdout=False,
        refresh_per_second=5,
    )
    drawn.add_task(console.clean(progress.title), numbers="")
    return drawn
