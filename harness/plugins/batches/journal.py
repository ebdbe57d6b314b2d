"""What the cache's file knows of batches: their requests, the models that these are for, and how far each batch is.

Each step (prepared, uploaded, creating, created) is written down before it is taken: whoever finds a batch here, after
whatever end of the process that began it, knows what may have happened to it and goes on from there. The tables are
made when something is first written out: a cache that knows no batches is as it was.
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
from harness.protocols import Model
from harness.types import Request

Step = Literal["prepared", "uploaded", "creating", "created"]
_KINDS: dict[str, type[Endpoint]] = {"chat": Chat, "completions": Completions}
"""What is made of settings in a file, which may come from somebody else and names no code."""
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


@dataclass(frozen=True)
class Batch:
    """One batch as it is written down."""

    digest: str
    model: str
    """The digest of its model's settings."""
    made: float
    """Seconds since 1970."""
    step: Step
    since: float
    """When it came to that step."""
    size: int
    """Requests."""
    file: str
    """The server's name for its lines; "" before they are there."""
    id: str
    """The server's name for it; "" where none is known."""
    status: str
    """What the server last said of it."""
    done: int
    """Answered, as the server last counted."""
    waits: bool
    """It goes out only when no other batch of its model is under way."""


_COLUMNS = "digest, model, made, state, since, size, file, id, status, done, waits"


class Journal:
    """The batches of one cache file, read and written."""

    def __init__(self, store: Store) -> None:
        self.store = store

    @property
    def there(self) -> bool:
        return next(self.store.query("SELECT 1 FROM sqlite_master WHERE name = 'batch_strays'"), None) is not None

    def make_tables(self) -> None:
        """Make the tables that the file lacks; forget what has been answered since it was written out."""
        with self.store.transaction() as db:
            there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            for name, statement in TABLES.items():
                if name not in there:
                    db.execute(statement)
            db.execute(f"DELETE FROM batched WHERE {ANSWERED}")
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
        """Keep lines that answer no request of this cache."""
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

    def prepare(
        self, model: str, task: str, requests: Sequence[tuple[str, Request]], *, waits: bool = False
    ) -> Batch | None:
        """Write down a batch of those requests that are in none; None where all of them are."""
        now = time.time()
        # Not of the keys alone: what has failed goes out once more, and must not be taken for the batch that it was in.
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
        """Return a batch; None where it has been collected, or dropped."""
        return next(self._select("AND digest = ?", digest), None)

    def batches(self) -> list[Batch]:
        return list(self._select("ORDER BY made, digest"))

    def _select(self, where: str, *values: Any) -> Iterator[Batch]:
        for row in self.store.query(f"SELECT {_COLUMNS} FROM batches WHERE {WAITS} {where}", *values):
            *columns, waits = row
            yield Batch(*columns, waits=bool(waits))  # type: ignore[misc]

    def step(self, digest: str, step: Step, *, file: str | None = None, id: str | None = None) -> None:
        with self.store.transaction() as db:
            db.execute(
                "UPDATE batches SET state = ?, since = ?, file = coalesce(?, file), id = coalesce(?, id) "
                "WHERE digest = ?",
                (step, time.time(), file, id, digest),
            )

    def heard(self, digest: str, status: str, done: int) -> None:
        """Write down what the server says of a batch, for people."""
        with self.store.transaction() as db:
            db.execute("UPDATE batches SET status = ?, done = ? WHERE digest = ?", (status[:100], done, digest))

    def keys(self, digest: str) -> list[str]:
        """Return the keys of a batch's requests that have no answer yet, in order."""
        query = f"SELECT key FROM batched WHERE batch = ? AND NOT {ANSWERED} ORDER BY key"
        return [key for (key,) in self.store.query(query, digest)]

    def drop(self, digest: str) -> None:
        """Forget a batch and those of its requests that have no answer: they may be asked again."""
        with self.store.transaction() as db:
            db.execute("DELETE FROM batched WHERE batch = ?", (digest,))
            db.execute("DELETE FROM batches WHERE digest = ?", (digest,))
            # Settings stay as long as something refers to them.
            db.execute(
                "DELETE FROM batch_models WHERE digest NOT IN (SELECT model FROM batches) "
                "AND digest NOT IN (SELECT model FROM batched)"
            )

    def release(self, keys: Iterable[str]) -> None:
        """Take requests that got no answer out of their batch: they may be asked again."""
        with self.store.transaction() as db:
            forget(db, keys)

    def halve(self, batch: Batch) -> None:
        """Put two batches in the place of one that was too large for its server; they go out one by one."""
        keys = self.keys(batch.digest)
        half, now = len(keys) // 2, time.time()
        with self.store.transaction() as db:
            for part in (keys[:half], keys[half:]):
                mark = hashlib.sha256("".join([*part, repr(now)]).encode()).hexdigest()[:32]
                self._insert(db, mark, batch.model, now, len(part), True)
                db.executemany("UPDATE batched SET batch = ? WHERE key = ?", [(mark, key) for key in part])
            db.execute("DELETE FROM batches WHERE digest = ?", (batch.digest,))


def in_words(batches: Iterable[Batch], now: float) -> str:
    """Return how many batches there are, of how many requests, and how old the oldest is."""
    rows = list(batches)
    if not rows:
        return "no batch is under way"
    seconds = max(0.0, now - min(batch.made for batch in rows))
    age = f"{seconds / 3600:.0f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"
    size = sum(batch.size for batch in rows)
    if len(rows) == 1:
        return f"1 batch of {size:,} requests is under way ({age} old)"
    return f"{len(rows)} batches of {size:,} requests are under way (oldest {age})"


def under_way(store: Store, name: str) -> str:
    """Return what to say of the open batches of a model, by its name, to who asks it call by call; "" for none."""
    if not Journal(store).there:
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


def endpoint_of(model: Model) -> Endpoint:
    """Return a model as an endpoint. Raises ConfigError where it is no model of an API."""
    if not isinstance(model, Endpoint):
        raise ConfigError(
            f"model={model.name} is asked on this machine: batches are lines for the server of an API model "
            "(model=openai model.model=…, gpt4, …)."
        )
    return model


def noted(endpoint: Endpoint) -> tuple[str, str]:
    """Return the settings of an endpoint as JSON, without any key, and their digest. Raises ConfigError."""
    kind = next((name for name, target in _KINDS.items() if type(endpoint) is target), None)
    if kind is None:
        raise ConfigError(
            f"model={endpoint.name} is of a class of its own ({type(endpoint).__name__}): a batch is read by those of "
            "harness.models.api.openai, Chat and Completions."
        )
    content = canonical({"kind": kind, "settings": asdict(endpoint)})
    return text_digest(content), content


def made_again(content: str) -> Endpoint:
    """Return the endpoint of noted settings. Raises DataError where they are not those of one."""
    try:
        noted_settings: Any = json.loads(content)
        target = _KINDS[noted_settings["kind"]]
        known = {f.name for f in fields(target)}
        settings = {name: value for name, value in noted_settings["settings"].items() if name in known}
        endpoint: Endpoint = TypeAdapter(target, config=None).validate_python(settings)
    except (ValueError, TypeError, KeyError, AttributeError, ValidationError, HarnessError) as error:
        raise DataError(
            f"the settings of a model that stand beside its batches cannot be used ({str(error).splitlines()[0]}): "
            "give model=… and task=… with the command."
        ) from None
    return endpoint
