"""What a run is waiting for and how far a long step is: entered where that happens, shown by the progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Waiting:
    """Why a call waits, which try comes next, and how many there are at most."""

    why: str
    next_try: int
    most: int


class Retries:
    """The calls of this process that wait for a retry."""

    def __init__(self) -> None:
        self._calls: dict[Hashable, Waiting] = {}
        self.listener: Callable[[], None] = lambda: None
        """Called now and then while calls wait: without a bar, progress is only shown at such moments."""
        self.speaker: Callable[[str], None] = lambda _: None
        """Prints a line."""

    def say(self, sentence: str) -> None:
        self.speaker(sentence)

    def begin(self, call: Hashable, waiting: Waiting) -> None:
        self._calls[call] = waiting

    def end(self, call: Hashable) -> None:
        """Remove a call; it need not have waited."""
        self._calls.pop(call, None)

    def show(self) -> None:
        self.listener()

    @property
    def sentence(self) -> str:
        """How many wait and why, such as "7 calls wait: 500: overloaded, try 4 of 10"; else ""."""
        calls = list(self._calls.values())  # a bar reads this in a thread of its own
        if not calls:
            return ""
        ((why, number),) = Counter(waiting.why for waiting in calls).most_common(1)
        latest = max((waiting for waiting in calls if waiting.why == why), key=lambda waiting: waiting.next_try)
        others = f"; {len(calls) - number:,} more for other reasons" * (number < len(calls))
        subject = "1 call waits" if number == 1 else f"{number:,} calls wait"
        return f"{subject}: {why}, try {latest.next_try} of {latest.most}{others}"


RETRIES = Retries()


class Steps:
    """The step under way, in words."""

    def __init__(self) -> None:
        self.title = ""
        """What the step is about, such as the network that is being learned."""
        self.sentence = ""
        """How far it is; "" where none is under way."""
        self.listener: Callable[[], None] = lambda: None
        """Called whenever there is news: without a bar, progress is only shown at such moments."""

    @contextmanager
    def about(self, title: str) -> Iterator[None]:
        """Name the steps within the context; afterwards none is under way, however it ends."""
        self.title = title
        try:
            yield
        finally:
            self.title = ""
            self.end()

    def tell(self, done: int, total: int, things: str) -> None:
        """Report how many are done."""
        title = f"{self.title}: " if self.title else ""
        self.sentence = f"{title}{done:,} of {total:,} {things}"
        self.listener()

    def end(self) -> None:
        self.sentence = ""


STEPS = Steps()
