"""Answers that were paid for once, in one SQLite file. The plug-in `answers` looks after it, and has a store in parts.

model.py    a Model that holds a Model and asks it only what the store does not know; why an answer is missing
asking.py   one call of it: look up, claim, ask, wait for what others ask
claims.py   what a process is asking, so that others on the same file do not
store.py    the file: get and put
alone.py    a file that one process has alone, as NFS, Lustre and GPFS need, and how others read it meanwhile
schema.py   its tables and rows, and what is looked at before it is used
merging.py  answers of another machine go into this cache
"""

from pathlib import Path

from harness import plugin
from harness.cache.model import CachedModel
from harness.cache.store import Store

__all__ = ["CachedModel", "Store", "open_store"]


def open_store(path: Path, *, readonly: bool = False, shared: bool | None = None) -> Store:
    """Return the store at a path: one SQLite file, or what a plug-in has for the ending of its name."""
    place = plugin.stores().get(path.suffix)
    kind: type[Store] = Store if place is None else plugin.load(place)
    return kind(path, readonly=readonly, shared=shared)
