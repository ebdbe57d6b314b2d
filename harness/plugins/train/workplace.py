"""The folder in which a training works: one process at a time, and a sentence where its disk is full."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from harness.errors import HarnessError, RunStopped, StoreError
from harness.models.local.checkpoint import RECORD
from harness.plugins.train.processes import leads
from harness.storage.atomic_write import full

MANIFEST = RECORD
"""What a finished training says of itself, beside what came out."""


@contextmanager
def alone(work: Path) -> Iterator[None]:
    """Keep the folder of a training for this process and those that it works with."""
    work.mkdir(parents=True, exist_ok=True)
    if not leads():
        yield
        return
    try:
        with FileLock(work.with_suffix(".lock"), timeout=0):
            yield
    except Timeout:
        raise RunStopped(f"another process is training {work} already: wait for it.") from None
    shutil.rmtree(work, ignore_errors=True)
    work.with_suffix(".lock").unlink(missing_ok=True)


@contextmanager
def room(out: str) -> Iterator[None]:
    """Turn what libraries say of a full disk, each in words of its own, into a sentence."""
    try:
        yield
    except HarnessError:
        raise
    except Exception as error:
        words = str(error)
        if (isinstance(error, OSError) and full(error)) or any(part in words for part in _FULL):
            raise StoreError(
                f"there is no room for a checkpoint below {out}: make room, or choose another out=; the same command "
                "goes on from the last whole one."
            ) from error
        raise


_FULL = ("No space left", "File too large", "Disk quota", "file write failed", "unexpected pos")
"""What safetensors and torch say where no more can be written."""
