"""Files that are in their place as a whole or not at all: what commands write, and JSON that people can read."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from harness.errors import DataError, StoreError
from harness.runtime.console import data_output
from harness.runtime.signals import LAST
from harness.storage.files import read_json

BUFFER = 1 << 20
"""Bytes that are written at a time: a hundred lines and more."""


def full(error: OSError) -> bool:
    """Return whether there is no room left: on the disk, in a quota, or below the greatest size of a file."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def cannot_write(out: str, why: str | OSError, setting: str = "out=") -> StoreError:
    """Return the error for a file that cannot be written; it names the `setting` that chooses another place."""
    reason = why.strerror or why if isinstance(why, OSError) else why
    room = "make room, or " if isinstance(why, OSError) and full(why) else ""
    return StoreError(f"{out} cannot be written ({reason}): {room}choose another {setting}.")


def check(out: str, *, folder: bool = False) -> None:
    """Raise StoreError where out= cannot become a file, or a `folder`. Creates nothing, so call it before long work."""
    place = Path(out)
    if out == "-" or _special(place):
        return
    if (place.is_dir() or out.endswith("/")) and not folder:
        raise cannot_write(out, "it is a folder")
    places = (place, *place.parents) if folder else place.parents
    nearest = next((path for path in places if os.path.lexists(path)), Path.cwd())
    if not nearest.is_dir():
        raise cannot_write(out, f"{nearest} is no folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise cannot_write(out, f"{nearest} may not be written to")


def _special(place: Path) -> bool:
    """Return whether a path is a device or a pipe, which is written to and never replaced (/dev/stdout)."""
    return place.exists() and not place.is_file() and not place.is_dir()


@contextmanager
def atomic_file(out: str, setting: str = "out=", *, user_path: bool = True) -> Iterator[IO[str]]:
    """Open a file that takes its place only once it is whole; - is standard output. Creates its folder.

    Unless the path is the user's own (`user_path`), what lies there may come from whoever sent the folder: a device, a
    pipe or a link is replaced and not written through. Raises StoreError, which names the `setting`.
    """
    if out == "-":
        with data_output() as output:
            yield output
        return
    place = Path(out)
    special = user_path and _special(place)
    temporary = place if special else place.with_name(f".{place.name}.tmp")
    remove = partial(temporary.unlink, missing_ok=True)
    writing = False
    try:
        if not special:
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary.unlink(missing_ok=True)  # of a run that was killed, or a link that leads elsewhere
        with temporary.open("w" if special else "x", encoding="utf-8", buffering=BUFFER) as file:
            writing = True
            if not special:
                LAST.append(remove)
            yield file
            file.flush()
        if not special:
            temporary.replace(place)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise cannot_write(out, error, setting) from error
    finally:
        if writing and not special:
            with suppress(OSError):
                remove()
            LAST.remove(remove)


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file all at once: a reader never sees half of it."""
    temporary = path.with_name(".begun.tmp")  # another final one may lie beside it
    try:
        temporary.write_text(f"{format_json(content)}\n", encoding="utf-8")
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def prepare(ready: dict[Path, Path], place: Path, text: str) -> None:
    """Write a file beside its place and add it to those that are `ready`, even if only half of it could be written."""
    ready[place] = beside(place)
    ready[place].write_text(text, encoding="utf-8")


def beside(place: Path) -> Path:
    """Return where a file is written before it takes its place."""
    return place.with_name(f".{place.name}.tmp")


def json_round_trip(value: Any) -> Any:
    """Return a value as it is after being written as JSON and read again."""
    return json.loads(json.dumps(value))


def format_json(value: Any, indent: str = "") -> str:
    """Return JSON with a line for each member of an object; a list, or a row of scores, is one line."""
    if not isinstance(value, Mapping) or not value or "positives" in value:
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent}  "
    members = (
        f"{inner}{json.dumps(str(name), ensure_ascii=False)}: {format_json(member, inner)}"
        for name, member in value.items()
    )
    return "{\n" + ",\n".join(members) + f"\n{indent}}}"


def object_in(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file; empty where there is no file, or none that is whole.

    A run may be started in a folder that somebody sent: only an ordinary file is read, as every reader does.
    """
    try:
        return read_json(path)
    except (FileNotFoundError, DataError):
        return {}
