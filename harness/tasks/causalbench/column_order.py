"""What the order of a table's columns tells: a baseline that looks at nothing else. CausalBench's data prompts only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from harness.protocols import Traits
from harness.tasks.text_models import TextModel
from harness.types import JSON, ChatRequest, ChoiceRequest, Response

_BETWEEN = " | "
_RECEIVED = "The part has been received."
_NO_TABLE = "Unreadable: no table stands before the question (task.format=data)."
_NO_PAIR = "Unreadable: the question does not name two of the table's columns."


@dataclass(frozen=True)
class ColumnOrder(TextModel):
    """Says Yes iff the column of the variable that is named first stands left of the other's.

    It reads the request's words: the first line of the table, and the last two of its names before the first question
    mark of the question. No cell is looked at. Where there is no table it says so, in words that no parser takes for an
    answer.
    """

    name: str = "column_order"

    traits: ClassVar[Traits] = Traits(
        role="cheat",
        instant=True,
        tasks=("causalbench/causality", "causalbench/correlation", "causalbench/skeleton"),
    )

    @property
    def identity(self) -> Mapping[str, JSON]:
        return {"kind": "column order"}

    def response(self, words: str, request: ChatRequest | ChoiceRequest) -> Response:
        """Return Yes or No to a question, and a confirmation to a part of the data."""
        return Response(text=_answer(request))


def _answer(request: ChatRequest | ChoiceRequest) -> str:
    *before, last = (message.content for message in request.messages if message.role == "user")
    if not before or "?" not in last:
        return _RECEIVED if header(last) else _NO_TABLE
    columns = next(filter(None, map(header, before)), ())
    if not columns:
        return _NO_TABLE
    named = [found.group().casefold() for found in _names(columns).finditer(last.partition("?")[0])][-2:]
    if len(set(named)) < 2:
        return _NO_PAIR
    places = [name.casefold() for name in columns]
    return "Yes" if places.index(named[0]) < places.index(named[1]) else "No"


@lru_cache(maxsize=64)  # the turns of a network come with each of its questions
def header(text: str) -> tuple[str, ...]:
    """Return the names in the first line of a text's table, from left to right; () where it has none."""
    line = next((line for line in text.split("\n") if _BETWEEN in line), "")
    return tuple(line.split(_BETWEEN)) if line else ()


@lru_cache(maxsize=64)
def _names(columns: Sequence[str]) -> re.Pattern[str]:
    """Return what finds the columns' names in a sentence, where a readable one begins with a small letter."""
    either = (
        f"(?i:{re.escape(name[0])}){re.escape(name[1:])}" if len(name) > 1 else name  # a is an article, A a variable
        for name in sorted(columns, key=len, reverse=True)
    )
    return re.compile(rf"(?<![\w-])(?:{'|'.join(either)})(?![\w-])")
