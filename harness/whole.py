"""A file that a command writes: in its place only once it is whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from harness.errors import StoreError

BUFFER = 1 << 20
"""Bytes that are written at a time: a hundred lines and more."""


@contextmanager
def written(out: str, setting: str) -> Iterator[IO[str]]:
    """The file to write; - is standard output. Raises StoreError, which names the `setting` that chooses another."""
    if out == "-":
        yield sys.stdout
        return
    place = Path(out)
    # A device or a pipe has no place that could be taken: /dev/stdout must stay what it is.
    special = place.exists() and not place.is_file() and not place.is_dir()
    temporary = place if special else place.with_name(f".{place.name}.tmp")
    writing = False
    try:
        with temporary.open("w", encoding="utf-8", buffering=BUFFER) as file:
            writing = True
            yield file
            file.flush()
        if not special:
            temporary.replace(place)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise StoreError(f"{out} cannot be written ({error.strerror}): choose another {setting}.") from error
    finally:
        if writing and not special:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
