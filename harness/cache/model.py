"""A model that asks another one only what the store does not know.

The key is the digest of (schema version, the model's identity, the request). What the key was made of is
stored beside the answer, so that a miss can be explained; the words of a message are stored once, by content.
A response is stored before it is handed out. Failures are not stored. A file that cannot be read or written
is an error: an answer that looks stored but is not would be paid for twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from operator import length_hint

from harness.cache.schema import key_of
from harness.cache.store import Store
from harness.codec import canonical, short
from harness.errors import StoreError
from harness.models.protocol import Landing, Model, Outcome
from harness.settings import CacheMode
from harness.types import Request, Response

_AHEAD = 512
"""How many misses are looked up ahead of the model. As long as a model's window is smaller, hits are handed out
as they are found and none wait in memory."""


class CachedModel:
    """A model that asks another one only what the store does not know."""

    def __init__(self, model: Model, store: Store, *, mode: CacheMode = "on", task: str = "") -> None:
        """Wraps `model`; answers go to and come from `store`, as `mode` allows. `task` is noted beside new answers.

        In mode frozen the first miss raises StoreError; in mode refresh what was stored before this moment counts as
        missing, and is replaced.
        """
        self._model = model
        self._store = store
        self._frozen = mode == "frozen"
        self._since = time.time() if mode == "refresh" else 0.0
        self._task = task
        self.name = model.name
        self.identity = model.identity
        self.accepts = model.accepts
        self._identity = canonical(self.identity)

    def peek(self, request: Request) -> Response | None:
        """The stored answer, if there is one that counts; nothing is asked."""
        return self._store.get(key_of(self._identity, short(request)), since=self._since)

    def respond(self, requests: Iterable[Request]) -> Iterator[Outcome]:
        """Stored answers as they are found, others as they land; each is stored before it is handed out."""
        source = iter(requests)
        misses: deque[Request] = deque()
        hits: deque[Outcome] = deque()
        keys: dict[Request, str] = {}

        def look_up() -> bool:
            """Takes one request from the source; False when there is none left."""
            for request in source:
                key = key_of(self._identity, short(request))
                stored = self._store.get(key, since=self._since)
                if stored is not None:
                    hits.append((request, stored))
                elif self._frozen:
                    raise self._missing(request)
                else:
                    keys[request] = key
                    misses.append(request)
                return True
            return False

        def unanswered() -> Iterator[Request]:
            """What the inner model pulls from."""
            while misses or look_up():
                if misses:
                    yield misses.popleft()

        landing: Iterator[Outcome] | None = None
        ahead = 16
        try:
            while True:
                while len(misses) < ahead and look_up():
                    while hits:
                        yield hits.popleft()
                # A few at first, so that the model begins soon.
                ahead = min(2 * ahead, _AHEAD)
                # Nothing is started for a run that the store answers alone: no import, no load, no connection.
                if landing is None and keys:
                    landing = self._model.respond(unanswered())
                outcome = next(landing, None) if landing is not None and keys else None
                if landing is None or outcome is None:
                    yield from hits
                    return
                landed = [outcome, *islice(landing, length_hint(landing))]
                yield from self._keep(landed, keys)
        finally:
            if isinstance(landing, Landing | Generator):
                landing.close()

    def _keep(self, landed: list[Outcome], keys: dict[Request, str]) -> list[Outcome]:
        """Stores the responses; what is handed out: where another process was sooner, its answer."""
        said = [(keys.pop(request), request, outcome) for request, outcome in landed]
        answers = [(key, request, outcome) for key, request, outcome in said if isinstance(outcome, Response)]
        if not answers:
            return landed
        sooner = self._store.put(self.identity, answers, name=self.name, task=self._task, replace=self._since > 0)
        return [(request, sooner.get(key, outcome)) for key, request, outcome in said] if sooner else landed

    def _missing(self, request: Request) -> StoreError:
        from harness.cache.nearest import explain

        return StoreError(
            f"cache=frozen, and {self._store.path} does not hold every answer of {self.name}: "
            f"{explain(self._store, self.identity, request)}. With cache=on it is asked for."
        )
