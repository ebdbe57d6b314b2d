"""Answers that were paid for once, in one SQLite file; the command `cache` looks after it.

model.py     a Model that holds a Model and asks it only what the store does not know; why an answer is missing
asking.py    one call of it: look up, claim, ask, wait for what others ask
claims.py    what a process is asking, so that others on the same file do not
store.py     the file: get and put
alone.py     a file that one process has alone, as NFS, Lustre and GPFS need, and how others read it meanwhile
schema.py    its tables and rows, and what is looked at before it is used
merging.py   answers of another machine go into this cache
__main__.py  the command `cache`; transfer.py: its export and import; upkeep.py: stats, prune and verify
"""

from harness.cache.model import CachedModel
from harness.cache.store import Store

__all__ = ["CachedModel", "Store"]
