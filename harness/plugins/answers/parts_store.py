"""A folder of immutable parts beside a small SQLite file: the store for more answers than one file should hold.

What is answered goes into `open.sqlite`, which is a cache as store.py has it, with claims and plug-ins' tables. Once it
holds MOVED answers they become a part (parts.py), in one transaction: the part is on the disk before its rows go. Of
FANOUT parts of about one size one is made, so there are few. `open.sqlite` lists the parts that count.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from harness.cache import schema
from harness.cache.schema import response_of
from harness.cache.store import Store, store_texts, text_of
from harness.codec import canonical
from harness.errors import StoreError
from harness.plugins.answers.part_rows import ROWS, count_on, rows_of, tables_of, tables_of_texts, within
from harness.plugins.answers.parts import HEADS, NAME, Kind, NewPart, Part, distinct, locked, merged, ranges
from harness.types import Response

MOVED = 32_768
"""Answers, or texts, that SQLite holds before they become a part."""
FANOUT = 8
"""Parts of about one size that are merged."""
LARGEST = MOVED * FANOUT**2
"""Rows from which on a part is left as it is: merging it with its like would take minutes."""
AT_ONCE = 32_768
"""Rows that are held at a time."""
_LIST = "CREATE TABLE parts (name TEXT PRIMARY KEY, place INTEGER NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID"
_TRIES = 50
"""Looks at a list of parts, of which another process is just merging some."""


class PartsStore(Store):
    """One connection to `open.sqlite`, and the open parts."""

    def __init__(self, path: Path, *, readonly: bool = False, shared: bool | None = None) -> None:
        self._parts: dict[Kind, list[Part]] = {"answers": [], "texts": []}
        """From the oldest to the newest."""
        self._version = -1
        """SQLite's number for what other processes have changed, when the list of parts was read."""
        self._changes = self._left = 0
        """Rows changed when the rows were last counted, and how many stayed when they were last moved."""
        if readonly and path.is_dir() and not self.file_of(path).exists():
            raise StoreError(f"{path} lacks its open.sqlite: a run with cache=on makes it again, of the parts there.")
        super().__init__(path, readonly=readonly, shared=shared)

    @staticmethod
    def file_of(path: Path) -> Path:
        return path / "open.sqlite"

    # What is looked up.

    def _row(self, key: str, since: float) -> tuple[Any, ...] | None:
        return super()._row(key, since) or self._part_row(key, since)

    def _part_row(self, key: str, since: float) -> tuple[Any, ...] | None:
        """Return the response of a key that stands in a part, its digest and number."""
        for part in self._that_may_hold("answers", key):
            if row := part.row(bytes.fromhex(key), "response", "digest", "number", "stored"):
                response, digest, number, stored = row
                return (response, digest.hex(), number) if stored >= since else None
        return None

    def _that_may_hold(self, kind: Kind, key: str) -> Iterator[Part]:
        """Yield the parts with a key that begins like this one, the newest first."""
        self._look()
        with suppress(ValueError):
            content = bytes.fromhex(key)
            yield from (part for part in reversed(self._parts[kind]) if part.find(content) is not None)

    def in_parts(self, keys: Iterable[str], *, since: float = 0.0) -> dict[str, Response]:
        responses = {}
        for key in keys:
            if (row := self._part_row(key, since)) is None or super()._row(key, 0.0) is not None:
                continue
            with suppress(ValueError):
                responses[key] = response_of(key, *row[:2])
        return responses

    def text(self, digest: str) -> str:
        with suppress(KeyError):
            return super().text(digest)
        for part in self._that_may_hold("texts", digest):
            if row := part.row(bytes.fromhex(digest), "text"):
                return text_of(row[0])
        raise KeyError(digest)

    def known_texts(self, names: Iterable[str]) -> set[str]:
        wanted = set(names)
        known = super().known_texts(wanted)
        return known | {name for name in wanted - known if any(self._that_may_hold("texts", name))}

    def has_text(self, digest: str) -> bool:
        return super().has_text(digest) or any(self._that_may_hold("texts", digest))

    def stored_texts(self) -> Iterator[tuple[str, str | bytes]]:
        yield from super().stored_texts()
        self._look()
        for part in self._parts["texts"]:
            for table in merged([part], ranges(part.rows, AT_ONCE)):
                yield from zip((key.hex() for key in table["key"].to_pylist()), table["text"].to_pylist(), strict=True)

    def note_texts(self, db: sqlite3.Connection, texts: Mapping[str, str]) -> None:
        new = [name for name in texts if not any(self._that_may_hold("texts", name))]
        store_texts(db, {name: texts[name] for name in new})

    def odd_files(self) -> Iterator[str]:
        self._look()
        for parts in self._parts.values():
            for part in parts:
                yield from part.check()

    def last_row(self) -> int:
        self._look()
        return max(super().last_row(), *(part.number for part in self._parts["answers"]), 0)

    # All of it.

    def count(self) -> int:
        return self._distinct("answers", "SELECT key FROM answers")

    def count_texts(self) -> int:
        return self._distinct("texts", "SELECT digest AS key FROM texts")

    def _distinct(self, kind: Kind, keys: str) -> int:
        """Return how many keys there are. One may stand in several parts, until they are merged."""
        self._look()
        parts, count = self._parts[kind], 0
        for low, high in ranges(sum(part.rows for part in parts), AT_ONCE * FANOUT):
            where, values = within(low, high)
            count += distinct(parts, low, high, [key for (key,) in self.query(f"{keys} WHERE {where}", *values)])
        return count

    def slices(self) -> Iterator[sqlite3.Connection]:
        for _ in range(_TRIES):
            self._at.execute("BEGIN")
            with suppress(FileNotFoundError):  # merged between the list and the look: the next moment's list has it
                self._read_list()
                break
            self._at.rollback()
        else:
            self._look()
        try:
            for (low, high), piece in self._slices(self._at):
                where, values = within(low, high)
                rows = self._at.execute(f"SELECT {ROWS} FROM answers WHERE {where}", values)
                piece.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
                yield piece
        finally:
            self._at.rollback()

    def _slices(self, db: sqlite3.Connection) -> Iterator[tuple[tuple[int, int], sqlite3.Connection]]:
        """Yield databases in memory, each with the answers that parts have in one range of keys."""
        identities = db.execute("SELECT digest, identity, name FROM identities").fetchall()
        parts = self._parts["answers"]
        for low, high in ranges(sum(part.rows for part in parts), AT_ONCE):
            with closing(schema.in_memory()) as piece:
                piece.execute("BEGIN")
                piece.executemany("INSERT INTO identities VALUES (?, ?, ?)", identities)
                for table in merged(parts, [(low, high)]):
                    piece.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", rows_of(table))
                yield (low, high), piece

    # What is moved into parts.

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with super().transaction() as db:
            yield db
        if self._at.total_changes - self._changes > MOVED // 8:
            self._changes = self._at.total_changes
            if self._open_rows() > MOVED + self._left:
                self.flush()
                self.compact()

    def _open_rows(self) -> int:
        return max(int(next(self.query(f"SELECT count(*) FROM {table}"))[0]) for table in ("answers", "texts"))

    def flush(self) -> None:
        """Move what SQLite holds into new parts, all or nothing."""
        with super().transaction() as db:
            self._look()
            last = self.last_row()
            self._move(db, "answers", "key", last)
            self._move(db, "texts", "digest", 0)
            count_on(db, last)
        self._read_list()
        self._changes, self._left = self._at.total_changes, self._open_rows()

    def _move(self, db: sqlite3.Connection, kind: Kind, key: str, number: int) -> None:
        moved: list[tuple[str]] = []
        place = 1 + db.execute("SELECT coalesce(max(place), 0) FROM parts").fetchone()[0]
        with self._new_part(db, kind, place, number) as part:
            for table in tables_of(db, moved) if kind == "answers" else tables_of_texts(db, moved):
                part.add(table)
            self._enter(db, part, place, number)
        db.executemany(f"DELETE FROM {kind} WHERE {key} = ?", moved)

    @contextmanager
    def _new_part(self, db: sqlite3.Connection, kind: Kind, place: int, number: int) -> Iterator[NewPart]:
        """Give a part that is to be written, whose file tells all that is needed to list it again."""
        identities = {name: rest for name, *rest in db.execute("SELECT digest, identity, name FROM identities")}
        notes = {"number": str(number), "identities": canonical(identities if kind == "answers" else {})}
        try:
            with NewPart(self.path, kind, place, notes) as part:
                yield part
        except (OSError, pa.ArrowException) as error:
            raise self.trouble(error) from error

    @staticmethod
    def _enter(db: sqlite3.Connection, part: NewPart, place: int, number: int) -> None:
        """Finish a part, and list it."""
        if part.finish():
            db.execute("INSERT INTO parts VALUES (?, ?, ?)", (part.name, place, number))

    # What is merged and removed.

    def compact(self) -> None:
        """Merge parts of about one size, as long as there are FANOUT of them; nothing where another process does."""
        with self._merging() as mine:
            while mine and (parts := self._mergeable()):
                self._merge(parts)

    def _mergeable(self) -> Sequence[Part]:
        """Return the youngest FANOUT neighbours of about one size, the oldest first."""
        self._look()
        for parts in self._parts.values():
            sizes = [round(math.log(max(part.rows / MOVED, 1), FANOUT)) for part in parts]
            for end in range(len(parts), FANOUT - 1, -1):
                if len(set(sizes[end - FANOUT : end])) == 1 and parts[end - 1].rows < LARGEST:
                    return parts[end - FANOUT : end]
        return ()

    def _merge(self, parts: Sequence[Part]) -> None:
        """Put one part in the place of several neighbours. Others read and write meanwhile."""
        place, number = parts[-1].place, max(part.number for part in parts)
        with self._new_part(self._at, parts[0].kind, place, number) as new:
            for table in merged(parts, ranges(sum(part.rows for part in parts), AT_ONCE)):
                new.add(table)
            with super().transaction() as db:
                self._unlist(db, parts)
                self._enter(db, new, place, number)
        self._read_list()
        for part in parts:
            part.remove()

    @staticmethod
    def _unlist(db: sqlite3.Connection, parts: Iterable[Part]) -> None:
        db.executemany("DELETE FROM parts WHERE name = ?", [(part.path.name,) for part in parts])

    @contextmanager
    def rewriting(self) -> Iterator[sqlite3.Connection]:
        with self._merging(wait=True):
            with super().transaction() as db:
                self._read_list()
                before = [part for parts in self._parts.values() for part in parts]
                yield db
            self._read_list()
            listed = {part.path for parts in self._parts.values() for part in parts}
            for part in before:
                if part.path not in listed:
                    part.remove()

    def rewritten(self, db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
        parts, number = self._parts["answers"], self.last_row()
        place, slices = max((part.place for part in parts), default=0), self._slices(db)
        while parts:
            with self._new_part(db, "answers", place, number) as new:
                for (low, high), piece in slices:
                    # SQLite's own row is the newer one, and may be removed where this would stay.
                    where, values = within(low, high)
                    newer = db.execute(f"SELECT key FROM answers WHERE {where}", values)
                    piece.executemany("DELETE FROM answers WHERE key = ?", newer)
                    yield piece
                    for table in tables_of(piece, [], number):
                        new.add(table)
                    if new.rows >= LARGEST:
                        break
                else:
                    self._unlist(db, parts)
                    parts = []
                self._enter(db, new, place, number)
        yield db
        count_on(db, number)

    def keep_texts(self, db: sqlite3.Connection, needed: str) -> None:
        super().keep_texts(db, needed)
        parts = self._parts["texts"]
        place = max((part.place for part in parts), default=0)
        with self._new_part(db, "texts", place, 0) as new:
            for low, high in ranges(sum(part.rows for part in parts), AT_ONCE):
                where, values = within(low, high)
                names = {name for (name,) in db.execute(f"SELECT key FROM ({needed}) WHERE {where}", values)}
                for table in merged(parts, [(low, high)]):
                    stay = [key.hex() in names for key in table["key"].to_pylist()]
                    new.add(table.filter(pa.array(stay, pa.bool_())))
            self._unlist(db, parts)
            self._enter(db, new, place, 0)

    # Which parts there are.

    def _look(self) -> None:
        """Open the parts that are listed now, where the list may have changed since the last look."""
        for _ in range(_TRIES):
            if next(self.query("PRAGMA data_version"))[0] == self._version:
                return None
            try:
                return self._read_list()
            except FileNotFoundError as error:  # another process has merged it, or somebody took it away
                missing = error
                time.sleep(0.01)
        raise StoreError(
            f"a part of {self.path} is missing ({missing}): put it back, or move {self.file} away, which is made again "
            f"of the parts that are there; `harness cache import MOVED/open.sqlite cache={self.path}` takes it in then."
        )

    def _read_list(self) -> None:
        """Open the parts that are listed and not open yet. Raises FileNotFoundError, and StoreError."""
        version = next(self.query("PRAGMA data_version"))[0]
        there = {part.path.name: part for parts in self._parts.values() for part in parts}
        rows: Iterable[tuple[str, int]] = ()
        if next(self.query("SELECT 1 FROM sqlite_master WHERE name = 'parts'"), None):
            rows = list(self.query("SELECT name, number FROM parts ORDER BY place, name"))
        parts: dict[Kind, list[Part]] = {"answers": [], "texts": []}
        for name, number in rows:
            if not NAME.fullmatch(str(name)):
                raise StoreError(f"{self.file} lists {str(name)[:40]!r}, which is no part: choose another cache.path.")
            part = there.get(name) or Part(self.path / name)
            part.number = number
            parts[part.kind].append(part)
        self._parts, self._version = parts, version

    def _merging(self, *, wait: bool = False) -> AbstractContextManager[bool]:
        """Give whether this process alone merges and removes parts meanwhile."""
        return locked(self.path / "merging.lock", wait=wait, without=bool(self._alone))

    def _open(self) -> None:
        super()._open()
        if not self._readonly:
            known = next(self.query("SELECT 1 FROM sqlite_master WHERE name = 'parts'"), None) is not None
            with self._merging(wait=not known) as mine:
                if mine:
                    self._tidy()
        self._version = -1
        self._look()

    def _return(self) -> None:
        super()._return()
        with self._merging(wait=True), super().transaction() as db:
            for part in (part for parts in self._parts.values() for part in parts if not part.path.exists()):
                with self._new_part(db, part.kind, part.place, part.number) as new:
                    for table in merged([part], ranges(part.rows, AT_ONCE)):
                        new.add(table)
                    self._unlist(db, [part])
                    self._enter(db, new, part.place, part.number)
        self._read_list()

    def _tidy(self) -> None:
        """Make the list if it is missing, of the parts that are there; else remove what a killed process left."""
        with super().transaction() as db:
            files = {path.name: path for path in self.path.iterdir()}
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'parts'").fetchone() is None:
                db.execute(_LIST)
                for name in filter(NAME.fullmatch, files):
                    part = Part(files[name])
                    db.executemany("INSERT OR IGNORE INTO identities VALUES (?, ?, ?)", part.identities)
                    db.execute("INSERT INTO parts VALUES (?, ?, ?)", (name, part.place, part.number))
                count_on(db, db.execute("SELECT coalesce(max(number), 0) FROM parts").fetchone()[0])
            listed = {name for (name,) in db.execute("SELECT name FROM parts")}
            for name, path in files.items():
                of = name.removesuffix(HEADS)
                if of not in listed and NAME.fullmatch(f"{of.removesuffix('.new').removesuffix('.parquet')}.parquet"):
                    path.unlink(missing_ok=True)
