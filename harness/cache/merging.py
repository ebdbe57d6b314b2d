"""Answers of another machine go into this cache; each is looked through before it is believed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from harness.cache.jsonl import Reading, words_of
from harness.cache.rows import UNREADABLE, digest_of, oddities, response_of, utf8
from harness.cache.schema import SCHEMA, key_of
from harness.cache.store import Store, store_texts
from harness.codec import canonical, digest, response_json, text_digest
from harness.errors import DataError
from harness.types import Response

_BATCH = 500
"""Answers that are stored at a time: other processes get their turn in between."""
_ROOM = 16 << 20
"""Characters of answers that are held at a time: a line may be long."""


@dataclass
class ImportCounts(Reading):
    """How many lines were stored, were there already or were left out."""

    new: int = 0
    already_stored: int = 0
    """The same answer was there."""
    conflicts: int = 0
    """Another answer was there."""
    wordless: int = 0
    """New, but the words of its request are lost: it can be replayed, not read."""
    refused: int = 0
    """Not what their key says; only where rows of a cache are read."""


def merge(store: Store, lines: Iterable[Any], counts: ImportCounts, *, replace: bool, tolerant: bool) -> Iterator[int]:
    """Store the answers and count them in `counts`; yield the number of lines done.

    Where another answer is there, the first one stays, unless `replace`. Raises DataError for a line that is no answer
    or not the one its key says (`tolerant`: leaves it out); the lines before it are kept.
    """
    source = enumerate(lines, start=1)
    while True:
        batch: list[_Answer] = []
        error_at_end: Exception | None = None
        number = 0
        size = 0
        try:
            for number, line in islice(source, _BATCH):
                if (answer := _read(line, number, tolerant, counts)) is not None:
                    batch.append(answer)
                    size += sum(map(len, (*answer.row[2:4], *answer.texts.values())))
                if size > _ROOM:
                    break
        except DataError as error:
            error_at_end = error
        if batch:
            with store.transaction() as db:
                for answer in batch:
                    _store(store, db, answer, counts, replace=replace)
        if error_at_end is not None:
            raise error_at_end
        if not number:
            return
        yield number


@dataclass(frozen=True)
class _Answer:
    row: tuple[str, str, str, str, float, str, str]
    response: Response
    identity: str
    name: str
    texts: Mapping[str, str]
    words: tuple[str, ...]
    """Their digests."""


def _read(line: Any, number: int, tolerant: bool, counts: ImportCounts) -> _Answer | None:
    """Return the answer of a line; None where it is left out. Raises DataError."""
    try:
        if line["schema"] != SCHEMA:
            raise DataError(
                f"line {number} is of schema {str(line['schema'])[:20]}, this version reads {SCHEMA}: export with the "
                "same version of harness."
            )
        places = words_of(line["request"])
        texts = {place["sha256"]: place.pop("text") for place in places if "text" in place}
        if any(text_digest(text) != name for name, text in texts.items()):
            raise ValueError("a text is not the one its sha256 names")
        names = tuple(place["sha256"] for place in places)
        if not all(isinstance(name, str) and name.isalnum() for name in names):
            raise ValueError("a sha256 is none")
        identity, request = canonical(line["identity"]), canonical(line["request"])
        if (key := key_of(identity, request)) != line["key"]:
            raise ValueError("its key is not that of its identity and request")
        stored = datetime.fromisoformat(line["stored"]).timestamp()
        digest_of_line, labels = line["digest"], (utf8(line["task"]), utf8(line["model"]))
    except (*UNREADABLE, OSError, DataError) as error:
        if tolerant:
            counts.refused += 1
            return None
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"line {number} is no answer as `python -m harness.cache export` writes them ({error}); the lines before "
            "it are stored."
        ) from None
    try:
        response = response_of(key, response_text := canonical(line["response"]), digest_of_line)
    except UNREADABLE:
        counts.unreadable += 1
        return None
    if oddities(response_text):
        counts.odd += 1
        response_text = canonical(response_json(response))
    row = (key, digest(line["identity"]), request, response_text, stored, labels[0], digest_of(key, response_text))
    return _Answer(row, response, identity, labels[1], texts, names)


def _store(store: Store, db: sqlite3.Connection, answer: _Answer, counts: ImportCounts, *, replace: bool) -> None:
    key, who, *_ = answer.row
    there = store.get(key)
    store_texts(db, answer.texts)
    if there is not None and _gist(there) == _gist(answer.response):
        counts.already_stored += 1
        return
    counts.conflicts += there is not None
    if there is not None and not replace:
        return
    counts.new += there is None
    db.execute("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", (who, answer.identity, answer.name))
    db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", answer.row)
    texts = (db.execute("SELECT 1 FROM texts WHERE digest = ?", (name,)).fetchone() for name in answer.words)
    counts.wordless += there is None and not all(texts)


def _gist(response: Response) -> tuple[Any, ...]:
    """Return what makes two answers the same: not the time they took, nor their token counts."""
    return response.text, response.logprobs, response.finish_reason
