"""A model that asks another one only what the store does not know.

The key is the digest of (schema version, the model's identity, the request). What the key was made of is
stored beside the answer; the words of a message are stored once, by content.
A response is stored before it is handed out. Failures are not stored. A file that cannot be read or written
is an error: an answer that was not really stored would be paid for twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator

from harness.cache.schema import key_of
from harness.cache.store import Store
from harness.codec import canonical, response_from_json, response_json, short
from harness.errors import StoreError
from harness.protocols import MANY, Model, Outcome, Outcomes, Wrapper
from harness.settings import CacheMode
from harness.types import Failure, Request, Response, replace

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


class CachedModel(Wrapper):
    """A model that asks another one only what the store does not know."""

    def __init__(
        self,
        model: Model,
        store: Store,
        *,
        mode: CacheMode = "on",
        task: str = "",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Wrap `model`; answers go to and come from `store`, as `mode` allows. `task` is noted beside new answers.

        In mode frozen the first miss raises StoreError; in mode refresh what was stored before this moment counts as
        missing, and is replaced. `say` shows a line on stderr.
        """
        super().__init__(model)
        self.store = store
        self.say = say
        self.mode = mode
        self.since = time.time() if mode == "refresh" else 0.0
        self._task = task
        self._identity = canonical(self.identity)

    def key(self, request: Request) -> str:
        return key_of(self._identity, short(request))

    def peek(self, request: Request) -> Response | None:
        """Return the stored answer if there is one that counts; ask nothing."""
        return self.store.get(self.key(request), since=self.since)

    def respond(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        """Yield stored answers as they are found, others as they land; each is stored before it is handed out."""
        replaced = self.store.replaced
        try:
            yield from self._stored_or_asked(requests)
        finally:
            if count := self.store.replaced - replaced:
                answers = f"{count:,} stored answer{'s' * (count > 1)}"
                self.say(f"{answers} in {self.store.path} could not be read as stored: asked again and replaced")

    def _stored_or_asked(self, requests: Iterable[Request]) -> Generator[Outcomes]:
        misses, landing, ahead = _Misses(requests, self._find), None, 16
        try:
            while True:
                while len(misses.waiting) < ahead and misses.look_up():
                    yield from misses.take_hits()
                ahead = min(2 * ahead, _AHEAD)  # a few first, so that the model can begin soon
                # Only now is the model started: a run answered from the store imports, loads and connects to nothing.
                if landing is None and misses.waiting:
                    landing = self.model.respond(misses)
                outcomes = None if landing is None else next(landing, None)
                yield from misses.take_hits()
                if outcomes is None:
                    return
                yield self._keep(outcomes)
        finally:
            if landing is not None:
                landing.close()

    def _find(self, request: Request) -> Response | None:
        """Return the stored answer; in mode frozen raise StoreError where there is none."""
        stored = self.peek(request)
        if stored is None and self.mode == "frozen":
            raise StoreError(
                f"cache=frozen, and {self.store.path} does not hold every answer of {self.name} as it is set now, or "
                "not as it was stored. With cache=on it is asked for."
            )
        return stored

    def _keep(self, outcomes: Outcomes) -> list[Outcome]:
        """Store what landed together; return what to hand out, as paid: another process's where that was sooner."""
        sound = [(self.key(request), request, _storable_outcome(outcome)) for request, outcome in outcomes]
        answers = [(key, request, outcome) for key, request, outcome in sound if isinstance(outcome, Response)]
        sooner: dict[str, Response] = {}
        if answers:
            sooner = self.store.put(self.identity, answers, name=self.name, task=self._task, replace=self.since > 0)
        return [(request, replace(sooner[key], cached=False) if key in sooner else own) for key, request, own in sound]


def _storable_outcome(outcome: Response | Failure) -> Response | Failure:
    """Return an outcome as the store would return it; a failure where it could not be stored."""
    if isinstance(outcome, Failure):
        return outcome
    try:
        if outcome.logprobs is not None:
            canonical(dict(outcome.logprobs))  # no NaN
        return response_from_json(response_json(outcome), cached=outcome.cached)
    except (ValueError, TypeError, AttributeError) as error:
        return Failure("invalid_reply", f"the model's response cannot be stored: {error}")
