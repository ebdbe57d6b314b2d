"""records.jsonl: one line for each item of a run, the wall between asking and scoring.

The words of a message stand in full where they occur first in the file, and by their digest after that; in full once
more after thousands of others, so that a run of any length remembers no more than those.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec
from msgspec import UNSET, UnsetType

from harness.codec import as_json
from harness.errors import DataError, StoreError
from harness.storage.files import LARGEST, open_file
from harness.storage.manifest import SealedRecords
from harness.types import Asked, Line, Record, Response

_ENCODER = json.JSONEncoder(ensure_ascii=False)  # json.dumps makes one for each line
REMEMBERED = 4096
"""Texts that the writer remembers to have written, and refers to by digest."""

_UNPACKED = 1 << 17
"""Bytes that are unpacked at a time: each time costs as much as ten lines."""
_DECODER = msgspec.json.Decoder(Line)


class Writer:
    """Appends records to an open file. Answers are safe in the cache before."""

    def __init__(self, file: IO[str], headline: str, cost: Callable[[Response], float | None] | None = None) -> None:
        """Write to `file`; `headline` is the label set of `gold` and `correct`, `cost` returns an answer's USD."""
        self._file = file
        self._cost = cost
        self._headline = headline
        self._digests: dict[str, None] = {}
        self.seal = Seal()
        """The digest of what was written."""

    def write(self, record: Record) -> None:
        """Write a record; one that was read from a file keeps what its answer cost there."""
        usd = record.cost_usd if isinstance(record, Line) else self._usd(record.response)
        line = as_json(Line.of_record(record, self._headline, usd))
        request = line["request"] or {}
        for words in (*request.get("messages", ()), request.get("premise"), request.get("hypothesis")):
            if words and "text" in words and self._is_known(words["sha256"]):
                del words["text"]
        try:
            # A reply may hold half a character, which UTF-8 cannot write: it must not end the run.
            text = _ENCODER.encode(line).encode(errors="replace")
            self.seal.add(text)
            self._file.write(f"{text.decode()}\n")
        except OSError as error:
            raise self._trouble(error) from error

    def close(self) -> None:
        """Close the file, writing what is still in its buffer."""
        try:
            self._file.close()
        except OSError as error:
            raise self._trouble(error) from error

    def _trouble(self, error: OSError) -> StoreError:
        return StoreError(
            f"{self._file.name} cannot be written ({error.strerror}). Answers so far are kept: make room, or "
            "choose another results=, and start again."
        )

    def _usd(self, response: Response | None) -> float | UnsetType | None:
        if response is None or (self._cost is None and response.usage.usd is None):
            return UNSET
        return self._cost(response) if self._cost else response.usage.usd

    def _is_known(self, digest: str) -> bool:
        """Return whether a text has been written, and is remembered; remember it."""
        if digest in self._digests:
            return True
        self._digests[digest] = None
        if len(self._digests) > REMEMBERED:
            del self._digests[next(iter(self._digests))]
        return False


class Seal:
    """A digest of lines that does not depend on their order, in which answers land: the sum of their SHA-256.

    Whether an answer came from the cache does not count, so that a run that is made again has the same one.
    """

    def __init__(self) -> None:
        self._count = self._sum = 0

    def add(self, line: bytes) -> None:
        """Add a line to the digest."""
        text = line.rstrip(b"\n").replace(b'"cached": true', b'"cached": false')
        self._count += 1
        self._sum += int.from_bytes(hashlib.sha256(text).digest(), "big")

    @property
    def as_json(self) -> SealedRecords:
        """The number of lines, and the sum modulo 2^256 in hexadecimal."""
        return {"count": self._count, "sha256_sum": f"{self._sum % (1 << 256):064x}"}


def sealed(path: Path) -> SealedRecords:
    """Return the number of a file's lines and their digest. Raises DataError where it cannot be read."""
    seal = Seal()
    for line in lines(path):
        seal.add(line)
    return seal.as_json


def read(path: Path) -> Iterator[Line]:
    """Yield the lines of a file of records (.gz too). Raises DataError for what is no record."""
    for number, text in enumerate(lines(path), start=1):
        try:
            line = parsed(text)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise DataError(f"{path}, line {number} is not a record: {str(error)[:200]}.") from None
        yield line


def parsed(text: bytes) -> Line:
    """Return a line as it is read. Raises what is caught above."""
    try:
        return _DECODER.decode(text)
    except msgspec.DecodeError:
        if b"-Infinity" not in text:
            raise
        return msgspec.convert(json.loads(text), Line)  # a log-probability, for which JSON has no word


def lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file of records (.gz too). Raises DataError where it cannot be read."""
    try:
        with open_file(path) as file:
            packed = path.suffix == ".gz"
            unpacked = io.BufferedReader(gzip.GzipFile(fileobj=file), _UNPACKED) if packed else file
            while line := unpacked.readline(LARGEST):
                if len(line) == LARGEST:
                    raise DataError(f"{path} holds a line of more than {LARGEST >> 20} MB, which no run leaves.")
                yield line
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from None


def fill(asked: Asked | None, texts: dict[str, str]) -> None:
    """Set the text of messages that are stored by digest alone; forget a text when the writer of the records did."""
    for words in asked.words if asked else ():
        if words.text is None:
            words.text = texts[words.sha256]
        elif words.sha256 not in texts:
            texts[words.sha256] = words.text
            if len(texts) > REMEMBERED:
                del texts[next(iter(texts))]
