"""The SQLite file: answers by key, what each key was made of, and the words of every message once."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from harness.cache import schema
from harness.cache.schema import UNREADABLE, digest_of, response_of
from harness.codec import canonical, digest, response_json, short, text_digest, words
from harness.errors import StoreError
from harness.types import JSON, Request, Response

_ROW = "SELECT response, digest FROM answers WHERE key = ? AND stored >= ?"


class Store:
    """One connection; several processes of one machine may share the file."""

    def __init__(self, path: Path, *, readonly: bool = False, alone: bool = False) -> None:
        """Open the file, and make it unless `readonly`. Raises StoreError where that cannot be done.

        `alone`: no other process opens it meanwhile, so that it may lie on a disk of several machines.
        """
        self.path = path
        self.replaced = 0
        """Rows that could not be read, in whose place an answer of this process stands now."""
        if not readonly and not alone and (kind := schema.network_file_system(path)):
            raise StoreError(
                f"the cache {path} lies on {kind}, where processes cannot share a database safely: put it on a local "
                "disk (cache.path=…), and bring it home with harness cache import."
            )
        if readonly and not path.exists():
            raise StoreError(f"there is no cache {path}: give the cache.path that runs wrote to.")
        try:
            self.connection = self._open(schema.for_reading if readonly else partial(schema.for_writing, alone=alone))
            """For bulk reads; `trouble` turns its errors into sentences."""
        except (sqlite3.Error, OSError) as error:
            raise self.trouble(error) from error

    def _open(self, connect: Callable[[Path], sqlite3.Connection]) -> sqlite3.Connection:
        """Open the file, again and again while another process holds it."""
        until = time.monotonic() + schema.WAIT
        while True:
            try:
                return connect(self.path)
            except (sqlite3.Error, OSError) as error:
                # Of several processes that open a new file at once, SQLite tells all but one "locked" without waiting.
                if not schema.is_locked(error) or time.monotonic() > until:
                    raise
            time.sleep(random.uniform(0.01, 0.1))

    def get(self, key: str, *, since: float = 0.0) -> Response | None:
        """Return the stored response, marked as cached; None where it is older than `since`, in seconds since 1970.

        A row that is not what was stored counts as missing: the next answer takes its place.
        """
        for row in self.query(_ROW, key, since):
            with suppress(ValueError):
                return response_of(key, *row)
        return None

    def holds(self, key: str) -> bool:
        """Return whether there is an answer with this key, readable or not."""
        return any(True for _ in self.query(_ROW, key, 0.0))

    def put(
        self,
        identity: Mapping[str, JSON],
        answers: Sequence[tuple[str, Request, Response]],
        *,
        name: str = "",
        task: str = "",
        replace: bool = False,
    ) -> dict[str, Response]:
        """Store one model's responses by their keys; when this returns, a killed process does not lose them.

        What another process has stored meanwhile stays (unless `replace`), and is returned: a run that hands that out
        can be replayed from the cache. Raises ValueError where a response is no JSON.
        """
        who, now, name, task = digest(identity), time.time(), _utf8(name), _utf8(task)
        texts = {text_digest(text): text for _, request, _ in answers for text in words(request)}
        rows = []
        for key, request, response in answers:
            response_text = canonical(response_json(response))
            rows.append((key, who, short(request), response_text, now, task, digest_of(key, response_text)))
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", (who, canonical(identity), name))
            self.note_texts(db, texts)
            sooner = self.insert(db, rows, replace=replace)
        mine = {key: response for key, _, response in answers}
        return {key: there for key, there in sooner.items() if response_json(there) != response_json(mine[key])}

    def insert(
        self, db: sqlite3.Connection, rows: Sequence[tuple[Any, ...]], *, replace: bool = False
    ) -> dict[str, Response]:
        """Add rows of answers, inside a transaction. One that is there and can be read stays, unless `replace`.

        Return the answers that are there now; none where all of the rows are new.
        """
        verb = "REPLACE" if replace else "IGNORE"
        insert = f"INSERT OR {verb} INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)"
        if db.executemany(insert, rows).rowcount == len(rows):
            return {}
        readable: dict[str, Response] = {}
        for row in rows:
            if (there := self.get(row[0])) is None:
                db.execute("REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                self.replaced += 1
            else:
                readable[row[0]] = there
        return readable

    def note_texts(self, db: sqlite3.Connection, texts: Mapping[str, str]) -> None:
        """Add the texts, by their digests, that are not stored yet, inside a transaction."""
        rows = [(name, _storable(text)) for name, text in texts.items()]
        db.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", rows)

    def text(self, digest: str) -> str:
        """Return the text of a digest. Raises KeyError where it is not there, or is another one."""
        for (stored,) in self.query("SELECT text FROM texts WHERE digest = ?", digest):
            with suppress(*UNREADABLE):
                if text_digest(text := text_of(stored)) == digest:
                    return text
        raise KeyError(digest)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one transaction: all of it is written or nothing."""
        db = self.connection
        try:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise self.trouble(error) from error
        finally:
            # False after COMMIT, and where SQLite has rolled back by itself on a full disk.
            if db.in_transaction:
                db.rollback()

    def query(self, statement: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a SELECT."""
        try:
            yield from self.connection.execute(statement, parameters)
        except sqlite3.Error as error:
            raise self.trouble(error) from error

    def count(self, table: str = "answers") -> int:
        """Return the number of answers, or of the rows of another table."""
        return int(next(self.query(f"SELECT count(*) FROM {table}"))[0])

    def close(self) -> None:
        """Close the file, which folds in the write-ahead log."""
        self.connection.close()

    def trouble(self, error: Exception) -> StoreError:
        """Return the error for what SQLite or the file system has raised. Nothing is asked beside a damaged file."""
        what = str(error)
        if schema.is_damage(error):
            return StoreError(
                f"{self.path} is damaged, or is no cache ({what}), and is left as it is: choose another cache.path, or "
                f"move it away with its -wal. `sqlite3 {self.path} .recover | sqlite3 NEW.sqlite` reads back what can "
                "be read, and `harness cache import NEW.sqlite` takes it in."
            )
        if schema.is_locked(error):
            advice = "another process has kept it locked for half a minute: wait for it or choose another cache.path"
        elif "full" in what:
            advice = "make room and start again: every answer stored so far is kept"
        else:
            advice = "make it readable and writable on a local disk, or choose another cache.path"
        return StoreError(f"the cache {self.path} cannot be used ({what}): {advice}.")


def _utf8(name: str) -> str:
    return name.encode(errors="replace").decode()


def _storable(text: str) -> str | bytes:
    """Return a text as SQLite takes it: as bytes where it holds half an emoji, which is no UTF-8."""
    return (
        text if text.isascii() or text.encode(errors="ignore").decode() == text else text.encode(errors="surrogatepass")
    )


def text_of(stored: str | bytes) -> str:
    """Return a text as it was before it was stored."""
    return stored if isinstance(stored, str) else stored.decode(errors="surrogatepass")
