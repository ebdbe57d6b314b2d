"""The value that a question asks for, from the numbers that a data set has at full precision beside its words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.tasks.cladder.graphs import GRAPHS, X, Y
from harness.tasks.cladder.queries import NUMERIC, Query, TableKey
from harness.tasks.cladder.stated import XY, effect_range

_TABLE = re.compile(r"[pP]\((\w+)(?:=1)?(?: \| ([\w, ]+))?\)")
_BOTH = ("P(Y=1, X=0)", "P(Y=1, X=1)")
_POINT = 1e-9
"""A range no wider than this is one value."""


def value_of_numbers(query: Query, graph: str, given: Any) -> float | None:
    """Return what is asked for, of the numbers in a row's `given_info`; None where they do not settle it.

    The sign alone counts for explaining away, as in `stated.effect_range`. The authors' P(Y | X) is wrong in arrowhead
    (PublishedNumbers), so nothing follows from it there.
    """
    if query not in NUMERIC or graph not in GRAPHS or not isinstance(given, Mapping):
        return None
    tables = {key: tuple(100 * value for value in values) for key, values in _tables(given)}
    if graph == "arrowhead" and (Y, (X,)) in tables:
        return None
    try:
        least, most = effect_range(query, GRAPHS[graph], tables, slack=0.0)
    except (KeyError, IndexError, StopIteration):  # not the numbers of such a question
        return None
    return least if most - least <= _POINT else None


def _tables(given: Mapping[str, Any]) -> list[tuple[TableKey, list[float]]]:
    """Return the tables by node and causes; P(X = 0, Y = 1) and P(X = 1, Y = 1) stand under ("XY", ())."""
    tables: list[tuple[TableKey, list[float]]] = []
    for name, values in given.items():
        if (match := _TABLE.fullmatch(name)) is not None:
            tables.append(((match[1], tuple(match[2].split(", ")) if match[2] else ()), flat(values)))
    if all(name in given for name in _BOTH):
        tables.append(((XY, ()), [value for name in _BOTH for value in flat(given[name])]))
    return tables


def flat(table: Any) -> list[float]:
    """Return the numbers of a table, however deep it is."""
    return [value for part in table for value in flat(part)] if isinstance(table, Sequence) else [float(table)]
