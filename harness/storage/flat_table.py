"""The flat table of records: its columns, their types, its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from typing import Any, Protocol

from harness.errors import ConfigError
from harness.storage.records import PLACE, Line, turns
from harness.types import TOKENS, Response

_NAMES = tuple(part.name for part in fields(Response) if part.type == "str" and part.name not in ("text", "reasoning"))
"""What a server says in a word or two beside its reply."""


class RecordSource(Protocol):
    """What the table needs of a run."""

    @property
    def place(self) -> Mapping[str, str]:
        """task, variant, prompt and model."""

    def lines(self) -> Iterator[Line]:
        """Yield the lines of its records."""

    def gold(self, line: Line) -> int:
        """Return the headline label of a line."""


def frame(runs: Sequence[RecordSource]) -> Any:
    """Return a pandas.DataFrame with a line for each record. Raises ConfigError where pandas is not installed."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise ConfigError(
            "to_pandas() needs pandas, which is not installed: python -m pip install pandas, or use records()."
        ) from None
    types = columns(runs)
    table = pandas.DataFrame(rows(runs, types), columns=list(types))
    # None stays a missing value, beside whole numbers too.
    nullable = {int: "Int64", float: "Float64", bool: "boolean", str: "string"}
    return table.astype({name: nullable[kind] for name, kind in types.items()})


def columns(runs: Sequence[RecordSource]) -> dict[str, type]:
    """Return name and type of each column, among them the unit and every group and label set that any record has.

    Reads all records.
    """
    groups: dict[str, None] = {}
    labels: dict[str, None] = {}
    units: dict[str, None] = {}
    for run in runs:
        for line in run.lines():
            units |= dict.fromkeys(name for name in ("unit",) if name in line)
            groups |= dict.fromkeys(line["groups"])
            labels |= dict.fromkeys(line["labels"])
    return {
        **dict.fromkeys((*PLACE, "item", "cluster", *units), str),
        "sample": int,
        **{f"group_{name}": str for name in groups},
        **{f"label_{name}": int for name in labels},
        "gold": int,
        "answer": int,
        "probability": float,
        "correct": bool,
        **dict.fromkeys(("failure", "failure_detail", "asked", "text", "reasoning", "span"), str),
        **dict.fromkeys(_NAMES, str),
        "seconds": float,
        "cached": bool,
        **{f"{name}_tokens": int for name in TOKENS},
        "cost_usd": float,
        "request": str,
    }


def rows(runs: Sequence[RecordSource], types: Mapping[str, type]) -> Iterator[dict[str, Any]]:
    """Yield a dictionary with all columns for each record; None where there is nothing."""
    for run in runs:
        for line in run.lines():
            row = dict.fromkeys(types) | {**run.place, **_row(run, line)}
            yield {name: None if row[name] is None else kind(row[name]) for name, kind in types.items()}


def _row(run: RecordSource, line: Line) -> dict[str, Any]:
    failure, response, answer = (line.get(part) or {} for part in ("failure", "response", "answer"))
    usage = response.get("usage", {})
    messages = turns(line)
    return {
        "item": line["item"],
        "cluster": line["cluster"],
        **({"unit": line["unit"]} if "unit" in line else {}),
        "sample": line["sample"],
        **{f"group_{name}": group for name, group in line["groups"].items()},
        **{f"label_{name}": label for name, label in line["labels"].items()},
        "gold": run.gold(line),
        "answer": answer.get("label"),
        "probability": answer.get("probability"),
        "correct": line.get("correct"),
        "failure": failure.get("kind"),
        "failure_detail": failure.get("detail"),
        "asked": "\n\n".join(message["content"] for message in messages) if messages else None,
        "text": response.get("text"),
        "reasoning": response.get("reasoning"),
        "span": answer.get("span"),
        **{name: response.get(name) for name in _NAMES},
        "seconds": response.get("seconds"),
        "cached": response.get("cached"),
        **{f"{name}_tokens": usage.get(name) for name in TOKENS},
        "cost_usd": line.get("cost_usd"),
        "request": (line["request"] or {}).get("digest"),
    }
