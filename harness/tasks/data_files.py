"""Rows of a file of the user's, or of a data set of the Hub.

CSV and Parquet are read by `datasets`, each cell of a CSV as the text that it is. JSON is read by `jsonlines` and json:
`datasets` makes a date of "2024-01-01", and 1.0 of 1 in a column that has 0.5.
"""

from __future__ import annotations

import csv
import glob
import gzip
import hashlib
import io
import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import resources
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

from harness.codec import content_digest, open_plain, user_path
from harness.errors import ConfigError, DataError
from harness.prompting.parsing import members_once

Columns = Mapping[str, Any]
"""A row's cells by the name of their column."""
TABLES = (".csv", ".tsv")
ENDINGS = (*TABLES, ".jsonl", ".json", ".parquet")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
YES, NO = frozenset(("1", "1.0", "yes", "true", "y", "t")), frozenset(("0", "0.0", "no", "false", "n", "f"))
_LOADS = partial(json.loads, object_pairs_hook=members_once)
_FOREIGN = {
    b"PK\x03\x04": "a zip archive, as files of Excel and Word are: save it as CSV",
    b"\x1f\x8b": "packed by gzip: unpack it",
}
"""What a file is that begins with these bytes, and what to do."""
TYPOGRAPHIC = frozenset("“”„«»")
"""Quotation marks that hold no cell of a CSV together."""


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
        parquet = partial(_loaded, "parquet", self.file)
        read = self._csv if self._ending in TABLES else parquet if self._ending == ".parquet" else self._json
        row = None
        with self._refusals():
            self._refuse_foreign()
            for row in read():
                yield row
        if row is None:
            raise DataError(f"{self.path} has no rows: it needs a line for every item.")

    def _refuse_foreign(self) -> None:
        """Raise DataError for a file of another kind than its name says, as its first bytes tell."""
        with open_plain(self.file) as file:
            start = file.read(4096)
        for sign, what in _FOREIGN.items():
            if start.startswith(sign):
                raise DataError(f"{self.path} is {what}.")
        if b"\0" in start and self._ending != ".parquet":
            raise DataError(f"{self.path} holds NUL characters, as UTF-16 does: save the file as UTF-8.")

    def _csv(self) -> Iterator[Columns]:
        separator, names = self._checked()
        if not names:
            return
        columns = [str(place) for place in range(len(names))]
        table = _loaded(
            "csv",
            self.file,
            features=dict.fromkeys(columns, "string"),
            column_names=columns,
            header=None,  # a row as any other, so that a longer one is found
            delimiter=separator,
            na_filter=False,  # "NA" and "null" are words
            engine="python",  # the one that refuses quotation marks which do not close
        )
        for cells in islice(table, 1, None):
            row = {name: cell or "" for name, cell in zip(names, cells.values(), strict=True)}
            if any(row.values()):
                yield {name: cell for name, cell in row.items() if name}

    def _checked(self) -> tuple[str, list[str]]:
        """Return what separates the cells of a table, and its columns' names.

        Raises DataError for a name that comes twice, a row with more cells than names, and quotes that are open.
        """
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # the module's own limit of 131,072 is one of caution
        with self._text() as file:
            first = next(filter(str.strip, file), "")
            signs = SEPARATORS if self._ending == ".csv" else "\t"
            separator = max(signs, key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))
            if first.lstrip('"').lower().startswith("sep="):
                raise DataError(f"{self.path} begins with sep=, which Excel alone reads: take that line off.")
            file.seek(0)
            lines = csv.reader(file, delimiter=separator, strict=True)
            try:
                rows = (cells for cells in lines if len(cells) > 1 or "".join(cells).strip())
                names = [name.strip() for name in next(rows, [])]
                longer = next(((row, cells) for row, cells in enumerate(rows, 1) if len(cells) > len(names)), None)
            except csv.Error as error:
                raise DataError(
                    f'{self.path}, line {lines.line_num}: its quotation marks do not close ({error}): a text with " in '
                    'it is written "…""…".'
                ) from None
        if twice := [name for name, count in Counter(names).items() if name and count > 1]:
            raise DataError(f"{self.path} has two columns called {twice[0]!r}: give one of them another name.")
        if len(names) == 1 and "|" in names[0]:
            raise DataError(f"{self.path} has one column: a comma, a semicolon or a tab separates cells, | does not.")
        if longer:
            row, cells = longer
            marks = " ".join(sorted(TYPOGRAPHIC.intersection("".join(cells))))
            raise DataError(
                f"{self.path}, row {row}{self.counted} has {len(cells)} cells, and the first line names {len(names)} "
                f'column{"s" * (len(names) > 1)}: put a text that holds {SEPARATORS[separator]} in "…"'
                + (f" (typographic marks, {marks}, do not hold it together)." if marks else ".")
            )
        return separator, names

    def _json(self) -> Iterator[Columns]:
        import jsonlines

        with self._text() as file:
            is_list = next(filter(str.strip, file), "").lstrip().startswith("[")
            file.seek(0)
            try:
                if not is_list:
                    yield from jsonlines.Reader(file, loads=_LOADS).iter(type=dict, skip_empty=True)
                    return
                for number, row in enumerate(_LOADS(file.read()), start=1):
                    if not isinstance(row, dict):
                        raise DataError(f"{self.path}, row {number} is not a JSON object.")
                    yield row
            except jsonlines.InvalidLineError as error:
                why = f": {error.__cause__}" if type(error.__cause__) is ValueError else " is not a JSON object"
                raise DataError(f"{self.path}, line {error.lineno}{why}.") from None
            except (json.JSONDecodeError, RecursionError) as error:
                raise DataError(f"{self.path} is not JSON: {error}.") from None

    def _text(self) -> IO[str]:
        return io.TextIOWrapper(open_plain(self.file), encoding="utf-8-sig", newline="")

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Turn errors of reading into one sentence about the file."""
        try:
            yield
        except FileNotFoundError:
            raise DataError(f"{self.path} does not exist: a CSV, JSON lines or Parquet file is needed.") from None
        except UnicodeDecodeError as error:
            text = error.object[max(0, error.start - 20) : error.start + 20].decode("cp1252", errors="replace").strip()
            raise DataError(
                f"{self.path} is not UTF-8 (read as Latin-1 it has {text!r}): save the file as UTF-8."
            ) from None
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror or error}.") from None
        except ValueError as error:  # what `datasets` and pyarrow raise
            raise DataError(f"{self.path} is no {self._ending} file: {error}.") from None


def _loaded(kind: str, file: Path, features: Mapping[str, str] | None = None, **settings: Any) -> Iterator[Columns]:
    """Yield the rows of a file by `datasets`, as they are stored; nothing of it is left on the disk.

    It is read anew each time, so that no earlier content is taken for this one.
    """
    import datasets

    open_plain(file).close()
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    if features:
        settings["features"] = datasets.Features({name: datasets.Value(kind) for name, kind in features.items()})
    with TemporaryDirectory() as folder:
        link = Path(folder, "rows")  # a path of the user's may be a pattern or an address to datasets
        link.symlink_to(file.absolute())
        place = {"data_files": glob.escape(str(link)), "cache_dir": folder}
        try:
            table = datasets.load_dataset(kind, split="train", keep_in_memory=True, **place, **settings)
        except datasets.exceptions.DatasetGenerationError as error:
            raise error.__cause__ or error from None
    for part in table.with_format("arrow").iter(1_000):
        yield from part.to_pylist()


def shipped(name: str) -> bytes:
    """Return a file below harness/data, unpacked where it is packed."""
    content = _shipped(name)
    return gzip.decompress(content) if name.endswith(".gz") else content


@cache
def shipped_digest(name: str) -> str:
    return hashlib.sha256(_shipped(name)).hexdigest()


def _shipped(name: str) -> bytes:
    return resources.files("harness").joinpath("data", *name.split("/")).read_bytes()


def filled(columns: Columns) -> str:
    """Return the names of the columns, those without a value as such."""
    empty = [str(name) for name, value in columns.items() if value in (None, "")]
    names = [str(name) for name, value in columns.items() if value not in (None, "")]
    return "; empty: ".join(filter(None, (", ".join(names) or "none", ", ".join(empty))))


class Row(NamedTuple):
    """A row of a data set in a benchmark's own columns."""

    columns: Columns
    where: str
    stem: str
    number: int

    def id(self, own: object = None) -> str:
        """Return what its item is called: by a number of its own, or by its place."""
        return "-".join(filter(None, (self.stem, str(self.number if own is None else own))))


def numbered(table: Iterable[Columns], where: str, stem: str = "", counted: str = "") -> Iterator[Row]:
    """Yield the rows of a table, which has a name in messages and one in ids."""
    for number, columns in enumerate(table, start=1):
        yield Row(columns, f"{where}, row {number}{counted}", stem, number)


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
