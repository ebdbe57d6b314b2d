"""The journal of batches in a cache file: their requests, the models they are for, and the step each has reached.

Each step (prepared, uploaded, creating, created) is written before it is taken, so that after a kill at any moment the
next process knows what may have happened and continues from there. The tables are created with the first batch.

A request is unsent until its batch is `creating`, possibly billed from then on, and leaves the journal by its answer or
by a proof (PROOFS) that it will not be billed by this batch any more.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from harness.cache.store import Store
from harness.codec import canonical, request_from_json, short, text_digest, words
from harness.errors import ConfigError, DataError, HarnessError
from harness.models.api.endpoint import Endpoint
from harness.models.api.openai import Chat, Completions
from harness.types import Request

Step = Literal["prepared", "uploaded", "creating", "created"]
NEXT: dict[Step, tuple[Step, ...]] = {
    "prepared": ("uploaded", "creating"),
    "uploaded": ("creating",),
    "creating": ("creating", "created"),
    "created": ("created",),  # two processes may find it
}
"""No step leads back from `creating`: the server's list says whether there is a batch before another is asked for."""
Proof = Literal["unsent", "unlisted", "answered", "failed line", "server's count", "failed whole", "forgotten"]
PROOFS: dict[Proof, tuple[Step, ...]] = {
    "unsent": ("prepared", "uploaded"),
    "unlisted": ("creating",),  # by the server's list, once the batch must have appeared in it
    "answered": ("created",),
    "failed line": ("created",),  # a line of its files says that the request was not answered
    "server's count": ("created",),  # every request that the server counts as answered has been read
    "failed whole": ("created",),  # the server's word, and it counts nothing as answered
    "forgotten": ("prepared", "uploaded", "creating", "created"),  # by the user
}
"""What takes a request out of its batch, so that it may be asked again, and at which steps."""
_KINDS: dict[str, type[Endpoint]] = {"chat": Chat, "completions": Completions}
"""The only classes built from settings in a file: it may be somebody else's, and must not name code to run."""
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
    # The server's ids for all batches that were ever sent: none of them is the one whose making was not heard of.
    "batch_ids": "CREATE TABLE batch_ids (id TEXT PRIMARY KEY) WITHOUT ROWID",
    # Lines with an answer to nothing that was written out here, as they came.
    "batch_strays": "CREATE TABLE batch_strays (id TEXT PRIMARY KEY, line TEXT NOT NULL, file TEXT NOT NULL, "
    "stored REAL NOT NULL) WITHOUT ROWID",
}
"""The statement that makes each of them, as SQLite lists it."""


ANSWERED = (
    "EXISTS (SELECT 1 FROM answers a WHERE a.key = batched.key "
    "AND a.stored > coalesce((SELECT made FROM batches WHERE digest = batched.batch), 0))"
)
"""SQL for a request whose answer has been stored since it was written out."""
WAITS = f"EXISTS (SELECT 1 FROM batched WHERE batch = batches.digest AND NOT {ANSWERED})"
"""SQL for a batch with an unanswered request."""


@dataclass(frozen=True)
class Written:
    """A request that was written out."""

    model: str
    """The digest of its model's settings."""
    request: str
    """Its canonical JSON, words by digest."""
    task: str
    batch: str
    """The digest of its batch; "" if it was written to a file of the user's."""


@dataclass(frozen=True)
class Batch:
    """A batch in the journal."""

    digest: str
    model: str
    """The digest of its model's settings."""
    created: float
    """Seconds since 1970."""
    step: Step
    since: float
    """When it reached that step."""
    size: int
    """Requests."""
    file: str
    """The server's id for its uploaded lines; "" before the upload."""
    id: str
    """The server's id for it; "" if unknown."""
    status: str
    """Its state when the server was last asked."""
    done: int
    """Answered by the server's last count."""
    waits: bool
    """Whether it is sent only once no other batch of its model is under way."""


_COLUMNS = "digest, model, made, state, since, size, file, id, status, done, waits"


class Journal:
    """The batches of one cache file, read and written."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def there(self) -> bool:
        return next(self.store.query("SELECT 1 FROM sqlite_master WHERE name = 'batch_strays'"), None) is not None

    def make_tables(self) -> None:
        """Create missing tables; remove requests that have been answered since they were written out."""
        with self.store.transaction() as db:
            there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            for name, statement in TABLES.items():
                if name not in there:
                    db.execute(statement)
            db.execute(f"DELETE FROM batched WHERE {ANSWERED}")
            db.execute("UPDATE batches SET state = 'creating' WHERE state = 'created' AND id = ''")
            db.execute("DELETE FROM batches WHERE digest NOT IN (SELECT batch FROM batched)")

    def add_model(self, digest: str, name: str, settings: str) -> None:
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
        """Write requests with their keys; return the keys that were not in a batch already.

        If there are any, `after` is called with their number, in the same transaction.
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
        """Return the unanswered request of a key, if it was written out."""
        row = next(
            self.store.query(f"SELECT model, request, task, batch FROM batched WHERE key = ? AND NOT {ANSWERED}", key),
            None,
        )
        return None if row is None else Written(*row)

    def request(self, written: Written) -> Request:
        """Return the request itself. Raises KeyError, TypeError or ValueError if its row or words are damaged."""
        return request_from_json(json.loads(written.request), self.store.text)

    def set_apart(self, lines: Iterable[tuple[str, str]], file: str) -> None:
        """Keep lines that answer no request of this cache."""
        rows = [(_utf8(name), _utf8(line), _utf8(file), time.time()) for name, line in lines]
        with self.store.transaction() as db:
            db.executemany("INSERT OR IGNORE INTO batch_strays VALUES (?, ?, ?, ?)", rows)

    def strays(self) -> Iterator[tuple[str, str]]:
        """Yield the lines, by key, that were set apart and whose request has been written out since."""
        written_out = f"SELECT key FROM batched WHERE NOT {ANSWERED}"
        yield from self.store.query(f"SELECT id, line FROM batch_strays WHERE id IN ({written_out})")

    def take_back(self, keys: Iterable[str]) -> None:
        with self.store.transaction() as db:
            db.executemany("DELETE FROM batch_strays WHERE id = ?", [(key,) for key in keys])

    def prepare(
        self, model: str, task: str, requests: Sequence[tuple[str, Request]], *, waits: bool = False
    ) -> Batch | None:
        """Add a batch of those requests that are in no batch yet; return None if all of them are."""
        now = time.time()
        # Not of the keys alone: requests that failed are sent once more, in a batch that must differ from their first.
        mark = hashlib.sha256("".join([*sorted(key for key, _ in requests), repr(now)]).encode()).hexdigest()[:32]
        new = self.write_out(
            model, task, requests, mark, lambda db, size: self._insert(db, mark, model, now, size, waits)
        )
        return self.batch(mark) if new else None

    @staticmethod
    def _insert(db: Any, mark: str, model: str, now: float, size: int, waits: bool) -> None:
        row = (mark, model, now, "prepared", now, size, "", "", "", 0, int(waits))
        db.execute(f"INSERT INTO batches ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def batch(self, digest: str) -> Batch | None:
        """Return a batch; None if it has been collected or dropped."""
        return next(self._select("AND digest = ?", digest), None)

    def batches(self) -> list[Batch]:
        return list(self._select("ORDER BY made, digest"))

    def _select(self, where: str, *values: Any) -> Iterator[Batch]:
        for row in self.store.query(f"SELECT {_COLUMNS} FROM batches WHERE {WAITS} {where}", *values):
            *columns, waits = row
            yield Batch(*columns, waits=bool(waits))  # type: ignore[misc]

    def step(self, digest: str, step: Step, *, file: str | None = None, id: str | None = None) -> None:
        with self.store.transaction() as db:
            for (last,) in db.execute("SELECT state FROM batches WHERE digest = ?", (digest,)):
                assert step in NEXT[last], (last, step)
            if id is not None:
                if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'batch_ids'").fetchone() is None:
                    db.execute(TABLES["batch_ids"])
                db.execute("INSERT OR IGNORE INTO batch_ids VALUES (?)", (id,))
            db.execute(
                "UPDATE batches SET state = ?, since = ?, file = coalesce(?, file), id = coalesce(?, id) "
                "WHERE digest = ?",
                (step, time.time(), file, id, digest),
            )

    def note_status(self, digest: str, status: str, done: int) -> None:
        """Write the server's state of a batch, for display."""
        with self.store.transaction() as db:
            db.execute("UPDATE batches SET status = ?, done = ? WHERE digest = ?", (status[:100], done, digest))

    def keys(self, digest: str) -> list[str]:
        """Return the keys of a batch's requests that have no answer yet, in order."""
        query = f"SELECT key FROM batched WHERE batch = ? AND NOT {ANSWERED} ORDER BY key"
        return [key for (key,) in self.store.query(query, digest)]

    def drop(self, digest: str, proof: Proof) -> None:
        """Remove a batch with its unanswered requests, which may then be asked again."""
        with self.store.transaction() as db:
            self._check(db, digest, proof)
            db.execute("DELETE FROM batched WHERE batch = ?", (digest,))
            db.execute("DELETE FROM batches WHERE digest = ?", (digest,))
            # Settings of models stay as long as something refers to them.
            db.execute(
                "DELETE FROM batch_models WHERE digest NOT IN (SELECT model FROM batches) "
                "AND digest NOT IN (SELECT model FROM batched)"
            )

    def release(self, digest: str, keys: Iterable[str], proof: Proof) -> None:
        """Take requests out of their batch, so that they may be asked again, or have been answered."""
        with self.store.transaction() as db:
            self._check(db, digest, proof)
            forget(db, keys)

    @staticmethod
    def _check(db: sqlite3.Connection, digest: str, proof: Proof) -> None:
        for (step,) in db.execute("SELECT state FROM batches WHERE digest = ?", (digest,)):
            assert step in PROOFS[proof], (step, proof)

    def ids(self) -> frozenset[str]:
        """Return the server's ids for all batches that were sent from this cache."""
        there = next(self.store.query("SELECT 1 FROM sqlite_master WHERE name = 'batch_ids'"), None)
        ended = {id for (id,) in self.store.query("SELECT id FROM batch_ids")} if there else set()
        return frozenset(ended | {batch.id for batch in self.batches() if batch.id})

    def stored(self, key: str) -> bool:
        """Return whether the cache has an answer with this key."""
        return self.store.holds(key)

    def halve(self, batch: Batch) -> None:
        """Replace a batch that was too large for its server by two, which are sent one after the other."""
        keys = self.keys(batch.digest)
        half, now = len(keys) // 2, time.time()
        with self.store.transaction() as db:
            for part in (keys[:half], keys[half:]):
                mark = hashlib.sha256("".join([*part, repr(now)]).encode()).hexdigest()[:32]
                self._insert(db, mark, batch.model, now, len(part), True)
                db.executemany("UPDATE batched SET batch = ? WHERE key = ?", [(mark, key) for key in part])
            db.execute("DELETE FROM batches WHERE digest = ?", (batch.digest,))


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
        "itself is paid for twice. model.batch=true collects them; `harness cache batches` shows them."
    )


def forget(db: sqlite3.Connection, keys: Iterable[str]) -> None:
    """Remove requests, and batches that are then empty, inside a transaction."""
    db.executemany("DELETE FROM batched WHERE key = ?", [(key,) for key in keys])
    db.execute("DELETE FROM batches WHERE NOT EXISTS (SELECT 1 FROM batched WHERE batch = digest)")


def _utf8(text: str) -> str:
    """Return a text without lone surrogates, which SQLite refuses."""
    return text.encode(errors="replace").decode()


def settings_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return the settings of an endpoint as JSON, without any key, and their digest. Raises ConfigError."""
    kind = next((name for name, target in _KINDS.items() if type(endpoint) is target), None)
    if kind is None:
        raise ConfigError(
            f"model={endpoint.name} is of a class of its own ({type(endpoint).__name__}): a batch is read by those of "
            "harness.models.api.openai, Chat and Completions."
        )
    content = canonical({"kind": kind, "settings": asdict(endpoint)})
    return text_digest(content), content


def endpoint_from_settings(content: str) -> Endpoint:
    """Return the endpoint of settings in the journal. Raises DataError if they are not those of an endpoint."""
    try:
        content_object: Any = json.loads(content)
        target = _KINDS[content_object["kind"]]
        known = {f.name for f in fields(target)}
        settings = {name: value for name, value in content_object["settings"].items() if name in known}
        endpoint: Endpoint = TypeAdapter(target, config=None).validate_python(settings)
    except (ValueError, TypeError, KeyError, AttributeError, ValidationError, HarnessError) as error:
        raise DataError(
            f"the settings of a model that stand beside its batches cannot be used ({str(error).splitlines()[0]}): "
            "give model=… and task=… with the command."
        ) from None
    return endpoint
