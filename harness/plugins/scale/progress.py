"""How far all workers of a run are together."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from harness.cost.price import dollars
from harness.plugins.scale import orders
from harness.plugins.scale.engine import State
from harness.runtime.progress import Progress

_EVERY = 1.0
"""Seconds between two looks at what the workers write of themselves."""


class WorkersProgress(Progress):
    """Counts of a run's answers as its workers get them."""

    def __init__(self, title: str) -> None:
        """Begin without workers."""
        super().__init__(title, self._spent)
        self._usd = self._usd_before = 0.0
        self._states: Mapping[Path, State] = {}
        self._base = self._known = self._failed_before = 0
        self._seeded: Mapping[Path, int] = {}
        self._new: dict[Path, int] = {}
        self._last_look = 0.0

    def begin(self, total: int, missing: int, seeded: Mapping[Path, int]) -> None:
        """Begin a round: so many answers of `total` are missing, and so many are in each worker's cache before."""
        if not self.total:
            self.cached = total - missing
        self._base, self._failed_before, self._usd_before = total - missing, self.failed, self._usd
        self.done = self._known = self._base
        self._seeded, self._new, self._last_look = seeded, {}, 0.0

    def look(self, states: Mapping[Path, State]) -> None:
        """Take up how far the workers are, once a second."""
        self._states = states
        self.done = self._known  # whoever watches has counted this look as one more
        if (now := time.monotonic()) - self._last_look < _EVERY and any(state != "ended" for state in states.values()):
            return
        self._last_look = now
        statuses = {order: orders.status_of(order) for order in states}
        for order, status in statuses.items():  # one that was begun again counts its stored answers anew
            self._new[order] = max(self._new.get(order, 0), status.done - self._seeded.get(order, 0))
        self.done = self._known = self._base + sum(self._new.values())
        self.failed = self._failed_before + sum(status.failed for status in statuses.values())
        self._usd = self._usd_before + sum(status.usd for status in statuses.values())

    def facts(self, now: float) -> dict[str, str]:
        """Return the numbers to show, with how many workers live."""
        alive, waiting = (sum(state == which for state in self._states.values()) for which in ("running", "waiting"))
        workers = f"{alive} of {len(self._states)} workers alive" + f", {waiting} waiting" * (waiting > 0)
        return super().facts(now) | ({"workers": workers} if self._states else {})

    def _spent(self) -> str:
        return dollars(self._usd) if self._usd else ""
