"""Answers between caches: every one written as a JSON line, and those of files and of other caches taken in.

A line has all that an answer's key is made of; the lines come in the order of the keys.

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
from contextlib import closing
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from harness.cache import Store, merging, schema
from harness.cache.merging import ANSWERS, ImportCounts, StoredAnswer, names_of, sound_response
from harness.cache.schema import SCHEMA, UNREADABLE, digest_of, key_of, moment, oddities, response_of, utf8, words_of
from harness.cache.upkeep import in_words, printable
from harness.codec import canonical, digest, response_json, text_digest
from harness.errors import ConfigError, DataError
from harness.runtime.progress import Progress
from harness.storage.atomic_write import atomic_file

_SNIFFED = 512
"""Bytes that show whether a file holds lines or a database."""


def export(cache: Path, out: str) -> int:
    """Write every answer as a JSON line."""
    progress = Progress(f"export {cache}")
    counts = merging.ImportCounts()
    with closing(Store(cache, readonly=True)) as store:
        total = store.count()
        with atomic_file(out, "file") as file:
            try:
                for line in progress.watch(lines_of_cache(store, counts), range(total)):
                    file.write(f"{line_text(line)}\n")
            except sqlite3.Error as error:
                raise store.trouble(error) from error
    if counts.unreadable:
        progress.say(f"{in_words(counts.unreadable)} left out, because they cannot be read as stored")
    if out != "-":
        progress.say(f"{in_words(progress.done)} in {out}")
    return 0


def import_(cache: Path, files: Sequence[Path], *, replace: bool) -> int:
    """Store the answers of exported files, and of other caches."""
    for path in files:
        if not path.exists():
            raise DataError(f"there is no file {path}: give what export wrote, or another cache.")
        if cache.exists() and path.samefile(cache):
            raise ConfigError(f"{path} is the cache itself: give another cache=.")
    with closing(Store(cache)) as store:
        for path in files:
            if not path.is_file():
                raise DataError(f"{path} is no file: give what export wrote, or another cache.")
            _import(store, path, replace=replace)
    return 0


def _import(store: Store, path: Path, *, replace: bool) -> None:
    counts = merging.ImportCounts()
    log = Path(f"{path}-wal")
    with_log = log.is_file() and log.stat().st_size > 0  # before SQLite makes one to read the file
    answers, texts = _source(path, counts, with_log=with_log)
    suffix = " with its log" * (texts is not merging.no_texts and with_log)
    _take(store, path, answers, texts, counts, suffix, replace=replace)


def _take(
    store: Store,
    path: Path,
    answers: Iterator[merging.StoredAnswer | None],
    texts: merging.Texts,
    counts: merging.ImportCounts,
    suffix: str,
    *,
    replace: bool,
) -> None:
    """Store answers, and print what became of them."""
    progress = Progress(f"import {printable(path)}")
    try:
        for number in progress.watch(merging.merge(store, answers, texts, counts, replace=replace), ()):
            progress.done = number
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    if not counts.new + counts.already_stored + counts.conflicts + counts.refused + counts.unreadable:
        print(f"{printable(path)} is empty: it holds no answer, so there is nothing to take in.")
        return
    parts = [f"{printable(path)}{suffix}: {counts.new:,} new, {counts.already_stored:,} known already"]
    if counts.conflicts:
        stays = (
            "the imported one has taken its place" if replace else "the first one stays (replace=true takes the other)"
        )
        parts.append(f"{counts.conflicts:,} with another answer than the one stored: {stays}")
    for number, what in (
        (counts.wordless, "without the words of their request"),
        (counts.odd, "without a field that was of another type than its own"),
        (counts.refused, "left out, because they are not what their key says"),
        (counts.unreadable, "left out, because they cannot be read as stored"),
    ):
        if number:
            parts.append(f"{number:,} {what}")
    print("; ".join(parts))


def _source(
    path: Path, counts: merging.ImportCounts, *, with_log: bool
) -> tuple[Iterator[merging.StoredAnswer | None], merging.Texts]:
    """Return the answers of a file and what reads their texts. Raises DataError."""
    with path.open("rb") as file:
        beginning = file.read(_SNIFFED)
    if b"\0" not in beginning and (not beginning or beginning.lstrip().startswith(b"{")):  # JSON knows no NUL
        return answers_of(read_lines(path), counts), merging.no_texts
    try:
        db = schema.for_reading(path)
        try:
            _refuse_foreign(db, path)
            if (finding := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
                raise sqlite3.DatabaseError(finding.splitlines()[-1])
        except BaseException:
            db.close()
            raise
        return merging.of_cache(db, counts), merging.texts_of_cache(db)
    except (sqlite3.Error, OSError) as error:
        raise DataError(
            f"{path} is neither what export writes nor a cache that SQLite can read ({error}). If it was a cache, "
            f"`sqlite3 {path} .recover | sqlite3 recovered.sqlite` may make one of it to import."
        ) from None


def _refuse_foreign(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is no cache before reading it: a view could be without an end. Raises DataError."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if application == schema.APPLICATION and version != schema.SCHEMA:
        raise DataError(
            f"{path} has schema {version}, this version reads {schema.SCHEMA}: export it with the version of harness "
            "that made it, and ask again what that cannot bring over."
        )
    if others := schema.foreign_tables(db):
        raise DataError(f"{path} is not read: it is no cache of this program ({others}).")


LONGEST = 64 << 20
"""Bytes of a line, at most: what is read at once must not fill the memory."""


def lines_of_cache(store: Store, counts: ImportCounts) -> Iterator[dict[str, Any]]:
    """Yield every sound answer of a cache, all as of one moment. Raises sqlite3.Error."""
    first = _Once(store)
    for row in store.connection.execute(f"SELECT {ANSWERS} ORDER BY a.key"):
        if (line := _line_of_row(row, first, counts)) is not None:
            yield line


def line_text(line: dict[str, Any]) -> str:
    """Return a line as it is written: its keys in reading order, in ASCII so that half an emoji survives."""
    return "{" + ",".join(f"{canonical(name)}:{canonical(value)}" for name, value in line.items()) + "}"


class _Once:
    """Texts by their digests, each returned once; which ones were returned is kept on disk, not in memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._db = db = store.connection
        db.execute("PRAGMA temp_store = FILE")
        db.execute("CREATE TEMP TABLE IF NOT EXISTS returned_texts (digest TEXT PRIMARY KEY) WITHOUT ROWID")
        db.execute("DELETE FROM returned_texts")

    def __call__(self, name: str) -> str | None:
        """Return a text by its digest; None when it was returned before, or cannot be read."""
        if not self._db.execute("INSERT OR IGNORE INTO temp.returned_texts VALUES (?)", (name,)).rowcount:
            return None
        try:
            return self._store.text(name)
        except KeyError:
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
            f"line {number} is no answer as `harness cache export` writes them ({error}); the lines before "
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
