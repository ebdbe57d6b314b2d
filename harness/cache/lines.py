"""Answers as JSON lines: one line an answer, with all that its key is made of. The lines come in the order of the keys.

{"schema": 2,                       the cache's schema; part of the key
 "key": "…",                        SHA-256 of [schema, identity, request], canonical JSON, texts by their SHA-256
 "model": "gpt4",                   the name of the model that asked, and
 "task": "corr2cause",              the task for which it did, for people: neither is part of the key
 "stored": "2026-01-31T12:00:00…",  when the answer landed, UTC
 "identity": {…},                   everything of the model that can change an output
 "request": {…},                    as in records.jsonl: words in full ("text") where they come first in the file,
                                    by "sha256" alone after that
 "response": {…}}                   text, logprobs (natural logarithms), usage (tokens), finish_reason,
                                    served_model, seconds
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.cache.schema import SCHEMA
from harness.cache.store import text_of
from harness.errors import DataError

_LOST = 20_000
"""Attempts in a row that fail before a damaged file counts as ended: by then two million answers are stepped over."""
_ANSWERS = (
    "a.key, i.name, a.task, a.stored, i.identity, a.request, a.response "
    "FROM answers a JOIN identities i ON i.digest = a.identity"
)


def read(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Every answer of a cache, all as of one moment. Raises sqlite3.Error."""
    first = _Once(db)
    db.execute("BEGIN")
    try:
        for row in db.execute(f"SELECT {_ANSWERS} ORDER BY a.key"):
            yield _line(row, first)
    finally:
        db.rollback()


def damaged(path: Path) -> sqlite3.Connection:
    """A connection to a damaged cache, for `salvage`. Raises sqlite3.Error where not even its tables can be told."""
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", isolation_level=None, uri=True)
    try:
        # With this SQLite reads a truncated file as far as it goes.
        db.execute("PRAGMA writable_schema = ON")
        db.execute(f"SELECT {_ANSWERS}, texts LIMIT 0")
    except sqlite3.Error:
        db.close()
        raise
    return db


def salvage(db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """What can be read of a damaged cache, in the order in which it was stored; what cannot be is stepped over."""
    try:
        first = _Once(db)
        at, lost = 0, 0
        while lost < _LOST:
            try:
                for number, *row in db.execute(f"SELECT a.rowid, {_ANSWERS} WHERE a.rowid > ? ORDER BY a.rowid", (at,)):
                    at, lost = number, 0
                    with suppress(ValueError, TypeError, OverflowError, KeyError):
                        yield _line(row, first)
                return
            except sqlite3.DatabaseError:
                lost += 1
                at += 1 + lost // 100
    finally:
        db.close()


def words_of(request: dict[str, Any]) -> list[dict[str, str]]:
    """The places of a request, as JSON, in which words stand: to be read, filled in or taken out."""
    return [request["premise"], request["hypothesis"]] if request["kind"] == "pair" else request["messages"]


def moment(stored: float) -> str:
    """Seconds since 1970 as UTC."""
    return datetime.fromtimestamp(stored, UTC).isoformat()


class _Once:
    """Texts by their digests, each one once; what has been told is remembered on disk, not in memory."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        db.execute("PRAGMA temp_store = FILE")
        db.execute("CREATE TEMP TABLE IF NOT EXISTS told (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        db.execute("DELETE FROM told")

    def __call__(self, name: str) -> str | None:
        if not self._db.execute("INSERT OR IGNORE INTO temp.told VALUES (?)", (name,)).rowcount:
            return None
        try:
            row = self._db.execute("SELECT text FROM texts WHERE digest = ?", (name,)).fetchone()
        except sqlite3.DatabaseError:  # of a damaged file: the answer is worth having without its question
            return None
        return text_of(row[0]) if row else None


def _line(row: Sequence[Any], first: Callable[[str], str | None]) -> dict[str, Any]:
    key, name, task, stored, identity, request, response = row
    asked = json.loads(request)
    for place in words_of(asked):
        if (text := first(place["sha256"])) is not None:
            place["text"] = text
    return {
        "schema": SCHEMA,
        "key": key,
        "model": name,
        "task": task,
        "stored": moment(stored),
        "identity": json.loads(identity),
        "request": asked,
        "response": json.loads(response),
    }


def of_file(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of an exported file. Raises DataError."""
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            try:
                line = json.loads(text)
            except ValueError:
                raise DataError(f"{path}, line {number} is not JSON: was the file copied whole?") from None
            yield line
