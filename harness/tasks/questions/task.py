"""Questions from a file of the user's: no Python, no registration, everything works with them."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from harness.codec import permuted
from harness.errors import ConfigError, DataError
from harness.scoring.choices import CHOICES
from harness.scoring.summary import summarize
from harness.settings import LOCAL
from harness.tasks.base import LazyItems, OneOrMore, TaskBase, subset
from harness.tasks.data_files import NO, YES, Columns, DataFile, Row, numbered
from harness.types import JSON, LETTERS, Item, Record, Result

FAMILY = "questions"
HEADLINE = "gold"
"""What the label set is called: there is one."""
ROLES = ("label", "id", "cluster", "unit", "choices")
"""Columns that the task itself reads. `label` never reaches a prompt."""
WORDS = ("text", "question", "premise", "hypothesis", "ask_for", "statement")
"""Columns that prompts which ship name; the first four are no breakdowns."""
MOST_GROUPS, LONGEST_GROUP = 20, 60
"""Values of a column up to which it is taken for a breakdown, and their characters: longer ones are texts."""
SHOWN = 5  # rows that a remark names
_CHOICE = re.compile(r"(choice|option|answer|alternative|hypothesis)_?(\d{1,2}|[a-h])", re.IGNORECASE)
"""A column for each of the choices: choice_0, choice1, option_a, hypothesis1."""
Choices = Annotated[tuple[Annotated[str, BeforeValidator(str)], ...], OneOrMore]


@dataclass(frozen=True)
class QuestionRow:
    """One row of the file as a question."""

    number: int
    id: str
    cells: Mapping[str, str]
    """As texts, by the names that prompts have for the columns."""
    choices: tuple[str, ...]
    """In the order of the question; () for a question of Yes or No."""
    label: int

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

    def fields(self, choice_names: Sequence[str]) -> dict[str, Any]:
        """Return the fields for prompts: every column but the label, and those derived from them."""
        hidden = {"label", "choices", *choice_names}
        fields: dict[str, Any] = {name: text for name, text in self.cells.items() if name not in hidden}
        fields.setdefault("text", "\n\n".join(filter(None, map(self.text, ("premise", "question")))))
        if self.choices:
            letters = LETTERS[: len(self.choices)]
            lettered = [f"{letter}. {choice}" for letter, choice in zip(letters, self.choices, strict=True)]
            fields |= dict(zip(choice_names, self.choices, strict=False))
            fields |= {"choices": list(self.choices), "options": "\n".join(lettered)}
            fields["letters"] = f"{', '.join(letters[:-1])} or {letters[-1]}"
        return fields


@dataclass(frozen=True)
class Questions(TaskBase):
    """The rows of a file; configs/task/questions.yaml says what each setting means."""

    path: str | None = field(default=None, metadata=LOCAL)
    columns: Mapping[str, str] | None = None
    choices: Choices | None = None
    groups: Annotated[tuple[str, ...], OneOrMore] | None = None
    shuffle: bool = False
    first: Annotated[int, Field(ge=0, le=1)] = 0

    headline = HEADLINE

    def __post_init__(self) -> None:
        """Put the user's name for the task below questions/, where its prompts and results go. Raises ConfigError."""
        if "/" in self.name.removeprefix(f"{FAMILY}/"):
            raise ConfigError(f"task.name={self.name}: a name without / is needed, as a folder is called by it.")
        if self.name.partition("/")[0] != FAMILY:
            object.__setattr__(self, "name", f"{FAMILY}/{self.name}")
        choices = self.choices or ()
        if self.choices is not None and not 2 <= len(set(choices)) == len(choices) <= len(LETTERS):
            raise ConfigError(f"task.choices={list(choices)}: two to {len(LETTERS)} different choices are needed.")

    @property
    def prompts(self) -> Sequence[str]:
        """The shipped prompts whose fields the file has. Raises ConfigError if it fits none."""
        names, choices = {*self._columns, "text"}, self.has_choices
        candidates = {
            "choices": choices and "question" in names,
            "cause_or_effect": choices and {"premise", "ask_for"} <= names,
            "plain": not choices and "question" in names,
            "entails": not choices and {"premise", "hypothesis"} <= names,
            "pair": not choices and {"premise", "hypothesis"} <= names,
        }
        if fitting := [name for name, fits in candidates.items() if fits]:
            return tuple(fitting)
        raise ConfigError(
            f"{self.path} has the columns {', '.join(self._columns)}, and the prompts that ship ask for question, or "
            "for premise and hypothesis: say which column is the question ('task.columns={question: …}'), or give a "
            "prompt of your own that names your columns (prompt=mine.yaml)."
        )

    @property
    def has_choices(self) -> bool:
        """Whether each question has choices of its own, which no prompt of Yes and No asks for."""
        return bool(self.choices or self._choice_names or "choices" in self._columns)

    @property
    def data(self) -> Mapping[str, JSON]:
        return {"sha256": self._file.digest()}

    @property
    def remarks(self) -> Sequence[str]:
        return tuple(f"{self.path}: {remark}" for remark in self._remarks())

    def _remarks(self) -> Iterator[str]:
        """Yield what looks like a mistake in the file: no words, questions that come again, one answer throughout."""
        for name in ("question", "hypothesis"):  # a premise may be missing
            if name in self._columns and (empty := [row.number for row in self._rows if not row.text(name)]):
                yield f"{_rows(empty, 'has', 'have')} no {name}: asked and scored all the same."
        first: dict[str, QuestionRow] = {}
        repeated = [(row, first.setdefault(row.words, row)) for row in self._rows]
        if other := [row.number for row, before in repeated if row.label != before.label]:
            yield f"{_rows(other, 'asks', 'ask')} what an earlier one does, with another label: one is wrong."
        if same := [row.number for row, before in repeated if row is not before and row.label == before.label]:
            yield f"{_rows(same, 'repeats', 'repeat')} an earlier one: each of them counts."
        if len(self._rows) > 1 and len({row.label for row in self._rows}) == 1:
            answer = (self._answers or ("No", "Yes"))[self._rows[0].label]
            way = "; task.shuffle=true draws the order of the choices" if self.has_choices else ""
            yield f"the right answer is {answer} in every row{way}."

    def items(self) -> Iterable[Item]:
        rows, varying = self._rows, len({len(row.choices) for row in self._rows}) > 1
        if self.limit is not None:
            rows = subset(
                rows,
                self.limit,
                stratum=lambda row: (str(row.label), *map(row.text, self._groups)),
                name=lambda row: str(row.number),
                seed=self.seed,
            )
        return LazyItems(lambda: (self._item(row, varying=varying) for row in rows), len(rows))

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores: of Yes and No as a benchmark's, of choices their accuracy and macro F1."""
        if not self.has_choices:
            return super().summarize(records)
        return summarize(records, headline=HEADLINE, orders={}, choices=self._answers)

    def _item(self, row: QuestionRow, *, varying: bool) -> Item:
        """Return the question of a row; `varying` says that some have more choices than others."""
        return Item(
            id=row.id,
            fields=row.fields(self._choice_names),
            labels={HEADLINE: row.label},
            cluster=row.cluster,
            unit=row.text("unit"),
            groups={name: row.text(name) or "(empty)" for name in self._groups}
            | ({CHOICES: str(len(row.choices))} if varying else {}),
        )

    @cached_property
    def _file(self) -> DataFile:
        if not self.path:
            raise ConfigError("task=questions needs task.path=FILE, CSV, JSON lines or Parquet, with a column label.")
        return DataFile(self.path)

    @cached_property
    def _columns(self) -> Mapping[str, str]:
        """The columns by the names that prompts have for them; those of task.columns go before the columns' own."""
        columns, renamed = [*next(self._file.rows())], self.columns or {}
        for name, column in renamed.items():
            if column not in columns:
                raise ConfigError(
                    f"task.columns says that {name} is the column {column!r}; {self.path} has {', '.join(columns)}."
                )
            if not name.isidentifier():
                raise ConfigError(f"task.columns: {name!r} is no name that a prompt could have in braces.")
        own = [(field_name(column), column) for column in columns if column not in renamed.values()]
        own = [(name, column) for name, column in own if name not in renamed]
        if twice := [name for name, count in Counter(name for name, _ in own).items() if count > 1]:
            raise DataError(f"{self.path} has several columns that a prompt would call {twice[0]}: rename one of them.")
        return {**renamed, **dict(own)}

    @cached_property
    def _choice_names(self) -> tuple[str, ...]:
        """The names that stand for one choice each, in order: two or more of one kind, such as choice1, choice2."""
        kinds: dict[str, list[tuple[int, str, str]]] = {}
        for name in self._columns:
            if match := _CHOICE.fullmatch(name):
                number = int(match[2]) if match[2].isdigit() else -1
                kinds.setdefault(match[1].lower(), []).append((number, match[2].lower(), name))
        several = [sorted(kind) for kind in kinds.values() if len(kind) > 1]
        return tuple(name for _, _, name in several[0]) if several else ()

    @cached_property
    def _rows(self) -> list[QuestionRow]:
        """The rows of the file, all with a label and an id of their own. Raises DataError."""
        file, names = self._file, [*self._columns]
        if "label" not in names:
            raise DataError(
                f"{file.path} has no column label; it has {', '.join(names) or 'none'}. If another one holds the "
                "right answers, say so: 'task.columns={label: …}'."
            )
        if unknown := [name for name in self.groups or () if name not in names]:
            raise ConfigError(f"task.groups names {unknown[0]}; {file.path} has {', '.join(names)}.")
        rows: dict[str, QuestionRow] = {}
        for one in numbered(file.rows(), file.path, file.stem, file.counted):
            row = self._row(one)
            if (first := rows.setdefault(row.id, row)) is not row:
                raise DataError(
                    f"{one.where} has the id {row.id!r:.60} of row {first.number}: every row needs its own."
                )
        return [*rows.values()]

    def _row(self, row: Row) -> QuestionRow:
        """Return the question of a row; one without an id is called by the file and its number. Raises DataError."""
        values = {name: row.columns[column] for name, column in self._columns.items() if column in row.columns}
        cells = {name: text_of(value).strip() for name, value in values.items()}
        own, label = cells.get("id", ""), cells.get("label", "")
        if not label:
            raise DataError(
                f"{row.where} has no label: fill it in, or take the row out, as nothing can be scored without."
            )
        if "id" in self._columns and not own:
            raise DataError(f"{row.where} has no id; leave the column out, and rows are called by their number.")
        name = own or row.id()
        if choices := self._choices_of(values, cells, row.where):
            place = self._place(label, choices, row.where)
            if self.shuffle:
                order = list(permuted(len(choices), self.seed, "choices", name))
                choices, place = tuple(choices[k] for k in order), order.index(place)
            return QuestionRow(row.number, name, cells, choices, place)
        if label.lower() not in YES | NO:
            raise DataError(
                f"{row.where} has the label {label!r:.60}; 0 and 1, yes and no, true and false are allowed. For other "
                "answers than Yes and No give task.choices=[…], or a column choices."
            )
        return QuestionRow(row.number, name, cells, (), int(label.lower() in YES))

    def _choices_of(self, values: Columns, cells: Mapping[str, str], where: str) -> tuple[str, ...]:
        """Return the choices of a row in the file's order; () for a question of Yes or No. Raises DataError."""
        if not self.has_choices:
            return ()
        choices = self.choices or ()
        if not choices and "choices" in self._columns:
            choices = _listed(values.get("choices"), where)
        elif not choices:
            texts = [cells.get(name, "") for name in self._choice_names]
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
        elif re.fullmatch(r"\d{1,2}(\.0)?", text):
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

    @cached_property
    def _answers(self) -> tuple[str, ...]:
        """The choices of all questions, where they have the same; letters where each has its own; () for Yes, No."""
        several = {row.choices for row in self._rows}
        return several.pop() if len(several) == 1 else tuple(LETTERS[: max(map(len, several))])

    @cached_property
    def _groups(self) -> Sequence[str]:
        """The columns that are breakdowns: as asked for, or those whose values come again, twice on average."""
        if self.groups is not None:
            return self.groups
        own = {*ROLES, *WORDS[:4], *self._choice_names}
        values = {name: {row.text(name) for row in self._rows} for name in self._columns if name not in own}
        most = min(MOST_GROUPS, len(self._rows) // 2)
        return [name for name, of in values.items() if 2 <= len(of) <= most and max(map(len, of)) <= LONGEST_GROUP]


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


def _rows(numbers: Sequence[int], one: str, several: str) -> str:
    """Return so many rows, with the first of their numbers, as the beginning of a sentence."""
    shown = ", ".join(map(str, numbers[:SHOWN])) + (", …" if len(numbers) > SHOWN else "")
    return f"{len(numbers):,} {f'row ({shown}) {one}' if len(numbers) == 1 else f'rows ({shown}) {several}'}"
