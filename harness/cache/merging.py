"""The answers of another cache go into this one, each only after it has been checked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from harness.cache.schema import UNREADABLE, key_of, response_of, words_of
from harness.cache.store import Store
from harness.codec import text_digest

_BATCH = 500
"""Answers that are stored in one transaction: other processes get their turn in between."""


@dataclass
class Merged:
    """What became of the answers of another cache."""

    new: int = 0
    known: int = 0
    """There was an answer to the same request, which stays."""
    left_out: int = 0
    """Rows that cannot be read as stored, or are not what their key says."""


def merge(store: Store, other: Store, merged: Merged) -> Iterator[int]:
    """Store the sound answers of another cache and count them in `merged`; yield how many rows were looked at."""
    select = (
        "SELECT a.key, a.identity, a.request, a.response, a.stored, a.task, a.digest, i.identity, i.name "
        "FROM answers a LEFT JOIN identities i ON i.digest = a.identity ORDER BY a.key"
    )
    batch: list[tuple[Any, ...]] = []
    for count, row in enumerate(other.query(select), start=1):
        if _is_sound(row):
            batch.append(row)
        else:
            merged.left_out += 1
        if len(batch) == _BATCH:
            _store(store, other, batch, merged)
            batch.clear()
        yield count
    _store(store, other, batch, merged)


def _is_sound(row: tuple[Any, ...]) -> bool:
    """Return whether a row is what its key says, its response what was stored, and the rest readable."""
    key, who, request, response, stored, task, digest, identity, name = row
    try:
        response_of(key, response, digest)
        texts = [task, name, *words_of(request)]
        same = text_digest(identity) == who and key_of(identity, request) == key
        # Half a character is no name, and SQLite takes none.
        return same and type(stored) is float and all(text.isprintable() for text in texts)
    except UNREADABLE:
        return False


def _store(store: Store, other: Store, rows: list[tuple[Any, ...]], merged: Merged) -> None:
    with store.transaction() as db:
        db.executemany("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", {(row[1], *row[7:]) for row in rows})
        texts = {}
        for name in {name for row in rows for name in words_of(row[2])}:
            with suppress(KeyError):  # not there, or another one: such answers stay usable
                texts[name] = other.text(name)
        store.note_texts(db, texts)
        known = sum(store.get(row[0]) is not None for row in rows)
        store.insert(db, [row[:7] for row in rows])
    merged.known += known
    merged.new += len(rows) - known
