"""The steps of each batch in the cache's file: prepared, uploaded, creating, created; its rows go when it is collected.

A step is written down before the next one is taken. So whoever finds a batch here, after whatever end of the process
that began it, knows what may have happened to it and goes on from there.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.plugins.batches.tables import ANSWERED, WAITS, Notes, forget
from harness.types import Request

Step = Literal["prepared", "uploaded", "creating", "created"]


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
    """The batches of one cache file."""

    def __init__(self, notes: Notes) -> None:
        self.notes, self.store = notes, notes.store

    def prepare(
        self, model: str, task: str, requests: Sequence[tuple[str, Request]], *, waits: bool = False
    ) -> Batch | None:
        """Write down a batch of those requests that are in none; None where all of them are."""
        now = time.time()
        # Not of the keys alone: what has failed goes out once more, and must not be taken for the batch that it was in.
        mark = hashlib.sha256("".join([*sorted(key for key, _ in requests), repr(now)]).encode()).hexdigest()[:32]
        new = self.notes.write_out(
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
        """Write down what a batch has come to."""
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
