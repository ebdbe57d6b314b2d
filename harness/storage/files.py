"""Files of a results folder, read as data that somebody may have sent.

Only ordinary files are opened. A link could lead out of the folder, a FIFO or a device would never end; what is longer
than any run leaves it is refused before it takes memory.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import msgspec

from harness.codec import NotPlainError, open_plain
from harness.errors import DataError

DAMAGED = "is cut off or damaged, or another version left it: move its folder away and run its command again"
"""What the message says of a file that is not what a run leaves."""
LINK = "is a link, and no link in a results folder is followed: put the file itself there."
NO_FILE = "is no ordinary file, and nothing else is read in a results folder: remove it."
LARGEST = 1 << 28
"""Bytes of a line of records: four times the largest reply that is taken."""
LARGEST_FILE = 1 << 25
"""Bytes of a file that is read whole, such as result.json: two hundred times the largest that ships with harness."""


class DamagedError(DataError):
    """A file in a run's folder that no run of this version would have written."""

    def __init__(self, path: Path, reason: str = "") -> None:
        """Build the message for a file; `reason` is what is wrong with its form, if known."""
        super().__init__(f"{path} {DAMAGED}{f' ({reason})' if reason else ''}.")


def open_file(path: Path) -> IO[bytes]:
    """Open an ordinary file for reading. Raises DataError for a link, a device or a pipe, OSError for the rest."""
    if path.is_symlink():
        raise DataError(f"{path} {LINK}")
    try:
        return open_plain(path, getattr(os, "O_NOFOLLOW", 0))
    except NotPlainError:
        raise DataError(f"{path} {NO_FILE}") from None


def read_bytes(path: Path) -> bytes:
    """Return what a file holds. Raises DataError for what no run leaves, OSError where it cannot be read."""
    with open_file(path) as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise DataError(f"{path} is larger than {LARGEST_FILE >> 20} MB, which no run leaves: move its folder away.")
    return content


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds. Raises FileNotFoundError, and DataError for everything else."""
    try:
        return msgspec.json.decode(read_bytes(path), type=dict[str, Any])
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise DamagedError(path) from None


def inside(folder: Path, *parts: str) -> Path | None:
    """Return the file at a path below a folder, or None.

    Raises DataError where a link leads there, or where something else than a file stands there.
    """
    place = folder
    for part in parts:
        place = place / part
        if place.is_symlink() or part == "..":
            raise DataError(f"{place} {LINK}")
    if not place.exists():
        return None
    if not place.is_file():
        raise DataError(f"{place} {NO_FILE}")
    return place
