"""A cache that SQLite cannot read: renamed with its log, named to the user, never deleted and never replaced.

No run goes on beside it: with an empty cache it would pay a second time for what can often be read back.
"""

from __future__ import annotations

import glob
import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from harness.cache.schema import APPLICATION, WAIT
from harness.errors import StoreError

_MAGIC = b"SQLite format 3\0"


def is_damage(error: BaseException) -> bool:
    """Return whether the file's content is at fault, not the disk, a lock or a permission."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def inode(path: Path) -> int | None:
    """Return the file's inode, which tells it from one that has taken its place; None where there is no file."""
    try:
        return path.stat().st_ino
    except OSError:
        return None


def refuse_leftovers(path: Path) -> None:
    """Raise StoreError where opening the file would begin an empty cache beside a damaged one."""
    log = Path(f"{path}-wal")
    # The log first: a file that is being made has content before it has a log. SQLite would delete such a log.
    if _size(log) and not _size(path):
        raise set_aside(path, inode(path), "its log is there, its content is not")
    if not path.exists() and (aside := damaged_files(path)):
        raise StoreError(
            f"the cache {path} was damaged and is set aside as {aside[-1]}, and nothing is asked beside it: "
            f"{_advice(path, aside[-1])}."
        )


def _size(path: Path) -> int:
    """Return how many bytes a file has, 0 where there is none. Another process may take the log away at any moment."""
    try:
        return path.stat().st_size
    except OSError:  # gone, or not for us to see: opening it will say which
        return 0


def damaged_files(path: Path) -> list[Path]:
    """Return the damaged files that were set aside, the latest last."""
    files = path.parent.glob(f"{glob.escape(path.name)}.damaged-*")
    return sorted(file for file in files if not file.name.endswith(("-wal", "-shm")))


def set_aside(path: Path, expected_inode: int | None, what: str) -> StoreError:
    """Rename the damaged file that has this inode, with its log; return the error to raise.

    Processes that still have it open go on writing to it under its new name: SQLite sees that it has moved.
    """
    import filelock

    if not _was_cache(path):
        return StoreError(f"{path} is no cache ({what}) and is left as it is: choose another cache.path.")
    try:
        with filelock.FileLock(f"{path}.lock", timeout=WAIT):
            if inode(path) != expected_inode:
                aside = damaged_files(path)
                place = f" as {aside[-1]}" if aside else ""
                return StoreError(
                    f"the cache {path} was damaged ({what}) and is set aside{place} by another process: start again."
                )
            place = _rename(path)
    except (OSError, filelock.Timeout) as error:
        return StoreError(
            f"the cache {path} is damaged ({what}) and cannot be set aside ({error}): move it and its -wal and -shm "
            "away together, and keep them."
        )
    return StoreError(
        f"the cache {path} is damaged ({what}): it is set aside as {place}, nothing of it is deleted; "
        f"{_advice(path, Path(place))}."
    )


def _advice(path: Path, aside: Path) -> str:
    return (
        f"`python -m harness.cache import {aside} cache={path}` gets back what can be read, and moving it "
        "elsewhere lets a run begin with an empty cache"
    )


def _was_cache(path: Path) -> bool:
    """Return whether the file was a cache once. A file that the user named by mistake must not be renamed."""
    try:
        with path.open("rb") as file:
            header = file.read(72)
    except OSError:
        header = b""
    mark = int.from_bytes(header[68:72], "big") if header.startswith(_MAGIC) else 0
    # The mark may still be in the log alone, and garbage has none: then the name decides.
    return mark == APPLICATION or (mark == 0 and path.suffix == ".sqlite")


def _rename(path: Path) -> str:
    """Rename the log, then the file, and return the new name: SQLite deletes a log that it finds beside a new file."""
    name = f"{path}.damaged-{datetime.now(UTC):%Y-%m-%d_%H-%M-%S}"
    unfinished = [log for log in path.parent.glob(f"{glob.escape(path.name)}.damaged-*-wal") if _alone(log)]
    if unfinished and not Path(f"{path}-wal").exists():
        name = str(unfinished[-1]).removesuffix("-wal")  # a process was killed between two names
    while Path(name).exists():
        name += "a"
    for part in ("-wal", "-shm"):
        if Path(f"{path}{part}").exists():
            os.replace(f"{path}{part}", f"{name}{part}")  # noqa: PTH105
    if path.exists():
        path.replace(name)
    else:
        Path(name).touch()  # so that the log has its file
    return name


def _alone(log: Path) -> bool:
    return not Path(str(log).removesuffix("-wal")).exists()
