"""One call of a cached model: stored answers are handed out, the rest is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator

from harness.protocols import MANY, Model, Outcome, Outcomes
from harness.types import Request, Response

_AHEAD = 512
"""How many misses are looked up ahead of the model. As long as a model's window is smaller, hits are handed out
as they are found and none wait in memory."""


class _Unanswered(Iterator[Request]):
    """The requests that a model is to answer, and how many there are still."""

    def __init__(self, following: Callable[[], Request | None], known: Callable[[], int]) -> None:
        self._following, self._known = following, known

    def __next__(self) -> Request:
        if (request := self._following()) is None:
            raise StopIteration
        return request

    def __length_hint__(self) -> int:
        return self._known()


class Asking:
    """The state of one call."""

    def __init__(
        self,
        model: Model,
        requests: Iterable[Request],
        *,
        find: Callable[[Request], Response | None],
        keep: Callable[[Outcomes], Outcomes],
    ) -> None:
        """Ask `model` what `find` does not know; `keep` stores what landed together, and returns what to hand out."""
        self._model, self._find, self._keep = model, find, keep
        self._source = iter(requests)
        self._hits: list[Outcome] = []
        self._misses: deque[Request] = deque()
        self._seen_all = False
        """Whether the last request has been looked up."""

    def outcomes(self) -> Generator[Outcomes]:
        """Yield stored answers as they are found, others as they land; each is stored before it is handed out."""
        landing: Generator[Outcomes] | None = None
        ahead = 16
        try:
            while True:
                while len(self._misses) < ahead and self._look_up():
                    yield from self._hand_out()
                # A few first, so that the model can begin soon.
                ahead = min(2 * ahead, _AHEAD)
                # Only now is the model started: a run answered from the store imports, loads and connects to nothing.
                if landing is None and self._misses:
                    landing = self._model.respond(_Unanswered(self._next_unanswered, self._known_misses))
                outcomes = None if landing is None else next(landing, None)
                yield from self._hand_out()
                if outcomes is None:
                    return
                yield self._keep(outcomes)
        finally:
            if landing is not None:
                landing.close()

    def _hand_out(self) -> Iterator[Outcomes]:
        if self._hits:
            hits, self._hits = self._hits, []
            yield hits

    def _look_up(self) -> bool:
        """Look up the next request of the source; return False where the source has ended."""
        for request in self._source:
            if not self._is_hit(request):
                self._misses.append(request)
            return True
        self._seen_all = True
        return False

    def _is_hit(self, request: Request) -> bool:
        if (stored := self._find(request)) is not None:
            self._hits.append((request, stored))
        return stored is not None

    def _next_unanswered(self) -> Request | None:
        """Return the next request for the model, or None."""
        while self._misses or self._look_up():
            # Once more: another process may have stored it since it was looked up.
            if self._misses and not self._is_hit(request := self._misses.popleft()):
                return request
        return None

    def _known_misses(self) -> int:
        """Return how many requests the model still has to answer; MANY while the source goes on."""
        return len(self._misses) if self._seen_all else MANY
