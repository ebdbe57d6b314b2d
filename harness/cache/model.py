"""A model that asks another one only what the store does not know.

The key is the digest of (schema version, the model's identity, the request). What the key was made of is
stored beside the answer; the words of a message are stored once, by content.
A response is stored before it is handed out. Failures are not stored. A file that cannot be read or written
is an error: an answer that was not really stored would be paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable

from harness.cache.asking import stored_or_asked
from harness.cache.schema import key_of
from harness.cache.store import Store
from harness.codec import canonical, response_from_json, response_json, short
from harness.errors import StoreError
from harness.protocols import Model, Outcome, Outcomes, Wrapper
from harness.settings import CacheMode
from harness.types import Failure, Request, Response


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
            yield from stored_or_asked(self.model, requests, find=self._find, keep=self._keep)
        finally:
            if count := self.store.replaced - replaced:
                answers = f"{count:,} stored answer{'s' * (count > 1)}"
                self.say(f"{answers} in {self.store.path} could not be read as stored: asked again and replaced")

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
        """Store what landed together; return what to hand out: the answer of another process where that was sooner."""
        sound = [(self.key(request), request, _storable_outcome(outcome)) for request, outcome in outcomes]
        answers = [(key, request, outcome) for key, request, outcome in sound if isinstance(outcome, Response)]
        sooner: dict[str, Response] = {}
        if answers:
            sooner = self.store.put(self.identity, answers, name=self.name, task=self._task, replace=self.since > 0)
        return [(request, sooner.get(key, outcome)) for key, request, outcome in sound]


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
