"""What stands of batches in the cache's file. Each step is noted before it is taken, so that a kill loses none.

The tables are made when something is first written out: a cache that knows no batches is as it was.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from harness.cache.store import Store
from harness.codec import request_from_json, short, text_digest, words
from harness.types import Request

TABLES = {
    # The settings of a model, by which the replies to its requests are read.
    "batch_models": "CREATE TABLE batch_models (digest TEXT PRIMARY KEY, name TEXT NOT NULL, settings TEXT NOT NULL) "
    "WITHOUT ROWID",
    # A request that was written out, by the key of its answer. `batch` is empty where it stands in a file of the user.
    "batched": "CREATE TABLE batched (key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, "
    "task TEXT NOT NULL, batch TEXT NOT NULL) WITHOUT ROWID",
    "batched_in": "CREATE INDEX batched_in ON batched (batch)",
    "batches": "CREATE TABLE batches (digest TEXT PRIMARY KEY, model TEXT NOT NULL, made REAL NOT NULL, "
    "state TEXT NOT NULL, since REAL NOT NULL, size INTEGER NOT NULL, file TEXT NOT NULL, id TEXT NOT NULL, "
    "status TEXT NOT NULL, done INTEGER NOT NULL, waits INTEGER NOT NULL) WITHOUT ROWID",
    # Lines with an answer to nothing that was written out here, as they came.
    "batch_strays": "CREATE TABLE batch_strays (id TEXT PRIMARY KEY, line TEXT NOT NULL, file TEXT NOT NULL, "
    "stored REAL NOT NULL) WITHOUT ROWID",
}
"""The statement that makes each of them, as SQLite lists it."""


ANSWERED = (
    "EXISTS (SELECT 1 FROM answers a WHERE a.key = batched.key "
    "AND a.stored > coalesce((SELECT made FROM batches WHERE digest = batched.batch), 0))"
)
"""SQL for a request whose answer has been stored since it was written out: it waits for nothing any more."""
WAITS = f"EXISTS (SELECT 1 FROM batched WHERE batch = batches.digest AND NOT {ANSWERED})"
"""SQL for a batch of which something has no answer yet."""


@dataclass(frozen=True)
class Written:
    """A request that was written out."""

    model: str
    """The digest of its model's settings."""
    request: str
    """Its canonical JSON, words by digest."""
    task: str
    batch: str
    """The digest of the batch that it is in; "" where it stands in a file of the user's."""


class Notes:
    """The batches of one cache file, read and written."""

    def __init__(self, store: Store) -> None:
        """Take the file as it is; nothing is made in it before there is something to note."""
        self.store = store

    @property
    def there(self) -> bool:
        return next(self.store.query("SELECT 1 FROM sqlite_master WHERE name = 'batch_strays'"), None) is not None

    def prepare(self) -> None:
        """Make the tables that the file lacks; forget what has been answered since it was written out."""
        with self.store.transaction() as db:
            there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            for name, statement in TABLES.items():
                if name not in there:
                    db.execute(statement)
            db.execute(f"DELETE FROM batched WHERE {ANSWERED}")
            db.execute("DELETE FROM batches WHERE digest NOT IN (SELECT batch FROM batched)")

    def add_model(self, digest: str, name: str, settings: str) -> None:
        """Note the settings by which replies to a model's requests are read."""
        with self.store.transaction() as db:
            db.execute("INSERT OR IGNORE INTO batch_models VALUES (?, ?, ?)", (digest, name, settings))

    def models(self) -> dict[str, tuple[str, str]]:
        rows = self.store.query("SELECT digest, name, settings FROM batch_models")
        return {digest: (name, settings) for digest, name, settings in rows}

    def write_out(
        self,
        model: str,
        task: str,
        requests: Iterable[tuple[str, Request]],
        batch: str = "",
        after: Callable[[sqlite3.Connection, int], None] = lambda db, count: None,
    ) -> list[str]:
        """Note requests with their keys; return the keys that are not in a batch already.

        Where there are any, `after` is called with their number in the same transaction.
        """
        new = []
        with self.store.transaction() as db:
            for key, request in requests:
                row = db.execute(f"SELECT batch FROM batched WHERE key = ? AND NOT {ANSWERED}", (key,)).fetchone()
                if row is not None and row[0]:
                    continue
                self.store.note_texts(db, {text_digest(text): text for text in words(request)})
                db.execute("REPLACE INTO batched VALUES (?, ?, ?, ?, ?)", (key, model, short(request), task, batch))
                new.append(key)
            if new:
                after(db, len(new))
        return new

    def written(self, key: str) -> Written | None:
        """Return the request of a key, if it was written out and has no answer yet."""
        row = next(
            self.store.query(f"SELECT model, request, task, batch FROM batched WHERE key = ? AND NOT {ANSWERED}", key),
            None,
        )
        return None if row is None else Written(*row)

    def request(self, written: Written) -> Request:
        """Return the request itself. Raises KeyError, TypeError or ValueError where its row or words are damaged."""
        return request_from_json(json.loads(written.request), self.store.text)

    def set_apart(self, lines: Iterable[tuple[str, str]], file: str) -> None:
        """Keep lines that answer nothing that was written out here."""
        rows = [(_utf8(name), _utf8(line), _utf8(file), time.time()) for name, line in lines]
        with self.store.transaction() as db:
            db.executemany("INSERT OR IGNORE INTO batch_strays VALUES (?, ?, ?, ?)", rows)

    def strays(self) -> Iterator[tuple[str, str]]:
        """Yield the lines that were set apart and answer what has been written out since, by key."""
        written_out = f"SELECT key FROM batched WHERE NOT {ANSWERED}"
        yield from self.store.query(f"SELECT id, line FROM batch_strays WHERE id IN ({written_out})")

    def take_back(self, keys: Iterable[str]) -> None:
        with self.store.transaction() as db:
            db.executemany("DELETE FROM batch_strays WHERE id = ?", [(key,) for key in keys])


def under_way(store: Store, name: str) -> str:
    """Return what to say of the open batches of a model, by its name, to who asks it call by call; "" for none."""
    if not Notes(store).there:
        return ""
    of_model = "model IN (SELECT digest FROM batch_models WHERE name = ?)"
    query = f"SELECT count(*), sum(size) FROM batches WHERE {of_model} AND {WAITS}"
    batches, requests = next(store.query(query, name))
    if not batches:
        return ""
    return (
        f"{requests:,} requests to {name} are in a batch under way, and this run does not wait for them: what it asks "
        "itself is paid for twice. model.batch=true collects them; `python -m harness.cache batches` shows them."
    )


def forget(db: sqlite3.Connection, keys: Iterable[str]) -> None:
    """Take requests off the lists, and batches of which nothing is left, inside a transaction."""
    db.executemany("DELETE FROM batched WHERE key = ?", [(key,) for key in keys])
    db.execute("DELETE FROM batches WHERE NOT EXISTS (SELECT 1 FROM batched WHERE batch = digest)")


def _utf8(text: str) -> str:
    """Return a text that SQLite takes: without halves of characters."""
    return text.encode(errors="replace").decode()
