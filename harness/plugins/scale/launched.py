"""Jobs of a sweep that an engine has taken (Slurm, Ray): waited for until each has left its outcome, or has ended."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Protocol

from harness.sweep import folder
from harness.sweep.jobs import say
from harness.sweep.order import Order

_LOOK = 0.1
"""Seconds between two looks at what the jobs have left."""
_MOST = 30.0
"""Seconds between two questions to an engine, at most; at first it is asked more often."""
_EVERY = 60.0
"""Seconds between two lines on jobs that wait."""


class Launched(Protocol):
    """Jobs that an engine has taken."""

    name: str
    """What the engine calls them: Slurm job 18."""
    grace: float
    """Seconds after which what a job has left on another node is seen here."""
    outlives: bool
    """Whether the jobs go on without the process that launched them."""

    def ended(self) -> Mapping[int, str] | None:
        """Return the jobs that run no more, and how each has ended; None where the engine does not answer."""

    def waiting(self) -> str:
        """Return in words which jobs are not running yet, and why; "" where none is."""

    def cancel(self) -> None:
        """End them all, in order where the engine can."""


class Engine(Protocol):
    """Takes jobs. The class that a file of configs/hydra/launcher/ names."""

    def launch(self, orders: Sequence[Order]) -> Launched:
        """Hand over the jobs. Raises ConfigError where the engine is not there, or does not take them."""


@dataclass
class _Watch:
    launched: Launched
    place: Path
    waiting: set[int]
    total: int
    lost: dict[int, str] = field(default_factory=dict)
    """Jobs that have left nothing, and how they have ended."""
    stopping: bool = False
    """Whether they are being cancelled."""
    _over: dict[int, float] = field(default_factory=dict)
    """Since when the engine has said that a job has ended."""
    _next: float = 0.0
    _pause: float = 1.0
    _told: tuple[str, float] = ("", 0.0)

    def look(self) -> None:
        """See which jobs have ended, and say so."""
        for number in sorted(self.waiting):
            if self._has_left_its_outcome(number):
                self.waiting.discard(number)
                say(f"[{number}] has ended; {self._done} jobs are done")
        now = time.monotonic()
        if now < self._next or not self.waiting:
            return
        self._next, self._pause = now + self._pause, min(self._pause * 1.5, _MOST)
        ended = self.launched.ended()
        self._tell("the engine does not answer, and is asked again" if ended is None else self.launched.waiting(), now)
        for number in sorted(self.waiting & (ended or {}).keys()):
            since = self._over.setdefault(number, now)
            self._next = min(self._next, since + self.launched.grace)
            if now - since >= self.launched.grace and not self._has_left_its_outcome(number):
                self.lost[number] = (ended or {})[number]
                self.waiting.discard(number)
                if not self.stopping:
                    others = "; the others go on" if self.waiting else ""
                    say(f"[{number}] has left no result ({self.lost[number]}){others}: {self._done} jobs are done")
        for number in self._over.keys() - (ended or self._over).keys():
            del self._over[number]  # it runs again

    @property
    def _done(self) -> str:
        return f"{self.total - len(self.waiting) - len(self.lost)} of {self.total}"

    def _has_left_its_outcome(self, number: int) -> bool:
        with suppress(OSError):  # a network file system looks at its server when a folder is listed
            list((self.place / str(number)).iterdir())
        return folder.outcome(self.place / str(number)) is not None

    def _tell(self, state: str, now: float) -> None:
        text, at = self._told
        if state and (state != text or now - at >= _EVERY):
            self._told = state, now
            say(f"{self.launched.name}: {state}")


def wait(launched: Launched, jobs: Sequence[Order], place: Path) -> dict[int, str]:
    """Wait for the jobs; return how those have ended that have left no outcome.

    Raises KeyboardInterrupt after Ctrl-C, which cancels the jobs. Where this process is ended in another way, those
    that outlive it go on.
    """
    killed = ", and they go on where this process is killed" if launched.outlives else ""
    say(f"{launched.name}: {len(jobs)} jobs; Ctrl-C cancels them{killed}")
    watch = _Watch(launched, place, {job.number for job in jobs}, len(jobs))
    with _ctrl_c() as stop:
        while watch.waiting and stop.asked < 2:
            if stop.asked and not watch.stopping:
                say("stopping: the jobs are being cancelled; what is stored is kept (Ctrl-C again leaves at once)")
                launched.cancel()
                watch.stopping = True
            watch.look()
            time.sleep(_LOOK)
    if stop.asked:
        raise KeyboardInterrupt
    return watch.lost


class _Stop:
    asked = 0


@contextmanager
def _ctrl_c() -> Iterator[_Stop]:
    """Yield how often Ctrl-C was pressed within the context."""
    stop = _Stop()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.asked += 1

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
