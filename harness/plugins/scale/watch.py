"""Work that an engine has taken, watched until each piece has left its outcome, or has ended without one."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from harness.engine import Engine, Started, State, Work
from harness.runtime import signals
from harness.runtime.interrupt import SIGNALS, interruptible
from harness.runtime.progress import Progress
from harness.runtime.signals import STOP
from harness.sweep import folder
from harness.sweep.jobs import say

_LOOK = 0.1
"""Seconds between two looks at what the work has left."""
_MOST = 30.0
"""Seconds between two questions to a cluster, at most; at first it is asked more often."""
_EVERY = 60.0
"""Seconds between two lines on work that waits."""


class WorkWatch:
    """What has become of work so far."""

    def __init__(self, started: Started, names: Iterable[str], has_left_its_outcome: Callable[[str], bool]) -> None:
        """WorkWatch the pieces of these names; the function says whether one has written how it ended."""
        self._started, self._has_left = started, has_left_its_outcome
        self.open = set(names)
        self.states: Mapping[str, State] = dict.fromkeys(self.open, "waiting")
        self.lost: dict[str, str] = {}
        """Pieces that ended without an outcome, and how."""
        self.answered = True
        """Whether the engine answered when it was last asked."""
        self._over: dict[str, float] = {}
        """Since when the engine has said that a piece has ended."""
        self._next, self._pause = 0.0, 1.0

    def look(self) -> list[str]:
        """Return the pieces that have ended since the last look."""
        now, remote = time.monotonic(), self._started.grace > 0
        ended = [name for name in sorted(self.open) if remote and self._has_left(name)]
        self.open -= {*ended}
        if self.open and now >= self._next:
            if remote:
                self._next, self._pause = now + self._pause, min(self._pause * 1.5, _MOST)
            states = self._started.states()
            self.answered = states is not None
            self.states = states or self.states
            more = [name for name in sorted(self.open) if states and self._is_over(name, states[name], now)]
            self.open -= {*more}
            ended += more
        self.states = {**self.states, **dict.fromkeys(ended, "ended")}
        return ended

    def _is_over(self, name: str, state: State, now: float) -> bool:
        if state != "ended":
            self._over.pop(name, None)  # it runs again
            return False
        if self._has_left(name):
            return True
        since = self._over.setdefault(name, now)
        self._next = min(self._next, since + self._started.grace)
        if now - since < self._started.grace:  # what it left on another node may not be seen here yet
            return False
        self.lost[name] = self._started.end_of(name)
        return True


def wait(engine: Engine, setting: str, work: Sequence[Work], place: Path) -> Mapping[str, str]:
    """Have the jobs of a sweep carried out, whose folders are below `place`; return how those ended that left nothing.

    Raises KeyboardInterrupt after Ctrl-C, which ends the jobs in order. Where this process is ended in another way,
    those that outlive it go on.
    """
    engine.check(setting)
    started = engine.start(work, place / ".submitit")
    if started.outlives or started.grace:
        killed = ", and they go on where this process is killed" if started.outlives else ""
        say(f"{started.title}: {len(work)} jobs; Ctrl-C cancels them{killed}")
    watch = WorkWatch(started, [piece.name for piece in work], lambda name: _outcome(place / name))
    told = _Told(watch, started, len(work))
    numbers = (signal.SIGINT,) if started.outlives else SIGNALS
    cancelled = False
    end_at_once = partial(started.cancel, at_once=True)
    signals.LAST.append(end_at_once)
    try:
        with interruptible(Progress("sweep"), numbers=numbers):
            while watch.open:
                if STOP.requested and not cancelled:
                    cancelled = True
                    started.cancel()
                told.tell(watch.look(), quiet=cancelled)
                time.sleep(_LOOK)
            if cancelled:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        if watch.open:  # Ctrl-C again
            end_at_once()
        raise
    finally:
        signals.LAST.remove(end_at_once)
    return watch.lost


class _Told:
    """What the user has been told of jobs."""

    def __init__(self, watch: WorkWatch, started: Started, total: int) -> None:
        self._watch, self._started, self._total = watch, started, total
        self._state, self._at = "", 0.0

    def tell(self, ended: Sequence[str], *, quiet: bool) -> None:
        """Print a line for each job that has ended, and one on those that wait."""
        watch = self._watch
        done = f"{self._total - len(watch.open) - len(watch.lost)} of {self._total} jobs are done"
        for name in () if quiet else ended:
            if name in watch.lost:
                others = "; the others go on" if watch.open else ""
                say(f"[{name}] has left no result ({watch.lost[name]}){others}: {done}")
            else:
                say(f"[{name}] has ended; {done}")
        state = self._started.waiting() if watch.answered else "the engine does not answer, and is asked again"
        if state and watch.open and (state != self._state or time.monotonic() - self._at >= _EVERY):
            self._state, self._at = state, time.monotonic()
            say(f"{self._started.title}: {state}")


def _outcome(place: Path) -> bool:
    with suppress(OSError):  # a network file system looks at its server when a folder is listed
        list(place.iterdir())
    return folder.outcome(place) is not None
