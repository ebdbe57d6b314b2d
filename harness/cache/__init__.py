"""Answers that were paid for once, in one SQLite file; the command `cache` looks after it.

model.py     a Model that holds a Model and asks it only what the store does not know
asking.py    one call of it: look up, ask, keep
store.py     the file: get and put
network.py   whether a path is on a network's file system, where no cache can be
schema.py    its tables and rows, and what is looked at before it is used
merging.py   answers of another machine go into this cache
__main__.py  the command `cache`; transfer.py: its export and import; upkeep.py: stats, prune and verify
"""

from harness.cache.model import CachedModel
from harness.cache.store import Store

__all__ = ["CachedModel", "Store"]
