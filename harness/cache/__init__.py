"""Answers that were paid for once, in one SQLite file; the command `cache` looks after it.

model.py     a Model that holds a Model and asks it only what the store does not know
asking.py    one call of it: look up, ask, keep
store.py     the file: get and put
network.py   whether a path is on a network's file system, where no cache can be
schema.py    its tables and rows, and what is looked at before it is used
merging.py   the answers of another cache go into this one
upkeep.py    what is in it, whether it is sound, and what may go
__main__.py  the command `cache`
"""

from harness.cache.model import CachedModel
from harness.cache.store import Store

__all__ = ["CachedModel", "Store"]
