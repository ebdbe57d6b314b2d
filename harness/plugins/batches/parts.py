"""Folders of requests and of answers: Parquet files of bounded size, as engines for whole data sets use them.

A part of requests has the columns `custom_id` (the key of the answer) and `body` (JSON, as a live call sends it), one
of answers `custom_id`, `response` and perhaps `error`, as lines of a batch's output have them, nested or as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, DataError
from harness.plugins.batches.drivers import Engine, driver
from harness.plugins.batches.lines import LONGEST, line_of, read_lines
from harness.runtime.console import clean
from harness.runtime.environment import installing
from harness.runtime.signals import LAST
from harness.storage.atomic_write import beside, cannot_write, check
from harness.types import JSON

_WRITTEN, _READ = 1000, 256
"""Rows that are held at a time."""
_COLUMNS = ("custom_id", "response", "error")
Call = tuple[str, str, Mapping[str, JSON]]
"""The key of an answer, the path of its call below /v1, and the body."""
_ENDINGS = (".parquet", ".jsonl")


class PartError(DataError):
    """A part that is damaged, or not written to its end."""


def is_folder(out: str) -> bool:
    """Return whether a name means a folder: it ends with a slash, or there is one."""
    return out.endswith(("/", os.sep)) or Path(out).is_dir()


@dataclass
class PartsOutlet:
    """A folder of Parquet files, none with more rows or bytes than its reader is to hold; whole or not there."""

    out: str
    rows: int
    """At most in one part."""
    size: int
    """Bytes of requests at most in one part, before they are compressed."""
    engine: Engine | None = None
    """Whose driver is written beside them; that of vLLM reads JSON lines, not Parquet."""
    model: str = ""
    """The model's name in the requests, which a driver has to know."""
    _parts: list[tuple[int, int]] = field(default_factory=list)
    """The rows of each part, and the bytes of its requests."""

    @property
    def files(self) -> list[tuple[str, int, int]]:
        """The folder with its parts, all rows and all bytes; empty where nothing was written."""
        if not self._parts:
            return []
        rows, sizes = zip(*self._parts, strict=True)
        return [(f"{self.out}, {len(rows):,} part{'s' * (len(rows) != 1)}", sum(rows), sum(sizes))]

    def check(self) -> None:
        """Raise ConfigError or StoreError where the folder cannot be made: stale parts would be answered again."""
        if not self._lines:
            _parquet()
        check(self.out, folder=True)
        if Path(self.out).is_dir() and any(Path(self.out).iterdir()):
            raise ConfigError(f"{self.out} is not empty: give a new folder, which then holds these requests alone.")

    def write(self, calls: Iterable[Call]) -> None:
        """Write a row for each call; without any, no folder."""
        calls = iter(calls)
        first = list(islice(calls, 1))
        if not first:
            return
        rows = (self._row(*call) for call in chain(first, calls))
        ending, write = (".jsonl", self._write_lines) if self._lines else (".parquet", self._write)
        with _whole_folder(self.out) as folder:
            for number, part in groupby(self._numbered(rows), key=itemgetter(0)):
                write(folder / f"part-{number:06d}{ending}", (row for _, row in part))
            if self.engine is not None:
                name, text = driver(self.engine, self.model, first[0][1])
                (folder / name).write_text(text, encoding="utf-8")

    @property
    def _lines(self) -> bool:
        return self.engine == "vllm"

    def _row(self, key: str, path: str, body: Mapping[str, JSON]) -> tuple[str, str]:
        """Return the key of a request, and what is written of it: its line, or its body as JSON."""
        if self._lines:
            return key, line_of(key, path, body)
        return key, json.dumps(body, separators=(",", ":"), allow_nan=False)

    def _numbered(self, rows: Iterable[tuple[str, str]]) -> Iterator[tuple[int, tuple[str, str]]]:
        """Yield each row with the number of its part."""
        number = count = size = 0
        for row in rows:
            if count and (count == self.rows or size + len(row[1]) > self.size):
                number, count, size = number + 1, 0, 0
            count, size = count + 1, size + len(row[1])
            yield number, row

    def _write_lines(self, path: Path, rows: Iterator[tuple[str, str]]) -> None:
        count = size = 0
        with path.open("w", encoding="utf-8") as file:
            for _, line in rows:
                file.write(f"{line}\n")
                count, size = count + 1, size + len(line)
        self._parts.append((count, size))

    def _write(self, path: Path, rows: Iterator[tuple[str, str]]) -> None:
        pa, parquet = _parquet()
        schema = pa.schema([("custom_id", pa.string()), ("body", pa.string())])
        count = size = 0
        with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            while group := list(islice(rows, _WRITTEN)):
                keys, bodies = ([row[k] for row in group] for k in (0, 1))
                writer.write_table(pa.table([keys, bodies], schema=schema))
                count, size = count + len(group), size + sum(map(len, bodies))
        self._parts.append((count, size))


@contextmanager
def _whole_folder(out: str) -> Iterator[Path]:
    """Make a folder that takes its place only once it is whole."""
    place = Path(out).absolute()
    temporary = beside(place)
    remove = partial(shutil.rmtree, temporary, ignore_errors=True)
    try:
        remove()  # of a command that was killed
        temporary.mkdir(parents=True)
        LAST.append(remove)
        try:
            yield temporary
            with suppress(FileNotFoundError):
                place.rmdir()
            temporary.rename(place)
        finally:
            remove()
            LAST.remove(remove)
    except OSError as error:
        raise cannot_write(out, error, "folder") from error


def parts_of(folder: Path) -> list[Path]:
    """Return the parts in a folder, by name. Raises DataError where there is none."""
    names = [path for path in folder.iterdir() if path.suffix in _ENDINGS and not path.name.startswith((".", "_"))]
    if not names:
        raise DataError(f"{folder} holds no part of answers: they end with {' or '.join(_ENDINGS)}.")
    return sorted(names)


def lines_in(path: Path) -> Iterator[bytes | None]:
    """Yield the lines of a file of output, and rows of a Parquet file as such lines; None for one that is too long."""
    if is_parquet(path):
        yield from _rows_in(path)
        return
    with path.open("rb") as file:
        yield from read_lines(file)


def is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def columns_of(path: Path) -> list[str]:
    """Return the columns of a Parquet file. Raises DataError."""
    with _opened(path) as file:
        names: list[str] = file.schema_arrow.names
        return names


def _rows_in(path: Path) -> Iterator[bytes | None]:
    with _opened(path) as file:
        columns = [name for name in _COLUMNS if name in file.schema_arrow.names]
        for batch in file.iter_batches(_READ, columns=columns):
            for row in batch.to_pylist():
                line = _line(row)
                yield line if len(line) <= LONGEST else None


def _line(row: dict[str, Any]) -> bytes:
    """Return a row as the line of a batch's output. JSON in a column stands in the line as it is."""
    members = (f'"{name}":{_json(value, name != "custom_id")}' for name, value in row.items())
    return ("{" + ",".join(members) + "}").encode()


def _json(value: Any, may_be_json: bool) -> str:
    is_json = may_be_json and isinstance(value, str) and value.lstrip()[:1] == "{"
    return value if is_json else json.dumps(value, default=str)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file that is read piece by piece. Raises DataError for one that cannot be read."""
    pa, parquet = _parquet()
    try:
        with parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = clean(str(error).partition("\n")[0])
        raise PartError(f"{path} cannot be read as Parquet ({reason}): was it copied whole?") from None


def _parquet() -> tuple[Any, Any]:
    """Return pyarrow and its reader and writer of Parquet. Raises ConfigError where they are missing."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(f"Parquet parts need pyarrow: {installing('parts')}. JSON lines need nothing.") from None
    return pa, parquet
