"""What this process is asking, noted in the cache's file: of the processes that share a cache one asks each thing.

A claim is a row: the key of an answer, and the process that asks for it. It is given up with its answer, or without
one. A process holds the lock of a file beside the cache as long as it lives; with the lock all its claims end, however
it ends. No clock is read: a process that finds the lock free takes the claim.
"""

from __future__ import annotations

import glob
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harness.errors import StoreError
from harness.types import Response

try:
    # Not filelock: without fcntl it falls back on a file that outlives its process.
    import fcntl
except ImportError:  # then every process asks as if it were alone
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile("[0-9a-f]{12}")
_HERE: set[str] = set()
"""The owners in this process. It does not wait for itself."""


class File(Protocol):
    """The cache's file, as its claims see it."""

    path: Path

    def get(self, key: str, *, since: float = 0.0) -> Response | None:
        """Return the stored response; None where it is older than `since`."""

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Write all of it or nothing."""

    def query(self, statement: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a SELECT."""


@dataclass
class ClaimResult:
    """What became of keys that were to be claimed."""

    own: set[str] = field(default_factory=set)
    """To be asked here."""
    stored: dict[str, Response] = field(default_factory=dict)
    """Answered by others since they were looked up."""
    others: dict[str, str] = field(default_factory=dict)
    """Being asked by others; the owner of each claim."""


class Claims:
    """The claims of one open store."""

    def __init__(self, store: File, *, needed: bool = True) -> None:
        """Claim nothing and make no file yet: both wait until something is to be asked.

        needed: whether other processes may have the file open, which would ask the same.
        """
        self._store = store
        self._owner = ""
        self._lock = -1
        self._impossible = fcntl is None or not needed

    def take(self, keys: Sequence[str], *, since: float = 0.0, anyhow: bool = False) -> ClaimResult:
        """Claim the keys without an answer since `since` that nobody else is asking (with `anyhow`: all of them).

        On a file system without locks everything counts as claimed here, whatever other processes ask.
        """
        if not self._owner and not self._begin():
            return ClaimResult(own=set(keys))
        with self._store.transaction() as db:
            claimed = db.executemany(
                "INSERT OR IGNORE INTO claims SELECT ?1, ?2 "
                "WHERE NOT EXISTS (SELECT 1 FROM answers WHERE key = ?1 AND stored >= ?3)",
                [(key, self._owner, since) for key in keys],
            ).rowcount
            if claimed == len(keys):
                return ClaimResult(own=set(keys))
            return self._sort(db, keys, since, anyhow, ClaimResult())

    def _sort(
        self, db: sqlite3.Connection, keys: Sequence[str], since: float, anyhow: bool, result: ClaimResult
    ) -> ClaimResult:
        living: dict[str, bool] = {}
        for key in keys:
            if (stored := self._store.get(key, since=since)) is not None:
                result.stored[key] = stored
                continue
            owner = self._owner_of(db, key)
            if owner and owner not in _HERE and not anyhow:
                if owner not in living:
                    living[owner] = self.alive(owner)
                if living[owner]:
                    result.others[key] = owner
                    continue
            result.own.add(key)
            if owner not in _HERE:
                db.execute("REPLACE INTO claims VALUES (?, ?)", (key, self._owner))
        return result

    def owners(self) -> dict[str, str]:
        """Return every claim there is: its key and its owner."""
        return dict(self._store.query("SELECT key, owner FROM claims"))

    @staticmethod
    def _owner_of(db: sqlite3.Connection, key: str) -> str:
        row = db.execute("SELECT owner FROM claims WHERE key = ?", (key,)).fetchone()
        return row[0] if row else ""

    def give_up(self, db: sqlite3.Connection, keys: Sequence[str]) -> None:
        """Delete the claims on some keys, inside a transaction, so that others may ask for them."""
        if self._owner:
            db.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", [(key, self._owner) for key in keys])

    def release(self, keys: Sequence[str]) -> None:
        """Release the claims on keys that got no answer."""
        if self._owner and keys:
            with self._store.transaction() as db:
                self.give_up(db, keys)

    def end(self) -> None:
        """Release all claims and the lock, before the store is closed."""
        owner, self._owner = self._owner, ""  # first: a damaged file is closed once more
        if not owner:
            return
        with suppress(StoreError, sqlite3.Error), self._store.transaction() as db:
            db.execute("DELETE FROM claims WHERE owner = ?", (owner,))
        with suppress(OSError):
            self._lock_file(owner).unlink(missing_ok=True)
        os.close(self._lock)
        _HERE.discard(owner)

    def alive(self, owner: str) -> bool:
        """Return whether an owner's process lives; remove the lock file of a dead one."""
        if not _NAME.fullmatch(owner):  # in a file from elsewhere it may be a path
            return False
        try:
            file = os.open(self._lock_file(owner), os.O_RDONLY)
        except FileNotFoundError:
            return False
        except OSError:  # another user's: it may live
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._lock_file(owner).unlink(missing_ok=True)
        except OSError:
            return True
        finally:
            os.close(file)
        return False

    def process_of(self, owner: str) -> str:
        """Return the owner's process id and machine, for people to look for."""
        try:
            return self._lock_file(owner).read_text(encoding="utf-8")[:100]
        except (OSError, ValueError):
            return ""

    def _lock_file(self, owner: str) -> Path:
        return Path(f"{self._store.path}.{owner}.lock")

    def _begin(self) -> bool:
        """Become an owner and remove what dead ones left behind; return whether a lock could be had."""
        while not self._impossible and not self._owner:
            owner = os.urandom(6).hex()
            lock_file = self._lock_file(owner)
            file = -1
            try:
                file = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
                fcntl.flock(file, fcntl.LOCK_EX)
                os.write(file, f"{os.getpid()} on {os.uname().nodename}".encode())
                # Between the two another process may have found the lock free, and have taken the file away.
                if lock_file.exists():
                    self._owner, self._lock = owner, file
                    _HERE.add(owner)
                else:
                    os.close(file)
            except OSError:
                self._impossible = True
                if file >= 0:
                    os.close(file)
                    with suppress(OSError):
                        lock_file.unlink(missing_ok=True)
        if self._owner:
            self._sweep()
        return bool(self._owner)

    def _sweep(self) -> None:
        """Remove the claims and the files of dead owners."""
        owners = {owner for (owner,) in self._store.query("SELECT DISTINCT owner FROM claims")}
        files = self._store.path.parent.glob(f"{glob.escape(self._store.path.name)}.*.lock")
        owners |= {owner for file in files if _NAME.fullmatch(owner := file.name.removesuffix(".lock")[-12:])}
        dead = [(owner,) for owner in owners - _HERE if not self.alive(owner)]
        if dead:
            with self._store.transaction() as db:
                db.executemany("DELETE FROM claims WHERE owner = ?", dead)
