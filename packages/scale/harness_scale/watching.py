"""Waiting for work that an engine has taken, by its word and by the outcomes that pieces leave."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.runtime.progress import Progress
from harness.runtime.signals import SIGNALS, STOP, interruptible
from harness.sweep.jobs import say

_LOOK = 0.1
"""Seconds between two looks at what pieces have left."""


@dataclass(frozen=True)
class Taken:
    """Work that an engine has taken."""

    title: str
    ends: Callable[[], Mapping[str, str]]
    """Returns in a few words how each piece has ended that is over, by name; it may be begun again."""
    cancel: Callable[[], object]
    """Ends all of it once calls under way are finished and stored."""
    pause: float = _LOOK
    """Seconds between two questions to the engine."""
    grace: float = 0.0
    """Seconds after which a file that another node wrote is seen here; 0 on one machine."""
    outlives: bool = False
    """Whether it goes on where this process is killed."""


def wait(taken: Taken, names: Sequence[str], has_ended: Callable[[str], bool]) -> Mapping[str, str]:
    """Wait until all has ended; return how those pieces ended that left no outcome.

    Raises KeyboardInterrupt after Ctrl-C, which ends them in order. Where this process is ended in another way, those
    that outlive it go on.
    """
    if taken.grace:
        say(f"{taken.title}: {len(names)} jobs, which Ctrl-C cancels")
    left, lost, since = list(names), dict[str, str](), dict[str, float]()
    ends, next_look, cancelled = taken.ends(), 0.0, False
    with interruptible(Progress("jobs").say, numbers=(signal.SIGINT,) if taken.outlives else SIGNALS):
        while left:
            if STOP.requested and not cancelled:
                cancelled = True
                taken.cancel()
            if (now := time.monotonic()) >= next_look:
                ends, next_look = taken.ends(), now + taken.pause
                since = {name: since.get(name, now) for name in ends}
            for name in list(left):
                if not has_ended(name) or not (taken.grace or name in ends):
                    if name not in ends or now - since[name] < taken.grace:
                        continue
                    lost[name] = ends[name]
                left.remove(name)
                how = f"left no result ({lost[name]})" if name in lost else "ended"
                if not cancelled:
                    say(f"[{name}] has {how}; {len(names) - len(left) - len(lost)} of {len(names)} jobs are done")
            time.sleep(_LOOK)
        if cancelled:
            raise KeyboardInterrupt
    return lost
