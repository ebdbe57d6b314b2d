"""Answers that were paid for once: a Model that holds a Model and one SQLite file.

The key is the digest of (schema version, the model's identity, the request). What the key was made of is
stored beside the answer, so that a miss can be explained; the words of a message are stored once, by content.
A response is stored before it is handed out. Failures are not stored. A file that cannot be read or written
is an error: an answer that looks stored but is not would be paid for twice.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import length_hint
from pathlib import Path

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from harness.codec import canonical, digest, response_from_json, response_json, short, text_digest, words
from harness.errors import StoreError
from harness.models.protocol import Landing, Model, Outcome
from harness.types import JSON, Request, Response

SCHEMA = 1
_APPLICATION = 0x43524B45  # marks the file as ours, in SQLite's header
_TABLES = (
    "CREATE TABLE IF NOT EXISTS identities (digest TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS texts (digest TEXT PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, identity TEXT NOT NULL, request TEXT NOT NULL, "
    "response TEXT NOT NULL, stored REAL NOT NULL) WITHOUT ROWID",
)
WAIT = 30
"""Seconds to wait for a file that another process holds."""
_AHEAD = 512
"""How many misses are looked up ahead of the model. As long as a model's window is smaller, hits are handed out
as they are found and none wait in memory."""


_LONG = 4096
"""Characters from which on a text that is stored is remembered, so that it is not handed to SQLite again."""


class Store:
    """The SQLite file. One connection; several processes may share the file (not over NFS: WAL needs shared memory)."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the file. Raises StoreError where that cannot be done or the file is not one of ours."""
        self.path = path
        self._long_texts: set[str] = set()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
            # Of several processes that open a new file at once, SQLite tells all but one "locked" without waiting.
            Retrying(
                stop=stop_after_delay(WAIT),
                wait=wait_random(0.01, 0.1),
                retry=retry_if_exception(lambda error: "locked" in str(error)),
                reraise=True,
            )(self._prepare)
        except (sqlite3.Error, OSError) as error:
            raise self._trouble(error) from error

    def get(self, key: str) -> Response | None:
        """The stored response, marked as cached."""
        try:
            row = self._db.execute("SELECT response FROM answers WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        return response_from_json(json.loads(row[0]), cached=True) if row else None

    def put(self, identity: Mapping[str, JSON], answers: Sequence[tuple[str, Request, Response]]) -> None:
        """Stores the responses of one model by their keys; when this returns, a killed process does not lose them."""
        name, now = digest(identity), time.time()
        texts = {text_digest(text): text for _, request, _ in answers for text in words(request)}
        new = [item for item in texts.items() if item[0] not in self._long_texts]
        rows = [(key, name, short(request), canonical(response_json(said)), now) for key, request, said in answers]
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("INSERT OR IGNORE INTO identities VALUES (?, ?)", (name, canonical(identity)))
            self._db.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", new)
            self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._trouble(error) from error
        # A network's data would be handed to SQLite again with each of its questions.
        self._long_texts.update(name for name, text in new if len(text) > _LONG)

    def close(self) -> None:
        """Closes the file; the write-ahead log is folded in."""
        self._db.close()

    def _prepare(self) -> None:
        """Makes what is not there yet."""
        self._check()
        if self._db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        if self._db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
            self._db.execute("BEGIN IMMEDIATE")
            for table in _TABLES:
                self._db.execute(table)
            self._db.execute(f"PRAGMA application_id={_APPLICATION}")
            self._db.execute(f"PRAGMA user_version={SCHEMA}")
            self._db.execute("COMMIT")

    def _check(self) -> None:
        """Refuses a database of somebody else's, or of a later version of this program."""
        # In this order: a file that another process fills meanwhile was empty when it was looked at.
        empty = not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application, schema = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        if not empty and application != _APPLICATION:
            raise StoreError(
                f"{self.path} is an SQLite file, but not a cache of this program: choose another cache.path."
            )
        if schema > SCHEMA:
            raise StoreError(
                f"the cache {self.path} has schema {schema}, this version reads {SCHEMA}: update harness, or choose "
                "another cache.path."
            )

    def _trouble(self, error: Exception) -> StoreError:
        what = str(error)
        if "locked" in what or "busy" in what:
            advice = "another process has kept it locked for half a minute: wait for it or choose another cache.path"
        elif "not a database" in what or "malformed" in what:
            advice = "the file is damaged: move it away (it may still be worth repairing) or choose another cache.path"
        elif "full" in what:
            advice = "make room and start again: every answer stored so far is kept"
        else:
            advice = "make it readable and writable or choose another cache.path"
        return StoreError(f"the cache {self.path} cannot be used ({what}): {advice}.")


class CachedModel:
    """A model that asks another one only what the store does not know."""

    def __init__(self, model: Model, store: Store) -> None:
        """Wraps `model`; answers go to and come from `store`."""
        self._model = model
        self._store = store
        self.name = model.name
        self.identity = model.identity
        self.accepts = model.accepts
        self._key_begins = canonical([SCHEMA, self.identity]).removesuffix("]") + ","

    def peek(self, request: Request) -> Response | None:
        """The stored answer, if there is one; nothing is asked."""
        return self._store.get(self._key(request))

    def respond(self, requests: Iterable[Request]) -> Iterator[Outcome]:
        """Stored answers as they are found, others as they land; each is stored before it is handed out."""
        source = iter(requests)
        misses: deque[Request] = deque()
        hits: deque[Outcome] = deque()
        keys: dict[Request, str] = {}

        def look_up() -> bool:
            """Takes one request from the source; False when there is none left."""
            for request in source:
                key = self._key(request)
                stored = self._store.get(key)
                if stored is None:
                    keys[request] = key
                    misses.append(request)
                else:
                    hits.append((request, stored))
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
                answers = [(keys.pop(request), request, said) for request, said in landed]
                if any(isinstance(said, Response) for _, _, said in answers):
                    self._store.put(
                        self.identity, [(k, r, said) for k, r, said in answers if isinstance(said, Response)]
                    )
                yield from landed
        finally:
            if isinstance(landing, Landing | Generator):
                landing.close()

    def _key(self, request: Request) -> str:
        return hashlib.sha256(f"{self._key_begins}{short(request)}]".encode()).hexdigest()
