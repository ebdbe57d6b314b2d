"""Questions from a file of the user's: no Python, no registration, everything works with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field

from harness.errors import ConfigError
from harness.scoring.choices import CHOICES
from harness.scoring.summary import summarize
from harness.settings import LOCAL
from harness.tasks.base import LazyItems, OneOrMore, TaskBase, subset
from harness.tasks.data_files import DataFile
from harness.tasks.questions.rows import Layout, QuestionRow
from harness.tasks.questions.survey import breakdowns, check_columns, check_rows, choices_of, remarks
from harness.types import JSON, LETTERS, Item, Record, Result

FAMILY = "questions"
HEADLINE = "gold"
"""What the label set is called: there is one."""
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
        names = {*self._layout.names, "text"}
        asks = "question" in names
        candidates = {
            "choices": self.has_choices and asks,
            "cause_or_effect": self.has_choices and {"premise", "ask_for"} <= names,
            "plain": not self.has_choices and asks,
            "entails": not self.has_choices and {"premise", "hypothesis"} <= names,
            "pair": not self.has_choices and {"premise", "hypothesis"} <= names,
        }
        if fitting := [name for name, fits in candidates.items() if fits]:
            return tuple(fitting)
        raise ConfigError(
            f"{self.path} has the columns {', '.join(self._layout.names)}, and the prompts that ship ask for question, "
            "or for premise and hypothesis: say which column is the question ('task.columns={question: …}'), or give a "
            "prompt of your own that names your columns (prompt=mine.yaml)."
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
        return tuple(remarks(self._file.path, self._layout, self._rows))

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
        return summarize(records, headline=HEADLINE, orders={}, choices=choices_of(self._layout, self._rows))

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
        first = next(self._file.rows())
        return Layout.of(str(self.path), [*first], self.columns or {}, self.choices or ())

    @cached_property
    def _rows(self) -> list[QuestionRow]:
        """The rows of the file, all with a label. Raises DataError."""
        file, shuffle = self._file, self.seed if self.shuffle else None
        check_columns(file.path, self._layout, self.groups)
        rows = [
            QuestionRow(
                f"{file.path}, row {number}{file.counted}",
                number,
                file.stem,
                self._layout.cells(columns),
                self._layout,
                shuffle,
                self.first,
            )
            for number, columns in enumerate(file.rows(), start=1)
        ]
        check_rows(file.path, rows)
        return rows

    @cached_property
    def _groups(self) -> Sequence[str]:
        return breakdowns(self._layout, self._rows) if self.groups is None else self.groups
