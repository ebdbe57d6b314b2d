"""The SQLite file: answers by key, what each key was made of, and the words of every message once."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.cache import schema
from harness.cache.network import network_file_system
from harness.cache.schema import UNREADABLE, digest_of, response_of, utf8
from harness.codec import canonical, digest, response_json, short, text_digest, words
from harness.errors import StoreError
from harness.types import JSON, Request, Response

_LONG = 4096
"""Characters from which on a text is looked up before it is inserted: a network's data would otherwise be handed to
SQLite again with each of its questions."""
LISTED = "(SELECT value FROM json_each(?))"
"""SQL for the texts of a list, which is JSON."""
_ROW = "SELECT response, digest, rowid FROM answers WHERE key = ? AND stored >= ?"


class Store:
    """One connection; several processes of one machine may share the file."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        """Open the file, and make it unless `readonly`. Raises StoreError where that cannot be done."""
        self.path = path
        self._readonly = readonly
        self.replaced = 0
        """Rows that could not be read, in whose place an answer of this process stands now."""
        if kind := network_file_system(path):
            raise StoreError(
                f"the cache {path} lies on {kind}, where processes cannot share a database safely: put it on a local "
                "disk (cache.path=…), and bring it home with harness cache import."
            )
        if readonly and not path.exists():
            raise StoreError(f"there is no cache {self.path}: give the cache.path that runs wrote to.")
        # The log first: a file that is being made has content before it has a log. SQLite would delete such a log.
        if not readonly and _size(Path(f"{path}-wal")) and not _size(path):
            raise schema.damaged(path, "its log is there, its content is not")
        self._db: sqlite3.Connection | None = None
        self._place: tuple[int, int] | None = None
        """Which file is open, by device and number."""
        try:
            self._open_in_turn()
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise self.trouble(error) from error

    def _open_in_turn(self) -> None:
        """Open the file, again and again while another process holds it."""
        until = time.monotonic() + schema.WAIT
        while True:
            try:
                return self._open()
            except (sqlite3.Error, OSError) as error:
                # Of several processes that open a new file at once, SQLite tells all but one "locked" without waiting.
                if not schema.is_locked(error) or time.monotonic() > until:
                    raise
            time.sleep(random.uniform(0.01, 0.1))

    def get(self, key: str, *, since: float = 0.0) -> Response | None:
        """Return the stored response, marked as cached; None where it is older than `since`, in seconds since 1970.

        A row that is not what was stored counts as missing: the next answer takes its place.
        """
        if (row := self._row(key, since)) is None:
            return None
        try:
            return response_of(key, *row[:2])
        except ValueError:
            return None

    def damaged(self, key: str) -> bool:
        """Return whether the key has a row that counts as missing because it cannot be read."""
        return self.get(key) is None and self._row(key, 0.0) is not None

    def _row(self, key: str, since: float) -> tuple[Any, ...] | None:
        """Return the response of a key, its digest and the number of its row."""
        try:
            row: tuple[Any, ...] | None = self._at.execute(_ROW, (key, since)).fetchone()
        except sqlite3.Error as error:
            raise self.trouble(error) from error
        return row

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
        who, now, name, task = digest(identity), time.time(), utf8(name), utf8(task)
        texts = {text_digest(text): text for _, request, _ in answers for text in words(request)}
        rows = []
        for key, request, response in answers:
            response_text = canonical(response_json(response))
            rows.append((key, who, short(request), response_text, now, task, digest_of(key, response_text)))
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", (who, canonical(identity), name))
            self.note_texts(db, texts)
            verb = "REPLACE" if replace else "IGNORE"
            stored = db.executemany(f"INSERT OR {verb} INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", rows).rowcount
            sooner = self._sooner(db, rows) if stored < len(rows) else {}
        mine = {key: response for key, _, response in answers}
        return {key: there for key, there in sooner.items() if response_json(there) != response_json(mine[key])}

    def _sooner(self, db: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> dict[str, Response]:
        """Replace rows that cannot be read; return the readable ones, which stay."""
        readable: dict[str, Response] = {}
        for row in rows:
            if (there := self.get(row[0])) is None:
                db.execute("REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                self.replaced += 1
            else:
                readable[row[0]] = there
        return readable

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one transaction: all of it is written or nothing."""
        if _file_at(self.path) != self._place:
            raise StoreError(
                f"the cache {self.path} was moved, removed or replaced while it was in use: put it back where it was, "
                "and start again."
            )
        db = self._at
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
            yield from self._at.execute(statement, parameters)
        except sqlite3.Error as error:
            raise self.trouble(error) from error

    def holds(self, key: str) -> bool:
        """Return whether there is an answer with this key, readable or not."""
        return self._row(key, 0.0) is not None

    def count(self) -> int:
        """Return the number of answers."""
        return int(next(self.query("SELECT count(*) FROM answers"))[0])

    def count_texts(self) -> int:
        return int(next(self.query("SELECT count(*) FROM texts"))[0])

    def known_texts(self, names: Iterable[str]) -> set[str]:
        """Return those of these digests whose text is there."""
        known = self.query(f"SELECT digest FROM texts WHERE digest IN {LISTED}", json.dumps(list(names)))
        return {name for (name,) in known}

    def has_text(self, digest: str) -> bool:
        return next(self.query("SELECT 1 FROM texts WHERE digest = ?", digest), None) is not None

    def note_texts(self, db: sqlite3.Connection, texts: Mapping[str, str]) -> None:
        """Add the texts, by their digests, that are not stored yet, inside a transaction."""
        store_texts(db, texts)

    def text(self, digest: str) -> str:
        """Return the text of a digest. Raises KeyError where it is not there, or is another one."""
        for (stored,) in self.query("SELECT text FROM texts WHERE digest = ?", digest):
            with suppress(*UNREADABLE):
                if text_digest(text := text_of(stored)) == digest:
                    return text
        raise KeyError(digest)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection itself, for bulk reads; `trouble` turns its errors into sentences."""
        return self._at

    def close(self) -> None:
        """Close the file, which folds in the write-ahead log."""
        if self._db is not None:
            self._db.close()

    @property
    def _at(self) -> sqlite3.Connection:
        assert self._db is not None
        return self._db

    def _open(self) -> None:
        self.close()
        if self._readonly:
            self._db = schema.for_reading(self.path)
            schema.check(self._db, self.path)
        else:
            self._db = schema.for_writing(self.path)
            schema.prepare(self._db, self.path)
            self._place = _file_at(self.path)

    def trouble(self, error: Exception) -> StoreError:
        """Return the error for what SQLite or the file system has raised."""
        what = str(error)
        if schema.is_damage(error):
            return schema.damaged(self.path, what)
        if schema.is_locked(error):
            advice = "another process has kept it locked for half a minute: wait for it or choose another cache.path"
        elif "full" in what or self._full():
            advice = "make room and start again: every answer stored so far is kept"
        else:
            advice = "make it readable and writable on a local disk, or choose another cache.path"
        return StoreError(f"the cache {self.path} cannot be used ({what}): {advice}.")

    def _full(self) -> bool:
        """Return whether the disk is full: SQLite may report an I/O error only."""
        try:
            return shutil.disk_usage(self.path.parent).free < 1 << 16
        except OSError:
            return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _file_at(path: Path) -> tuple[int, int] | None:
    """Return the numbers of device and file, by which a file in another's place is told from it; None without any."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def store_texts(db: sqlite3.Connection, texts: Mapping[str, str]) -> None:
    """Add the texts, by their digests, that are not stored yet."""
    query = "SELECT 1 FROM texts WHERE digest = ?"
    new = [
        (name, _storable(text))
        for name, text in texts.items()
        if len(text) < _LONG or not db.execute(query, (name,)).fetchone()
    ]
    db.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", new)


def _storable(text: str) -> str | bytes:
    """Return a text as SQLite takes it: as bytes where it holds half an emoji, which is no UTF-8."""
    return (
        text if text.isascii() or text.encode(errors="ignore").decode() == text else text.encode(errors="surrogatepass")
    )


def text_of(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode(errors="surrogatepass")
