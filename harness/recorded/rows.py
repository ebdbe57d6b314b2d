"""The rows of what others have recorded, and which items they answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from harness.errors import ConfigError, DataError, unknown
from harness.tasks.data_files import DataFile, filled
from harness.types import Item

_IN_BRACES = re.compile(r"\{([^{}]+)\}")
MOST_TOKENS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One recorded answer."""

    where: str
    """Its place in the file, for messages."""
    id: str
    """What the file calls the item."""
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


def pairs(setting: str, values: Sequence[str], known: Sequence[str] = ()) -> dict[str, str]:
    """Return a setting such as id:question_id,answer:parsed as a mapping. Raises ConfigError."""
    mapping: dict[str, str] = {}
    for value in values:
        name, _, column = value.partition(":")
        if not column:
            raise ConfigError(f"{setting}={value}: write NAME:COLUMN, several with commas between them.")
        if known and name not in known:
            raise ConfigError(unknown(f"part of {setting}=", name, known))
        mapping[name] = column
    return mapping


def table_rows(path: str, mapped: Mapping[str, str], where: Mapping[str, str]) -> Iterator[Row]:
    """Yield the rows of a CSV, JSON lines or Parquet file for which the columns of `where` have its values.

    `mapped` has the column of each field, or a text with columns in braces. Raises ConfigError, and DataError for a
    column that is not there, or no number.
    """
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
            parts: dict[str, Any] = {name: _text(columns, column, here) for name, column in mapped.items()}
            for name in ("input_tokens", "output_tokens"):
                if name in parts:
                    parts[name] = _count(parts[name], name, here)
            yield Row(where=here, **parts)


def _text(columns: Mapping[str, Any], column: str, where: str) -> str:
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


def matched(items: Iterable[Item], rows: Iterable[Row], samples: int) -> tuple[dict[str, list[Row]], int, int]:
    """Return the rows of each item that has some, how many items have none, and how many rows no item has.

    Raises DataError where an item has other than `samples` rows, or where no item has any.
    """
    waiting: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        waiting[row.id].append(row)
    ids = [item.id for item in items]
    found = {name: waiting.pop(name) for name in ids if name in waiting}
    if not found:
        raise DataError("no row has the id of an item of the task: is it the right task=?")
    if others := [several[0].where for several in found.values() if len(several) != samples]:
        raise DataError(
            f"{len(others):,} items have other than samples={samples} rows, such as that of {', '.join(others[:5])}. "
            "Choose rows with where=COLUMN:VALUE; several answers to each item are samples=K."
        )
    return found, len(ids) - len(found), sum(map(len, waiting.values()))
