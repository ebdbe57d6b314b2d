"""Rows of a file of the user's (CSV, also with ; or tabs; JSON lines; a JSON list), or of a data set of the Hub.

Rows of a file are read one at a time, so that one of any length takes no memory. What a spreadsheet or another program
may have left is read where it is plain what was meant (marks of UTF-8 and UTF-16, line ends of any kind, other
separators), and refused in a sentence where it is not. A pipe, a device and a row without an end are refused unread.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from harness.codec import content_digest, open_plain
from harness.errors import ConfigError, DataError
from harness.runtime.environment import installing

Columns = Mapping[str, Any]
"""A row's cells by the name of their column."""
ENDINGS = (".csv", ".tsv", ".jsonl", ".json")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
"""What a file begins with, by its encoding."""
MOST_COLUMNS = 10_000
LONGEST_ROW = 1 << 26
"""Characters: a file without line ends is not read into memory."""
LARGEST_LIST = 1 << 30
"""Bytes of a JSON list, which is read whole."""
SHOWN = 5
"""Rows that a sentence names."""


@dataclass(frozen=True)
class DataFile:
    """A file of questions. Reading anything else as one raises ConfigError or DataError."""

    path: str
    """As the user wrote it."""

    @cached_property
    def file(self) -> Path:
        return Path(self.path).expanduser()

    @cached_property
    def stem(self) -> str:
        """The file's name without its suffix: the beginning of the ids of rows without an id."""
        return self.file.stem

    @property
    def counted(self) -> str:
        """How rows are counted, where an editor shows other numbers: behind a row's number in a sentence."""
        return " (the header not counted)" if self.file.suffix.lower() in (".csv", ".tsv") else ""

    def digest(self) -> str:
        """Return the SHA-256 of its bytes: another content is another configuration. Raises DataError."""
        with self._refusals():
            return content_digest(self.file)

    def rows(self) -> Iterator[Columns]:
        """Yield the rows, the first is row 1. Raises ConfigError for another kind of file, DataError for a bad one.

        A file without any is a bad one.
        """
        ending = self.file.suffix.lower()
        if ending not in ENDINGS:
            raise ConfigError(
                f"task.path={self.path} ends in {self.file.suffix or 'nothing'}: a .csv, .tsv or .jsonl file is needed."
            )
        row = None
        with self._refusals():
            for row in self._csv() if ending in (".csv", ".tsv") else self._json():
                yield row
        if row is None:
            raise DataError(f"{self.path} has no rows: it needs a line for every item.")

    def remarks(self) -> tuple[str, ...]:
        if self.file.suffix.lower() != ".csv" or (separator := self._separator()) == ",":
            return ()
        return (f"{self.path}: its columns are told apart by {SEPARATORS[separator]}.",)

    def _csv(self) -> Iterator[Columns]:
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # the module's own limit of 131,072 is one of caution
        separator = self._separator()
        with self._open() as file:
            rows = _Rows(file, self.path)
            lines = csv.reader(rows, delimiter=separator, strict=True)
            try:
                names = [name.strip() for name in next(lines, [])]
                self._check_header(names)
                number = 0
                for cells in lines:
                    rows.begin()
                    if not any(cells):
                        continue
                    number += 1
                    if any(cells[len(names) :]):
                        raise DataError(
                            f"{self.path}, row {number}{self.counted} has {len(cells)} cells, and the first line names "
                            f'{len(names)} columns: put a text that holds {SEPARATORS[separator]} in "…".'
                        )
                    cells += [""] * (len(names) - len(cells))
                    yield {name: cell for name, cell in zip(names, cells, strict=False) if name}
            except csv.Error as error:
                raise DataError(
                    f'{self.path}, line {lines.line_num}: its quotation marks do not close ({error}): a text with " in '
                    'it is written "…""…".'
                ) from None

    def _check_header(self, names: list[str]) -> None:
        self._check_width(len(names))
        twice = [name for name, count in Counter(names).items() if name and count > 1]
        if twice:
            raise DataError(f"{self.path} has two columns called {twice[0]!r}: give one of them another name.")

    def _check_width(self, columns: int) -> None:
        if columns > MOST_COLUMNS:
            raise DataError(f"{self.path} has {columns:,} columns, and no questions have more than {MOST_COLUMNS:,}.")

    def _separator(self) -> str:
        """Return the column separator: the usual one that splits the first line into most columns."""
        if self.file.suffix.lower() == ".tsv":
            return "\t"
        with self._refusals(), self._open() as file:
            first = file.readline(1 << 20)
        columns = {sign: len(next(csv.reader([first], delimiter=sign), [])) for sign in SEPARATORS}
        return max(SEPARATORS, key=lambda sign: columns[sign])  # the first of several alike, the comma

    def _json(self) -> Iterator[Columns]:
        import jsonlines

        with self._open() as file:
            begins = _first_sign(file)
            if begins == "[":
                yield from self._json_list(file)
                return
            rows = _Rows(file, self.path)
            try:
                for row in jsonlines.Reader(rows).iter(type=dict, skip_empty=True):
                    rows.begin()
                    self._check_width(len(row))
                    yield row
            except RecursionError:
                raise DataError(f"{self.path}, line {rows.number} is nested too deeply.") from None
            except jsonlines.InvalidLineError as error:
                raise DataError(f"{self.path}, line {error.lineno} is not a JSON object.") from None

    def _json_list(self, file: IO[str]) -> Iterator[Columns]:
        if self.file.stat().st_size > LARGEST_LIST:
            raise DataError(
                f"{self.path} is a list of more than {LARGEST_LIST >> 30} GB: save it as JSON lines, an object a line."
            )
        try:
            content = json.load(file)
        except RecursionError:
            raise DataError(f"{self.path} is nested too deeply.") from None
        except json.JSONDecodeError as error:
            raise DataError(f"{self.path} is not JSON: {error}.") from None
        for number, row in enumerate(content, start=1):
            if not isinstance(row, dict):
                raise DataError(f"{self.path}, row {number} is not a JSON object.")
            self._check_width(len(row))
            yield row

    @contextmanager
    def _open(self) -> Iterator[IO[str]]:
        with open_plain(self.file) as file:
            start = file.read(4)
        encoding = next((name for mark, name in _MARKS.items() if start.startswith(mark)), "utf-8")
        if encoding == "utf-8" and b"\0" in start:
            raise DataError(f"{self.path} looks like UTF-16 without its mark: save it as UTF-8.")
        with io.TextIOWrapper(open_plain(self.file), encoding=encoding, newline="") as text:
            yield text

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Turn errors of reading into one sentence about the file."""
        try:
            yield
        except FileNotFoundError:
            raise DataError(f"{self.path} does not exist; task.path names a CSV or JSON lines file.") from None
        except UnicodeDecodeError as error:
            raise DataError(self._not_utf8(error)) from None
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror or error}.") from None

    def _not_utf8(self, error: UnicodeDecodeError) -> str:
        """Return the sentence for a file in another encoding, with the first line that shows it."""
        if error.encoding != "utf-8":
            return f"{self.path} begins as {error.encoding} and goes on otherwise: save it as UTF-8."
        with open_plain(self.file) as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_ROW), b""), start=1):
                try:
                    line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as wrong:
                    text = line[max(0, wrong.start - 20) : wrong.start + 20].decode("cp1252", errors="replace").strip()
                    return (
                        f"{self.path}, line {number} is not UTF-8 (read as Latin-1 it has {text!r}): save the file as "
                        "UTF-8."
                    )
        return f"{self.path} is not UTF-8: save it as UTF-8."


class _Rows(Iterator[str]):
    """The lines of a text. Raises DataError where those since the last `begin` are longer than any row."""

    def __init__(self, file: IO[str], path: str) -> None:
        self._file, self._path = file, path
        self.number = 0
        """Of the line that was read last."""
        self.begin()

    def begin(self) -> None:
        self._left = LONGEST_ROW

    def __next__(self) -> str:
        line = self._file.readline(self._left + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._left -= len(line)
        if self._left < 0:
            raise DataError(
                f"{self._path}, line {self.number}: a row of more than {LONGEST_ROW:,} characters is not read."
            )
        return line


def _first_sign(file: IO[str]) -> str:
    """Return the first character that is not a space, and rewind the text."""
    begins = ""
    while sign := file.read(1):
        if not sign.isspace():
            begins = sign
            break
    file.seek(0)
    return begins


def filled(columns: Columns) -> str:
    """Return the names of the columns, those without a value as such."""
    names = [str(name) for name, value in columns.items() if value not in (None, "")]
    empty = [str(name) for name, value in columns.items() if value in (None, "")]
    return ", ".join(names) + (f"{'; empty: ' if names else 'empty: '}{', '.join(empty)}" if empty else "") or "none"


@dataclass
class Repeats:
    """Questions that occur in a file more than once, with the same or with contradicting answers."""

    same: int = 0
    opposite: int = 0
    _rows: list[str] = field(default_factory=list)
    _opposite_rows: list[str] = field(default_factory=list)
    _first: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, row: int, question: Hashable, label: int) -> None:
        """Take the next row: its number, what is asked, and the gold label."""
        first, gold = self._first.setdefault(hash(question), (row, label))
        if first == row:
            return
        if gold == label:
            self.same += 1
            if len(self._rows) < SHOWN:
                self._rows.append(f"{row} as {first}")
        else:
            self.opposite += 1
            if len(self._opposite_rows) < SHOWN:
                self._opposite_rows.append(f"{row} and {first}")

    def remarks(self, path: str) -> tuple[str, ...]:
        """Return the remarks on repeated questions, with the first row numbers."""
        sentences = []
        if self.opposite:
            several = "rows ask" if self.opposite > 1 else "row asks"
            sentences.append(
                f"{path}: {self.opposite:,} {several} what an earlier one asks and has another label (rows "
                f"{_listed(self._opposite_rows, self.opposite)}): whatever is answered, one of the two counts as wrong."
            )
        if self.same:
            several = "rows repeat" if self.same > 1 else "row repeats"
            sentences.append(
                f"{path}: {self.same:,} {several} an earlier one (row {_listed(self._rows, self.same)}): each of them "
                "counts."
            )
        return tuple(sentences)


def _listed(rows: list[str], count: int) -> str:
    return ", ".join(rows) + (", …" if count > len(rows) else "")


def hub_rows(
    name: str, split: str, revision: str | None, choose: Callable[[list[str]], str] | None = None
) -> tuple[Iterable[Columns], str]:
    """Return the rows of a data set of the Hugging Face Hub or a folder in its layout, and the configuration's name.

    `choose` takes one of the configurations; without, the data set has one alone ("").
    """
    try:
        import datasets
    except ImportError:
        raise ConfigError(f"task.source=hub needs the datasets package: {installing('hub')}.") from None
    datasets.disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # five retries would be told line by line
    try:
        config = choose(datasets.get_dataset_config_names(name, revision=revision)) if choose else None
        return datasets.load_dataset(name, config, split=split, revision=revision), config or ""
    except ConfigError:
        raise
    except Exception as error:  # the library raises a dozen kinds for "not there" and "not reachable"
        raise DataError(
            f"the data set {name} (split {split}) cannot be loaded: {' '.join(str(error).split())[:300]}. "
            "Check the network, or give a local copy with task.path=FOLDER; task.source=builtin needs neither."
        ) from error
