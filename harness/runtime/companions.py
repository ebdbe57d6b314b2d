"""Helpers that a run has started, such as a server. They end with the run, at the latest with the process."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Hashable
from typing import Protocol


class Companion(Protocol):
    """Something that was started and can be ended."""

    @property
    def what(self) -> Hashable:
        """A key, equal for equivalent companions."""

    def close(self) -> None:
        """End it; does nothing if it has ended."""


_THERE: list[tuple[int, Companion]] = []
"""With the process that has started each: a fork ends none of them."""


def add(companion: Companion) -> None:
    """Have something ended with the run."""
    if not _THERE:
        atexit.register(end_all)
    _THERE.append((os.getpid(), companion))


def find(what: Hashable) -> Companion | None:
    """Return the companion with this key, or None."""
    return next((companion for owner, companion in _THERE if owner == os.getpid() and companion.what == what), None)


def end_all(*, but: Callable[[], Hashable] = lambda: None) -> None:
    """End all companions, except the one whose key `but` returns; `but` is not called if there are none."""
    kept = but() if _THERE else None
    for started in list(_THERE):
        owner, companion = started
        if owner != os.getpid() or kept is None or companion.what != kept:
            _THERE.remove(started)
            if owner == os.getpid():
                companion.close()
