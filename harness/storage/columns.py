"""The columns of a line of records, in tables, on the page and in exports.

All of it follows from the types of `harness.types`: a field that a `Response` gets is checked, stored and shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Any, get_args, get_type_hints

from harness.codec import set_fields
from harness.scoring.grades import grade_of_rule
from harness.storage.manifest import PLACE
from harness.types import Answer, Failure, Line, Response, Usage

_CALLED = {"label": "answer", "kind": "failure", "detail": "failure_detail"}
"""Columns of a table that have another name than the field that they show."""
_SHOWN = (Failure, Answer, Response, Usage)
"""The parts of a line whose fields have a column each; what an answer cost is one for all."""


def _kind(hint: Any) -> type:
    """Return the type of a field's column; a list or an object stands there as JSON."""
    kind = next(iter(get_args(hint)), hint) if NoneType in get_args(hint) else hint
    return kind if kind in (str, int, float, bool) else str


_COLUMNS: Mapping[type, Mapping[str, str]] = {
    part: {
        name: f"{name}_tokens" if part is Usage else _CALLED.get(name, name)
        for name in get_type_hints(part)
        if name not in ("usage", "usd")
    }
    for part in _SHOWN
}
"""The columns of a reply by field, for each part of a line."""
_EMPTY: tuple[Any, ...] = (None, (), {})
_FIRST = [
    "answer",
    "probability",
    "correct",
    "readable",
    "failure",
    "failure_detail",
    "asked",
    "text",
    "reasoning",
    "span",
    "grade",
]
_TYPES = {
    **{name: _kind(get_type_hints(part)[field]) for part in _SHOWN for field, name in _COLUMNS[part].items()},
    **dict.fromkeys(("asked", "grade"), str),
    **dict.fromkeys(("correct", "readable"), bool),
}
REPLY_TYPES: Mapping[str, type] = {name: _TYPES[name] for name in (*_FIRST, *_TYPES)}
"""Name and type of each column of a reply, in order."""


def reply_columns(line: Line) -> dict[str, Any]:
    """Return all that a line says of the reply and of what was read in it, by column."""
    columns = {}
    for part in (line.failure, line.answer, line.response, line.response.usage if line.response else None):
        names = _COLUMNS.get(type(part), {})
        for name, value in set_fields(part).items() if part is not None else ():
            if name in names and value not in _EMPTY:
                columns[names[name]] = value
    if line.usd is not None:
        columns["cost_usd"] = line.usd
    if line.answer and line.answer.label is not None:
        columns["grade"] = grade_of_rule(line.answer.rule)
    return columns


def item_columns(line: Line) -> dict[str, Any]:
    """Return all that a line says of its item, by column, and which of several replies it is."""
    return {
        "item": line.item,
        "cluster": line.cluster,
        **({"unit": line.unit} if line.unit else {}),
        "sample": line.sample,
        **{f"group_{name}": group for name, group in line.groups.items()},
        **{f"label_{name}": label for name, label in line.labels.items()},
    }


def types_of(lines: Iterable[Line]) -> dict[str, type]:
    """Return name and type of each column, among them the unit and every group and label set that any line has."""
    names = dict.fromkeys(name for line in lines for name in item_columns(line))
    labels = [name for name in names if name.startswith("label_")]
    groups = [name for name in names if name.startswith("group_")]
    plain = [name for name in names if name not in (*groups, *labels, "sample")]
    return {
        **dict.fromkeys((*PLACE, *plain), str),
        "sample": int,
        **dict.fromkeys(groups, str),
        **dict.fromkeys(labels, int),
        "gold": int,
        **REPLY_TYPES,
        "cost_usd": float,
        "request": str,
    }


def row_of(line: Line, place: Mapping[str, str], right: bool | None, types: Mapping[str, type]) -> dict[str, Any]:
    """Return all columns of a line, None where there is nothing; `right` is how the scores count it."""
    row: dict[str, Any] = dict.fromkeys(types)
    row |= {**place, **item_columns(line), **reply_columns(line), "gold": line.gold, "correct": right}
    row["readable"] = line.answer.label is not None if line.answer else None
    row["asked"] = "\n\n".join(turn["content"] for turn in line.turns) or None
    row["request"] = line.request.digest if line.request else None
    return {name: _cell(row[name], kind) for name, kind in types.items()}


def _cell(value: Any, kind: type) -> Any:
    return json.dumps(value) if isinstance(value, tuple | dict) else None if value is None else kind(value)
