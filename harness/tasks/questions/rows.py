"""A row of the user's file as a question: which column is what, and what the label says."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.codec import permuted
from harness.errors import ConfigError, DataError
from harness.tasks.data_files import Columns
from harness.types import LETTERS

ROLES = ("label", "id", "cluster", "unit", "choices")
"""Columns that the task itself reads. `label` never reaches a prompt."""
WORDS = ("text", "question", "premise", "hypothesis", "ask_for", "statement")
"""Columns that prompts which ship name, and that are no breakdowns."""
_CHOICE = re.compile(r"(choice|option|answer|alternative|hypothesis)_?(\d{1,2}|[a-h])", re.IGNORECASE)
"""A column for each of the choices: choice_0, choice1, option_a, hypothesis1."""
_NUMBER = re.compile(r"\d{1,2}(\.0)?")
YES = frozenset(("1", "1.0", "yes", "true", "y", "t"))
NO = frozenset(("0", "0.0", "no", "false", "n", "f"))


def field_name(column: str) -> str:
    """Return what prompts call a column: its letters and digits, those that the task knows in lower case."""
    name = re.sub(r"\W+", "_", column.strip()).strip("_") or "column"
    name = f"_{name}" if name[0].isdigit() else name
    return name.lower() if name.lower() in (*ROLES, *WORDS) or _CHOICE.fullmatch(name) else name


def text_of(value: Any) -> str:
    """Return a cell as text: JSON where it is a list or an object, empty where there is nothing."""
    if value is None:
        return ""
    if isinstance(value, (bool, int, float, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)  # a date, as Parquet has it


@dataclass(frozen=True)
class Layout:
    """Which column of a file is what."""

    fields: Mapping[str, str]
    """The names that prompts have for the columns, by column."""
    renamed: Mapping[str, str]
    """Further names for columns (task.columns), by name: they go before the columns' own."""
    choice_names: tuple[str, ...]
    """The names of the columns that hold a choice each, in order; () where there are none."""
    fixed: tuple[str, ...]
    """The choices that all questions have (task.choices); () where each has its own, or is a question of Yes or No."""

    @classmethod
    def of(cls, path: str, columns: Sequence[str], renamed: Mapping[str, str], fixed: Sequence[str]) -> Layout:
        """Return the layout of a file with these columns. Raises ConfigError where `renamed` names others."""
        for name, column in renamed.items():
            if column not in columns:
                raise ConfigError(
                    f"task.columns says that {name} is the column {column!r}; {path} has {', '.join(columns)}."
                )
            if not name.isidentifier():
                raise ConfigError(f"task.columns: {name!r} is no name that a prompt could have in braces.")
        fields = {column: field_name(column) for column in columns}
        taken = set(renamed.values())
        fields = {column: name for column, name in fields.items() if not (column in taken or name in renamed)}
        names = [*renamed, *fields.values()]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise DataError(f"{path} has several columns that a prompt would call {twice[0]}: rename one of them.")
        return cls(fields, dict(renamed), _choice_names(names), tuple(fixed))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*self.renamed, *self.fields.values())

    @cached_property
    def has_choices(self) -> bool:
        return bool(self.fixed or self.choice_names or "choices" in self.names)

    def cells(self, columns: Columns) -> dict[str, Any]:
        cells = {name: columns.get(column) for name, column in self.renamed.items()}
        return cells | {self.fields[column]: value for column, value in columns.items() if column in self.fields}


def _choice_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that stand for one choice each, in order: two or more of one kind, such as choice1, choice2."""
    kinds: dict[str, list[tuple[int, str, str]]] = {}
    for name in names:
        if match := _CHOICE.fullmatch(name):
            number = int(match[2]) if match[2].isdigit() else -1
            kinds.setdefault(match[1].lower(), []).append((number, match[2].lower(), name))
    several = [sorted(kind) for kind in kinds.values() if len(kind) > 1]
    return tuple(name for _, _, name in several[0]) if several else ()


@dataclass(frozen=True)
class QuestionRow:
    """One row, read with a layout."""

    where: str
    number: int
    stem: str
    """What rows without an id are called by, with their number."""
    cells: Mapping[str, Any]
    """By the names that prompts have for the columns."""
    layout: Layout
    shuffle: int | None = None
    """The seed by which the order of the choices is drawn; None where they stay as they are."""
    first: int = 0
    """What a label in digits counts from."""

    def text(self, name: str) -> str:
        """Return the cell of a column as text; "" where there is none."""
        return text_of(self.cells.get(name)).strip()

    @property
    def unlabelled(self) -> bool:
        return self.text("label") == ""

    @cached_property
    def choices_in_file(self) -> tuple[str, ...]:
        """Return the choices in the file's order; () for a question of Yes or No.

        Raises DataError where there are fewer than two, more than the alphabet has letters, or two alike.
        """
        layout = self.layout
        if layout.fixed:
            choices = layout.fixed
        elif "choices" in layout.names:
            choices = _listed(self.cells["choices"], self.where)
        elif layout.choice_names:
            texts = [self.text(name) for name in layout.choice_names]
            while texts and not texts[-1]:
                texts.pop()
            choices = tuple(texts)
        else:
            return ()
        if not 2 <= len(choices) <= len(LETTERS) or not all(choices) or len(set(choices)) < len(choices):
            raise DataError(
                f"{self.where} has the choices {' | '.join(choices) or 'none'}; two to {len(LETTERS)} different ones "
                "are needed, none empty (a column choices with a|b|c or a list, or columns choice_0, choice_1, …)."
            )
        return choices

    @cached_property
    def _order(self) -> list[int]:
        """Return the places of the choices in the file, in the order in which they are asked."""
        return list(permuted(len(self.choices_in_file), self.shuffle, "choices", self.id))

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The choices in the order of the question."""
        choices = self.choices_in_file
        return choices if self.shuffle is None else tuple(choices[place] for place in self._order)

    @cached_property
    def id(self) -> str:
        """Return the row's id: from its column, else the file's name with the row's number."""
        own = self.text("id")
        if "id" in self.layout.names and not own:
            raise DataError(f"{self.where} has no id; leave the column out, and rows are called by their number.")
        return own or f"{self.stem}-{self.number}"

    @cached_property
    def label(self) -> int:
        """Return the gold label: 0 or 1, or the place of the right choice. Raises DataError for any other."""
        text = self.text("label")
        if choices := self.choices_in_file:
            place = self._place(text, choices)
            return place if self.shuffle is None else self._order.index(place)
        if text.lower() not in YES | NO:
            raise DataError(
                f"{self.where} has the label {text!r:.60}; 0 and 1, yes and no, true and false are allowed. For other "
                "answers than Yes and No give task.choices=[…], or a column choices."
            )
        return int(text.lower() in YES)

    def _place(self, text: str, choices: Sequence[str]) -> int:
        """Return the place of the choice that a label means: by its words, its letter or its number."""
        words = text.casefold()
        possible = {place for place, choice in enumerate(choices) if choice.casefold() == words}
        if len(text) == 1 and (letter := text.upper()) in LETTERS:
            possible.add(LETTERS.index(letter))
        elif _NUMBER.fullmatch(text):
            possible.add(int(float(text)) - self.first)
        possible = {place for place in possible if 0 <= place < len(choices)}
        if len(possible) == 1:
            return possible.pop()
        means = "means several of them" if possible else "is none of them"
        raise DataError(
            f"{self.where} has the label {text!r:.60}, and it {means}: {' | '.join(choices):.300}. A label is the "
            f"words, the letter (A to {LETTERS[len(choices) - 1]}) or the number of a choice, counted from "
            f"{self.first} (task.first=1 counts from 1)."
        )

    @property
    def words(self) -> str:
        """All cells that may reach a prompt, as one text: what tells questions apart."""
        return repr([(name, text_of(cell)) for name, cell in sorted(self.cells.items()) if name not in ROLES[:4]])

    @property
    def cluster(self) -> str:
        """Return the row's cluster: from its column, else its premise, else the row itself."""
        if own := self.text("cluster"):
            return own
        if premise := self.text("premise"):
            return f"premise-{hashlib.sha256(premise.encode(errors='surrogatepass')).hexdigest()[:12]}"
        return self.id

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields for prompts: every column but the label, and those derived from them."""
        hidden = {"label", "choices", *self.layout.choice_names}
        fields: dict[str, Any] = {name: self.text(name) for name in self.cells if name not in hidden}
        words = [fields.get(name, "") for name in ("premise", "question")]
        fields.setdefault("text", "\n\n".join(word for word in words if word))
        if choices := self.choices:
            fields |= dict(zip(self.layout.choice_names, choices, strict=False))
            fields["choices"] = list(choices)
            fields["options"] = "\n".join(
                f"{letter}. {choice}" for letter, choice in zip(LETTERS, choices, strict=False)
            )
            letters = LETTERS[: len(choices)]
            fields["letters"] = f"{', '.join(letters[:-1])} or {letters[-1]}"
        return fields


def _listed(cell: Any, where: str) -> tuple[str, ...]:
    """Return the choices listed in one cell."""
    if isinstance(cell, str) and cell.strip()[:1] == "[":
        try:
            cell = json.loads(cell)
        except ValueError:
            raise DataError(f"{where}: choices begin as JSON and are none: {cell!r:.80}.") from None
    if isinstance(cell, str):
        cell = cell.split("|")
    if isinstance(cell, list):
        return tuple(text_of(choice).strip() for choice in cell)
    raise DataError(f"{where}: choices are no list: {text_of(cell)!r:.80}.")
