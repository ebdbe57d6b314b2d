"""The folder that an export writes: all of it, or nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import StoreError
from harness.storage.atomic_write import cannot_write
from harness.storage.runs import Run

UNFINISHED = ".unfinished"
"""Where an export writes, inside its folder, until all of it is whole."""


@contextmanager
def unfinished_folder(out: str) -> Iterator[Path]:
    """Yield a folder to write to; its content appears in `out` once all of it is whole.

    Raises StoreError where something is in `out`, or cannot be written. An interruption leaves nothing behind.
    """
    path = Path(out)
    there, unfinished = path.exists(), path / UNFINISHED
    try:
        path.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)  # of an export that was killed
        if any(path.iterdir()):
            raise StoreError(f"{out} is not empty: choose another out=, or remove it.")
        unfinished.mkdir()
        yield unfinished
        for part in sorted(unfinished.iterdir()):
            part.rename(path / part.name)
    except OSError as error:
        raise cannot_write(out, error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not there:
            with suppress(OSError):  # what was written is in it
                path.rmdir()


def number_of(runs: Sequence[Run], what: str = "run") -> str:
    """Return how many there are, in words: 1 run, 2 runs."""
    return f"{len(runs):,} {what}{'s' * (len(runs) != 1)}"
