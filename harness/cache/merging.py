"""Answers of another machine go into this cache, each only after it has been checked."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from harness.cache.schema import UNREADABLE, digest_of, key_of, moment, oddities, response_of, utf8, words_of
from harness.cache.store import LISTED, Store, text_of
from harness.codec import canonical, digest, response_json, text_digest
from harness.errors import DataError
from harness.types import Response

_BATCH = 500
"""Answers that are stored in one transaction: other processes get their turn in between."""
_MEMORY = 128 << 10
"""Kilobytes of the page cache."""
_LOG = 32 << 10
"""Pages of 4 kB after which SQLite folds the log into the file."""
_ROOM = 16 << 20
"""Characters of answers held in memory at a time: a line may be long."""


ANSWERS = (
    "a.key, i.name, a.task, a.stored, i.identity, a.request, a.response, a.digest "
    "FROM answers a JOIN identities i ON i.digest = a.identity"
)
"""SQL for all that is known of an answer."""


@dataclass
class ImportCounts:
    """How many answers were stored, were there already or were left out."""

    new: int = 0
    already_stored: int = 0
    """The same answer was there."""
    conflicts: int = 0
    """Another answer was there."""
    wordless: int = 0
    """New ones without the words of their request: they can be replayed, not read."""
    refused: int = 0
    """Rows of another cache whose key is not that of their content."""
    unreadable: int = 0
    """Rows whose response is not the one that was stored, or cannot be read: left out."""
    odd: int = 0
    """Answers with a field of another type than its own: taken without it."""


Texts = Callable[[Iterable[str]], Iterator[tuple[str, str]]]
"""Returns the sound ones among the texts of these digests, where answers come without them."""


@dataclass(frozen=True)
class StoredAnswer:
    """An answer that is what its key says."""

    row: tuple[str, str, str, str, float, str, str]
    """As it is stored."""
    response: Response
    identity: str
    name: str
    words: tuple[str, ...]
    """The digests of its request's texts,"""
    texts: Mapping[str, str]
    """and those that came with it."""

    @property
    def size(self) -> int:
        """Characters."""
        return sum(map(len, (*self.row[2:4], *self.texts.values())))


def no_texts(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Return no text: all that there are came with the answers."""
    return iter(())


def merge(
    store: Store, answers: Iterator[StoredAnswer | None], texts: Texts, counts: ImportCounts, *, replace: bool
) -> Iterator[int]:
    """Store the answers and count them in `counts`; yield the number of those done, None for one left out included.

    Where another answer is there, the first one stays, unless `replace`. Where `answers` raises DataError, those before
    are stored.
    """
    done = 0
    _prepare(store)
    while True:
        batch: list[StoredAnswer] = []
        error_at_end: DataError | None = None
        before, size = done, 0
        try:
            for answer in islice(answers, _BATCH):
                done += 1
                if answer is not None:
                    batch.append(answer)
                    size += answer.size
                if size > _ROOM:
                    break
        except DataError as error:
            error_at_end = error
        if batch:
            with store.transaction() as db:
                _store(store, db, batch, texts, counts, replace=replace)
        if error_at_end is not None:
            raise error_at_end
        if done == before:
            return
        yield done


def _prepare(store: Store) -> None:
    """Give the connection more memory and a longer log, so that millions of rows go in at an even rate.

    Digests come in no order, so each row changes another page of an index; in a larger cache a page is written once
    for many rows.
    """
    store.connection.execute(f"PRAGMA cache_size=-{_MEMORY}")
    store.connection.execute(f"PRAGMA wal_autocheckpoint={_LOG}")


def of_cache(db: sqlite3.Connection, counts: ImportCounts) -> Iterator[StoredAnswer | None]:
    """Yield the answers of a sound cache, all as of one moment, without their texts. Raises sqlite3.Error."""
    db.execute("BEGIN")
    try:
        identities: dict[str, str] = {}
        for row in db.execute(f"SELECT {ANSWERS} ORDER BY a.key"):
            yield _of_row(row, identities, counts)
    finally:
        db.rollback()


def _of_row(row: tuple[Any, ...], identities: dict[str, str], counts: ImportCounts) -> StoredAnswer | None:
    """Return the answer of a row; `identities` holds the digests of those that were looked at."""
    key, name, task, stored, identity, request, response_text, digest_of_row = row
    if (sound := sound_response(key, response_text, digest_of_row, counts)) is None:
        return None
    response, response_text = sound
    try:
        content = json.loads(request)
        names, labels = names_of(words_of(content)), (utf8(task), utf8(name))
        if identity not in identities:
            identities[identity] = digest(json.loads(identity)) if _is_canonical(identity) else ""
        moment(stored)
        same = canonical(content) == request and identities[identity] and key_of(identity, request) == key
    except (*UNREADABLE, OSError):
        counts.unreadable += 1
        return None
    if not same:
        counts.refused += 1
        return None
    values = (key, identities[identity], request, response_text, stored, labels[0], digest_of(key, response_text))
    return StoredAnswer(values, response, identity, labels[1], names, {})


def texts_of_cache(db: sqlite3.Connection) -> Texts:
    """Return what reads the sound texts of a cache, one after the other."""

    def texts(names: Iterable[str]) -> Iterator[tuple[str, str]]:
        statement = f"SELECT digest, text FROM texts WHERE digest IN {LISTED} ORDER BY digest"
        for name, stored in db.execute(statement, (_json(names),)):
            try:
                if text_digest(text := text_of(stored)) == name:
                    yield name, text
            except UNREADABLE:
                continue

    return texts


def _is_canonical(text: str) -> bool:
    return canonical(json.loads(text)) == text


def names_of(places: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the digests of a request's words. Raises ValueError for anything but digests."""
    names = tuple(place["sha256"] for place in places)
    if not all(isinstance(name, str) and name.isalnum() for name in names):
        raise ValueError("a sha256 is no digest")
    return names


def sound_response(key: str, text: str, digest_of_text: str, counts: ImportCounts) -> tuple[Response, str] | None:
    """Return a response and its JSON without what is of another type than its own; None where it cannot be read."""
    try:
        response = response_of(key, text, digest_of_text)
    except UNREADABLE:
        counts.unreadable += 1
        return None
    if (plain := canonical(response_json(response))) != text and oddities(text):
        counts.odd += 1
        text = plain
    return response, text


def _store(
    store: Store,
    db: sqlite3.Connection,
    batch: list[StoredAnswer],
    texts: Texts,
    counts: ImportCounts,
    *,
    replace: bool,
) -> None:
    """Store answers within a transaction: a few statements for all of them."""
    words = _store_words(store, db, batch, texts)
    keys = _json(answer.row[0] for answer in batch)
    there = {
        key: response
        for key, *stored in db.execute(f"SELECT key, response, digest FROM answers WHERE key IN {LISTED}", (keys,))
        if (response := _readable(key, *stored)) is not None
    }
    stored: list[StoredAnswer] = []
    for answer in batch:
        key, known = answer.row[0], there.get(answer.row[0])
        if known is not None and _gist(known) == _gist(answer.response):
            counts.already_stored += 1
            continue
        counts.conflicts += known is not None
        if known is not None and not replace:
            continue
        counts.new += known is None
        counts.wordless += known is None and not words.issuperset(answer.words)
        there[key] = answer.response
        stored.append(answer)
    identities = {(answer.row[1], answer.identity, answer.name) for answer in stored}
    db.executemany("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", identities)
    db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", [answer.row for answer in stored])


def _store_words(store: Store, db: sqlite3.Connection, batch: list[StoredAnswer], texts: Texts) -> set[str]:
    """Store the texts of answers that are not stored yet; return the digests of those that are there then."""
    for answer in batch:
        store.note_texts(db, answer.texts)
    wanted = {name for answer in batch for name in answer.words}
    there = store.known_texts(wanted)
    for name, text in texts(wanted - there):
        store.note_texts(db, {name: text})
        there.add(name)
    return there


def _json(names: Iterable[str]) -> str:
    return json.dumps(list(names))


def _readable(key: str, response: Any, digest_of_row: Any) -> Response | None:
    try:
        return response_of(key, response, digest_of_row)
    except ValueError:
        return None


def _gist(response: Response) -> tuple[Any, ...]:
    """Return what makes two answers the same: not the time they took, nor their token counts."""
    return response.text, response.logprobs, response.finish_reason
