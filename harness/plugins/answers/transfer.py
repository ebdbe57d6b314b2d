"""Answers between caches: every one written as a JSON line, and those of files and of other caches taken in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from harness import plugin
from harness.cache import merging, schema
from harness.cache.alone import for_reading
from harness.cache.store import Store
from harness.errors import ConfigError, DataError
from harness.plugins.answers import lines
from harness.plugins.answers.upkeep import in_words, printable
from harness.runtime import console
from harness.runtime.progress import Progress
from harness.storage.atomic_write import atomic_file

_SNIFFED = 512
"""Bytes by which a file is told to be lines."""


def export(cache: Path, out: str) -> int:
    """Write every answer as a JSON line."""
    progress = Progress(f"export {cache}")
    counts = merging.ImportCounts()
    with closing(Store(cache, readonly=True)) as store:
        total = next(store.query("SELECT count(*) FROM answers"))[0]
        with atomic_file(out, "file") as file:
            try:
                for line in progress.watch(lines.lines_of_cache(store.connection, counts), range(total)):
                    file.write(f"{lines.line_text(line)}\n")
            except sqlite3.Error as error:
                raise store.trouble(error) from error
    if counts.unreadable:
        progress.say(f"{in_words(counts.unreadable)} left out, because they cannot be read as stored")
    if out != "-":
        progress.say(f"{in_words(progress.done)} in {out}")
    return 0


def import_(cache: Path, files: Sequence[Path], run: Sequence[str], *, replace: bool) -> int:
    """Store the answers of exported files, of other caches, and of what plug-ins read.

    run: settings of the run that the answers belong to, as a plug-in's files may need them.
    """
    for path in files:
        if not path.is_file():
            raise DataError(f"there is no file {path}: give what export wrote, or another cache.")
        if cache.exists() and path.samefile(cache):
            raise ConfigError(f"{path} is the cache itself: give another cache=.")
    with closing(Store(cache)) as store:
        left = list(files)
        for importer in plugin.importers():
            left = importer(store, left, run)
        for path in left:
            _import(store, path, replace=replace)
    return 0


def _import(store: Store, path: Path, *, replace: bool) -> None:
    progress, counts = Progress(f"import {printable(path)}"), merging.ImportCounts()
    log = Path(f"{path}-wal")
    with_log = log.is_file() and log.stat().st_size > 0  # before SQLite makes one to read the file
    answers, texts = _source(path, counts, with_log=with_log)
    try:
        for number in progress.watch(merging.merge(store, answers, texts, counts, replace=replace), ()):
            progress.done = number
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    if not counts.new + counts.already_stored + counts.conflicts + counts.refused + counts.unreadable:
        print(f"{printable(path)} is empty: it holds no answer, so there is nothing to take in.")
        return
    suffix = " with its log" * (texts is not merging.no_texts and with_log)
    parts = [f"{printable(path)}{suffix}: {counts.new:,} new, {counts.already_stored:,} known already"]
    if counts.conflicts:
        stays = (
            "the imported one has taken its place" if replace else "the first one stays (replace=true takes the other)"
        )
        parts.append(f"{counts.conflicts:,} with another answer than the one stored: {stays}")
    for count, what in (
        (counts.wordless, "without the words of their request"),
        (counts.odd, "without a field that was of another type than its own"),
        (counts.refused, "left out, because they are not what their key says"),
        (counts.unreadable, "left out, because they cannot be read as stored"),
    ):
        if count:
            parts.append(f"{count:,} {what}")
    print("; ".join(parts))


def _source(
    path: Path, counts: merging.ImportCounts, *, with_log: bool
) -> tuple[Iterator[merging.StoredAnswer | None], merging.Texts]:
    """Return the answers of a file and what reads their texts. Raises DataError."""
    with path.open("rb") as file:
        beginning = file.read(_SNIFFED)
    if b"\0" not in beginning and (not beginning or beginning.lstrip().startswith(b"{")):  # JSON knows no NUL
        return lines.answers_of(lines.read_lines(path), counts), merging.no_texts
    try:
        db = for_reading(path)
        try:
            _refuse_foreign(db, path)
            _complain_of_missing_log(db, path, with_log=with_log)
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


def _complain_of_missing_log(db: sqlite3.Connection, path: Path, *, with_log: bool) -> None:
    """Say of a cache whose process was killed while it asked that its last answers may stand in a log elsewhere."""
    if not with_log and db.execute("SELECT EXISTS (SELECT 1 FROM claims)").fetchone()[0]:
        console.complain(
            f"{path}: its process was killed, and what that stored last is in {path}-wal, which is not beside it: copy "
            "it too (*.sqlite*), and import again.",
            "note",
        )


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
