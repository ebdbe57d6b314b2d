"""Single-field mutations: each field of a good value, at each depth, removed or replaced by each odd value."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

REMOVED = object()
ODD: dict[str, Any] = {
    "removed": REMOVED, "null": None, "true": True, "false": False, "0": 0, "7": 7, "-1": -1, "1.5": 1.5,
    "1e308": 1e308, "10^30": 10**30, "NaN": float("nan"), "Infinity": float("inf"), "x": "x", "empty": "",
    "'9'": "9", "half an emoji": "\ud83d", "NUL": "a\x00b", "[]": [], "[1]": [1], "[x]": ["x"], "[null]": [None],
    "{}": {}, "{a: 1}": {"a": 1}, "{text: Yes}": {"text": "Yes"}, "{a: NaN}": {"a": float("nan")},
}  # fmt: skip
Path = tuple[str | int, ...]


def paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """Yield every path below a value, its own left out."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in members:
        yield (*here, name)
        yield from paths(below, (*here, name))


def mutated(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (description, mutated value) for each path and odd value, and unknown fields in each dict."""
    for path in paths(value):
        for name, odd in ODD.items():
            yield f"{'.'.join(map(str, path))} = {name}", _with(value, path, odd)
    for path in [(), *paths(value)]:
        if isinstance(_at(value, path), dict):
            yield f"{'.'.join(map(str, path))} + unknown", _with(value, (*path, "unknown"), {"a": [1]})


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _with(value: Any, path: Path, odd: Any) -> Any:
    changed = copy.deepcopy(value)
    holder = _at(changed, path[:-1])
    if odd is REMOVED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = odd
    return changed
