"""Rows of a file of the user's, or of a data set of the Hub.

Each cell of a CSV is the text that it is. Of files none is read by `datasets`, which reads the Hub: it makes a date of
"2024-01-01", and 1.0 of 1 in a column that has 0.5.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

from harness.codec import content_digest, open_plain, user_path
from harness.errors import ConfigError, DataError

Columns = Mapping[str, Any]
"""A row's cells by the name of their column."""
TABLES = (".csv", ".tsv")
ENDINGS = (*TABLES, ".jsonl", ".json", ".parquet")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True)
class DataFile:
    """A file of questions. Reading anything else as one raises ConfigError or DataError."""

    path: str
    """As the user wrote it."""

    @cached_property
    def file(self) -> Path:
        return user_path(self.path)

    @cached_property
    def stem(self) -> str:
        """The file's name without its suffix: the beginning of the ids of rows without an id."""
        return self.file.stem

    @cached_property
    def _ending(self) -> str:
        return self.file.suffix.lower()

    @property
    def counted(self) -> str:
        """How rows are counted, where an editor shows other numbers: behind a row's number in a sentence."""
        return " (the header not counted)" if self._ending in TABLES else ""

    def digest(self) -> str:
        """Return the SHA-256 of its bytes: another content is another configuration. Raises DataError."""
        with self._refusals():
            return content_digest(self.file)

    def rows(self) -> Iterator[Columns]:
        """Yield the rows, the first is row 1. Raises ConfigError for another kind of file, DataError for a bad one.

        A file without any is a bad one.
        """
        if self._ending not in ENDINGS:
            raise ConfigError(
                f"task.path={self.path} ends in {self.file.suffix or 'nothing'}: a {', '.join(ENDINGS[:-1])} or "
                f"{ENDINGS[-1]} file is needed."
            )
        read = self._csv if self._ending in TABLES else self._parquet if self._ending == ".parquet" else self._json
        row = None
        with self._refusals():
            for row in read():
                yield row
        if row is None:
            raise DataError(f"{self.path} has no rows: it needs a line for every item.")

    def _csv(self) -> Iterator[Columns]:
        """Yield the rows. Raises DataError where one has more cells than the first, or quotes are open."""
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # the module's own limit of 131,072 is one of caution
        with self._text() as file:
            first = next(filter(str.strip, file), "")
            signs = SEPARATORS if self._ending == ".csv" else "\t"
            separator = max(signs, key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))
            file.seek(0)
            lines = csv.reader(file, delimiter=separator, strict=True)
            filled_lines = (line for line in lines if any(map(str.strip, line)))
            try:
                names = [name.strip() for name in next(filled_lines, [])]
                if twice := [name for name, count in Counter(names).items() if name and count > 1]:
                    raise DataError(f"{self.path} has two columns called {twice[0]!r}: give one of them another name.")
                for number, cells in enumerate(filled_lines, start=1):
                    if len(cells) > len(names):
                        raise DataError(
                            f"{self.path}, row {number}{self.counted} has {len(cells)} cells, and the first line names "
                            f'{len(names)} columns: put a text that holds {SEPARATORS[separator]} in "…".'
                        )
                    yield {name: cell for name, cell in zip_longest(names, cells, fillvalue="") if name}
            except csv.Error as error:
                raise DataError(
                    f'{self.path}, line {lines.line_num}: its quotation marks do not close ({error}): a text with " in '
                    'it is written "…""…".'
                ) from None

    def _parquet(self) -> Iterator[Columns]:
        import pyarrow.parquet

        try:
            with open_plain(self.file) as file:
                for part in pyarrow.parquet.ParquetFile(file).iter_batches(1_000):
                    yield from part.to_pylist()
        except ValueError as error:
            raise DataError(f"{self.path} is not Parquet: {error}.") from None

    def _json(self) -> Iterator[Columns]:
        import jsonlines

        with self._text() as file:
            is_list = next(filter(str.strip, file), "").lstrip().startswith("[")
            file.seek(0)
            try:
                if is_list:
                    yield from self._json_list(file)
                else:
                    yield from jsonlines.Reader(file).iter(type=dict, skip_empty=True)
            except RecursionError:
                raise DataError(f"{self.path} is nested too deeply.") from None
            except jsonlines.InvalidLineError as error:
                raise DataError(f"{self.path}, line {error.lineno} is not a JSON object.") from None
            except json.JSONDecodeError as error:
                raise DataError(f"{self.path} is not JSON: {error}.") from None

    def _json_list(self, file: IO[str]) -> Iterator[Columns]:
        for number, row in enumerate(json.load(file), start=1):
            if not isinstance(row, dict):
                raise DataError(f"{self.path}, row {number} is not a JSON object.")
            yield row

    def _text(self) -> IO[str]:
        return io.TextIOWrapper(open_plain(self.file), encoding="utf-8-sig", newline="")

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Turn errors of reading into one sentence about the file."""
        try:
            yield
        except FileNotFoundError:
            raise DataError(f"{self.path} does not exist; task.path names a CSV, JSON lines or Parquet file.") from None
        except UnicodeDecodeError as error:
            text = error.object[max(0, error.start - 20) : error.start + 20].decode("cp1252", errors="replace").strip()
            raise DataError(
                f"{self.path} is not UTF-8 (read as Latin-1 it has {text!r}): save the file as UTF-8."
            ) from None
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror or error}.") from None


def filled(columns: Columns) -> str:
    """Return the names of the columns, those without a value as such."""
    names = [str(name) for name, value in columns.items() if value not in (None, "")]
    empty = [str(name) for name, value in columns.items() if value in (None, "")]
    return ", ".join(names) + (f"{'; empty: ' if names else 'empty: '}{', '.join(empty)}" if empty else "") or "none"


def hub_rows(
    name: str, split: str, revision: str | None, choose: Callable[[list[str]], str] | None = None
) -> tuple[Iterable[Columns], str]:
    """Return the rows of a data set of the Hugging Face Hub or a folder in its layout, and the configuration's name.

    `choose` takes one of the configurations; without, the data set has one alone ("").
    """
    import datasets

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
