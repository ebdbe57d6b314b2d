"""Answers that were paid for once, in one SQLite file, or a folder of parts. The plug-in `answers` looks after it.

model.py    a Model that holds a Model and asks it only what the store does not know; why an answer is missing
asking.py   one call of it: look up, claim, ask, wait for what others ask
claims.py   what a process is asking, so that others on the same file do not
store.py    the file: get and put
alone.py    a file that one process has alone, as NFS, Lustre and GPFS need, and how others read it meanwhile
schema.py   its tables and rows, and what is looked at before it is used
parts_store.py  the same for a folder of immutable parts beside a small such file
parts.py    a part: a Parquet file, sorted by key
part_rows.py    rows of the file as tables of a part, and back
merging.py  answers of another machine go into this cache
"""

from pathlib import Path

from harness.cache.model import CachedModel
from harness.cache.store import Store

__all__ = ["CachedModel", "Store", "open_store"]

PARTS = ".parts"
"""How the name of a folder of parts ends."""


def open_store(path: Path, *, readonly: bool = False, shared: bool | None = None) -> Store:
    """Return the store at a path: a folder of parts where its name ends with .parts, else one SQLite file."""
    if path.suffix != PARTS:
        return Store(path, readonly=readonly, shared=shared)
    from harness.cache.parts_store import PartsStore

    return PartsStore(path, readonly=readonly, shared=shared)
