"""Questions from a file of the user's: no Python, no registration, everything works with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field

from harness.errors import ConfigError, DataError
from harness.scoring.choices import CHOICES
from harness.scoring.summary import summarize
from harness.settings import LOCAL
from harness.tasks.base import LazyItems, OneOrMore, TaskBase, subset
from harness.tasks.data_files import DataFile
from harness.tasks.questions.rows import ROLES, WORDS, Layout, QuestionRow
from harness.types import JSON, LETTERS, Item, Record, Result

FAMILY = "questions"
HEADLINE = "gold"
"""What the label set is called: there is one."""
MOST_GROUPS, LONGEST_GROUP = 20, 60
"""Values of a column up to which it is taken for a breakdown, and their characters: longer ones are texts."""
SHOWN = 5
"""Rows that a remark names."""
Choices = Annotated[tuple[Annotated[str, BeforeValidator(str)], ...], OneOrMore]


@dataclass(frozen=True)
class Questions(TaskBase):
    """The rows of a file; configs/task/questions.yaml says what each setting means."""

    path: str | None = field(default=None, metadata=LOCAL)
    columns: Mapping[str, str] | None = None
    choices: Choices | None = None
    groups: Annotated[tuple[str, ...], OneOrMore] | None = None
    shuffle: bool = False
    first: Annotated[int, Field(ge=0, le=1)] = 0

    def __post_init__(self) -> None:
        """Put the user's name for the task below questions/, where its prompts and results go."""
        if self.name.partition("/")[0] != FAMILY:
            object.__setattr__(self, "name", f"{FAMILY}/{self.name}")
        choices = self.choices or ()
        if self.choices is not None and not 2 <= len(set(choices)) == len(choices) <= len(LETTERS):
            raise ConfigError(f"task.choices={list(choices)}: two to {len(LETTERS)} different choices are needed.")

    @property
    def headline(self) -> str:
        return HEADLINE

    @property
    def prompts(self) -> Sequence[str]:
        """The shipped prompts whose fields the file has. Raises ConfigError if it fits none."""
        names, choices = {*self._layout.columns, "text"}, self.has_choices
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
            f"{self.path} has the columns {', '.join(self._layout.columns)}, and the prompts that ship ask for "
            "question, or for premise and hypothesis: say which column is the question ('task.columns={question: …}'), "
            "or give a prompt of your own that names your columns (prompt=mine.yaml)."
        )

    @property
    def has_choices(self) -> bool:
        """Whether each question has choices of its own, which no prompt of Yes and No asks for."""
        return self._layout.has_choices

    @property
    def data(self) -> Mapping[str, JSON]:
        return {"sha256": self._file.digest()}

    @property
    def remarks(self) -> Sequence[str]:
        return tuple(f"{self.path}: {remark}" for remark in self._remarks())

    def _remarks(self) -> Iterator[str]:
        """Yield what looks like a mistake in the file: no words, questions that come again, one answer throughout."""
        for name in ("question", "hypothesis"):  # a premise may be missing
            if name in self._layout.columns and (empty := [row.number for row in self._rows if not row.text(name)]):
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
            rows = subset(rows, self.limit, stratum=self._stratum, name=lambda row: str(row.number), seed=self.seed)
        return LazyItems(lambda: (self.item(row, varying=varying) for row in rows), len(rows))

    def _stratum(self, row: QuestionRow) -> tuple[str, ...]:
        return str(row.label), *map(row.text, self._groups)

    def summarize(self, records: Iterable[Record]) -> Result:
        """Return the scores: of Yes and No as a benchmark's, of choices their accuracy and macro F1."""
        if not self.has_choices:
            return super().summarize(records)
        return summarize(records, headline=HEADLINE, orders={}, choices=self._answers)

    def item(self, row: QuestionRow, *, varying: bool) -> Item:
        """Return the question of a row; `varying` says that some have more choices than others."""
        return Item(
            id=row.id,
            fields=row.fields,
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
    def _layout(self) -> Layout:
        settings = (self.choices or (), self.seed if self.shuffle else None, self.first)
        return Layout.of(str(self.path), [*next(self._file.rows())], self.columns or {}, *settings)

    @cached_property
    def _rows(self) -> list[QuestionRow]:
        """The rows of the file, all with a label and an id of their own. Raises DataError."""
        file, names = self._file, [*self._layout.columns]
        if "label" not in names:
            raise DataError(
                f"{file.path} has no column label; it has {', '.join(names) or 'none'}. If another one holds the "
                "right answers, say so: 'task.columns={label: …}'."
            )
        if unknown := [name for name in self.groups or () if name not in names]:
            raise ConfigError(f"task.groups names {unknown[0]}; {file.path} has {', '.join(names)}.")
        rows: dict[str, QuestionRow] = {}
        for number, columns in enumerate(file.rows(), start=1):
            where = f"{file.path}, row {number}{file.counted}"
            row = self._layout.row(columns, number, where, file.stem)
            if (first := rows.setdefault(row.id, row)) is not row:
                raise DataError(f"{where} has the id {row.id!r:.60} of row {first.number}: every row needs its own.")
        return [*rows.values()]

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
        own = {*ROLES, *WORDS[:4], *self._layout.choice_names}
        return [name for name in self._layout.columns if name not in own and self._is_breakdown(name)]

    def _is_breakdown(self, name: str) -> bool:
        values = {row.text(name) for row in self._rows}
        few = 2 <= len(values) <= min(MOST_GROUPS, len(self._rows) // 2)
        return few and max(map(len, values)) <= LONGEST_GROUP


def _rows(numbers: Sequence[int], one: str, several: str) -> str:
    """Return so many rows, with the first of their numbers, as the beginning of a sentence."""
    shown = ", ".join(map(str, numbers[:SHOWN])) + (", …" if len(numbers) > SHOWN else "")
    return f"{len(numbers):,} {f'row ({shown}) {one}' if len(numbers) == 1 else f'rows ({shown}) {several}'}"
