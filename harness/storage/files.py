"""Files of a results folder, read as data that somebody may have sent.

Only ordinary files are opened. A link could lead out of the folder, a FIFO or a device would never end; what is longer
or nested deeper than any run leaves it is refused before it takes memory.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from harness.errors import DataError

DAMAGED = "is cut off or damaged: move its folder away and run its command again"
"""What is said of a file of a run that is not what a run leaves."""
LARGEST = 1 << 28
"""Bytes of a file that is read whole, and of a line of records: four times the largest reply that is taken."""
DEEPEST = 64
"""Levels of JSON. What a run leaves has fewer than twenty; Python's own limit depends on who calls."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_file(path: Path) -> IO[bytes]:
    """Open an ordinary file for reading. Raises DataError for a link, a device or a pipe, OSError for the rest."""
    if path.is_symlink():
        raise DataError(f"{path} is a link, and no link in a results folder is followed: put the file itself there.")
    number = os.open(path, _FLAGS)  # a FIFO would wait for a writer
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise DataError(f"{path} is no ordinary file, and nothing else is read in a results folder: remove it.")
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def read_bytes(path: Path) -> bytes:
    """Return what a file holds. Raises DataError for what no run leaves, OSError where it cannot be read."""
    with open_file(path) as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise DataError(f"{path} is larger than {LARGEST >> 20} MB, which no run leaves: move its folder away.")
    return content


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds. Raises FileNotFoundError, and DataError for everything else."""
    try:
        content = parsed(read_bytes(path))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None
    except ValueError:
        raise DataError(f"{path} {DAMAGED}.") from None
    if not isinstance(content, dict):
        raise DataError(f"{path} {DAMAGED}.")
    return content


def parsed(text: bytes | str, *, constants: bool = False) -> Any:
    """Return the JSON value of a text. Raises ValueError for what is none, and for too many levels.

    NaN and Infinity are no JSON and refused, unless `constants`: a record may hold the log-probability -Infinity.
    """
    try:
        value = json.loads(text, parse_constant=None if constants else _refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    brackets = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if brackets > DEEPEST and _deeper(value, DEEPEST):
        raise ValueError("it is nested too deeply")
    return value


def below(folder: Path, name: str) -> Iterator[Path]:
    """Yield the ordinary files of that name below a folder, sorted. Links to folders are not entered."""
    for path in sorted(folder.rglob(name)):
        if not path.is_dir():
            yield path


def inside(folder: Path, *parts: str) -> Path | None:
    """Return the file at a place below a folder, or None where it is not there or a link is on the way to it."""
    place = folder
    for part in parts:
        place = place / part
        if place.is_symlink():
            return None
    return place if place.is_file() else None


def _deeper(value: Any, levels: int) -> bool:
    """Return whether a value has more levels than that. Without recursion, since depth is what is looked for."""
    layer = [value]
    for _ in range(levels):
        layer = [child for parent in layer for child in _children(parent)]
    return bool(layer)


def _children(value: Any) -> list[Any]:
    """Return the lists and objects directly inside a value."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [member for member in members if isinstance(member, dict | list)]


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
