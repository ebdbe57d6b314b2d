"""A row of what others have recorded, how the columns of a file become one, and which items rows answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from harness.errors import ConfigError, DataError, unknown
from harness.tasks.data_files import DataFile, filled
from harness.types import Item

Columns = Mapping[str, Any]
Mapped = Mapping[str, str]
"""By the field of a row its column, or a text with columns in braces."""
_IN_BRACES = re.compile(r"\{([^{}]+)\}")
MOST_TOKENS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One recorded answer."""

    where: str
    """Its place in the file, for messages."""
    id: str = ""
    """What the file calls the item; "" where it does not say."""
    reply: str | None = None
    """The whole reply."""
    answer: str | None = None
    """What others have read in a reply that is not there."""
    reasoning: str = ""
    finish_reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


NAMES = tuple(setting.name for setting in fields(Row) if setting.name != "where")
"""What map= may say the column of."""
_TOKENS = ("input_tokens", "output_tokens")


def pairs(setting: str, values: Sequence[str], known: Sequence[str] = ()) -> dict[str, str]:
    """Return a setting such as id:question_id,answer:parsed as a mapping. Raises ConfigError."""
    mapping: dict[str, str] = {}
    for value in values:
        name, colon, column = value.partition(":")
        if not colon or not column:
            raise ConfigError(f"{setting}={value}: write NAME:COLUMN, several with commas between them.")
        if known and name not in known:
            raise ConfigError(unknown(f"part of {setting}=", name, known))
        mapping[name] = column
    return mapping


def table_rows(path: str, mapped: Mapped, where: Mapped) -> Iterator[Row]:
    """Yield the rows of a CSV, JSON lines or Parquet file for which the columns of `where` have its values."""
    if ("reply" in mapped) == ("answer" in mapped) or "id" not in mapped:
        raise ConfigError(
            "map= says which column has the items' ids (id:COLUMN, as `harness items` has them) and which the answers: "
            "reply:COLUMN where it holds replies, which are read here, or answer:COLUMN where it holds a word that "
            f"somebody has read. Others are {', '.join(NAMES)}."
        )
    file = DataFile(path)
    for number, columns in enumerate(file.rows(), start=1):
        here = f"{file.file.name}, row {number}"
        if all(_text(columns, column, here) == value for column, value in where.items()):
            yield with_columns(Row(where=here), columns, mapped)


def with_columns(row: Row, columns: Columns, mapped: Mapped) -> Row:
    """Return a row with the fields that map= names. Raises DataError for a column that is not there, or no number."""
    texts: dict[str, Any] = {name: _text(columns, column, row.where) for name, column in mapped.items()}
    for name in _TOKENS:
        if name in texts:
            texts[name] = _count(texts[name], name, row.where)
    return replace(row, **texts)


def _text(columns: Columns, column: str, where: str) -> str:
    """Return the text of a column, or of a text with columns in braces; an empty cell is ""."""
    if "{" in column:
        return _IN_BRACES.sub(lambda match: _text(columns, match[1], where), column)
    value: Any = columns
    for part in [column] if column in columns else column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise DataError(f"{where} has no column {column!r}; it has {filled(columns):.500}.")
        value = value[part]
    return "" if value is None else str(value)


def _count(text: str, name: str, where: str) -> int | None:
    if not text.strip():
        return None
    try:
        number = float(text)
        if number == int(number) and 0 <= number <= MOST_TOKENS:
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise DataError(f"{where} has {text!r:.60} as {name}; a whole number is needed, or nothing.")


@dataclass
class Matched:
    """The rows of each item that has some, and what is left over."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    """By the item's id, as many of each as there are samples."""
    items_without: int = 0
    """Items of the task that have no row."""
    rows_without: int = 0
    """Rows that no item has."""


def matched(items: Iterable[Item], rows: Sequence[Row], samples: int) -> Matched:
    """Return which rows answer which items, by the items' ids, `samples` rows each.

    Raises DataError where an item has more rows than that, or fewer, or where no item has any.
    """
    waiting: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        waiting[row.id].append(row)
    result = Matched()
    for item in items:
        if item.id in waiting:
            result.rows[item.id] = waiting.pop(item.id)
        else:
            result.items_without += 1
    result.rows_without = sum(map(len, waiting.values()))
    if not result.rows:
        raise DataError("no row has the id of an item of the task: is it the right task=?")
    if others := [found[0].where for found in result.rows.values() if len(found) != samples]:
        raise DataError(
            f"{len(others):,} items have other than samples={samples} rows, such as that of {', '.join(others[:5])}. "
            "Choose rows with where=COLUMN:VALUE; several answers to each item are samples=K."
        )
    return result


def missing_in(rows: Iterable[Row]) -> list[str]:
    """Return what no row says, in words."""
    missing = {"the replies' words": "reply", "why replies ended": "finish_reason", "tokens": "output_tokens"}
    for row in rows:
        missing = {words: name for words, name in missing.items() if getattr(row, name) in (None, "")}
    return list(missing)
