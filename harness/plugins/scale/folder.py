"""The folder of a command's workers, beside the cache: made, and what an earlier command left in one taken in."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from harness.cache import Store
from harness.cache.alone import for_reading
from harness.cache.merging import ImportCounts, merge, of_cache, texts_of_cache
from harness.errors import ConfigError, StoreError
from harness.plugins.scale.engine import Engine
from harness.plugins.scale.orders import place_of
from harness.storage.atomic_write import full
from harness.storage.json_files import format_json, object_in

_LOCK, _NAMES, _RUN = ".lock", "workers.json", "run.json"
_PATIENCE = 120.0
"""Seconds that workers of a command that was killed are waited for."""


@contextmanager
def new_folder(cache: str, run: Path) -> Iterator[Path]:
    """Make the folder of this command, and hold its lock within the context. Raises ConfigError.

    `run` is the results folder that it is for.
    """
    import filelock

    root = root_of(cache)
    try:
        root.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=time.strftime("%Y-%m-%d_%H-%M-%S-"), dir=root))
        lock = filelock.FileLock(place / _LOCK)
        lock.acquire()
        (place / _RUN).write_text(format_json({"run": str(run.absolute())}), encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"no folder for the workers can be made in {root} ({error.strerror}): choose another cache.path=."
        ) from error
    try:
        yield place
    finally:
        lock.release()


def root_of(cache: str) -> Path:
    """Return where the folders of workers are that share a cache."""
    return Path(f"{cache}.workers").absolute()


def remove(place: Path) -> None:
    """Remove a folder whose answers were taken in, and the one above it if it was the last."""
    shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):
        place.parent.rmdir()


def note_names(place: Path, engine: Engine, names: object) -> None:
    """Write down by which names a later command can end these workers."""
    (place / _NAMES).write_text(format_json({"engine": engine.name, "names": names}), encoding="utf-8")


def recover(mine: Path, store: Store, engine: Engine, say: Callable[[str], None]) -> int:
    """Take in what commands that were killed have left, after their workers have ended; return how many answers.

    Raises StoreError where a command that lives has workers for the same run: both would ask for all of it.
    """
    import filelock

    new = 0
    for place in sorted(mine.parent.iterdir()):
        if place == mine or not place.is_dir():
            continue
        try:
            with filelock.FileLock(place / _LOCK, timeout=0):
                left = object_in(place / _NAMES)
                if left.get("engine") == engine.name:
                    engine.cancel_named(left.get("names") or [])
                new += _taken_from(place, store, say)
        except filelock.Timeout:
            if (run := object_in(place / _RUN)) == object_in(mine / _RUN):
                remove(mine)
                raise StoreError(f"another command has workers for {run['run']}: wait for it, or end it.") from None
    if new:
        say(f"{new:,} answers that workers of an earlier command left are taken in")
    return new


def _taken_from(place: Path, store: Store, say: Callable[[str], None]) -> int:
    import filelock

    new, whole = 0, True
    for order in sorted(place.glob("*-*.json")):
        if order.name.count(".") > 1:
            continue
        try:
            with filelock.FileLock(place_of(order, "lock"), timeout=0):
                pass
        except filelock.Timeout:
            say(f"waiting for worker {order.stem} of an earlier command, which is ending")
            with suppress(filelock.Timeout), filelock.FileLock(place_of(order, "lock"), timeout=_PATIENCE):
                pass
        for count in take_in(store, order, say):
            if count < 0:
                whole = False
            new += max(count, 0)
    if whole:
        remove(place)
    return new


def take_in(store: Store, order: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Store a worker's answers; yield how many were new, some at a time, and -1 where they cannot be read."""
    cache = place_of(order, "sqlite")
    if not cache.exists():
        return
    counts = ImportCounts()
    try:
        with closing(for_reading(cache)) as db:
            for _ in merge(store, of_cache(db, counts), texts_of_cache(db), counts, replace=False):
                yield counts.new
                counts.new = 0
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, OSError) and full(error):
            raise StoreError(f"{cache} cannot be taken in ({error.strerror}): make room, and start again.") from error
        say(f"{cache} cannot be read ({error}): `python -m harness.cache import {cache}` takes what can be saved")
        yield -1
