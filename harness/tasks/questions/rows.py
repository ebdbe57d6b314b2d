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
    if isinstance(value, (bool, int, float, list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else str(value)  # a date, as Parquet has it


@dataclass(frozen=True)
class QuestionRow:
    """One row, read with a layout."""

    number: int
    id: str
    cells: Mapping[str, str]
    """As texts, by the names that prompts have for the columns."""
    choices: tuple[str, ...]
    """In the order of the question; () for a question of Yes or No."""
    label: int
    choice_names: tuple[str, ...]

    def text(self, name: str) -> str:
        return self.cells.get(name, "")

    @property
    def words(self) -> str:
        """All cells that may reach a prompt, as one text: what tells questions apart."""
        return repr([(name, cell) for name, cell in sorted(self.cells.items()) if name not in ROLES[:4]])

    @property
    def cluster(self) -> str:
        """The row's cluster: from its column, else its premise, else the row itself."""
        if own := self.text("cluster"):
            return own
        if premise := self.text("premise"):
            return f"premise-{hashlib.sha256(premise.encode(errors='surrogatepass')).hexdigest()[:12]}"
        return self.id

    @property
    def fields(self) -> dict[str, Any]:
        """The fields for prompts: every column but the label, and those derived from them."""
        hidden = {"label", "choices", *self.choice_names}
        fields: dict[str, Any] = {name: text for name, text in self.cells.items() if name not in hidden}
        fields.setdefault("text", "\n\n".join(filter(None, map(self.text, ("premise", "question")))))
        if self.choices:
            letters = LETTERS[: len(self.choices)]
            lettered = [f"{letter}. {choice}" for letter, choice in zip(letters, self.choices, strict=True)]
            fields |= dict(zip(self.choice_names, self.choices, strict=False))
            fields |= {"choices": list(self.choices), "options": "\n".join(lettered)}
            fields["letters"] = f"{', '.join(letters[:-1])} or {letters[-1]}"
        return fields


@dataclass(frozen=True)
class Layout:
    """Which column of a file is what, and how its labels are read."""

    columns: Mapping[str, str]
    """By the names that prompts have for them; those of task.columns go before the columns' own."""
    fixed: tuple[str, ...]
    """The choices that all questions have (task.choices); () where each has its own, or is a question of Yes or No."""
    shuffle: int | None
    """The seed by which the order of the choices is drawn; None where they stay as they are."""
    first: int
    """What a label in digits counts from."""

    @classmethod
    def of(cls, path: str, columns: Sequence[str], renamed: Mapping[str, str], *settings: Any) -> Layout:
        """Return the layout of a file with these columns. Raises ConfigError where `renamed` names others."""
        for name, column in renamed.items():
            if column not in columns:
                raise ConfigError(
                    f"task.columns says that {name} is the column {column!r}; {path} has {', '.join(columns)}."
                )
            if not name.isidentifier():
                raise ConfigError(f"task.columns: {name!r} is no name that a prompt could have in braces.")
        own = [(field_name(column), column) for column in columns if column not in renamed.values()]
        own = [(name, column) for name, column in own if name not in renamed]
        if twice := [name for name, count in Counter(name for name, _ in own).items() if count > 1]:
            raise DataError(f"{path} has several columns that a prompt would call {twice[0]}: rename one of them.")
        return cls({**renamed, **dict(own)}, *settings)

    @cached_property
    def choice_names(self) -> tuple[str, ...]:
        """The names that stand for one choice each, in order: two or more of one kind, such as choice1, choice2."""
        kinds: dict[str, list[tuple[int, str, str]]] = {}
        for name in self.columns:
            if match := _CHOICE.fullmatch(name):
                number = int(match[2]) if match[2].isdigit() else -1
                kinds.setdefault(match[1].lower(), []).append((number, match[2].lower(), name))
        several = [sorted(kind) for kind in kinds.values() if len(kind) > 1]
        return tuple(name for _, _, name in several[0]) if several else ()

    @property
    def has_choices(self) -> bool:
        return bool(self.fixed or self.choice_names or "choices" in self.columns)

    def row(self, columns: Columns, number: int, where: str, stem: str) -> QuestionRow:
        """Return the question of a row; one without an id is called by stem and number. Raises DataError."""
        values = {name: columns[column] for name, column in self.columns.items() if column in columns}
        cells = {name: text_of(value).strip() for name, value in values.items()}
        own, label = cells.get("id", ""), cells.get("label", "")
        if not label:
            raise DataError(f"{where} has no label: fill it in, or take the row out, as nothing can be scored without.")
        if "id" in self.columns and not own:
            raise DataError(f"{where} has no id; leave the column out, and rows are called by their number.")
        name = own or f"{stem}-{number}"
        if choices := self._choices(values, cells, where):
            place = self._place(label, choices, where)
            if self.shuffle is not None:
                order = list(permuted(len(choices), self.shuffle, "choices", name))
                choices, place = tuple(choices[k] for k in order), order.index(place)
            return QuestionRow(number, name, cells, choices, place, self.choice_names)
        if label.lower() not in YES | NO:
            raise DataError(
                f"{where} has the label {label!r:.60}; 0 and 1, yes and no, true and false are allowed. For other "
                "answers than Yes and No give task.choices=[…], or a column choices."
            )
        return QuestionRow(number, name, cells, (), int(label.lower() in YES), ())

    def _choices(self, values: Columns, cells: Mapping[str, str], where: str) -> tuple[str, ...]:
        """Return the choices of a row in the file's order; () for a question of Yes or No. Raises DataError."""
        if not self.has_choices:
            return ()
        choices = self.fixed
        if not choices and "choices" in self.columns:
            choices = _listed(values.get("choices"), where)
        elif not choices:
            texts = [cells.get(name, "") for name in self.choice_names]
            while texts and not texts[-1]:
                texts.pop()
            choices = tuple(texts)
        if not 2 <= len(choices) <= len(LETTERS) or not all(choices) or len(set(choices)) < len(choices):
            raise DataError(
                f"{where} has the choices {' | '.join(choices) or 'none'}; two to {len(LETTERS)} different ones are "
                "needed, none empty (a column choices with a|b|c or a list, or columns choice_0, choice_1, …)."
            )
        return choices

    def _place(self, text: str, choices: Sequence[str], where: str) -> int:
        """Return the place of the choice that a label means: by its words, its letter or its number."""
        possible = {place for place, choice in enumerate(choices) if choice.casefold() == text.casefold()}
        if len(text) == 1 and (letter := text.upper()) in LETTERS:
            possible.add(LETTERS.index(letter))
        elif _NUMBER.fullmatch(text):
            possible.add(int(float(text)) - self.first)
        possible = {place for place in possible if 0 <= place < len(choices)}
        if len(possible) == 1:
            return possible.pop()
        means = "means several of them" if possible else "is none of them"
        raise DataError(
            f"{where} has the label {text!r:.60}, and it {means}: {' | '.join(choices):.300}. A label is the words, "
            f"the letter (A to {LETTERS[len(choices) - 1]}) or the number of a choice, counted from {self.first} "
            "(task.first=1 counts from 1)."
        )


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
