"""How far one long step of a run is: entered by whoever takes it, shown by whoever shows progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Steps:
    """The step under way, in words."""

    def __init__(self) -> None:
        """Begin with none."""
        self.title = ""
        """What the step is about, such as the network that is being learned."""
        self.sentence = ""
        """How far it is; "" where none is under way."""
        self.listener: Callable[[], None] = lambda: None
        """Called whenever there is news: whoever shows progress without a bar has no other occasion to."""

    @contextmanager
    def about(self, title: str) -> Iterator[None]:
        """Say within the context what its steps are about; however it ends, none is under way afterwards."""
        self.title = title
        try:
            yield
        finally:
            self.title = ""
            self.end()

    def tell(self, done: int, total: int, things: str) -> None:
        """Enter that so many of the things are done."""
        title = f"{self.title}: " if self.title else ""
        self.sentence = f"{title}{done:,} of {total:,} {things}"
        self.listener()

    def end(self) -> None:
        """Take the step out: it is over."""
        self.sentence = ""


STEPS = Steps()
