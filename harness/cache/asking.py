"""One call of a cached model: stored answers are handed out, the rest is asked unless another process is asking it.

A request is looked up, claimed and asked, in this order. What another process has claimed is set apart, looked up again
from time to time, and waited for at the end. A process holds no claim while it waits, so no two wait for each other.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol

from harness.cache.store import Store
from harness.errors import Interrupted, StoreError
from harness.protocols import MANY, Model, Outcome, Outcomes
from harness.runtime import signals
from harness.settings import CacheMode
from harness.types import Failure, Request, Response

_AHEAD = 512
"""How many misses are looked up ahead of the model. As long as a model's window is smaller, hits are handed out
as they are found and none wait in memory."""
_CLAIMED = 16
"""How many are claimed ahead of the model at most: other processes could ask them meanwhile."""
_APART = 1024
"""How many may be set apart before it waits for the answers of others."""
_GLANCE = 0.1
"""Seconds between two look-ups of others' answers while there is something to ask."""
_LIVES = 0.5
"""Seconds between two checks that the processes waited for are alive."""
_PAUSE = 0.01
"""Seconds between two looks at the file while others' answers land; rises to _GLANCE while none do."""
_SLOW, _AGAIN = 2.0, 60.0
"""Seconds of waiting until the first line about it, and between later ones."""


class Caching(Protocol):
    """The cached model that is called."""

    model: Model
    store: Store
    mode: CacheMode
    since: float
    """Seconds since 1970; an answer from before counts as missing."""
    patience: float
    say: Callable[[str], None]

    @property
    def interrupted(self) -> str:
        """The message where Ctrl-C ends the wait for other processes."""

    def key(self, request: Request) -> str:
        """Return the key of the answer to a request."""

    def keep(self, outcomes: Sequence[tuple[str, Request, Response | Failure]]) -> list[Outcome]:
        """Store the responses that landed together; return the outcomes to hand out."""

    def missing(self, request: Request) -> StoreError:
        """Return what mode frozen raises where an answer is not there."""


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

    def __init__(self, cached: Caching, requests: Iterable[Request]) -> None:
        self._cached = cached
        self._store, self._claims = cached.store, cached.store.claims
        self._source = iter(requests)
        self._hits: list[Outcome] = []
        self._misses: deque[tuple[str, Request]] = deque()
        self._claimed: deque[Request] = deque()
        """Claimed, and not yet pulled by the model."""
        self._keys: dict[Request, str] = {}
        """Of the requests that are claimed and have no outcome."""
        self._apart: dict[str, Request] = {}
        """By their keys: what others have claimed."""
        self._seen_all = False
        """Whether the last request has been looked up."""
        self._pulled_all = False
        """Whether the model has pulled all that there was to pull, so that its end is no refusal to go on."""
        self._batch, self._batch_at = 4, time.monotonic()
        self._glanced, self._version = 0.0, -1

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
                self._glance()
                # Only now is the model started: a run answered from the store imports, loads and connects to nothing.
                if landing is None and self._claim():
                    self._pulled_all = False
                    landing = self._cached.model.respond(_Unanswered(self._next_unanswered, self._known_misses))
                yield from self._hand_out()
                outcomes = next(landing, None) if landing is not None and (self._keys or self._misses) else None
                if outcomes is not None:
                    yield self._cached.keep([(self._keys.pop(r), r, o) for r, o in outcomes])
                    continue
                if landing is not None:
                    landing.close()
                    landing = None
                    ended_early = not self._pulled_all and bool(self._keys or self._misses)
                    self._give_up()
                    yield from self._hand_out()
                    if ended_early:
                        return
                if self._apart:
                    yield from self._wait()
                elif not self._misses:
                    return
        finally:
            if landing is not None:
                landing.close()
            self._give_up()

    def _hand_out(self) -> Iterator[Outcomes]:
        if self._hits:
            hits, self._hits = self._hits, []
            yield hits

    def _look_up(self) -> bool:
        """Look up the next request of the source; return False where the source has ended."""
        for request in self._source:
            key = self._cached.key(request)
            stored = self._store.get(key, since=self._cached.since)
            if stored is not None:
                self._hits.append((request, stored))
            elif self._cached.mode == "frozen":
                raise self._cached.missing(request)
            else:
                self._misses.append((key, request))
            return True
        self._seen_all = True
        return False

    def _next_unanswered(self) -> Request | None:
        """Return the next claimed request for the model, or None."""
        if self._claimed or self._claim():
            return self._claimed.popleft()
        self._pulled_all = True
        return None

    def _known_misses(self) -> int:
        """Return how many requests the model still has to answer; MANY while the source goes on."""
        return len(self._misses) + len(self._claimed) if self._seen_all else MANY

    def _claim(self) -> bool:
        """Claim the next requests that no other process is asking; return whether there are any."""
        while not self._claimed and len(self._apart) < _APART:
            now = time.monotonic()
            # About as many as the model takes in a second: others could ask the rest meanwhile.
            if now - self._batch_at < 1:
                self._batch = min(2 * self._batch, _CLAIMED)
            elif now - self._batch_at > 2:
                self._batch = max(self._batch // 2, 1)
            self._batch_at = now
            while len(self._misses) < self._batch and self._look_up():
                pass
            if not self._misses:
                break
            self._take([self._misses.popleft() for _ in range(min(self._batch, len(self._misses)))])
        return bool(self._claimed)

    def _take(self, requests: list[tuple[str, Request]], *, anyhow: bool = False) -> None:
        """Claim the requests that can be claimed; sort the rest into hits and those that others are asking."""
        if not requests:
            return
        claims = self._claims.take([key for key, _ in requests], since=self._cached.since, anyhow=anyhow)
        for key, request in requests:
            if key in claims.own:
                self._keys[request] = key
                self._claimed.append(request)
            elif key in claims.stored:
                self._hits.append((request, claims.stored[key]))
            else:
                self._apart[key] = request

    def _give_up(self) -> None:
        """Release the claims without an outcome, when the model or this process has ended."""
        with suppress(StoreError):  # the lock goes with the process, and the claims with it
            self._claims.release(list(self._keys.values()))
        self._keys.clear()
        self._claimed.clear()

    def _glance(self) -> None:
        """Collect the answers of other processes, at most once every _GLANCE seconds."""
        if self._apart and time.monotonic() - self._glanced > _GLANCE:
            self._collect()
            self._glanced = time.monotonic()

    def _collect(self) -> bool:
        """Collect the answers that other processes have stored; return whether the file has changed at all."""
        version = next(self._store.query("PRAGMA data_version"))[0]
        if version == self._version:
            return False
        self._version = version
        for key in list(self._apart):
            if (stored := self._store.get(key, since=self._cached.since)) is not None:
                self._hits.append((self._apart.pop(key), stored))
        return True

    def _wait(self) -> Iterator[Outcomes]:
        """Yield the answers of other processes as they land, until a request can be claimed or all are there."""
        started = quiet = time.monotonic()
        line, pause, looked = started + _SLOW, _PAUSE, 0.0
        owners: dict[str, str] = {}
        while self._apart and not self._claimed:
            if signals.STOP.requested:
                raise Interrupted(self._cached.interrupted)
            now = time.monotonic()
            changed = self._collect()
            if self._hits:
                quiet, pause = now, _PAUSE
                yield from self._hand_out()
                if self._misses and len(self._apart) < _APART // 2:  # there is room again
                    return
            if now - looked > (_GLANCE if changed else _LIVES):
                looked, before, owners = now, owners, self._owners()
                quiet = now if owners != before else quiet
                free = [key for key in self._apart if key not in owners]
                self._take([(key, self._apart.pop(key)) for key in free[:_CLAIMED]])
            if self._apart and now - quiet > self._cached.patience:
                self._lose_patience(owners)
            elif self._apart and now > line:
                line = now + _AGAIN
                self._cached.say(f"waiting for {self._others(owners)}")
            if not self._claimed:
                time.sleep(pause)
                pause = min(1.5 * pause, _GLANCE)
        yield from self._hand_out()

    def _owners(self) -> dict[str, str]:
        """Return the living owner of each key that another process has claimed."""
        claims = self._claims.owners()
        mine = {key: claims[key] for key in self._apart if key in claims}
        living = {owner for owner in set(mine.values()) if self._claims.alive(owner)}
        return {key: owner for key, owner in mine.items() if owner in living}

    def _lose_patience(self, owners: dict[str, str]) -> None:
        self._cached.say(
            f"{self._others(owners)}: nothing has come for {self._cached.patience:g} s, so they are asked here as well"
        )
        keys = list(self._apart)[:_CLAIMED]
        self._take([(key, self._apart.pop(key)) for key in keys], anyhow=True)

    def _others(self, owners: dict[str, str]) -> str:
        count, several = len(self._apart), Counter(owners.values())
        answers = f"{count:,} answer{'s' * (count != 1)}"
        if len(several) != 1:
            return f"{answers} that {len(several)} other processes on this cache are asking for"
        who = self._claims.process_of(next(iter(several)))
        return f"{answers} that another process on this cache is asking for{f' (process {who})' if who else ''}"
