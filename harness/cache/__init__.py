"""Answers that were paid for once, in one SQLite file; the command `cache` looks after it.

model.py     a Model that holds a Model and asks it only what the store does not know: look up, ask, keep
store.py     the file: get and put
schema.py    its tables and rows, and what is looked at before it is used
upkeep.py    what is in it, whether it is sound, what may go, and what comes in from another cache
__main__.py  the command `cache`
"""

from harness.cache.model import CachedModel
from harness.cache.store import Store

__all__ = ["CachedModel", "Store"]
