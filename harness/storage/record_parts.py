"""A large file of records as parts, each read and counted by a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from harness.errors import DataError
from harness.scoring.parted import Parted
from harness.storage import records
from harness.storage.files import LARGEST, open_file
from harness.types import Record

T = TypeVar("T")
WORTH = 32 << 20
"""Bytes of a part, at least: processes cost tens of milliseconds each."""


def read(path: Path) -> Iterable[Record]:
    """Return the records of a file, in parts where it is large and this process can be forked."""
    return RecordParts(path, parts) if (parts := _parts_for(path)) > 1 else records.read(path)


def _parts_for(path: Path) -> int:
    # A lock that another thread holds would be held for ever in a fork of this process; libraries have such threads.
    safe = sys.platform == "linux" and threading.active_count() == 1 and "torch" not in sys.modules
    if not safe or path.suffix == ".gz":
        return 1
    with suppress(OSError):
        return min(len(os.sched_getaffinity(0)), path.stat().st_size // WORTH)
    return 1


class RecordParts(Parted):
    """The records of a file, which is no gzip, in so many parts of equal size."""

    def __init__(self, path: Path, parts: int) -> None:
        self._path, self._parts = path, parts

    def __iter__(self) -> Iterator[Record]:
        return records.read(self._path)

    def fold(self, count: Callable[[Iterable[Record]], T]) -> Iterator[T]:
        size = self._path.stat().st_size
        edges = [size * part // self._parts for part in range(self._parts + 1)]
        context = multiprocessing.get_context("fork")  # `count` need not be one that can be pickled
        ends, workers = [], []
        for start, end in pairwise(edges):
            receiver, sender = context.Pipe(duplex=False)
            worker = context.Process(target=_work, args=(sender, count, self._path, start, end), daemon=True)
            worker.start()
            sender.close()
            ends.append(receiver)
            workers.append(worker)
        try:
            results = [receiver.recv() for receiver in ends]
        except EOFError:
            results = [None]
        finally:
            for worker in workers:
                worker.kill()
                worker.join()
        if any(result is None for result in results):  # the one that fails says why, with the line's number in the file
            results = [(count(iter(self)),)]
        yield from (result for (result,) in results)


def _work(sender: Connection, count: Callable[[Iterable[Record]], Any], path: Path, start: int, end: int) -> None:
    """Send what `count` makes of a part; nothing where it fails."""
    try:
        sender.send((count(_between(path, start, end)),))
    except BaseException:
        sender.send(None)


def _between(path: Path, start: int, end: int) -> Iterator[Record]:
    """Yield the records of the lines that begin from `start` on, and before `end`."""
    with open_file(path) as file:
        if start:
            file.seek(start - 1)
            file.readline()
        while file.tell() < end and (text := file.readline(LARGEST)):
            if len(text) == LARGEST:
                raise DataError("a line is too long")
            yield records.parsed(text).record
