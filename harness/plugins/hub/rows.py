"""A row of what others have recorded, and how the columns of a file become one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from harness.errors import ConfigError, DataError, unknown
from harness.tasks.data_files import DataFile, filled

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
    question: str = ""
    """What was asked, in the words of the file."""
    reply: str | None = None
    """The whole reply."""
    answer: str | None = None
    """What others have read in a reply that is not there."""
    failure: str = ""
    """Why there is no reply."""
    reasoning: str = ""
    finish_reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


NAMES = tuple(field.name for field in fields(Row) if field.name not in ("where", "failure"))
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
    """Yield the rows of a CSV or JSON lines file for which the columns of `where` have its values."""
    if ("reply" in mapped) == ("answer" in mapped):
        raise ConfigError(
            "map= says which column has the answers: reply:COLUMN where it holds replies, which are read here, or "
            f"answer:COLUMN where it holds a word that somebody has read. Others are {', '.join(NAMES)}."
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
