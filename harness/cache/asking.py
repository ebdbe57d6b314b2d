"""One call of a cached model: stored answers are handed out, the rest is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator

from harness.protocols import MANY, Model, Outcome, Outcomes
from harness.types import Request, Response

_AHEAD = 512
"""How many misses are looked up ahead of the model. As long as a model's window is smaller, hits are handed out
as they are found and none wait in memory."""


class _Misses(Iterator[Request]):
    """The requests that a model is to answer; what is found on the way waits in `hits`."""

    def __init__(self, requests: Iterable[Request], find: Callable[[Request], Response | None]) -> None:
        self.hits: list[Outcome] = []
        self.waiting: deque[Request] = deque()
        self._source, self._find = iter(requests), find
        self._seen_all = False

    def look_up(self) -> bool:
        """Look up the next request of the source; return False where the source has ended."""
        for request in self._source:
            if not self._is_hit(request):
                self.waiting.append(request)
            return True
        self._seen_all = True
        return False

    def _is_hit(self, request: Request) -> bool:
        if (stored := self._find(request)) is not None:
            self.hits.append((request, stored))
        return stored is not None

    def __next__(self) -> Request:
        while self.waiting or self.look_up():
            # Once more: another process may have stored it since it was looked up.
            if self.waiting and not self._is_hit(request := self.waiting.popleft()):
                return request
        raise StopIteration

    def __length_hint__(self) -> int:
        return len(self.waiting) if self._seen_all else MANY

    def take_hits(self) -> Iterator[Outcomes]:
        if self.hits:
            hits, self.hits = self.hits, []
            yield hits


def stored_or_asked(
    model: Model,
    requests: Iterable[Request],
    *,
    find: Callable[[Request], Response | None],
    keep: Callable[[Outcomes], Outcomes],
) -> Generator[Outcomes]:
    """Yield stored answers as they are found by `find`, others as they land, once `keep` has stored them.

    `keep` returns what to hand out.
    """
    misses, landing, ahead = _Misses(requests, find), None, 16
    try:
        while True:
            while len(misses.waiting) < ahead and misses.look_up():
                yield from misses.take_hits()
            ahead = min(2 * ahead, _AHEAD)  # a few first, so that the model can begin soon
            # Only now is the model started: a run answered from the store imports, loads and connects to nothing.
            if landing is None and misses.waiting:
                landing = model.respond(misses)
            outcomes = None if landing is None else next(landing, None)
            yield from misses.take_hits()
            if outcomes is None:
                return
            yield keep(outcomes)
    finally:
        if landing is not None:
            landing.close()
