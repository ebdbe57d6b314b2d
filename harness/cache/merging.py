"""Answers of another machine go into this cache; each is looked through before it is believed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from harness.cache.lines import words_of
from harness.cache.schema import SCHEMA, key_of
from harness.cache.store import Store, store_texts
from harness.codec import canonical, digest, response_from_json, text_digest
from harness.errors import DataError

_BATCH = 500
"""Answers that are stored at a time: other processes get their turn in between."""


@dataclass
class Merged:
    """What became of the lines."""

    new: int = 0
    known: int = 0
    """The same answer was there."""
    conflicts: int = 0
    """Another answer was there."""
    wordless: int = 0
    """New, but the words of its request are lost: it can be replayed, not read."""
    refused: int = 0
    """Not what their key says; only where lines of a damaged cache are read."""


def merge(store: Store, lines: Iterable[Any], merged: Merged, *, replace: bool, tolerant: bool) -> Iterator[int]:
    """Stores the answers and counts them in `merged`; gives the number of lines done, as it goes on.

    Where another answer is there, the first one stays, unless `replace`. Raises DataError for a line that is no answer
    or not the one its key says (`tolerant`: leaves it out); the lines before it are kept.
    """
    source = enumerate(lines, start=1)
    while True:
        batch: list[_Answer] = []
        wrong: Exception | None = None
        number = 0
        try:
            for number, line in islice(source, _BATCH):
                if (answer := _read(line, number, tolerant)) is None:
                    merged.refused += 1
                else:
                    batch.append(answer)
        except DataError as error:
            wrong = error
        if batch:
            with store.transaction() as db:
                for answer in batch:
                    _store(db, answer, merged, replace=replace)
        if wrong is not None:
            raise wrong
        if not number:
            return
        yield number


@dataclass(frozen=True)
class _Answer:
    row: tuple[str, str, str, str, float, str]
    identity: str
    name: str
    texts: Mapping[str, str]
    words: tuple[str, ...]
    """Their digests."""


def _read(line: Any, number: int, tolerant: bool) -> _Answer | None:
    try:
        if line["schema"] != SCHEMA:
            raise DataError(
                f"line {number} is of schema {line['schema']}, this version reads {SCHEMA}: export with the same "
                "version of harness."
            )
        places = words_of(line["request"])
        texts = {place["sha256"]: place.pop("text") for place in places if "text" in place}
        if any(text_digest(text) != name for name, text in texts.items()):
            raise ValueError("a text is not the one its sha256 names")
        identity, request = canonical(line["identity"]), canonical(line["request"])
        if key_of(identity, request) != line["key"]:
            raise ValueError("its key is not that of its identity and request")
        response_from_json(line["response"], cached=True)
        stored = datetime.fromisoformat(line["stored"]).timestamp()
        row = (line["key"], digest(line["identity"]), request, canonical(line["response"]), stored, str(line["task"]))
        return _Answer(row, identity, str(line["model"]), texts, tuple(place["sha256"] for place in places))
    except (KeyError, TypeError, ValueError, AttributeError, DataError) as error:
        if tolerant:
            return None
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"line {number} is no answer as `python -m harness.cache export` writes them ({error}); the lines before "
            "it are stored."
        ) from None


def _store(db: sqlite3.Connection, answer: _Answer, merged: Merged, *, replace: bool) -> None:
    key, who, _, response, *_ = answer.row
    row = db.execute("SELECT response FROM answers WHERE key = ?", (key,)).fetchone()
    store_texts(db, answer.texts)
    if row is not None and _said(row[0]) == _said(response):
        merged.known += 1
        return
    merged.conflicts += row is not None
    if row is not None and not replace:
        return
    merged.new += row is None
    db.execute("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", (who, answer.identity, answer.name))
    db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", answer.row)
    texts = (db.execute("SELECT 1 FROM texts WHERE digest = ?", (name,)).fetchone() for name in answer.words)
    merged.wordless += row is None and not all(texts)


def _said(response: str) -> tuple[Any, ...]:
    """What makes two answers the same: not the time they took, nor how their tokens were counted."""
    said = json.loads(response)
    return said["text"], said.get("logprobs"), said.get("finish_reason")
