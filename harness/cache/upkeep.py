"""What is in a cache, whether it is sound, what may go, and what comes in from another one."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from harness.cache.schema import UNREADABLE, is_damage, key_of, response_of, tables_with_requests, words_of
from harness.cache.store import Store, text_of
from harness.codec import canonical, request_from_json, request_json, response_json, text_digest
from harness.storage.runs import Run

Conditions = Mapping[str, Any]
"""Conditions in SQL on answers `a` and identities `i`, with their parameters: all have to hold."""
Findings = defaultdict[str, list[str]]
"""What is wrong in a cache: where, by kind."""
_BATCH = 500
"""Answers that are stored in one transaction: other processes get their turn in between."""
_FROM = "FROM answers a JOIN identities i ON i.digest = a.identity WHERE "


def groups(store: Store, conditions: Conditions) -> list[tuple[Any, ...]]:
    """Return model, task, number of answers, date of the first and of the last one.

    The task is the one that asked first; any other may use the answer.
    """
    columns = "i.name, a.task, count(*), date(min(a.stored), 'unixepoch'), date(max(a.stored), 'unixepoch')"
    select = f"SELECT {columns} {_FROM} {' AND '.join(conditions) or '1'} GROUP BY 1, 2 ORDER BY 1, 2"
    return list(store.query(select, *conditions.values()))


def lines(store: Store) -> Iterator[str | None]:
    """Yield every answer as JSON, its request in words, in the order of the keys; None for one that cannot be read."""
    columns = "a.key, i.name, a.task, a.stored, i.identity, a.request, a.response, a.digest"
    for row in store.query(f"SELECT {columns} {_FROM} 1 ORDER BY a.key"):
        key, model, task, stored, identity, request, response, digest = row
        try:
            asked = request_from_json(json.loads(request), store.text)
            line = {
                "key": key,
                "model": model,
                "task": task,
                "stored": datetime.fromtimestamp(stored, UTC).isoformat(),
                "identity": json.loads(identity),
                "request": request_json(asked, lambda text: {"text": text}),
                "response": response_json(response_of(key, response, digest)),
            }
            yield canonical(line)
        except (*UNREADABLE, OSError):
            yield None


def unread_in(store: Store, run: Run) -> Conditions:
    """Return the conditions for a model's answers that could not be read in a run."""
    unread = [
        record.request.digest
        for record in run.records()
        if record.request is not None and record.answer is not None and record.answer.label is None
    ]
    store.connection.create_function("sha256", 1, lambda text: hashlib.sha256(text.encode()).hexdigest())
    return {"i.name = ?": run.model, "sha256(a.request) IN (SELECT value FROM json_each(?))": json.dumps(unread)}


def prune(store: Store, conditions: Conditions) -> int:
    """Remove the chosen answers, with identities and words that no other answer needs; return their number."""
    with store.transaction() as db:
        db.execute("CREATE TEMP TABLE IF NOT EXISTS needed (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        db.execute("DELETE FROM temp.needed")
        chosen = f"DELETE FROM answers WHERE key IN (SELECT a.key {_FROM} {' AND '.join(conditions) or '1'})"
        count = db.execute(chosen, tuple(conditions.values())).rowcount
        for table in tables_with_requests(db):
            for (request,) in db.execute(f'SELECT request FROM "{table}"'):
                try:
                    names = [(name,) for name in words_of(request)]
                except UNREADABLE:  # its words cannot be told either
                    continue
                db.executemany("INSERT OR IGNORE INTO temp.needed VALUES (?)", names)
        db.execute("DELETE FROM identities WHERE digest NOT IN (SELECT identity FROM answers)")
        db.execute("DELETE FROM texts WHERE digest NOT IN (SELECT digest FROM temp.needed)")
    with suppress(sqlite3.OperationalError):  # where another process uses it, its room is used again later
        store.connection.execute("VACUUM")
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return count


def verify(store: Store, findings: Findings) -> Iterator[None]:
    """Run SQLite's own check, then check every text, identity and answer; yield once an answer."""
    db = store.connection
    try:
        for (sentence,) in db.execute("PRAGMA integrity_check(20)"):
            if sentence != "ok":
                findings["SQLite's integrity check fails"].append(sentence)
        identities = dict(db.execute("SELECT digest, identity FROM identities"))
        for rows in (identities.items(), db.execute("SELECT digest, text FROM texts")):
            for name, text in rows:
                if not _is_named(text, name):
                    findings["a text or an identity is not the one its digest names"].append(name)
        for row in db.execute("SELECT key, identity, request, response, digest FROM answers"):
            _verify_answer(store, row, identities, findings)
            yield
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise store.trouble(error) from error
        findings["SQLite cannot read the file to its end"].append(str(error))


def _is_named(text: Any, name: str) -> bool:
    try:
        return text_digest(text_of(text)) == name
    except UNREADABLE:
        return False


def _verify_answer(store: Store, row: tuple[Any, ...], identities: Mapping[str, str], findings: Findings) -> None:
    key, who, request, response, digest = row
    try:
        if who not in identities:
            findings["the identity of an answer is missing"].append(key)
        elif key_of(identities[who], canonical(json.loads(request))) != key:
            findings["a key is not that of what stands beside it"].append(key)
        has_text = "SELECT 1 FROM texts WHERE digest = ?"
        if any(next(store.query(has_text, name), None) is None for name in words_of(request)):
            findings["the words of a request are missing (its answer can be replayed, not read)"].append(key)
    except UNREADABLE:
        findings["what was asked cannot be read"].append(key)
    try:
        response_of(key, response, digest)
    except ValueError as error:
        findings[f"an answer cannot be read and counts as missing, since {str(error)[:60]}"].append(key)


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
