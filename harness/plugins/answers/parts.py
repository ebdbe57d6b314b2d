"""A part: a Parquet file of answers or of texts that never changes, sorted by key.

Beside each stands a file of the first eight bytes of every key, in order: the place of a key in it is its row in the
part, so that one group of rows is read for an answer and none for what is not there. It is made again where it lacks.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from harness.errors import ConfigError, StoreError
from harness.runtime.environment import installing

try:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from pyarrow import parquet
except ImportError:
    raise ConfigError(
        f"a cache in parts needs pyarrow: {installing('parts')}; one that ends in .sqlite needs nothing."
    ) from None

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

Kind = Literal["answers", "texts"]
GROUP: dict[Kind, int] = {"answers": 1024, "texts": 256}
"""Rows that are read at a time; texts may be long."""
SCHEMA: dict[Kind, Any] = {
    "answers": pa.schema(
        [
            ("key", pa.binary(32)),
            ("identity", pa.string()),
            ("request", pa.string()),
            ("response", pa.string()),
            ("stored", pa.float64()),
            ("task", pa.string()),
            ("digest", pa.binary(32)),
            ("number", pa.int64()),  # in the order of arrival
        ]
    ),
    "texts": pa.schema([("key", pa.binary(32)), ("text", pa.binary())]),  # half an emoji is no UTF-8
}
NAME = re.compile(r"(answers|texts)-(\d{8})-[0-9a-f]{12}\.parquet")
"""Kind and place: of two parts the one of the higher place is newer."""
HEADS = ".heads"
END = 1 << 64
Head = int
"""The first eight bytes of a key; END is above all."""


class Part:
    """An open part. It can be read also after its files were removed."""

    def __init__(self, path: Path) -> None:
        """Open the files. Raises FileNotFoundError, and StoreError where it is no part or is damaged."""
        self.path = path
        match = NAME.fullmatch(path.name)
        assert match is not None
        self.kind: Kind = match[1]  # type: ignore[assignment]
        self.place = int(match[2])
        try:
            self._file = parquet.ParquetFile(path, page_checksum_verification=True, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise error if isinstance(error, FileNotFoundError) else self._damaged(error) from error
        self.rows: int = self._file.metadata.num_rows
        self._notes: dict[bytes, bytes] = self._file.schema_arrow.metadata or {}
        self.number = int(self._notes.get(b"number", b"0"))
        """The highest number of an answer in it, by order of arrival."""
        self._heads = self._read_heads()
        self._held: tuple[int, Any] = (-1, None)

    def find(self, key: bytes) -> int | None:
        """Return the row that has a key's first eight bytes: that of the key, but for a chance of rows in 2^64."""
        head = np.uint64(int.from_bytes(key[:8], "big"))
        at = int(self._heads.searchsorted(head))
        return at if at < self.rows and self._heads[at] == head else None

    def row(self, key: bytes, *columns: str) -> tuple[Any, ...] | None:
        """Return these columns of the row of a key."""
        at = self.find(key)
        while at is not None:
            number, within = divmod(at, GROUP[self.kind])
            if self._held[0] != number:
                self._held = number, self._groups([number], ("key", *columns))
            group = self._held[1]
            if (found := group["key"][within].as_py()) == key:
                return tuple(group[name][within].as_py() for name in columns)
            at = at + 1 if found[:8] == key[:8] and at + 1 < self.rows else None
        return None

    def between(self, low: Head, high: Head) -> Any:
        """Return a table of the rows whose keys begin with `low` or above, and below `high`."""
        first, last = self._rows_between(low, high)
        if first == last:
            return SCHEMA[self.kind].empty_table()
        size = GROUP[self.kind]
        return self._groups(range(first // size, (last - 1) // size + 1)).slice(first % size, last - first)

    def heads(self, low: Head, high: Head) -> NDArray[np.uint64]:
        first, last = self._rows_between(low, high)
        return self._heads[first:last]

    def _rows_between(self, low: Head, high: Head) -> tuple[int, int]:
        first = int(self._heads.searchsorted(np.uint64(low)))
        return first, self.rows if high == END else int(self._heads.searchsorted(np.uint64(high)))

    @property
    def identities(self) -> list[tuple[str, str, str]]:
        """The identities of its answers' models: digest, canonical JSON, name."""
        return [(name, *rest) for name, rest in json.loads(self._notes[b"identities"]).items()]

    def remove(self) -> None:
        for path in (self.path, beside(self.path)):
            with suppress(OSError):
                path.unlink()

    def check(self) -> Iterator[str]:
        """Yield what is wrong with the part as a file."""
        heads = [_heads_of(self._groups([number], ("key",))) for number in range(self._file.num_row_groups)]
        keys = np.concatenate(heads) if heads else np.zeros(0, dtype="<u8")
        if (keys[1:] < keys[:-1]).any():
            yield f"{self.path.name}: its keys are not in order"
        if not np.array_equal(keys, self._heads):
            yield f"{beside(self.path).name} is not that of its part: remove it, and it is made again"

    def _groups(self, numbers: Iterable[int], columns: Iterable[str] | None = None) -> Any:
        try:
            names = None if columns is None else list(columns)
            groups = self._file.read_row_groups(list(numbers), columns=names, use_threads=False)
            return groups.replace_schema_metadata().combine_chunks()
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise self._damaged(error) from error

    def _read_heads(self) -> NDArray[np.uint64]:
        path = beside(self.path)
        with suppress(OSError, ValueError):
            heads = np.asarray(np.memmap(path, dtype="<u8", mode="r"))
            if len(heads) == self.rows:
                return heads
        groups = range(self._file.num_row_groups)
        heads = np.concatenate([_heads_of(self._groups([number], ("key",))) for number in groups])
        with suppress(OSError):  # in a folder that cannot be written it stays in memory
            unfinished = beside(self.path.with_suffix(".new"))
            unfinished.write_bytes(heads.tobytes())
            unfinished.replace(path)
        return heads

    def _damaged(self, error: Exception) -> StoreError:
        what = str(error).partition("\n")[0][:200]
        return StoreError(
            f"the part {self.path} is damaged ({what}), and is left as it is: put a copy of it in its place, or move "
            "it away with the open.sqlite beside it. That is made again of the other parts, and `harness cache import "
            f"MOVED/open.sqlite cache={self.path.parent}` takes in what is in no part yet."
        )


@contextmanager
def locked(path: Path, *, wait: bool, without: bool) -> Iterator[bool]:
    """Give whether this process alone has a lock; `without` where the file system has no locks."""
    if fcntl is None:
        yield without
        return
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        mine = True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            mine = False
        except OSError:
            mine = without
        yield mine
    finally:
        os.close(file)


class NewPart:
    """A part that is being written. It has its name once it is whole and on the disk; else nothing stays of it."""

    def __init__(self, folder: Path, kind: Kind, place: int, notes: Mapping[str, str]) -> None:
        """Begin. The name is drawn, so that two processes never write the same file. Raises OSError."""
        self.name = f"{kind}-{place:08d}-{os.urandom(6).hex()}.parquet"
        self.rows = 0
        self._path = folder / self.name
        self._new = self._path.with_suffix(".new")
        self._size = GROUP[kind]
        self._rest = SCHEMA[kind].empty_table()
        self._heads = beside(self._new).open("wb")
        self._writer = parquet.ParquetWriter(
            self._new,
            SCHEMA[kind].with_metadata({"harness": kind, **notes}),
            compression="zstd",
            use_dictionary=["identity", "task"],
            write_statistics=["key"],
            write_page_checksum=True,
        )

    def add(self, table: Any) -> None:
        """Add rows that come after those before in the order of keys."""
        table = pa.concat_tables([self._rest, table])
        whole = len(table) // self._size * self._size  # but for the last all are full: a row's number tells its group
        self._write(table.slice(0, whole))
        self._rest = table.slice(whole).combine_chunks()

    def finish(self) -> bool:
        """Give the part its name; return whether it has a row, without which there is none."""
        self._write(self._rest)
        self._writer.close()
        self._heads.close()
        if self.rows:
            for path in (beside(self._new), self._new):
                _sync(path)
            beside(self._new).replace(beside(self._path))
            self._new.replace(self._path)
            _sync(self._path.parent)
        return self.rows > 0

    def __enter__(self) -> NewPart:
        return self

    def __exit__(self, *_: object) -> None:
        self._heads.close()
        with suppress(OSError, pa.ArrowException):
            self._writer.close()
        for path in (beside(self._new), self._new):
            path.unlink(missing_ok=True)

    def _write(self, table: Any) -> None:
        if len(table):
            self._writer.write_table(table.combine_chunks(), row_group_size=self._size)
            self._heads.write(_heads_of(table).tobytes())
            self.rows += len(table)


def merged(parts: Iterable[Part], ranges: Iterable[tuple[Head, Head]]) -> Iterator[Any]:
    """Yield the rows of several parts, the oldest first, in order of key; of one key the newest part's."""
    parts = list(parts)
    for low, high in ranges if parts else ():
        table = pa.concat_tables([part.between(low, high) for part in parts]).combine_chunks()
        words = _words_of(table)
        order = np.lexsort(words[:, ::-1].T)  # stable: of one key, the newest stands last
        words = words[order]
        last = np.append((words[1:] != words[:-1]).any(axis=1), True)[: len(order)]
        yield table.take(pa.array(order[last]))


def distinct(parts: Iterable[Part], low: Head, high: Head, others: Iterable[Any]) -> int:
    """Return how many keys of a range there are in all: in parts, and others in hexadecimal."""
    heads, strange = [part.heads(low, high) for part in parts], 0
    known = []
    for key in others:
        try:
            known.append(int(key[:16], 16))
        except (ValueError, TypeError):  # no digest, and in no part
            strange += 1
    return strange + len(np.unique(np.concatenate([*heads, np.array(known, dtype="<u8")])))


def ranges(rows: int, at_once: int) -> Iterator[tuple[Head, Head]]:
    """Yield ranges of heads, in order and without gaps, with about so many of the rows each: digests spread evenly."""
    count = max(1, -(-rows // at_once))
    edges = [END * k // count for k in range(count + 1)]
    yield from pairwise(edges)


def _words_of(table: Any) -> NDArray[np.uint64]:
    """Return the keys of a table as four numbers each."""
    column = table["key"].combine_chunks()
    content = np.frombuffer(column.buffers()[1] or b"", dtype=np.uint8)
    content = content[column.offset * 32 : (column.offset + len(column)) * 32]
    return content.view(">u8").astype("<u8").reshape(-1, 4)


def _heads_of(table: Any) -> NDArray[np.uint64]:
    return np.ascontiguousarray(_words_of(table)[:, 0])


def beside(path: Path) -> Path:
    """Return the file of the first bytes of a part's keys."""
    return path.with_name(f"{path.name}{HEADS}")


def _sync(path: Path) -> None:
    """Have the disk write a file or a folder."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
