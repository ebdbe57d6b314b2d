"""What can go wrong, as a tree:

    HarnessError            one sentence for the user: what was got, what is allowed, what to do
    ├── ConfigError         a setting, a name or a combination that cannot run
    ├── DataError           a data file or a row of it that cannot be read
    ├── StoreError          the cache or a results folder cannot be read or written
    └── RunStopped          nothing that is asked later can succeed either (key, quota, unreachable server)
        └── Interrupted     the user pressed Ctrl-C

A reply that cannot be used is none of these: it is a `types.Failure`, a value that ends up in a record.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HarnessError(Exception):
    """An error whose message is written for the user."""


class ConfigError(HarnessError):
    """A setting, a name or a combination that cannot run."""


class DataError(HarnessError):
    """A data file or a row of it that cannot be read."""


class StoreError(HarnessError):
    """The cache or a results folder cannot be read or written."""


class RunStopped(HarnessError):
    """What no later request can survive; all answers so far are kept."""


class Interrupted(RunStopped):
    """The user pressed Ctrl-C; what was under way has ended and is kept."""


def unknown(kind: str, got: str, allowed: Iterable[str]) -> str:
    """The sentence for a name that does not exist, with the nearest one that does."""
    names = sorted(map(str, allowed))
    near = difflib.get_close_matches(got, names, n=1, cutoff=0.6)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"there is no {kind} {got!r}{hint}. There {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}."
