"""The journal of batches in a cache file: their requests, the models they are for, and the step each has reached.

Each step (prepared, uploaded, creating, created) is written before it is taken, so that after a kill at any moment the
next process knows what may have happened and continues from there. The tables are created with the first batch.

A request is unsent until its batch is `creating`, possibly billed from then on. It leaves the journal by its answer, or
by a proof that this batch will not bill it any more: a line that says so, the server's count, its word for the whole
batch, a list in which the batch must have appeared; or by the user's word (forget).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.cache.store import Store
from harness.codec import digest, request_from_json, short, text_digest, words
from harness.models.api.endpoint import Endpoint
from harness.types import Request

Step = Literal["prepared", "uploaded", "creating", "created"]
TABLES = (
    "batch_models (digest TEXT PRIMARY KEY, name TEXT NOT NULL, settings TEXT NOT NULL)",
    # A request that is in a batch, by the key of its answer.
    "batched (key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, task TEXT NOT NULL, "
    "batch TEXT NOT NULL)",
    "batches (digest TEXT PRIMARY KEY, model TEXT NOT NULL, made REAL NOT NULL, state TEXT NOT NULL, "
    "since REAL NOT NULL, size INTEGER NOT NULL, file TEXT NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, "
    "done INTEGER NOT NULL, waits INTEGER NOT NULL)",
    # The server's ids for all batches that were ever sent: none of them is the one whose making was not heard of.
    "batch_ids (id TEXT PRIMARY KEY)",
)
ANSWERED = (
    "EXISTS (SELECT 1 FROM answers a WHERE a.key = batched.key "
    "AND a.stored > coalesce((SELECT made FROM batches WHERE digest = batched.batch), 0))"
)
"""SQL for a request whose answer has been stored since it was written out."""
WAITS = f"EXISTS (SELECT 1 FROM batched WHERE batch = batches.digest AND NOT {ANSWERED})"
"""SQL for a batch with an unanswered request."""


@dataclass(frozen=True)
class Batch:
    """A batch in the journal, with the step that it has reached, and since when (in seconds since 1970).

    `model` is the digest of its model's identity; `file` and `id` are the server's names for its uploaded lines and for
    itself, "" while unknown; `status` and `done` are what the server said last.
    """

    digest: str
    model: str
    created: float
    step: Step
    since: float
    size: int
    file: str
    id: str
    status: str
    done: int


_COLUMNS = "digest, model, made, state, since, size, file, id, status, done"


class Journal:
    """The batches of one cache file, read and written."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def there(self) -> bool:
        return next(self.store.query("SELECT 1 FROM sqlite_master WHERE name = 'batches'"), None) is not None

    def make_tables(self) -> None:
        """Create missing tables; remove requests that have been answered since they were written out."""
        with self.store.transaction() as db:
            for table in TABLES:
                db.execute(f"CREATE TABLE IF NOT EXISTS {table} WITHOUT ROWID")
            db.execute("CREATE INDEX IF NOT EXISTS batched_in ON batched (batch)")
            db.execute(f"DELETE FROM batched WHERE {ANSWERED}")
            db.execute("DELETE FROM batches WHERE digest NOT IN (SELECT batch FROM batched)")

    def batch_of(self, key: str) -> str:
        """Return the batch that holds an unanswered request; "" for one in no batch."""
        return self._column("batch", key)

    def task(self, key: str) -> str:
        return self._column("task", key)

    def request(self, key: str) -> Request | None:
        """Return an unanswered request in a batch. Raises KeyError or ValueError if its row or words are damaged."""
        text = self._column("request", key)
        return request_from_json(json.loads(text), self.store.text) if text else None

    def _column(self, name: str, key: str) -> str:
        rows = self.store.query(f"SELECT {name} FROM batched WHERE key = ? AND NOT {ANSWERED}", key)
        return str(next(rows, ("",))[0])

    def prepare(self, endpoint: Endpoint, task: str, requests: Sequence[tuple[str, Request]]) -> Batch | None:
        """Add a batch of those requests that are in no batch yet; return None if all of them are."""
        now, model, size = time.time(), digest(dict(endpoint.identity)), 0
        # Not of the keys alone: requests that failed are sent once more, in a batch that must differ from their first.
        mark = hashlib.sha256("".join([*sorted(key for key, _ in requests), repr(now)]).encode()).hexdigest()[:32]
        with self.store.transaction() as db:
            db.execute("INSERT OR IGNORE INTO batch_models VALUES (?, ?, '')", (model, endpoint.name))
            for key, request in requests:
                if not self.batch_of(key):
                    self.store.note_texts(db, {text_digest(text): text for text in words(request)})
                    db.execute("REPLACE INTO batched VALUES (?, ?, ?, ?, ?)", (key, model, short(request), task, mark))
                    size += 1
            if size:
                row = (mark, model, now, "prepared", now, size, "", "", "", 0, 0)
                db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return self.batch(mark)

    def batch(self, digest: str) -> Batch | None:
        """Return a batch; None if it has been collected or dropped."""
        return next(self._select("AND digest = ?", digest), None)

    def batches(self) -> list[Batch]:
        return list(self._select("ORDER BY made, digest"))

    def _select(self, where: str, *values: Any) -> Iterator[Batch]:
        for row in self.store.query(f"SELECT {_COLUMNS} FROM batches WHERE {WAITS} {where}", *values):
            yield Batch(*row)

    def step(self, digest: str, step: Step, *, file: str | None = None, id: str | None = None) -> None:
        with self.store.transaction() as db:
            if id is not None:
                db.execute("INSERT OR IGNORE INTO batch_ids VALUES (?)", (id,))
            db.execute(
                "UPDATE batches SET state = ?, since = ?, file = coalesce(?, file), id = coalesce(?, id) "
                "WHERE digest = ?",
                (step, time.time(), file, id, digest),
            )

    def note_status(self, digest: str, status: str, done: int) -> None:
        with self.store.transaction() as db:
            db.execute("UPDATE batches SET status = ?, done = ? WHERE digest = ?", (status[:100], done, digest))

    def keys(self, digest: str) -> list[str]:
        """Return the keys of a batch's requests that have no answer yet, in order."""
        query = f"SELECT key FROM batched WHERE batch = ? AND NOT {ANSWERED} ORDER BY key"
        return [key for (key,) in self.store.query(query, digest)]

    def drop(self, digest: str) -> None:
        """Remove a batch with its unanswered requests, which may then be asked again."""
        with self.store.transaction() as db:
            db.execute("DELETE FROM batched WHERE batch = ?", (digest,))
            db.execute("DELETE FROM batches WHERE digest = ?", (digest,))

    def release(self, keys: Iterable[str]) -> None:
        """Take requests out of their batch, so that they may be asked again, or have been answered."""
        with self.store.transaction() as db:
            db.executemany("DELETE FROM batched WHERE key = ?", [(key,) for key in keys])
            db.execute("DELETE FROM batches WHERE NOT EXISTS (SELECT 1 FROM batched WHERE batch = digest)")

    def ids(self) -> frozenset[str]:
        """Return the server's ids for all batches that were sent from this cache."""
        return frozenset(id for (id,) in self.store.query("SELECT id FROM batch_ids"))


def under_way(store: Store, name: str) -> str:
    """Return a notice for a run that asks a model call by call while batches of it are open; "" without any."""
    if not Journal(store).there:
        return ""
    of_model = "model IN (SELECT digest FROM batch_models WHERE name = ?)"
    query = f"SELECT count(*), sum(size) FROM batches WHERE {of_model} AND {WAITS}"
    batches, requests = next(store.query(query, name))
    if not batches:
        return ""
    return (
        f"{requests:,} requests to {name} are in a batch under way, and this run does not wait for them: what it asks "
        "itself is paid for twice. model.batch=true collects them; `harness batches` shows them."
    )
