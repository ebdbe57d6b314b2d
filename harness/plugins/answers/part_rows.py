"""Rows of SQLite as tables of a part, and back: only what is what its digest says goes into a part."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from harness.cache import schema
from harness.cache.schema import UNREADABLE, digest_of
from harness.cache.store import text_of
from harness.codec import text_digest
from harness.plugins.answers.parts import END, SCHEMA, Head

ROWS = "key, identity, request, response, stored, task, digest"
_AT_ONCE = 2048
_ROOM = 16 << 20
"""Characters of texts held at a time."""
LAST = ""
"""The key of a row that stands for the last one moved into a part: SQLite numbers new rows from there on."""


def within(low: Head, high: Head) -> tuple[str, list[str]]:
    """Return the condition of a range of heads on hexadecimal `key`s, and its values. No digest is at either end."""
    conditions = {f"key <> '{LAST}'": None, "key >= ?": low and f"{low:016x}", "key < ?": high < END and f"{high:016x}"}
    chosen = {condition: value for condition, value in conditions.items() if value is None or value}
    return " AND ".join(chosen), [value for value in chosen.values() if isinstance(value, str)]


def count_on(db: sqlite3.Connection, last: int) -> None:
    """Have SQLite number new answers from `last` on, though the rows before are gone."""
    if db.execute("SELECT coalesce(max(rowid), 0) FROM answers").fetchone()[0] < last:
        columns = f"INSERT OR REPLACE INTO answers (rowid, {ROWS})"
        db.execute(f"{columns} VALUES (?, ?, '', '', '', 0, '', '')", (last, LAST))


def rows_of(table: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table of answers as SQLite has them."""
    columns = [table[name].to_pylist() for name in ROWS.split(", ")]
    for key, *row, digest in zip(*columns, strict=True):
        yield key.hex(), *row, digest.hex()


def tables_of(db: sqlite3.Connection, moved: list[tuple[str]], number: int | None = None) -> Iterator[Any]:
    """Yield the sound answers of a database in order, and add their keys to `moved`; `number` in the place of theirs.

    Those whose requests a plug-in's table still has by their keys stay where SQL finds them beside it.
    """
    others = [f'"{name}"' for name in schema.tables_with_requests(db) if name != "answers"]
    named = "".join(f" AND NOT EXISTS (SELECT 1 FROM {name} o WHERE o.key = answers.key)" for name in others)
    rows = db.execute(f"SELECT {ROWS}, rowid FROM answers WHERE key <> '{LAST}'{named} ORDER BY key")
    sound = filter(_is_sound, rows)
    while some := list(islice(sound, _AT_ONCE)):
        keys, *columns, digests, numbers = zip(*some, strict=True)
        moved.extend((key,) for key in keys)
        order = numbers if number is None else [number] * len(some)
        yield pa.table([_binary(keys), *columns, _binary(digests), order], schema=SCHEMA["answers"])


def tables_of_texts(db: sqlite3.Connection, moved: list[tuple[str]]) -> Iterator[Any]:
    """Yield the sound texts of a database in order, and add their digests to `moved`."""
    names: list[str] = []
    texts: list[bytes] = []
    size = 0
    for name, stored in db.execute("SELECT digest, text FROM texts ORDER BY digest"):
        try:
            if text_digest(text := text_of(stored)) != name:
                continue
        except UNREADABLE:
            continue
        names.append(name)
        texts.append(text.encode(errors="surrogatepass"))
        size += len(text)
        if len(names) == _AT_ONCE or size > _ROOM:
            yield _texts(names, texts)
            moved.extend((name,) for name in names)
            names, texts, size = [], [], 0
    yield _texts(names, texts)
    moved.extend((name,) for name in names)


def _texts(names: list[str], texts: list[bytes]) -> Any:
    return pa.table([_binary(names), pa.array(texts, pa.binary())], schema=SCHEMA["texts"])


def _binary(digests: Iterable[str]) -> Any:
    return pa.array([bytes.fromhex(digest) for digest in digests], pa.binary(32))


def _is_sound(row: tuple[Any, ...]) -> bool:
    key, identity, request, response, stored, task, digest, _ = row
    try:
        for text in (identity, request, response, task):
            text.encode()
        named = all(bytes.fromhex(name).hex() == name and len(name) == 64 for name in (key, digest))
        return named and isinstance(stored, float) and digest_of(key, response) == digest
    except UNREADABLE:
        return False
