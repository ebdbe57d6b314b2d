"""The commands of python -m harness.cache: each one prints what it finds and returns an exit code."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.cache import corruption, jsonl, maintenance, merging, requests, salvage, write_ahead
from harness.cache.alone import for_reading
from harness.cache.merging import ImportCounts
from harness.cache.schema import APPLICATION, SCHEMA, foreign_tables
from harness.cache.store import Store
from harness.cli.exit_code import ERROR
from harness.codec import canonical
from harness.errors import ConfigError, DataError, StoreError
from harness.plugins.batches import commands as batch_commands
from harness.runtime import console
from harness.runtime.console import clean
from harness.runtime.progress import Progress
from harness.settings import Main
from harness.storage.atomic_write import atomic_file
from harness.tables import terminal
from harness.tables.table import Table

_SNIFFED = 512
"""Bytes by which a file is told to be lines."""


def stats(cache: Path) -> int:
    """Print what is in the cache, by model and task."""
    with closing(Store(cache, readonly=True)) as store:
        groups = maintenance.groups(store)
        terminal.show([_table(groups)])
        for differing in _same_name(store, groups):
            print(differing)
        texts = next(store.query("SELECT count(*) FROM texts"))[0]
    size = sum(part.stat().st_size for part in _parts(cache)) / 1e6
    print(f"\n{_answers(sum(group.answers for group in groups))} and {texts:,} texts in {cache} ({size:,.1f} MB)")
    print("task: the one that asked first; the answer serves any other that sends the same request.")
    for aside in corruption.damaged_files(cache):
        print(f"set aside as damaged: {aside}")
    return 0


def export(cache: Path, out: str) -> int:
    """Write every answer as a JSON line."""
    progress = Progress(f"export {cache}")
    reading = jsonl.Reading()
    with closing(Store(cache, readonly=True)) as store:
        total = next(store.query("SELECT count(*) FROM answers"))[0]
        with atomic_file(out, "file") as file:
            try:
                for line in progress.watch(jsonl.read(store.connection, reading), range(total)):
                    file.write(f"{canonical_line(line)}\n")
            except sqlite3.Error as error:
                raise store.trouble(error) from error
    if reading.unreadable:
        progress.say(f"{_answers(reading.unreadable)} left out, because they cannot be read as stored")
    if out != "-":
        progress.say(f"{_answers(progress.done)} in {out}")
    return 0


def canonical_line(line: dict[str, Any]) -> str:
    """Return a line of the export: its keys in reading order, in ASCII so that half an emoji survives."""
    return "{" + ",".join(f"{canonical(name)}:{canonical(value)}" for name, value in line.items()) + "}"


def import_(cache: Path, files: Sequence[Path], run: Main | None = None, *, replace: bool) -> int:
    """Store the answers of other caches, exported files and batches in this cache.

    `run` is what a batch was asked for, where its requests were not written here.
    """
    for path in files:
        if not path.is_file():
            raise DataError(f"there is no file {path}: give what export wrote, or another cache.")
        if cache.exists() and path.samefile(cache):
            raise ConfigError(f"{path} is the cache itself: give another cache=.")
    worst = 0
    with closing(Store(cache, beside_damaged=True)) as store:
        if run is not None:
            requests.note(store, run)
        for path in files:
            if requests.is_output(path):
                batch_commands.take_in(store, path)
            else:
                worst = max(worst, _import(store, path, replace=replace))
    return worst


def _import(store: Store, path: Path, *, replace: bool) -> int:
    progress, counts = Progress(f"import {printable(path)}"), ImportCounts()
    logged = write_ahead.exists(path)  # before SQLite, which makes one to read the file
    with tempfile.TemporaryDirectory(dir=store.path.parent, prefix=f".{store.path.name}.") as scratch:
        answers, texts, kind = _source(path, Path(scratch), counts)
        try:
            for number in progress.watch(merging.merge(store, answers, texts, counts, replace=replace), ()):
                progress.done = number
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
    if kind == "damaged" and not counts.new + counts.already_stored + counts.conflicts:
        raise DataError(_hopeless(path, "no answer in it can be read"))
    if kind == "damaged":
        progress.say(f"{printable(path)} is damaged: what can be read of it is taken")
    found = counts.new + counts.already_stored + counts.conflicts + counts.refused + counts.unreadable
    lost = write_ahead.lost(path, found) if kind == "cache" and not logged else ""
    if lost:
        console.complain(lost)
    if not found:
        if not lost:
            print(f"{printable(path)} is empty: it holds no answer, so there is nothing to take in.")
        return ERROR if lost else 0
    with_log = " with its log" * (kind == "cache" and logged)
    parts = [f"{printable(path)}{with_log}: {counts.new:,} new, {counts.already_stored:,} known already"]
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
    return ERROR if lost else 0


def _source(
    path: Path, scratch: Path, counts: ImportCounts
) -> tuple[Iterator[merging.Answer | None], merging.Texts, str]:
    """Return the answers of a file, their texts and its kind: lines, cache or damaged. Raises DataError."""
    with path.open("rb") as file:
        beginning = file.read(_SNIFFED)
    if b"\0" not in beginning and (not beginning or beginning.lstrip().startswith(b"{")):  # JSON knows no NUL
        return merging.of_lines(jsonl.lines_of(path), counts, tolerant=False), merging.none, "lines"
    try:
        try:
            db = for_reading(path)
            try:
                _refuse_foreign(db, path)
                sound = db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            except BaseException:
                db.close()
                raise
            if sound:
                return merging.of_cache(db, counts), merging.texts_of_cache(db), "cache"
            db.close()
        except sqlite3.DatabaseError as error:
            if not corruption.is_damage(error):
                raise
        rows = salvage.salvage(salvage.open_damaged(path, scratch), counts)
        return merging.of_lines(rows, counts, tolerant=True), merging.none, "damaged"
    except (sqlite3.Error, OSError) as error:
        raise DataError(_hopeless(path, str(error))) from None


def _refuse_foreign(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is no cache before reading it: a view could be without an end. Raises DataError."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if application == APPLICATION and version != SCHEMA:
        raise DataError(
            f"{path} has schema {version}, this version reads {SCHEMA}: export it with the version of harness that "
            "made it, and ask again what that cannot bring over."
        )
    if others := foreign_tables(db):
        raise DataError(f"{path} is not read: it is no cache of this program ({others}).")


def _hopeless(path: Path, why: str) -> str:
    return (
        f"{path} is neither what export writes nor a cache that SQLite can open ({why}). If it was a cache, "
        f"`sqlite3 {path} .recover | sqlite3 recovered.sqlite` may make one of it to import."
    )


def prune(cache: Path, selection: maintenance.Selection, *, confirmed: bool) -> int:
    """Print the answers of a selection, and remove them if `confirmed`."""
    if selection == maintenance.Selection():
        raise ConfigError(
            "say which answers to remove: model=, identity=, task=, before= or errors=true (prune shows them first)."
        )
    with closing(Store(cache, readonly=not confirmed)) as store:
        groups = maintenance.groups(store, selection)
        if not groups:
            names = sorted({group.name for group in maintenance.groups(store)})
            raise ConfigError(
                f"{cache} holds no answer that all of the settings fit: nothing to remove. Its models are "
                f"{', '.join(map(printable, names)) or 'none'}."
            )
        terminal.show([_table(groups)])
        count = sum(group.answers for group in groups)
        if not confirmed:
            print(f"\n{_answers(count)} would go. Nothing was removed: add yes=true to remove them.")
            return 0
        print(f"\n{_answers(maintenance.prune(store, selection))} removed.")
        if not maintenance.shrink(store):
            print("The file is in use or the disk is full: the room will be used again, but is not given back.")
    return 0


def verify(cache: Path) -> int:
    """Check every digest and key of the cache. Raises StoreError where one is wrong."""
    progress, findings = Progress(f"verify {cache}"), maintenance.Findings()
    with closing(Store(cache, readonly=True)) as store:
        total = next(store.query("SELECT count(*) FROM answers"), (0,))[0]
        for _ in progress.watch(maintenance.verify(store, findings), range(total)):
            pass
        empty = maintenance.errors(store) if not findings.counts else 0
    if empty:
        raise StoreError(
            f"{cache}: {_answers(empty)} without a word and without a reason to finish, as replies are that tell of "
            f"an error of the server's: `python -m harness.cache prune errors=true cache={cache}` shows them, with "
            "yes=true it removes them, and the run's command asks again. Everything else is what its digest says."
        )
    if not findings.counts:
        sentence = "every response, key, text and identity is what its digest says"
        print(f"{cache}: {_answers(findings.answers)}, {sentence}.")
        return 0
    for what, count in findings.counts.items():
        more = ", …" if count > len(findings.places[what]) else ""
        print(f"{count:,} times: {what} ({', '.join(map(printable, findings.places[what]))}{more})")
    raise StoreError(
        f"{cache} is not sound: `python -m harness.cache import {cache} cache=NEW.sqlite` makes a new one of what is."
    )


def _table(groups: Iterable[maintenance.Group]) -> Table:
    header = ["model", "identity", "task", "answers", "first", "last", "tokens in", "out"]
    rows = [
        [
            printable(group.name) or "–",
            printable(group.identity[:8]),
            printable(group.task) or "–",
            f"{group.answers:,}",
            *map(_day, (group.first, group.last)),
            *("–" if count is None else f"{count:,}" for count in (group.input, group.output)),
        ]
        for group in groups
    ]
    return Table.of(header, rows, text_columns=3, spare=("first", "last", "identity", "tokens in", "out"))


def _same_name(store: Store, groups: list[maintenance.Group]) -> Iterator[str]:
    """Yield, for models of one name, the settings in which they differ."""
    from harness.cache.explain_miss import differences

    identities = maintenance.identities(store)
    by_name: dict[str, list[str]] = {}
    for group in groups:
        if group.identity not in by_name.setdefault(group.name, []):
            by_name[group.name].append(group.identity)
    for name, several in by_name.items():
        for other in several[1:]:
            sentences = differences(identities[several[0]], identities[other])
            text = (
                "; ".join(sentences).replace(" there, ", f" in {several[0][:8]}, ").replace(" now", f" in {other[:8]}")
            )
            yield printable(f"{name}: {text}")


def printable(text: object) -> str:
    """Return a name on one line, without what a terminal would obey: a cache may come from somebody else."""
    return clean(str(text)).replace("\n", "\N{REPLACEMENT CHARACTER}")


def _day(at: Any) -> str:
    try:
        return f"{datetime.fromtimestamp(at):%Y-%m-%d}"
    except (TypeError, ValueError, OverflowError, OSError):
        return "–"


def _answers(count: int) -> str:
    return f"{count:,} answer{'' if count == 1 else 's'}"


def _parts(path: Path) -> list[Path]:
    return [part for end in ("", "-wal", "-shm") if (part := Path(f"{path}{end}")).exists()]
