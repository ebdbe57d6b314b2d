"""What commands say of how far they are goes by the clock: on a slow day it would be among what a test reads."""

from __future__ import annotations

import math

from harness.cost import plan
from harness.prompting import conversation
from harness.runtime import progress


def silence() -> None:
    """Silence the remarks in this process, unless a test sets another time."""
    progress.EVERY = plan.SAY_AFTER = conversation.SLOW = math.inf
