"""A cache that one process opens alone, as file systems need that several machines share.

SQLite's write-ahead log serves several processes only where they share memory: on one machine, and not through NFS,
Lustre or GPFS. In its exclusive mode SQLite keeps the log's index in its own memory (no -shm file beside the cache) and
holds the file's lock as long as the file is open. Another writer is told which process has it; a reader gets a copy.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path

from harness.cache import schema
from harness.errors import StoreError

PATIENCE = 3.0
"""Seconds to wait for a process that has the file alone: it holds it until it ends."""
_GLANCE = 0.1
"""The same for a reader, which can have a copy."""
_COPIES = 20
"""Tries to copy a cache while another process writes to it."""
_SALTS = slice(16, 24)
"""Where a log's header has the numbers that change each time SQLite begins the log anew."""
_HERE: set[Path] = set()
"""The caches that this process has alone. Opening such a file a second time and closing it would drop its lock."""


def why(path: Path, shared: bool | None) -> str:
    """Return the reason for exclusive mode, or "" if several processes may share the cache.

    shared: the setting cache.shared; None leaves it to the file system.
    """
    if shared is not None:
        return "" if shared else "cache.shared=false"
    kind = network_file_system(path)
    return f"it lies on {kind}, where processes cannot share a database safely" if kind else ""


def begin(path: Path) -> None:
    """Write a note that this process holds the cache, for processes that find it locked."""
    _HERE.add(path.resolve())
    with suppress(OSError):
        _note(path).write_text(f"process {os.getpid()} on {socket.gethostname()}", encoding="utf-8")


def end(path: Path) -> None:
    """Remove the note."""
    _HERE.discard(path.resolve())
    with suppress(OSError):
        _note(path).unlink(missing_ok=True)


def holder(path: Path) -> str:
    """Return the process that holds the cache exclusively (or did when it was killed), or ""."""
    try:
        return _note(path).read_text(encoding="utf-8", errors="replace")[:100]
    except OSError:
        return ""


def is_locked(error: BaseException) -> bool:
    """Return whether SQLite's error says that the file is locked; a path in it may contain that word, too."""
    return isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "busy" in str(error))


def has_no_locks(error: BaseException) -> bool:
    """Return whether SQLite says that file system or mount has no locks, or no shared memory, as a cache needs them."""
    name = getattr(error, "sqlite_errorname", None) or ""
    return "locking protocol" in str(error) or bool(re.fullmatch(r"SQLITE_IOERR_(SHM\w+|\w*LOCK)", name))


def advice_for_locked(path: Path, reason: str) -> str:
    """Return what to do where another process has the file.

    reason: why one alone can have it; "" where it is that process which wanted it so.
    """
    who = holder(path) or "another process"
    reason = reason or "that one opened it so"
    machine = "; cache.shared=true lets processes of one machine share it all the same" if "lies on" in reason else ""
    return (
        f"{who} has it open, and only one process can ({reason}): wait for it, or give each run a cache.path of its "
        f"own and merge them (harness cache import); on a local disk runs share one{machine}"
    )


def advice_for_no_locks(path: Path, *, alone: bool) -> str:
    """Return what to do where the file system has no locks, or no shared memory."""
    kind = network_file_system(path)
    place = f"its file system ({kind})" if kind else "its file system"
    local = "put it on a local disk (cache.path=…) and bring it home with harness cache import"
    if alone:
        return f"{place} has no file locks as it is mounted (Lustre: option flock; NFS: a lock manager): {local}"
    one = "cache.shared=false opens it for this process alone"
    return f"{place} does not let processes share a database: {one}, or {local}"


def for_reading(path: Path, shared: bool | None = None) -> sqlite3.Connection:
    """Return a connection that reads what is stored, also while a process has the cache alone: then in a copy.

    Raises what SQLite raises, and StoreError where no whole copy could be made.
    """
    if path.resolve() not in _HERE and why(path, shared):
        log = Path(f"{path}-wal")
        if log.exists() and log.stat().st_size:
            return _copied(path)
        return schema.for_reading(path, immutable=True)
    try:
        return schema.for_reading(path, wait=_GLANCE if holder(path) else schema.WAIT)
    except sqlite3.OperationalError as error:
        if not is_locked(error) or not holder(path) or path.resolve() in _HERE:
            raise
    return _copied(path)


def _copied(path: Path) -> sqlite3.Connection:
    """Return a connection to a copy of a cache, with its log, as they were at one moment.

    First the file, then the log, so that what moves from the one to the other meanwhile is in both. If
    SQLite has begun the log anew in between, copy again.
    """
    with tempfile.TemporaryDirectory(prefix="harness-cache-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "cache.sqlite"
        for _ in range(_COPIES):
            before = _salts(path)
            shutil.copyfile(path, copy)
            try:
                shutil.copyfile(f"{path}-wal", f"{copy}-wal")
            except FileNotFoundError:
                Path(f"{copy}-wal").unlink(missing_ok=True)
            if _salts(path) == before:
                break
        else:
            raise StoreError(f"the cache {path} is written to so fast that it cannot be read meanwhile: wait for it.")
        db = schema.guard(sqlite3.connect(copy, isolation_level=None))
        # What the log holds goes into the copy, which needs no other file then: the folder goes, the open file stays.
        db.execute("PRAGMA journal_mode=DELETE").fetchone()
        return schema.with_tables(db)


def _salts(path: Path) -> bytes:
    try:
        with Path(f"{path}-wal").open("rb") as log:
            return log.read(32)[_SALTS]
    except FileNotFoundError:
        return b""


def _note(path: Path) -> Path:
    return Path(f"{path}.alone")


MOUNTS = Path("/proc/self/mountinfo")
"""Linux's list of what is mounted. It has names where statfs has numbers, and one number for all of FUSE."""
_OF_NETWORKS = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "panfs", "pvfs2"),
        *("orangefs", "wekafs", "afs", "9p", "gfs2", "ocfs2", "acfs", "cvfs", "dvs", "juicefs", "vboxsf", "hgfs"),
    )
)
_OF_NETWORKS_IN_FUSE = re.compile(
    r"fuse\.(?:.*(?:nfs|ssh|ceph|gluster|beegfs|lustre|s3|gcs|goofys|geesefs|blobfuse|juicefs|rclone|davfs|seaweed|alluxio"
    r"|quobyte|hdfs|curve|dfuse|moose|mfs|lizard|smb|cifs|vmhgfs|weka).*)",
    re.IGNORECASE,
)


def network_file_system(path: Path) -> str:
    """Return the kind of the network's or cluster's file system that a path lies on, such as nfs4 or lustre.

    "" for a local one, and on other systems than Linux.
    """
    kind = _kind(path)
    return kind if kind in _OF_NETWORKS or _OF_NETWORKS_IN_FUSE.fullmatch(kind) else ""


def _kind(path: Path) -> str:
    """Return the kind of file system that a path lies on, or will; "" if unknown."""
    try:
        place = path.resolve()
        while not place.exists():
            place = place.parent
        device = place.stat().st_dev
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    number = f"{os.major(device)}:{os.minor(device)}"
    kind_above, deepest = "", -1
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        if len(parts := before.split(" ")) < 5 or not after:
            continue
        kind = after.split(" ", 1)[0]
        if parts[2] == number:
            return kind
        # Some (btrfs) report another device for files than mountinfo does: there the deepest mount above counts.
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), parts[4]))
        if place.is_relative_to(point) and len(point.parts) >= deepest:
            kind_above, deepest = kind, len(point.parts)
    return kind_above
