"""Answers as JSON lines: one line an answer, with all that its key is made of. The lines come in the order of the keys.

{"schema": 3,                       the cache's schema; part of the key
 "key": "…",                        SHA-256 of [schema, identity, request], canonical JSON, texts by their SHA-256
 "model": "gpt4",                   the name of the model that asked, and
 "task": "corr2cause",              the task for which it did, for people: neither is part of the key
 "stored": "2026-01-31T12:00:00…",  when the answer landed, UTC
 "identity": {…},                   everything of the model that can change an output
 "request": {…},                    as in records.jsonl: words in full ("text") where they come first in the file,
                                    by "sha256" alone after that
 "response": {…},                   text, logprobs (natural logarithms), usage (tokens, USD that the server
                                    charged), finish_reason, served_model, reasoning, provider,
                                    system_fingerprint, seconds
 "digest": "…"}                     SHA-256 of [key, response], canonical JSON
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from harness.cache.merging import ANSWERS, ImportCounts, StoredAnswer, names_of, sound_response
from harness.cache.schema import SCHEMA, UNREADABLE, digest_of, key_of, moment, oddities, response_of, utf8, words_of
from harness.cache.store import text_of
from harness.codec import canonical, digest, response_json, text_digest
from harness.errors import DataError

LONGEST = 64 << 20
"""Bytes of a line, at most: what is read at once must not fill the memory."""


def lines_of_cache(db: sqlite3.Connection, counts: ImportCounts) -> Iterator[dict[str, Any]]:
    """Yield every sound answer of a cache, all as of one moment. Raises sqlite3.Error."""
    first = _Once(db)
    db.execute("BEGIN")
    try:
        for row in db.execute(f"SELECT {ANSWERS} ORDER BY a.key"):
            if (line := _line_of_row(row, first, counts)) is not None:
                yield line
    finally:
        db.rollback()


def line_text(line: dict[str, Any]) -> str:
    """Return a line as it is written: its keys in reading order, in ASCII so that half an emoji survives."""
    return "{" + ",".join(f"{canonical(name)}:{canonical(value)}" for name, value in line.items()) + "}"


class _Once:
    """Texts by their digests, each returned once; which ones were returned is kept on disk, not in memory."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        db.execute("PRAGMA temp_store = FILE")
        db.execute("CREATE TEMP TABLE IF NOT EXISTS returned_texts (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        db.execute("DELETE FROM returned_texts")

    def __call__(self, name: str) -> str | None:
        """Return the text, the first time that it is wanted."""
        if not self._db.execute("INSERT OR IGNORE INTO temp.returned_texts VALUES (?)", (name,)).rowcount:
            return None
        row = self._db.execute("SELECT text FROM texts WHERE digest = ?", (name,)).fetchone()
        try:
            text = text_of(row[0]) if row else None
            return text if text is not None and text_digest(text) == name else None
        except UNREADABLE:
            return None


def _line_of_row(row: Sequence[Any], first: Callable[[str], str | None], counts: ImportCounts) -> dict[str, Any] | None:
    """Return the line of a row; None where it cannot be read."""
    key, name, task, stored, identity, request, response_text, digest = row
    try:
        response = response_json(response_of(key, response_text, digest))
        if oddities(response_text):
            counts.odd += 1
            digest = digest_of(key, canonical(response))
        line = {
            "schema": SCHEMA,
            "key": key,
            "model": utf8(name),
            "task": utf8(task),
            "stored": moment(stored),
            "identity": json.loads(identity),
            "request": json.loads(request),
            "response": response,
            "digest": digest,
        }
        canonical([line["identity"], line["request"]])  # no NaN
        for place in words_of(line["request"]):
            if (text := first(place["sha256"])) is not None:
                place["text"] = text
    except (*UNREADABLE, OSError):
        counts.unreadable += 1
        return None
    return line


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of an exported file. Raises DataError."""
    with path.open("rb") as file:
        for number in count(1):
            text = file.readline(LONGEST + 1)
            if not text:
                return
            if len(text) > LONGEST:
                raise DataError(f"{path}, line {number} is longer than {LONGEST >> 20} MiB: no answer is.")
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                raise DataError(f"{path}, line {number} is not JSON: was the file copied whole?") from None
            yield line


def answers_of(lines: Iterable[Any], counts: ImportCounts) -> Iterator[StoredAnswer | None]:
    """Yield the answers of exported lines, None for one that cannot be read. Raises DataError for what is no line."""
    for number, line in enumerate(lines, start=1):
        yield _answer_of(line, number, counts)


def _answer_of(line: Any, number: int, counts: ImportCounts) -> StoredAnswer | None:
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
        names = names_of(places)
        identity, request = canonical(line["identity"]), canonical(line["request"])
        if (key := key_of(identity, request)) != line["key"]:
            raise ValueError("its key is not that of its identity and request")
        stored = datetime.fromisoformat(line["stored"]).timestamp()
        digest_of_line, labels = line["digest"], (utf8(line["task"]), utf8(line["model"]))
    except (*UNREADABLE, OSError) as error:
        raise DataError(
            f"line {number} is no answer as `python -m harness.cache export` writes them ({error}); the lines before "
            "it are stored."
        ) from None
    try:
        text = canonical(line["response"])
    except UNREADABLE:
        counts.unreadable += 1
        return None
    if (sound := sound_response(key, text, digest_of_line, counts)) is None:
        return None
    response, response_text = sound
    row = (key, digest(line["identity"]), request, response_text, stored, labels[0], digest_of(key, response_text))
    return StoredAnswer(row, response, identity, labels[1], names, texts)
