"""What can go wrong, as a tree:

    HarnessError            one sentence for the user: what was got, what is allowed, what to do
    ├── ConfigError         a setting, a name or a combination that cannot run
    │   └── UnfitError      a prompt and a model that do not go together
    ├── DataError           a data file or a row of it that cannot be read
    │   └── NotHereError    a results folder needs what is not here: a class that is not installed, a file of items
    ├── StoreError          the cache or a results folder cannot be read or written
    └── RunStopped          nothing that is asked later can succeed either (key, quota, unreachable server)
        ├── Interrupted     the user pressed Ctrl-C
        └── BudgetReached   a limit that the user has set leaves no room for another call

A reply that cannot be used is no exception: it is a `types.Failure`, a value in a record.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from harness import gone

NEAR, MOST_LISTED = 3, 12
"""Names that a sentence lists: of more, or of more settings than three, it has the three nearest."""


class HarnessError(Exception):
    """An error whose message is written for the user."""


class ConfigError(HarnessError):
    """A setting, a name or a combination that cannot run."""


class UnfitError(ConfigError):
    """A prompt and a model that do not go together."""


class DataError(HarnessError):
    """A data file or a row of it that cannot be read."""


class NotHereError(DataError):
    """A results folder needs what is not here: a class or a parser that is not installed, or a file of items."""


class StoreError(HarnessError):
    """The cache or a results folder cannot be read or written."""


class RunStopped(HarnessError):
    """A reason why no later request can succeed; all answers so far are kept."""


class Interrupted(RunStopped):
    """The user pressed Ctrl-C; what was under way has ended and is kept."""


class BudgetReached(RunStopped):
    """A limit that the user has set leaves no room for another call."""


def nearest(value: str, names: Iterable[str]) -> str:
    """Return a hint at the nearest name, empty if none is near.

    A beginning of one name is that name, of a folder's names all of them: none of these is nearer than the others.
    """
    candidates = list(names)
    if below := [name for name in candidates if name.startswith(f"{value}/")]:
        return f" (did you mean {' or '.join(map(repr, below[:6]))}?)"
    longer = [name for name in candidates if len(value) > 2 and name.startswith(value)]
    near = (longer if len(longer) == 1 else []) or difflib.get_close_matches(value, candidates, n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _help(kind: str, name: str) -> str:
    """Return the command that lists the names of a kind, of which one is given; "" where none does."""
    if kind == "setting":
        group, dot, _ = name.partition(".")
        return f"harness --help {group}=NAME" if dot else "--help"
    of = kind.split()[-1]
    if of == "judge":
        return "harness --help judge="
    return f"harness --help {of}s" if of in ("model", "task", "prompt") else ""


def unknown(kind: str, value: str, choices: Iterable[str], key: Callable[[str], Any] | None = None) -> str:
    """Return the sentence for a name that does not exist, with the nearest that does; `key` orders the names."""
    if way := gone.instead(kind, value):
        return way
    names = sorted(map(str, choices), key=key)
    listed = f"There {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"
    if len(names) > (NEAR if kind == "setting" else MOST_LISTED) and (helps := _help(kind, names[0])):
        near = difflib.get_close_matches(value, names, NEAR, cutoff=0)
        listed = f"The nearest are {', '.join(near)}; {helps} lists all {len(names)}"
    return f"there is no {kind} {value!r}{nearest(value, names)}. {listed}."
