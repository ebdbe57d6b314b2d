"""The cache's file: its tables, its rows, and what is looked at before it is used."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from harness.codec import response_from_json
from harness.errors import StoreError
from harness.types import Response

SCHEMA = 3
APPLICATION = 0x43524B45
"""Marks the file as ours, in SQLite's header."""
_TABLES = (
    # `name` and `task` are for people: who and which task asked first. Neither is part of a key.
    "CREATE TABLE identities (digest TEXT PRIMARY KEY, identity TEXT NOT NULL, name TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE texts (digest TEXT PRIMARY KEY, text TEXT NOT NULL)",
    # With rows in order of arrival (no WITHOUT ROWID): much more of a damaged file can be read.
    "CREATE TABLE answers (key TEXT PRIMARY KEY, identity TEXT NOT NULL, request TEXT NOT NULL, "
    "response TEXT NOT NULL, stored REAL NOT NULL, task TEXT NOT NULL, digest TEXT NOT NULL)",
)
WAIT = 30
"""Seconds to wait for a file that another process holds."""
MOUNTS = Path("/proc/self/mountinfo")
"""Linux's list of what is mounted. It has names where statfs has numbers, and one number for all of FUSE."""
_OF_NETWORKS = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "panfs", "pvfs2"),
        *("orangefs", "wekafs", "afs", "9p", "gfs2", "ocfs2", "acfs", "cvfs", "dvs", "juicefs", "vboxsf", "hgfs"),
    )
)
_OF_NETWORKS_IN_FUSE = re.compile(
    r"fuse\.(?:.*(?:nfs|ssh|ceph|gluster|beegfs|lustre|s3|gcs|goofys|geesefs|blobfuse|juicefs|rclone|davfs|seaweed|alluxio"
    r"|quobyte|hdfs|curve|dfuse|moose|mfs|lizard|smb|cifs|vmhgfs|weka).*)",
    re.IGNORECASE,
)


def key_of(identity: str, request: str) -> str:
    """Return the key of an answer, from the canonical JSON of the model's identity and of the request."""
    return hashlib.sha256(f"[{SCHEMA},{identity},{request}]".encode()).hexdigest()


def for_writing(path: Path, *, alone: bool = False) -> sqlite3.Connection:
    """Return a connection whose transactions are begun by hand. Make the file, and its tables, where they are missing.

    Raises StoreError where it is no cache of this version.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    db = _guarded(sqlite3.connect(path, timeout=WAIT, isolation_level=None))
    with _closed_on_error(db):
        if alone:  # the log then needs no memory that processes share, which is not safe on disks of several machines
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
        _check(db, path)
        if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
            _make_tables(db)
    return db


def for_reading(path: Path) -> sqlite3.Connection:
    """Return a connection that writes nothing; it also works in a folder that cannot be written. Raises StoreError."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    db = _guarded(sqlite3.connect(address, timeout=WAIT, isolation_level=None, uri=True))
    try:
        _is_empty(db)
    except sqlite3.OperationalError as error:
        db.close()
        log = Path(f"{path}-wal")
        # A log that cannot be read holds answers.
        if "locked" in str(error) or not path.exists() or (log.exists() and log.stat().st_size):
            raise
        db = _guarded(sqlite3.connect(f"{address}&immutable=1", isolation_level=None, uri=True))
    with _closed_on_error(db):
        _check(db, path)
    if _is_empty(db):
        # A run was killed before it had made the tables, or is about to make them: a cache without answers.
        db.close()
        db = _guarded(sqlite3.connect(":memory:", isolation_level=None))
        _make_tables(db)
    return db


def network_file_system(path: Path) -> str:
    """Return the kind of the network's or cluster's file system that a path lies on, such as nfs4 or lustre.

    "" for a local one, and on other systems than Linux.
    """
    kind = _kind(path)
    return kind if kind in _OF_NETWORKS or _OF_NETWORKS_IN_FUSE.fullmatch(kind) else ""


def _kind(path: Path) -> str:
    """Return the kind of file system that a path lies on, or will; "" if unknown."""
    try:
        place = path.resolve()
        while not place.exists():
            place = place.parent
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    deepest, kind = -1, ""
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), before.split(" ")[4]))
        if place.is_relative_to(point) and len(point.parts) >= deepest:
            kind, deepest = after.split(" ", 1)[0], len(point.parts)
    return kind


@contextmanager
def _closed_on_error(db: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        db.close()
        raise


def _check(db: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError for a database of another program or of another version; packages may add tables to ours."""
    if _is_empty(db):
        return
    application, schema = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if application == APPLICATION and schema != SCHEMA:
        way = "update harness" if schema > SCHEMA else "use the version of harness that made it"
        raise StoreError(
            f"the cache {path} has schema {schema}, this version reads {SCHEMA}: {way}, or choose another cache.path."
        )
    if application != APPLICATION:
        raise StoreError(f"{path} is no cache of this program, and is left as it is: choose another cache.path.")


def tables_with_requests(db: sqlite3.Connection) -> list[str]:
    """Return the tables whose `request` refers to texts: the answers, and tables of packages."""
    columns = "sqlite_master m, pragma_table_info(m.name) c"
    tables = db.execute(f"SELECT m.name FROM {columns} WHERE m.type = 'table' AND c.name = 'request'")
    return [name for (name,) in tables]


def is_locked(error: BaseException) -> bool:
    """Return whether SQLite's error says that the file is locked; a path in it may contain that word, too."""
    return isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "busy" in str(error))


def is_damage(error: BaseException) -> bool:
    """Return whether the file's content is at fault, not the disk, a lock or a permission."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _guarded(db: sqlite3.Connection) -> sqlite3.Connection:
    """Return the connection, set to run nothing that its file holds: it may come from somebody else."""
    db.execute("PRAGMA trusted_schema = OFF")
    # A flipped byte may be no UTF-8: it is then read as another text, which no digest names.
    db.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    return db


def _is_empty(db: sqlite3.Connection) -> bool:
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _make_tables(db: sqlite3.Connection) -> None:
    """Make all tables in one transaction: a process killed meanwhile leaves none."""
    db.execute("BEGIN IMMEDIATE")
    if _is_empty(db):  # still
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


def words_of(request: str) -> list[str]:
    """Return the digests of the texts that the JSON of a stored request refers to."""
    content = json.loads(request)
    places = [content["premise"], content["hypothesis"]] if content["kind"] == "pair" else content["messages"]
    return [str(place["sha256"]) for place in places]
