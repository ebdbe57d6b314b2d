"""The cache's file: its tables, its rows, and what is looked at before it is used."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from harness.codec import left_out, response_from_json
from harness.errors import StoreError
from harness.types import Response

SCHEMA = 3
APPLICATION = 0x43524B45
"""Marks the file as ours, in SQLite's header."""
_TABLES = (
    # `name` and `task` are for people: who and which task asked first. Neither is part of a key.
    "CREATE TABLE IF NOT EXISTS identities (digest TEXT PRIMARY KEY, identity TEXT NOT NULL, name TEXT NOT NULL) "
    "WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS texts (digest TEXT PRIMARY KEY, text TEXT NOT NULL)",
    # With rows in order of arrival (no WITHOUT ROWID): much more of a damaged file can be read.
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, identity TEXT NOT NULL, request TEXT NOT NULL, "
    "response TEXT NOT NULL, stored REAL NOT NULL, task TEXT NOT NULL, digest TEXT NOT NULL)",
)
WAIT = 30
"""Seconds to wait for a file that another process holds."""


def key_of(identity: str, request: str) -> str:
    """Return the key of an answer, from the canonical JSON of the model's identity and of the request."""
    return hashlib.sha256(f"[{SCHEMA},{identity},{request}]".encode()).hexdigest()


def for_writing(path: Path) -> sqlite3.Connection:
    """Return a connection whose transactions are begun by hand. Make the file if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return guard(sqlite3.connect(path, timeout=WAIT, isolation_level=None))


def for_reading(path: Path) -> sqlite3.Connection:
    """Return a connection that writes nothing; it also works in a folder that cannot be written."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    db = guard(sqlite3.connect(address, timeout=WAIT, isolation_level=None, uri=True))
    try:
        return with_tables(db)
    except sqlite3.OperationalError as error:
        log = Path(f"{path}-wal")
        db.close()
        # A log that cannot be read holds answers.
        if "locked" in str(error) or not path.exists() or (log.exists() and log.stat().st_size):
            raise
    return with_tables(guard(sqlite3.connect(f"{address}&immutable=1", isolation_level=None, uri=True)))


def with_tables(db: sqlite3.Connection) -> sqlite3.Connection:
    """Return the connection if the file has the tables, else one to an empty cache in memory."""
    if not _is_empty(db):
        return db
    # A run was killed before it had made the tables, or is about to make them: a cache without answers.
    db.close()
    return in_memory()


def in_memory() -> sqlite3.Connection:
    """Return a connection to an empty cache in memory."""
    db = guard(sqlite3.connect(":memory:", isolation_level=None))
    _make_tables(db)
    return db


def check(db: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError for a database of another program or of another version."""
    # In this order: another process may fill the file between the two.
    empty = _is_empty(db)
    application, schema = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if not empty and application != APPLICATION:
        raise StoreError(f"{path} is an SQLite file, but not a cache of this program: choose another cache.path.")
    if schema > SCHEMA:
        raise StoreError(
            f"the cache {path} has schema {schema}, this version reads {SCHEMA}: update harness, or choose another "
            "cache.path."
        )
    if not empty and schema < SCHEMA:
        raise StoreError(
            f"the cache {path} has schema {schema}, this version reads {SCHEMA} only: choose another cache.path, or "
            "use the version of harness that made it."
        )
    if not empty and (other := foreign_tables(db)):
        raise StoreError(
            f"{path} has the mark of a cache, but not its tables ({other}), and is left as it is: choose another "
            "cache.path."
        )


def foreign_tables(db: sqlite3.Connection) -> str:
    """Return why a database is not a cache, in words; "" if its tables are exactly those made here.

    Plain tables may stand beside them, of packages and of versions before. A view, a trigger or a computed column from
    elsewhere could run for ever: they are listed, never run.
    """
    rows = set(db.execute(_LIST))
    own = {table for _, _, table, _ in _expected_tables()}
    beside = {row for row in rows if row[2] not in own and _PLAIN.fullmatch(row[3] or "")}
    names = sorted({f"{kind} {name}" for kind, name, *_ in (rows - beside) ^ _expected_tables()})
    return ", ".join(name[:40] for name in names[:3]) + (", …" if len(names) > 3 else "")


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables and settings that the file lacks."""
    check(db, path)
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
        _make_tables(db)


_PLAIN = re.compile(r"CREATE (TABLE|INDEX) [^()]*\([^()]*\)[ \w]*")
"""A table or an index that computes nothing: an expression would take parentheses of its own."""
_LIST = "SELECT type, name, tbl_name, sql FROM sqlite_master"


@cache
def _expected_tables() -> frozenset[tuple[str, ...]]:
    """Return the tables of a cache as SQLite lists them."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        _make_tables(db)
        return frozenset(db.execute(_LIST))


def tables_with_requests(db: sqlite3.Connection) -> list[str]:
    """Return the tables whose `request` refers to texts: the answers, and tables of plug-ins."""
    columns = "sqlite_master m, pragma_table_info(m.name) c"
    tables = db.execute(f"SELECT m.name FROM {columns} WHERE m.type = 'table' AND c.name = 'request'")
    return [name for (name,) in tables]


def is_locked(error: BaseException) -> bool:
    """Return whether SQLite's error says that the file is locked; a path in it may contain that word, too."""
    return isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "busy" in str(error))


def is_damage(error: BaseException) -> bool:
    """Return whether the file's content is at fault, not the disk, a lock or a permission."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def damaged(path: Path, what: str) -> StoreError:
    """Return the error for a file that SQLite cannot read, or cannot read to its end. Nothing is asked beside it."""
    return StoreError(
        f"{path} is damaged, or is no cache ({what}), and is left as it is: choose another cache.path, or move it away "
        f"with its -wal. `sqlite3 {path} .recover | sqlite3 NEW.sqlite` reads back what can be read, and "
        "`harness cache import NEW.sqlite` takes it in."
    )


def guard(db: sqlite3.Connection) -> sqlite3.Connection:
    """Return the connection, set to run nothing that its file holds: it may come from somebody else."""
    db.execute("PRAGMA trusted_schema = OFF")
    # A flipped byte may be no UTF-8: it is then read as another text, which no digest names.
    db.text_factory = _text
    return db


_text = partial(str, encoding="utf-8", errors="surrogateescape")


def _is_empty(db: sqlite3.Connection) -> bool:
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _make_tables(db: sqlite3.Connection) -> None:
    """Make all tables in one transaction: a process killed meanwhile leaves none."""
    db.execute("BEGIN IMMEDIATE")
    for table in _TABLES:
        db.execute(table)
    db.execute(f"PRAGMA application_id={APPLICATION}")
    db.execute(f"PRAGMA user_version={SCHEMA}")
    db.execute("COMMIT")


UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, MemoryError)
"""What reading foreign JSON as if it were our own may raise."""


def digest_of(key: str, response: str) -> str:
    """Return the digest that stands beside a response: of its canonical JSON, and of the key that it belongs to."""
    return hashlib.sha256(f'["{key}",{response}]'.encode()).hexdigest()


def response_of(key: str, response: Any, digest: Any) -> Response:
    """Return the response of a row. Raises ValueError where it is not the one that was stored, or cannot be read."""
    try:
        if digest_of(key, response) != digest:
            raise ValueError("the response is not the one its digest names")
        return response_from_json(json.loads(response), cached=True)
    except UNREADABLE as error:
        raise ValueError(str(error)) from error


def oddities(response: str) -> list[str]:
    """Return the names of the fields of a readable response that are of another type than their own."""
    return left_out(json.loads(response))


def utf8(name: object) -> str:
    return str(name).encode(errors="replace").decode()


def words_of(request: dict[str, Any]) -> list[dict[str, str]]:
    """Return the objects of a request's JSON that hold its words, to be read, filled in or taken out."""
    return [request["premise"], request["hypothesis"]] if request["kind"] == "pair" else request["messages"]


def moment(stored: float) -> str:
    """Return seconds since 1970 as a date and time in UTC."""
    return datetime.fromtimestamp(stored, UTC).isoformat()
