"""What can be read of a damaged cache, also where its first page is gone: all caches have the same but for counts.

A file that was made to look damaged is read like any other: no view, trigger or computed column of it is ever run, and
a tree of pages without an end is left.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from harness.cache import schema
from harness.cache.jsonl import ANSWERS, Once, Reading, line_of

_LOST = 20_000
"""Attempts in a row that fail before a damaged file counts as ended: by then two million answers are stepped over."""
_LEAST = 1 << 13
"""Bytes of a file with an answer."""
_HEADER = 100
"""Bytes of a file's own head, before the list of its tables begins."""
_STEPS = 1_000_000
"""Of SQLite's machine, between two looks at how many there have been: ten a byte are more than any sound file takes."""


def open_damaged(path: Path, scratch: Path) -> sqlite3.Connection:
    """Return a connection to a damaged cache, or to a copy in the folder `scratch` whose first page is made anew.

    Raises sqlite3.Error where not even so its tables can be told.
    """
    try:
        return _connect(path, f"{path.absolute().as_uri()}?mode=ro")
    except sqlite3.Error:
        if path.stat().st_size < _LEAST:
            raise
        copy = scratch / "copy.sqlite"
        for end in ("", "-wal"):
            if Path(f"{path}{end}").exists():
                shutil.copyfile(f"{path}{end}", f"{copy}{end}")
    page = _first_page(scratch / "new.sqlite", path.stat().st_size)
    try:
        return _connect_overwritten(copy, page[:_HEADER])
    except sqlite3.Error:
        return _connect_overwritten(copy, page)


def _connect_overwritten(copy: Path, beginning: bytes) -> sqlite3.Connection:
    with copy.open("r+b") as file:
        file.write(beginning)
    return _connect(copy, copy.absolute().as_uri())


def _connect(path: Path, address: str) -> sqlite3.Connection:
    """Return a connection to a file whose tables are those of a cache. Raises sqlite3.Error."""
    db = schema.guard(sqlite3.connect(address, isolation_level=None, uri=True))
    steps = 10 * path.stat().st_size // _STEPS + 10

    def count() -> bool:
        nonlocal steps
        steps -= 1
        return steps < 0

    try:
        # With this SQLite reads a truncated file as far as it goes.
        db.execute("PRAGMA writable_schema = ON")
        if others := schema.foreign_tables(db):
            raise sqlite3.DatabaseError(f"its tables are not those of a cache: {others}")
        db.execute(f"SELECT {ANSWERS}, texts LIMIT 0")
    except sqlite3.Error:
        db.close()
        raise
    db.set_progress_handler(count, _STEPS)
    return db


def _first_page(new: Path, size: int) -> bytes:
    """Return the first page of a cache without answers, as a file of `size` bytes would have it."""
    with closing(schema.for_writing(new)) as db:
        schema.prepare(db, new)
    content = new.read_bytes()
    page = bytearray(content[: int.from_bytes(content[16:18], "big")])
    page[28:32] = (size // len(page)).to_bytes(4, "big")  # the number of pages
    page[32:40] = bytes(8)  # none of them is free
    return bytes(page)


def salvage(db: sqlite3.Connection, reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield the answers of a damaged cache that can be read, in the order stored; skip the rest."""
    try:
        first = Once(db)
        at, lost = 0, 0
        while lost < _LOST:
            try:
                for number, *row in db.execute(f"SELECT a.rowid, {ANSWERS} WHERE a.rowid > ? ORDER BY a.rowid", (at,)):
                    if number <= at:  # pages that are met twice
                        raise sqlite3.DatabaseError("the rows are out of order")
                    at, lost = number, 0
                    if (line := line_of(row, first, reading)) is not None:
                        yield line
                return
            except sqlite3.DatabaseError as error:
                if (
                    getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT
                ):  # a damaged tree of pages can be without an end
                    return
                lost += 1
                at += 1 + lost // 100
    finally:
        db.close()
