"""A large file of records in parts: this process reads its lines, others make records of them and count those."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, TypeVar

from harness.scoring.parted import Parted
from harness.storage import records
from harness.types import Record

T = TypeVar("T")
PART = 32 << 20
"""Bytes of the lines of a part: processes cost tens of milliseconds each, and lines wait in memory."""
PACKED = 8
"""How much shorter a .gz is, about. It can only be read from its start, which takes a sixth of what its records do."""


def read(path: Path) -> Iterable[Record]:
    """Return the records of a file (.gz too), in parts where it is large and this process can be forked."""
    return RecordParts(path, at_once) if (at_once := _processes_for(path)) > 1 else records.read(path)


def _processes_for(path: Path) -> int:
    # A lock that another thread holds would be held for ever in a fork of this process; libraries have such threads.
    if sys.platform == "linux" and threading.active_count() == 1 and "torch" not in sys.modules:
        with suppress(OSError):
            parts = path.stat().st_size * (PACKED if path.suffix == ".gz" else 1) // PART
            return min(len(os.sched_getaffinity(0)), parts)
    return 1


class RecordParts(Parted[Record]):
    """The records of a file in parts, so many of which are counted at once."""

    def __init__(self, path: Path, at_once: int) -> None:
        self._path, self._at_once = path, at_once

    def __iter__(self) -> Iterator[Record]:
        return records.read(self._path)

    def fold(self, count: Callable[[Iterable[Record]], T]) -> Iterator[T]:
        workers: deque[_Worker[T]] = deque()
        try:
            for part in self._parts():  # the next one is read while all are at work
                if len(workers) == self._at_once:
                    yield workers.popleft().result()
                workers.append(_Worker(count, part))
            while workers:
                yield workers.popleft().result()
        finally:
            for worker in workers:
                worker.end()

    def _parts(self) -> Iterator[records.Lines]:
        """Yield the lines of each part."""
        number, size, lines = 1, 0, list[bytes]()
        for line in records.lines(self._path):
            lines.append(line)
            size += len(line)
            if size >= PART:
                yield records.Lines(self._path, lines, number)
                number, size, lines = number + len(lines), 0, []
        if lines:
            yield records.Lines(self._path, lines, number)


class _Worker(Generic[T]):
    """A process that counts a part: a fork of this one, so that nothing has to be sent there."""

    def __init__(self, count: Callable[[Iterable[Record]], T], part: records.Lines) -> None:
        self._count, self._part = count, part
        context = multiprocessing.get_context("fork")
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(sender, count, part), daemon=True)
        self._process.start()
        sender.close()

    def result(self) -> T:
        """Return what it has counted. Where it has failed or was killed this process counts, and says what is wrong."""
        try:
            counted: T | None = self._receiver.recv()
        except EOFError:
            counted = None
        self.end()
        return self._count(self._part.records()) if counted is None else counted

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._receiver.close()


def _work(sender: Connection, count: Callable[[Iterable[Record]], Any], part: records.Lines) -> None:
    """Send what `count` makes of a part, which is never None; nothing where it fails."""
    with suppress(BaseException):
        sender.send(count(part.records()))
